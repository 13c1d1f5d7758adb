//! Targets after the readers: the model, and consumers of an analysis. Mainly they check that work
//! is bounded: no field of a packet determines the running time.

use super::harness::{fuzz, kind_of};
use super::meter::peak_during;
use super::{explain_whole, seeds};
use whyslow_analysis::Analysis;
use whyslow_core::capture::{Reader, Sink};
use whyslow_diagnosis::compare::{TransferName, choose, compare};
use whyslow_diagnosis::explain::Explainer;
use whyslow_diagnosis::explain::live::LiveExplainer;
use whyslow_diagnosis::pair::{self, ConnectionFingerprint, PacketCollector};
use whyslow_diagnosis::series::{SeriesBuilder, SeriesReader, WantedConnection};
use whyslow_model::{
    Algorithm, Losses, MAX_STEPS, Pause, PauseKind, ReceiverSettings, Scenario, SenderSettings, Window, simulate, time,
};
use whyslow_units::Nanos;
use whyslow_units::steps::steps_during;

/// Maximum number of steps of an analysis: the model's budget, and the excess of its last
/// simulations.
const MODEL_STEPS: u64 = 6_000_000;
/// Steps per byte of input: a packet of about 80 bytes may be compared once with all others.
const STEPS_A_BYTE: u64 = 64;

/// Runs `f` on an input, and checks that its steps and memory are bounded by the input's length.
#[track_caller]
pub(crate) fn bounded<T>(input: &[u8], f: impl FnOnce() -> T) -> T {
    let ((result, steps), peak) = peak_during(|| steps_during(f));
    let length = input.len() as u64;
    assert!(steps <= MODEL_STEPS + STEPS_A_BYTE * length, "{steps} steps for an input of {length}");
    assert!(peak <= 500_000_000, "{peak} bytes of memory for an input of {length}");
    result
}

/// Reads numbers from an input until it ends.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    /// A number of any size: its first byte is the number of bytes.
    fn whole(&mut self) -> u64 {
        (0..self.below(9)).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    fn real(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => f64::INFINITY,
            2 => f64::NAN,
            3 => -1.0,
            4 => 1.0 / self.whole().max(1) as f64,
            _ => self.whole() as f64,
        }
    }

    fn maybe<T>(&mut self, number: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 1).then(|| number(self))
    }

    fn several<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.byte()).map(|_| one(self)).collect()
    }

    fn scenario(&mut self) -> Scenario {
        let sender = SenderSettings {
            initial_window: self.real(),
            ssthresh: self.real(),
            slow_start_growth: self.real(),
            hystart: self.below(2) == 1,
            cap: self.maybe(Self::whole),
            pacing: self.maybe(Self::real),
            buffer: self.maybe(Self::whole),
            ..SenderSettings::usual([Algorithm::Reno, Algorithm::Cubic, Algorithm::Bbr][usize::from(self.below(3))])
        };
        let losses = match self.below(2) {
            0 => Losses::Random { probability: f64::from(self.byte()) / 256.0, seed: self.whole() },
            _ => Losses::At(sorted(self.several(Self::whole))),
        };
        let window = match self.below(3) {
            0 => Window::Unlimited,
            1 => Window::Autotuned { initial: self.whole(), most: self.whole() },
            _ => Window::Advertised(sorted(self.several(|it| (it.whole(), it.whole())))),
        };
        let kinds = [PauseKind::Program, PauseKind::Idle, PauseKind::Timer];
        let mut pauses = self.several(|it| Pause {
            at: it.whole(),
            length: Nanos(it.whole() as i64),
            kind: kinds[usize::from(it.below(3))],
        });
        pauses.sort_by_key(|pause| pause.at);
        Scenario {
            bytes: self.whole(),
            mss: self.whole(),
            rtt: Nanos(self.whole() as i64),
            rate: self.maybe(Self::real),
            queue: self.maybe(Self::whole),
            losses,
            sender,
            receiver: ReceiverSettings { window, ack_delay: Nanos(self.whole() as i64) },
            pauses,
        }
    }
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all
}

/// The simulation of any transfer ends within the allowed steps.
fn model(input: &[u8]) -> u64 {
    let scenario = Numbers(input).scenario();
    let (timed, steps) = steps_during(|| time(&scenario, MAX_STEPS));
    // A flight that is sent immediately is not truncated.
    assert!(steps <= 4 * MAX_STEPS, "{steps} steps: {scenario:?}");
    let (outcome, steps) = steps_during(|| simulate(&scenario));
    assert!(steps <= 4 * MAX_STEPS, "{steps} steps: {scenario:?}");
    assert!(outcome.duration >= Nanos::ZERO && outcome.delivered >= Nanos::ZERO, "{outcome:?}");
    let held: Nanos = outcome.limits.iter().map(|limit| limit.1).sum();
    assert_eq!(held, outcome.duration, "the limits add up to the duration: {scenario:?}");
    if let Some(duration) = timed.duration.filter(|_| outcome.steps <= MAX_STEPS) {
        assert_eq!(duration, outcome.duration, "{scenario:?}");
    }
    let limits: Vec<_> = outcome.limits.iter().map(|limit| limit.0).collect();
    kind_of(&(limits, outcome.extrapolated, timed.steps.checked_ilog2(), outcome.retransmitted.checked_ilog2()))
}

#[test]
fn simulation() {
    let seed = |kind: u8| (0..=255_u8).map(|n| n.wrapping_mul(kind).wrapping_add(kind)).collect();
    fuzz("model", (1..64).map(seed).collect(), model);
}

/// A capture of a few packets whose simulation would send hundreds of millions of one-byte
/// segments.
#[test]
fn jumps_over_uncaptured_bytes_take_few_steps() {
    let input = seeds::jumps(4, 200_000_000, 65_000);
    let (analysis, steps) = steps_during(|| explain_whole(&input));
    assert!(analysis.connections[0].transfers.iter().any(|transfer| transfer.bytes > 500_000_000));
    assert!(steps <= MODEL_STEPS, "{steps} steps");
}

/// Compares the causes of any two transfers.
fn comparison(input: &[u8]) -> u64 {
    bounded(input, || {
        let all = [explain_whole(input), explain_whole(&input[..input.len() / 2])];
        let mut kinds = Vec::new();
        for (a, b) in [(0, 1), (0, 0), (1, 0)] {
            let name = TransferName::default();
            if let (Ok(a), Ok(b)) = (choose(&all[a], name), choose(&all[b], name)) {
                let compared = compare(&a, &b);
                kinds.push((compared.phases.len(), compared.leads.len(), compared.caveats.len()));
            }
        }
        kind_of(&kinds)
    })
}

#[test]
fn comparisons() {
    fuzz("compare", seeds::samples(), comparison);
}

/// Analyses an input in pieces, as from a pipe.
fn live(input: &[u8]) -> u64 {
    bounded(input, || {
        let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
        explainer.begin_capture("input");
        let mut causes = Vec::new();
        let mut note = |ended: whyslow_diagnosis::explain::live::Ended| {
            for ended in ended.connections {
                let transfers = &ended.connection.transfers;
                transfers.iter().for_each(super::check_transfer);
                causes.extend(transfers.iter().flat_map(|transfer| &transfer.findings).map(|finding| finding.cause));
            }
        };
        for piece in input.chunks(1 + input.len() / 16) {
            if reader.push(piece, &mut explainer).is_err() {
                break;
            }
            note(explainer.collect(explainer.newest()));
        }
        note(explainer.finish());
        causes.sort_unstable();
        causes.dedup();
        kind_of(&causes)
    })
}

#[test]
fn watched() {
    fuzz("watch", seeds::samples(), live);
}

/// Passes an input to a sink up to its first error.
fn push(input: &[u8], sink: &mut impl Sink) {
    let mut reader = Reader::new();
    let _ = reader.push(input, sink).and_then(|()| reader.finish(sink));
}

/// The graphs of the first connections, complete and in part.
fn graphs(input: &[u8]) -> u64 {
    bounded(input, || {
        let analysis = explain_whole(input);
        let mut kinds = Vec::new();
        for connection in analysis.connections.iter().take(4) {
            let range = (connection.start_s, connection.start_s + connection.duration_s);
            let mut series = SeriesBuilder::new(range, 200);
            let mut give = |_, point| series.push(&point);
            let mut points = SeriesReader::new(vec![WantedConnection::new(connection)], &mut give);
            push(input, &mut points);
            points.finish();
            let series = series.finish();
            let middle = range.0 + connection.duration_s.scale(0.5);
            let views = [series.view(range.0, range.1, 100), series.view(range.0, middle, 7)];
            kinds.push((series.packets().checked_ilog2(), views.map(|view| view.columns.len())));
        }
        kind_of(&kinds)
    })
}

#[test]
fn series() {
    fuzz("series", seeds::samples(), graphs);
}

fn explain_with_fingerprints(input: &[u8]) -> (Analysis, Vec<ConnectionFingerprint>) {
    let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
    explainer.begin_capture("input");
    let read = reader.push(input, &mut explainer).and_then(|()| reader.finish(&mut explainer));
    if let Ok(summary) = read {
        explainer.end_capture(summary);
    }
    explainer.finish_with_fingerprints()
}

/// An input as the capture of one end, and a bundled capture as that of the other.
fn both_ends(input: &[u8], other: &[u8]) -> u64 {
    bounded(input, || {
        let inputs = [input, other];
        let explained = inputs.map(explain_with_fingerprints);
        let found = pair::find(&explained[0].1, &explained[1].1);
        let mut kinds = Vec::new();
        for found in found.iter().take(2) {
            let ids = [0, 1].map(|which| found.fingerprints[which].id);
            let collectors = [0, 1].map(|which| {
                let mark = &found.fingerprints[which];
                let wanted = pair::WantedConnection { id: mark.id, client: mark.ends[0], max_packets: 10_000 };
                let mut collector = PacketCollector::new(1, [wanted]);
                collector.begin_capture();
                push(inputs[which], &mut collector);
                collector
            });
            let tracks = [0, 1].map(|which| collectors[which].track(ids[which]).zip(collectors[which].time()));
            let connections = [0, 1].map(|which| explained[which].0.connections.iter().find(|it| it.id == ids[which]));
            let ([Some(a), Some(b)], [Some(p), Some(q)]) = (tracks, connections) else { continue };
            let pair = pair::compare(found, [a.0, b.0], [a.1, b.1], [p, q]);
            kinds.push(pair.map(|pair| (pair.changes.len(), pair.caveats.len())).map_err(|refused| refused.is_some()));
        }
        kind_of(&(found.len().min(4), kinds))
    })
}

#[test]
fn pairs() {
    let seeds = seeds::samples();
    let other = seeds.iter().max_by_key(|seed| seed.len()).cloned().unwrap_or_default();
    fuzz("pair", seeds, |input| both_ends(input, &other));
}
