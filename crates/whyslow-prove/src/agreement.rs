//! [`Agreement`]: whether a run is the transfer that was captured, point by point.

use super::alike::are_alike;
use super::captured::Captured;
use super::scenario::TransferScenario;
use super::trial::Trial;
use serde::Serialize;
use whyslow_analysis::{Finding, LimitingFactor, Retransmitted, Round};

/// Times agree within this part.
pub(super) const TIME: f64 = 0.15;
/// Below this they agree whatever their parts, seconds: what programs and machines take by
/// themselves.
const MOMENT: f64 = 0.004;
/// Rounds agree within this part of their bytes and their time.
const ROUND: f64 = 0.2;
/// Typical bytes in flight agree within this factor. A window and a full link of the same rate
/// differ in the queue, which is a part of the flight.
const FLIGHT: f64 = 1.6;
/// They may always be this many segments apart: where an ACK was seen makes a difference.
const FEW: f64 = 6.0;
/// Retransmissions count from this part of all segments on: the time that fewer take is compared
/// with the limits.
const RESENT: f64 = 0.01;
/// A part of the time that may be under other limits.
const LIMITS: f64 = 0.3;
/// A finding that costs less than this part of the time is not a verdict.
const COUNTS: f64 = 0.1;

/// The compared quantities, and the differences.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Agreement {
    /// Nothing differs.
    pub agrees: bool,
    /// The differences. JSON has them in words.
    #[serde(skip)]
    pub differs: Vec<Difference>,
    /// Seconds in the capture, of the part that was run.
    pub captured_s: f64,
    /// Seconds of the run.
    pub again_s: f64,
    /// Upper bound of these that this machine's late packets can have added.
    pub noise_s: f64,
    /// The cause that cost most in the capture.
    pub captured_cause: Option<&'static str>,
    /// The same in the run.
    pub again_cause: Option<&'static str>,
    /// How sure that is, 0–1.
    pub again_confidence: Option<f64>,
    /// Rounds of the capture that the run has with about the same bytes and time.
    pub rounds_alike: usize,
    /// Rounds that were compared.
    pub rounds: usize,
    /// The part of the time that is under other limits, 0–1.
    pub limits_apart: f64,
    /// Typical bytes in flight in the capture, as seen where it was made.
    pub captured_flight: u64,
    /// The same in the run.
    pub again_flight: u64,
    /// Segments that had to be retransmitted, by kind, in the capture.
    pub captured_retransmitted: Kinds,
    /// The same in the run.
    pub again_retransmitted: Kinds,
}

/// Something in which a run is not the transfer that was captured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Difference {
    /// Its time.
    Time {
        /// The run's as a multiple of the captured one.
        ratio: f64,
    },
    /// The cause that cost most.
    Cause {
        /// In the run.
        here: Option<&'static str>,
        /// In the capture.
        captured: Option<&'static str>,
    },
    /// The limits.
    Limits {
        /// The part of the time that is under limits of another owner, 0–1.
        apart: f64,
    },
    /// Bytes and times of the rounds.
    Rounds {
        /// How many agree.
        alike: usize,
        /// How many were compared.
        of: usize,
    },
    /// The bytes in flight.
    Flight {
        /// Typical in the run, bytes.
        here: u64,
        /// Typical in the capture, bytes.
        captured: u64,
    },
    /// The segments that had to be retransmitted.
    Retransmitted {
        /// In the run.
        here: u64,
        /// In the capture.
        captured: u64,
    },
}

/// Retransmitted segments of the transfer's sender by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Kinds {
    pub fast: u64,
    pub timeout: u64,
    pub tail_probe: u64,
    pub spurious: u64,
}

impl Kinds {
    fn needed(self) -> u64 {
        self.fast + self.timeout + self.tail_probe
    }
}

impl Agreement {
    /// Compares a run with its capture.
    pub fn of(captured: &Captured, built: &TransferScenario, trial: &Trial) -> Self {
        let top = captured.top().filter(|finding| counts(finding, captured));
        let again = trial.seen.top().filter(|finding| counts(finding, &trial.seen));
        let (rounds_alike, rounds) = rounds(captured, built, trial);
        let mut it = Self {
            agrees: false,
            differs: Vec::new(),
            captured_s: built.captured_s,
            again_s: trial.seconds,
            noise_s: trial.added,
            captured_cause: top.map(|finding| finding.cause.slug()),
            again_cause: again.map(|finding| finding.cause.slug()),
            again_confidence: again.map(|finding| finding.confidence),
            rounds_alike,
            rounds,
            limits_apart: limits_apart(captured, built, &trial.seen),
            captured_flight: flight(captured, built.until),
            again_flight: flight(&trial.seen, f64::INFINITY),
            captured_retransmitted: kinds(captured, Some(built.until)),
            again_retransmitted: kinds(&trial.seen, None),
        };
        it.judge(captured, trial, built.bytes as f64 / captured.segment() as f64);
        it
    }

    /// The difference of the times, as a part of the captured one, without the time that late
    /// packets can have added to the run's.
    pub fn error(&self) -> f64 {
        let apart = (self.captured_s - self.captured_s.clamp(self.again_s - self.noise_s, self.again_s)).abs();
        if apart <= MOMENT { 0.0 } else { apart / self.captured_s.max(1e-6) }
    }

    /// Whether the run has the captured verdict.
    pub fn is_same_cause(&self, trial: &Trial) -> bool {
        match (self.captured_cause, self.again_cause) {
            (None, None) => true,
            (Some(captured), Some(again)) => {
                // Two that cost about the same may change places.
                let cost = |cause: &str| {
                    let findings = trial.seen.findings();
                    findings.iter().find(|finding| finding.cause.slug() == cause).map_or(0, |finding| finding.cost_s.0)
                };
                captured == again || are_alike(captured, again) || cost(captured) * 5 >= cost(again) * 4
            }
            _ => false,
        }
    }

    fn judge(&mut self, of: &Captured, trial: &Trial, segments: f64) {
        let segment = of.segment() as f64;
        let is_by_chance =
            of.share(&[LimitingFactor::Bandwidth, LimitingFactor::LossRecovery, LimitingFactor::Timeout]) > 0.1;
        let mut differs = Vec::new();
        if self.error() > TIME {
            differs.push(Difference::Time { ratio: self.again_s / self.captured_s.max(1e-9) });
        }
        if !self.is_same_cause(trial) {
            differs.push(Difference::Cause { here: self.again_cause, captured: self.captured_cause });
        }
        if self.limits_apart > LIMITS {
            differs.push(Difference::Limits { apart: self.limits_apart });
        }
        // A path that loses or queues shifts every round behind the first difference.
        if !is_by_chance && self.rounds >= 4 && self.rounds_alike * 3 < self.rounds && self.limits_apart > LIMITS / 2.0
        {
            differs.push(Difference::Rounds { alike: self.rounds_alike, of: self.rounds });
        }
        // A queue whose depth the capture does not show must not refuse what packets support.
        let (captured, here) = (self.captured_flight, self.again_flight);
        if of.is_supposed && captured.max(here) as f64 > FLIGHT * captured.min(here) as f64 + FEW * segment {
            differs.push(Difference::Flight { here, captured });
        }
        let (captured, again) = (self.captured_retransmitted.needed(), self.again_retransmitted.needed());
        let apart = captured.abs_diff(again);
        if apart > 3.max(captured.max(again) / 2) && apart as f64 > RESENT * segments {
            differs.push(Difference::Retransmitted { here: again, captured });
        }
        self.agrees = differs.is_empty();
        self.differs = differs;
    }

    /// How far a run is from the capture: less is better.
    pub fn distance(&self) -> f64 {
        let has_other_cause = self.differs.iter().any(|what| matches!(what, Difference::Cause { .. }));
        let cause = if has_other_cause { 0.5 } else { 0.0 };
        self.error() + cause + 0.3 * self.limits_apart
    }
}

/// Whether a finding weighs enough to be the verdict.
fn counts(finding: &Finding, of: &Captured) -> bool {
    finding.cost_s.as_secs_f64() >= COUNTS * of.seconds().max(MOMENT)
}

/// Rounds that agree in bytes and time, and how many were compared: each with the one that begins
/// at about the same byte.
fn rounds(captured: &Captured, built: &TransferScenario, trial: &Trial) -> (usize, usize) {
    let own = captured.transfer().rounds.iter().take_while(|round| round.start_s.as_secs_f64() < built.until);
    let there = with_starts(own);
    let here = with_starts(&trial.seen.transfer().rounds);
    // The last one is the remainder.
    let compared = there.len().saturating_sub(usize::from(there.len() > 1));
    let near = |a: f64, b: f64, least: f64| (a - b).abs() <= (ROUND * a.max(b)).max(least);
    let few = 1.5 * captured.segment() as f64;
    let is_there = |(start, round): &&(u64, &Round)| {
        let bytes = round.bytes as f64;
        let nearest = here.iter().min_by_key(|(other, _)| other.abs_diff(*start));
        nearest.is_some_and(|(other, again)| {
            start.abs_diff(*other) as f64 <= (ROUND * bytes).max(few)
                && near(bytes, again.bytes as f64, few)
                && near(round.duration_s.as_secs_f64(), again.duration_s.as_secs_f64(), MOMENT)
        })
    };
    (there.iter().take(compared).filter(is_there).count(), compared)
}

/// Typical bytes in flight up to a moment: the median over the transfer's new segments.
fn flight(of: &Captured, until: f64) -> u64 {
    let start = of.transfer().start_s.as_secs_f64();
    let end = (start + of.transfer().duration_s.as_secs_f64()).min(until);
    let own = of.packets.data(of.from()).filter(|packet| packet.at >= start && packet.at <= end);
    let mut all: Vec<u64> = own.filter_map(|packet| packet.in_flight).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

/// Rounds with the number of bytes before each.
fn with_starts<'a>(rounds: impl IntoIterator<Item = &'a Round>) -> Vec<(u64, &'a Round)> {
    let mut before = 0;
    let place = |round: &'a Round| {
        let start = before;
        before += round.bytes;
        (start, round)
    };
    rounds.into_iter().map(place).collect()
}

/// The part of the time that is under other limits.
fn limits_apart(captured: &Captured, built: &TransferScenario, again: &Captured) -> f64 {
    let start = captured.transfer().start_s.as_secs_f64();
    let whole = (built.until - start).max(1e-9);
    let share_there = |limit: LimitingFactor| -> f64 {
        if built.factor <= 1.0 {
            return captured.share(&[limit]);
        }
        let own = captured.transfer().timeline.iter().filter(|span| span.limit == limit);
        let within = own.map(|span| {
            let begins = span.start_s.as_secs_f64();
            ((begins + span.seconds.as_secs_f64()).min(built.until) - begins).max(0.0)
        });
        within.sum::<f64>() / whole
    };
    let apart: f64 = SAME
        .iter()
        .map(|group| {
            let there: f64 = group.iter().map(|limit| share_there(*limit)).sum();
            (there - again.share(group)).abs()
        })
        .sum();
    apart / 2.0
}

/// Limits of one owner, between which a little makes the difference.
const SAME: &[&[LimitingFactor]] = &[
    &[LimitingFactor::SlowStart, LimitingFactor::CongestionAvoidance],
    &[LimitingFactor::ReceiveWindow, LimitingFactor::ZeroWindow],
    &[LimitingFactor::SenderCap, LimitingFactor::ProtocolWindow],
    &[LimitingFactor::LossRecovery, LimitingFactor::Timeout],
    &[LimitingFactor::NagleDelayedAck, LimitingFactor::AckDelay],
    &[LimitingFactor::Application, LimitingFactor::Idle, LimitingFactor::ClientThink, LimitingFactor::ServerThink],
    &[LimitingFactor::Bandwidth],
    &[LimitingFactor::Pacing],
    &[LimitingFactor::RoundTrip],
    &[LimitingFactor::Unknown],
];

/// The retransmissions of the transfer's sender.
fn kinds(of: &Captured, until: Option<f64>) -> Kinds {
    let from = of.from();
    let Some(until) = until.filter(|_| !of.is_about_connection) else {
        let half = of.connection.directions.iter().find(|half| half.from == from);
        return half.map_or(Kinds::default(), |half| half.retransmitted.into());
    };
    use whyslow_diagnosis::series::Kind;
    let count = |kind| of.packets.data(from).filter(|packet| packet.kind == kind && packet.at <= until).count() as u64;
    Kinds {
        fast: count(Kind::Fast),
        timeout: count(Kind::Timeout),
        tail_probe: count(Kind::TailProbe),
        spurious: count(Kind::Spurious),
    }
}

impl From<Retransmitted> for Kinds {
    fn from(all: Retransmitted) -> Self {
        let Retransmitted { fast, timeout, tail_probe, spurious, .. } = all;
        Self { fast, timeout, tail_probe, spurious }
    }
}
