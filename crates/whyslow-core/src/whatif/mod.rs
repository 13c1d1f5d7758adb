//! `whatif`: the same transfer with one limit removed.
//!
//! [`model`] plays a transfer through; `replay` fits it to a transfer that was captured, and promises nothing where the modelled time
//! is not the measured one; `remedy` says what each cause's fix changes; `waits` promises for findings over connections, where
//! sums are enough; [`plan`] is a transfer that nobody has made yet (`whyslow predict`).

pub mod model;
pub mod plan;
mod remedy;
mod replay;
mod waits;

pub use replay::Replay;
pub use waits::promise;

use crate::analysis::{Connection, Transfer};
use crate::units::Nanos;
use model::Scenario;

/// Replays that are kept: of the transfers that lost most.
pub const MOST_REPLAYS: usize = 64;
/// Segments that all replays of an analysis may model together: about a tenth of a second of work.
const MOST_WORK: u64 = 2_000_000;
/// A change that saves less than this share of the time is no promise either.
const LEAST_GAIN: f64 = 0.02;

/// The replays of the transfers that lost most time; a bounded list, worst first.
#[derive(Debug, Default)]
pub struct Replays {
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    lost: Nanos,
    /// Which: the connection's id, and when its transfer began.
    connection: u64,
    start: Nanos,
    replay: Replay,
}

impl Replays {
    /// Whether a transfer of this connection that lost so much would be kept.
    pub fn wants(&self, lost: Nanos, connection: u64) -> bool {
        let least = self.kept.last().filter(|_| self.kept.len() >= MOST_REPLAYS);
        lost > Nanos::ZERO && least.is_none_or(|least| (least.lost, least.connection) < (lost, connection))
    }

    /// Keeps a replay of a transfer of this connection that began at `start` (as its [`Transfer`] says).
    pub fn keep(&mut self, lost: Nanos, connection: u64, start: Nanos, replay: Replay) {
        self.put(Kept { lost, connection, start, replay });
    }

    /// What is kept does not depend on the order of the connections.
    fn put(&mut self, new: Kept) {
        let at = self.kept.partition_point(|kept| (kept.lost, kept.connection) > (new.lost, new.connection));
        self.kept.insert(at, new);
        self.kept.truncate(MOST_REPLAYS);
    }

    /// Takes over what another has kept, of other connections.
    pub(crate) fn merge(&mut self, other: Self) {
        // Those of one connection stand newest first.
        other.kept.into_iter().rev().for_each(|kept| self.put(kept));
    }

    /// Gives the connections other ids, in the same order, and lets go of those that get none.
    pub(crate) fn renumber(&mut self, id: impl Fn(u64) -> Option<u64>) {
        self.kept.retain_mut(|kept| id(kept.connection).map(|id| kept.connection = id).is_some());
    }

    /// Fills in what the model says of the transfers, worst first, as far as the work allows: `play` plays up to `at_once` of
    /// them.
    pub fn predict(self, connections: &mut [Connection], at_once: usize, play: impl Fn(&[Play<'_>]) -> Vec<Played>) {
        self.predict_within(MOST_WORK, connections, at_once, play);
    }

    fn predict_within(
        self,
        mut work: u64,
        connections: &mut [Connection],
        at_once: usize,
        play: impl Fn(&[Play<'_>]) -> Vec<Played>,
    ) {
        for kept in self.kept.chunks(at_once.max(1)) {
            let found: Vec<_> = kept.iter().filter_map(|kept| Some((kept, kept.place(connections)?))).collect();
            let plays: Vec<_> = found
                .iter()
                .map(|&(kept, (connection, transfer))| {
                    let transfer = &connections[connection].transfers[transfer];
                    Play { replay: &kept.replay, transfer, work, known: &[] }
                })
                .collect();
            let mut played = play(&plays);
            for (play, played) in plays.iter().zip(&mut played) {
                // What others took meanwhile it would not have had.
                if work < play.work && (played.cut || played.work > work) {
                    let known = std::mem::take(&mut played.times);
                    *played = Play { work, known: &known, ..*play }.play();
                }
                work -= played.work.min(work);
            }
            for (&(_, (connection, transfer)), played) in found.iter().zip(played) {
                played.tell(&mut connections[connection].transfers[transfer]);
            }
        }
    }
}

impl Kept {
    /// Places of the connection and of its transfer.
    fn place(&self, connections: &[Connection]) -> Option<(usize, usize)> {
        let connection = connections.iter().position(|connection| connection.id == self.connection)?;
        let transfer = connections[connection].transfers.iter().position(|t| t.start_s == self.start)?;
        Some((connection, transfer))
    }
}

/// A transfer for the model to play, with and without what held it.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    replay: &'a Replay,
    transfer: &'a Transfer,
    /// Segments that may be modelled.
    work: u64,
    /// How long the first simulations took, from an earlier play of it.
    known: &'a [Nanos],
}

/// What the model said of a transfer.
#[derive(Debug, Default)]
pub struct Played {
    model: Option<Nanos>,
    /// By finding.
    predicted: Vec<Option<Nanos>>,
    /// Segments that were modelled.
    work: u64,
    /// More would have been, but for the limit.
    cut: bool,
    /// And so a fix was not modelled.
    skipped: bool,
    /// How long each simulation took, in order.
    times: Vec<Nanos>,
}

impl Play<'_> {
    /// Fits the model to the transfer, and finds what each finding's fix would bring.
    pub fn play(&self) -> Played {
        let mut work = Work { known: self.known, ..Work::new(self.work) };
        let mut played = Played::default();
        // What was found before the work was used up counts.
        let _ = self.fill(&mut played, &mut work);
        played.cut = work.short;
        played.work = self.work - work.left;
        played.times = work.times;
        played
    }

    /// None when the work is used up.
    fn fill(&self, played: &mut Played, work: &mut Work<'_>) -> Option<()> {
        let Self { replay, transfer, .. } = *self;
        let measured = transfer.duration_s;
        let (fitted, modelled) = replay.fit(work)?;
        played.model = Some(modelled);
        if !transfer.is_fitted_by(modelled) {
            // What was not tried any more might have come nearer.
            played.skipped = work.short;
            return Some(());
        }
        played.skipped = true;
        for finding in &transfer.findings {
            let mut predicted = None;
            if let Some(mut changed) = remedy::apply(finding.cause, replay, &fitted) {
                // Larger flights meet the rate at which the path was seen to deliver.
                changed.scenario.rate = changed.scenario.rate.or(replay.burst_rate);
                predicted = Some(changed.duration(work)?).filter(|time| *time < measured.scale(1.0 - LEAST_GAIN));
            }
            played.predicted.push(predicted);
        }
        played.skipped = false;
        Some(())
    }
}

impl Played {
    fn tell(self, transfer: &mut Transfer) {
        let Some(model) = self.model else { return };
        transfer.model_s = Some(model);
        transfer.model_skipped = self.skipped;
        for (finding, predicted) in transfer.findings.iter_mut().zip(self.predicted) {
            finding.predicted_s = predicted.or(finding.predicted_s);
        }
    }
}

/// Segments that may yet be modelled.
#[derive(Clone, Debug)]
struct Work<'a> {
    left: u64,
    /// Some that were asked for were too many.
    short: bool,
    /// How long the first simulations take, where that is known, …
    known: &'a [Nanos],
    /// … and how long each took so far.
    times: Vec<Nanos>,
}

impl Work<'_> {
    fn new(left: u64) -> Self {
        Self { left, short: false, known: &[], times: Vec::new() }
    }

    /// How long the next simulation takes; none when there is not enough left for it.
    fn time(&mut self, scenario: &Scenario) -> Option<Nanos> {
        let segments = (scenario.bytes / scenario.mss.max(1)).clamp(1, model::MOST_SEGMENTS);
        let Some(rest) = self.left.checked_sub(segments) else {
            self.short = true;
            return None;
        };
        self.left = rest;
        let time = self.known.get(self.times.len()).copied().unwrap_or_else(|| model::time(scenario));
        self.times.push(time);
        Some(time)
    }
}

#[cfg(test)]
mod tests;
