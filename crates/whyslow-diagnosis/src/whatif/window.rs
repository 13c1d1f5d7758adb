//! The sender's windows in a transfer: the first one, the end of doubling, and its cap.

use crate::estimate::{BURST_SEGMENTS, first_lossy_flight};
use crate::limit::TimeAttribution;
use whyslow_analysis::types::LimitingFactor;
use whyslow_core::tcp::facts::{Release, TransferFacts};

/// The first flight, segments; if the application wrote less than that, today's default (RFC 6928).
pub(super) fn initial_window(transfer: &TransferFacts, attribution: &TimeAttribution, mss: u64) -> f64 {
    // Next to the sender the first ACK and the segments that it releases have one time: the first
    // flight ends at the first pause.
    let pause = transfer.pauses.first().filter(|gap| transfer.rounds.get(1).is_some_and(|next| gap.start < next.start));
    let seen = transfer.rounds.first().map_or(0, |round| round.in_flight);
    let before = pause.filter(|gap| gap.release == Release::Ack && gap.in_flight + BURST_SEGMENTS * mss > seen);
    let first = before.map_or(seen, |gap| gap.in_flight.min(seen)).max(1) as f64 / mss as f64;
    // The same holds if the receiver's first window limited it.
    let filled = transfer.rounds.first().is_some_and(|r| r.window.is_some_and(|window| r.in_flight + mss > window));
    let is_window =
        transfer.rounds.len() > 1 && attribution.rounds.first() != Some(&LimitingFactor::Application) && !filled;
    if is_window { first.ceil() } else { first.ceil().max(10.0) }
}

/// Bytes per round of a cap in the sender: the mean over the rounds that it limited, because large
/// and small flights may alternate.
pub(super) fn cap(transfer: &TransferFacts, attribution: &TimeAttribution) -> Option<u64> {
    let held = |limit: &LimitingFactor| matches!(limit, LimitingFactor::SenderCap | LimitingFactor::ProtocolWindow);
    let rounds = transfer.rounds.iter().zip(&attribution.shape.base);
    // The last flight is a remainder.
    let capped = rounds.take(transfer.rounds.len().saturating_sub(1)).filter(|(_, limit)| held(limit));
    let (bytes, number) =
        capped.fold((0, 0), |(bytes, number), (round, _)| (bytes + round.bytes, number + round.merged));
    let cap = (number > 0).then(|| bytes / u64::from(number))?;
    // A flight that later ones exceed is not a cap but a plateau of slow growth.
    let first = attribution.shape.base.iter().position(held)?;
    let outgrown = transfer.rounds.iter().skip(first).any(|round| round.in_flight > cap + cap / 2);
    (!outgrown).then_some(cap)
}

/// Window at which doubling stopped without a loss, segments.
pub(super) fn ssthresh(transfer: &TransferFacts, attribution: &TimeAttribution, cap: Option<u64>, mss: u64) -> f64 {
    let lost = first_lossy_flight(transfer);
    let base = &attribution.shape.base;
    let stopped = base.iter().position(|limit| *limit != LimitingFactor::SlowStart).unwrap_or(base.len());
    // A program that sends little, or a window that is nearly full, makes a few flights that do not
    // grow either.
    let slow = attribution.rounds.iter().take(lost).skip(stopped);
    let run = slow.take_while(|limit| **limit == LimitingFactor::CongestionAvoidance).count();
    let flights = transfer.rounds.get(stopped..stopped + run).unwrap_or_default();
    // Slow growth is growth: flights that stay the same are a cap's.
    let grows = flights.first().zip(flights.last()).is_some_and(|(first, last)| last.in_flight > first.in_flight);
    let flight = flights.first().filter(|_| run >= MIN_SLOW_ROUNDS && grows).map(|round| round.in_flight);
    // Flights about as large as a cap are the cap's.
    let flight = flight.filter(|flight| cap.is_none_or(|cap| cap > flight + flight / 4));
    flight.map_or(f64::INFINITY, |flight| (flight as f64 / mss as f64).max(2.0))
}

/// Minimum number of rounds of slow growth that show that slow start had ended.
const MIN_SLOW_ROUNDS: usize = 4;
