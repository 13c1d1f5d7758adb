//! A link that is full although its rate varies: radio, cross traffic, an AQM that cuts a window.
//!
//! It is full while a queue stands: even the fastest segment of a round took longer than the path
//! alone, and ACKs kept coming. Its rate over time is the delivered rate in these rounds.

use super::context::Context;
use super::steady_rate::runs_empty;
use whyslow_core::tcp::facts::TransferFacts;
use whyslow_units::Nanos;
use whyslow_units::stats::median_f64;

/// Minimum number of rounds, and of rounds with a queue. Doubling from 10 to 640 segments takes six
/// (RFC 5681 section 3.1); two more show that the link stays full. Half and twice change 7 and 1 of
/// 2,061 captures.
const MIN_ROUNDS: usize = 8;
/// Minimum time with a standing queue, tenths: half, as for a cause that the verdict names alone.
/// Half and twice change 2 and 3 of 2,061 captures.
const MIN_FULL_TENTHS: i64 = 5;
/// Minimum flight, segments. A receiver acknowledges every second segment (RFC 9293 section
/// 3.8.6.3), so a delayed ACK is never the only one of a flight of four. Half and twice change 3
/// and 2 of 2,061 captures.
const MIN_SEGMENTS: u64 = 4;
/// Share of the typical rate at which a round without a queue counts as full too: CUBIC continues
/// with 0.7 of its window after a loss (RFC 9438 section 4.6). Half and twice the distance to 1
/// change 2 and 3 of 2,061 captures.
const FILLED: f64 = 0.7;
/// Upper tenth of the round trips over the lower one: below it they are the path's own. Follows
/// from the factor above which a queue is seen (`SEEN_FACTOR`). Half and twice the excess over 1
/// change none of 2,061 captures.
const FLAT: f64 = 1.15;
/// The same of flights, above which a standing queue would show: round trips grow with the flight
/// (Little's law), so they would differ by twice the excess of [`FLAT`]. Half and twice the excess
/// over 1 change none of 2,061 captures.
const DIFFERENT: f64 = 1.3;

/// A full link whose rate may vary.
pub(crate) struct FullLink {
    /// For each round, whether it ran at the link's rate.
    pub full: Vec<bool>,
    /// Its typical rate, payload bits per second.
    pub rate: f64,
}

/// Returns the full rounds and the rate, if the link was full for most of the time.
pub(crate) fn full_link(transfer: &TransferFacts, context: &Context) -> Option<FullLink> {
    let rounds = &transfer.rounds;
    let hidden = context.hides_queue();
    let empty = runs_empty(transfer, context);
    if rounds.len() < MIN_ROUNDS || empty || hidden || context.one_direction || context.is_multipath {
        return None;
    }
    let end = |index: usize| rounds.get(index + 1).map_or(transfer.last_send, |next| next.start);
    let length = |index: usize| (end(index) - rounds[index].start).or_zero();
    let rate = |index: usize| {
        let bytes = rounds[index].bytes + u64::from(rounds[index].retransmitted) * context.mss;
        bytes as f64 * 8.0 / length(index).as_secs_f64().max(1e-9)
    };
    let queued: Vec<bool> = (0..rounds.len())
        .map(|index| {
            rounds[index].in_flight >= MIN_SEGMENTS * context.mss
                && context.sees_queue(transfer, index)
                && context.is_clocked(transfer, index)
        })
        .collect();
    let in_queue: Vec<usize> = (0..rounds.len()).filter(|&index| queued[index]).collect();
    let time: Nanos = in_queue.iter().map(|&index| length(index)).sum();
    if in_queue.len() < MIN_ROUNDS || time.0.saturating_mul(10) < transfer.known_for().0.saturating_mul(MIN_FULL_TENTHS)
    {
        return None;
    }
    if is_longer_path(transfer, context, &in_queue) {
        return None;
    }
    let typical = median_f64(in_queue.iter().map(|&index| rate(index)).collect())?;
    let first = *in_queue.first()?;
    let full = (0..rounds.len())
        .map(|index| queued[index] || (index > first && rate(index) >= FILLED * typical && length(index) > Nanos::ZERO))
        .collect();
    Some(FullLink { full, rate: typical })
}

/// Whether these round trips are all alike though flights are not: then the path became longer, and
/// no queue stands.
fn is_longer_path(transfer: &TransferFacts, context: &Context, rounds: &[usize]) -> bool {
    let trips = rounds.iter().filter_map(|&index| context.round_trip(transfer, index)).map(|trip| trip.0 as f64);
    let flights = rounds.iter().map(|&index| transfer.rounds[index].in_flight as f64);
    spread(trips.collect()).is_some_and(|spread| spread <= FLAT)
        && spread(flights.collect()).is_some_and(|spread| spread >= DIFFERENT)
}

/// Returns the ratio of the upper tenth to the lower tenth.
fn spread(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values.get((share * values.len() as f64) as usize).copied();
    at(0.9).zip(at(0.1)).map(|(high, low)| high / low.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{context, flights, gap};
    use whyslow_core::tcp::facts::Release;

    /// Rounds of 100 ms with these flights and round trips, without long pauses; the path's own
    /// round trip is 40 ms.
    fn link(rounds: &[(u64, i64)]) -> TransferFacts {
        let sizes: Vec<u64> = rounds.iter().map(|round| round.0).collect();
        let mut transfer = flights(&sizes, Release::Ack);
        transfer.pauses.clear();
        for (round, &(_, trip)) in transfer.rounds.iter_mut().zip(rounds) {
            round.rtt = Some(Nanos::from_millis(trip));
        }
        transfer
    }

    fn full_share(transfer: &TransferFacts) -> Option<usize> {
        full_link(transfer, &context(40)).map(|found| found.full.iter().filter(|full| **full).count())
    }

    #[test]
    fn rate_that_varies_with_a_standing_queue_is_a_full_link() {
        let radio: Vec<_> = (0..20).map(|n| (40_000 + 30_000 * (n % 4), 60 + 25 * (n as i64 % 5))).collect();
        assert_eq!(full_share(&link(&radio)), Some(19));
        let crossed: Vec<_> = (0..20).map(|n| if n < 10 { (80_000, 70) } else { (40_000, 120) }).collect();
        assert_eq!(full_share(&link(&crossed)), Some(19));
        // The queue drains after a loss now and then, while the rate stays.
        let managed: Vec<_> =
            (0..20).map(|n| (60_000 + 1_000 * n, if n % 4 == 3 { 41 } else { 60 + n as i64 })).collect();
        assert_eq!(full_share(&link(&managed)), Some(19));
    }

    #[test]
    fn flights_that_differ_on_one_longer_round_trip_are_not_a_full_link() {
        let longer: Vec<_> = (0..20).map(|n| (20_000 + 4_000 * n, 90)).collect();
        assert_eq!(full_share(&link(&longer)), None);
    }

    #[test]
    fn link_that_is_idle_between_flights_is_not_full() {
        let mut transfer = link(&(0..20).map(|n| (40_000 + 10_000 * (n % 4), 80 + n as i64)).collect::<Vec<_>>());
        assert!(full_share(&transfer).is_some());
        let starts: Vec<_> = transfer.rounds.iter().map(|round| round.start).collect();
        for &start in &starts[..19] {
            transfer.pauses.push(gap(
                start + Nanos::from_millis(60),
                start + Nanos::from_millis(100),
                Release::WindowAck,
            ));
        }
        assert_eq!(full_share(&transfer), None);
    }

    #[test]
    fn round_trips_near_the_least_are_not_a_full_link() {
        assert_eq!(full_share(&link(&[(60_000, 43); 20])), None);
    }
}
