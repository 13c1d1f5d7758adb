//! Expected continuation of a transfer.

use super::{ChosenTransfer, Reach, ReachKind};
use whyslow_analysis::{LimitingFactor, Round, Transfer};
use whyslow_units::Nanos;

/// Minimum growth of a flight: the last segment of a flight may fall into the next round.
const GROWS: f64 = 1.1;
/// The largest growth that a sender's window can have (RFC 5681 section 3.1).
const MAX_GROWTH: f64 = 2.0;

/// The expected rounds after the last full one.
#[derive(Clone, Debug)]
pub(super) struct Prospect {
    /// For the renderers.
    pub reach: Reach,
    /// Bytes of the next round.
    pub next: f64,
    /// Ratio of a round to the one before.
    pub growth: f64,
    /// Maximum number of bytes in a round.
    pub most: f64,
    /// Length of a round.
    pub round: Nanos,
    /// Time that sending a byte takes within a round, nanoseconds.
    pace: f64,
}

impl Prospect {
    /// The time that the sender needs for a round of this many bytes.
    pub fn sending(&self, bytes: f64) -> Nanos {
        Nanos((bytes * self.pace) as i64).min(self.round)
    }
}

/// The rounds that were full: the last one ends with the data, and so may be of any size.
fn full(transfer: &Transfer) -> &[Round] {
    let all = transfer.rounds.as_slice();
    if transfer.rounds_total > all.len() as u64 { all } else { all.split_last().map_or(&[], |(_, full)| full) }
}

/// `None` if there is no full round to judge by.
pub(super) fn prospect_of(chosen: &ChosenTransfer<'_>) -> Option<Prospect> {
    let transfer = chosen.transfer;
    let full = full(transfer);
    let last = full.last()?;
    let length = |round: &Round| round.duration_s.or_zero();
    let rest = rest(transfer);
    // Growth must be seen to have lasted: a step alone may be chance.
    let steps: Vec<f64> =
        full.windows(2).rev().take(2).map(|two| two[1].in_flight as f64 / two[0].in_flight.max(1) as f64).collect();
    let grows = match steps.as_slice() {
        [one] => *one >= GROWS && last.limit == LimitingFactor::SlowStart,
        steps => !steps.is_empty() && steps.iter().all(|&step| step >= GROWS),
    };
    let pace = last.sending_s.or_zero().0 as f64 / last.bytes.max(1) as f64;
    if grows && rest.is_none() && length(last) > Nanos::ZERO {
        let round = length(last);
        let growth = steps.first().map_or(1.0, |step| step.min(MAX_GROWTH));
        let window = transfer.rounds.iter().filter_map(|round| round.window).max();
        let stop = window.filter(|&window| window >= last.in_flight);
        let reach = Reach {
            rate_bps: rate(stop.unwrap_or(last.in_flight) as f64, round),
            kind: if stop.is_some() { ReachKind::Window } else { ReachKind::Growing },
            flight: last.in_flight,
            round_s: round,
            window: stop,
        };
        let most = stop.map_or(f64::MAX, |stop| stop as f64);
        let next = (last.in_flight as f64 * growth).min(most);
        return Some(Prospect { reach, next, growth, most, round, pace });
    }
    // The listed rounds of a long transfer are its beginning.
    let RoundSum { bytes, time, rounds } = rest.unwrap_or_else(|| {
        let half = &full[full.len() / 2..];
        let bytes: u64 = half.iter().map(|round| round.bytes).fold(0, u64::saturating_add);
        RoundSum { bytes, time: half.iter().map(length).sum(), rounds: half.len() as u64 }
    });
    if time <= Nanos::ZERO || bytes == 0 {
        return None;
    }
    let round = Nanos(time.0 / rounds.max(1) as i64).max(Nanos(1));
    let flight = bytes as f64 / rounds.max(1) as f64;
    let rate_bps = rate(bytes as f64, time);
    let reach = Reach { rate_bps, kind: ReachKind::Steady, flight: flight as u64, round_s: round, window: None };
    Some(Prospect { reach, next: flight, growth: 1.0, most: flight, round, pace })
}

/// Several rounds together.
struct RoundSum {
    bytes: u64,
    time: Nanos,
    rounds: u64,
}

/// The rounds that are not listed; `None` if all are.
fn rest(transfer: &Transfer) -> Option<RoundSum> {
    let listed = transfer.rounds.len() as u64;
    let rounds = transfer.rounds_total.checked_sub(listed).filter(|&rounds| rounds > 0)?;
    let last = transfer.rounds.last()?;
    let end = transfer.start_s + transfer.duration_s;
    let time = (end - last.start_s - last.duration_s).or_zero();
    let sent = transfer.rounds.iter().map(|round| round.bytes).fold(0, u64::saturating_add);
    Some(RoundSum { bytes: transfer.bytes.saturating_sub(sent), time, rounds })
}

/// Bits per second, whole ones.
fn rate(bytes: f64, time: Nanos) -> f64 {
    (bytes * 8.0 / time.as_secs_f64()).round()
}
