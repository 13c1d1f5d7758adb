//! What happens to data offered above the path's rate. A link queues the excess before it drops
//! any, so that segments that pass have waited in a queue. A policer drops the excess, and segments
//! that pass have not waited. Senders that ignore losses (BBR) overrun a path for many round trips,
//! and keep to its rate between them; their losses alone do not show which of the two it is.

use super::context::Context;
use super::steady_rate::begins_spaced;
use whyslow_core::tcp::facts::TransferFacts;
use whyslow_units::Nanos;
use whyslow_units::stats::median_f64;
use whyslow_units::steps;

/// Minimum excess over the path's rate, as a share: BBR probes with a quarter more
/// (draft-ietf-ccwg-bbr, ProbeBW_UP). Half and twice change none of 2,061 captures.
const MIN_EXCESS: f64 = 0.25;
/// Minimum excess, segments: three ACKs for two segments each (RFC 5681 section 4.2) may fall into
/// the next round without any overrun. Half and twice change 1 and 1 of 2,061 captures.
const SEGMENTS: u64 = 6;
/// Minimum share of the excess that was lost: half of it, as unused tokens let a burst pass without
/// a wait too. Half and twice change none of 2,061 captures.
const MIN_LOST_SHARE: f64 = 0.5;
/// Minimum number of rounds that overran the path: the end of slow start overruns any path once
/// (RFC 5681 section 3.1). Half and twice change 1 and 1 of 2,061 captures.
const MIN_ROUNDS: usize = 2;
/// Minimum number of losses in these rounds, segments (Flach et al. 2016, section 2.1).
pub(crate) const MIN_POLICED_LOSSES: usize = 15;
/// Minimum number of round trips for the mean of a round: with three, one delayed ACK is a third of
/// it. Half and twice change 1 and 0 of 2,061 captures.
const MIN_ROUND_TRIPS: u32 = 3;
/// Longest wait of a segment that no queue delayed, in segments' time: a receiver's ACK for every
/// second one (RFC 5681 section 4.2) adds one, …
const MAX_FREE_WAIT: f64 = 2.0;
/// … and hosts add this: interrupts and scheduling. Half and twice change none of 2,061 captures.
const HOST_NOISE: Nanos = Nanos::from_micros(500);
/// Minimum time of a segment at the path's rate. Follows from [`HOST_NOISE`]: a queue of ten
/// segments then takes three times as long. Half and twice change none of 2,061 captures.
const MIN_SEGMENT_TIME: Nanos = Nanos::from_micros(150);
/// Minimum queue, segments. Follows from [`MAX_FREE_WAIT`]: twice as much. Half and twice change
/// none of 2,061 captures.
const MIN_QUEUE_SEGMENTS: f64 = 4.0;

/// Delivered segments while more than the rate was offered and the excess was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedLoad {
    /// Payload bits per second that pass.
    pub rate: f64,
    /// Payload bits per second that were offered, the median over the rounds.
    pub offered: f64,
    /// Rounds that exceeded the rate.
    pub rounds: usize,
    /// Segments that were lost in them.
    pub losses: usize,
    /// How much longer delivered segments took than the shortest time, typically; `None` if the
    /// capture does not show it.
    pub wait: Option<Nanos>,
    /// Next to the receiver: whether the first flight came spaced by this rate, as a link spaces
    /// it.
    pub began_spaced: Option<bool>,
    /// Time of a segment at this rate.
    segment: Nanos,
}

impl OfferedLoad {
    /// Delivered segments have not waited: no link's queue was full.
    pub fn passed_unqueued(&self) -> bool {
        self.segment >= MIN_SEGMENT_TIME
            && self.wait.is_some_and(|wait| wait <= self.segment.scale(MAX_FREE_WAIT) + HOST_NOISE)
    }

    /// Delivered segments have waited in a queue.
    pub fn is_queued(&self) -> bool {
        self.wait.is_some_and(|wait| wait > self.segment.scale(MIN_QUEUE_SEGMENTS) + HOST_NOISE)
    }
}

/// A round in which more than the rate was offered.
struct OverrunRound {
    offered: f64,
    losses: usize,
    wait: Option<Nanos>,
}

/// Returns `None` if too few losses fit.
pub(crate) fn offered_load(transfer: &TransferFacts, context: &Context, rate: f64) -> Option<OfferedLoad> {
    let least = context.rtt.filter(|_| !context.one_direction)?;
    if transfer.losses.len() < MIN_POLICED_LOSSES {
        return None;
    }
    let rounds = 1..transfer.rounds.len();
    let over: Vec<OverrunRound> =
        rounds.filter_map(|index| overrun_round(transfer, context, rate, index, least)).collect();
    let losses: usize = over.iter().map(|over| over.losses).sum();
    if over.len() < MIN_ROUNDS || losses < MIN_POLICED_LOSSES {
        return None;
    }
    let mut waits: Vec<Nanos> = over.iter().filter_map(|over| over.wait).collect();
    waits.sort_unstable();
    // A round lasts at least its round trip, and longer if the sender pauses: next to the receiver
    // only short rounds are usable.
    let place = if context.near_receiver { MIN_ROUNDS - 1 } else { waits.len() / 2 };
    Some(OfferedLoad {
        rate,
        offered: median_f64(over.iter().map(|over| over.offered).collect())?,
        rounds: over.len(),
        losses,
        wait: waits.get(place).copied().filter(|_| waits.len() >= MIN_ROUNDS),
        began_spaced: begins_spaced(transfer, context, rate).filter(|_| context.near_receiver),
        segment: Nanos::from_secs_f64(context.mss as f64 * 8.0 / rate.max(1.0)),
    })
}

/// The round before this one, if it offered too much and lost the excess.
fn overrun_round(
    transfer: &TransferFacts,
    context: &Context,
    rate: f64,
    index: usize,
    least: Nanos,
) -> Option<OverrunRound> {
    let (before, round) = (&transfer.rounds[index - 1], &transfer.rounds[index]);
    let (from, to) = (before.start, round.start);
    let time = (to - from).as_secs_f64();
    let offered = (before.bytes + u64::from(before.retransmitted) * context.mss) as f64;
    let passes = rate / 8.0 * time;
    let excess = offered - passes;
    let is_over = time > 0.0 && excess >= (MIN_EXCESS * passes).max((SEGMENTS * context.mss) as f64);
    if !is_over || before.merged > 1 || round.merged > 1 {
        return None;
    }
    steps::add(2 * transfer.losses.len() as u64);
    let those = || transfer.losses.iter().filter(|loss| !loss.spurious && (from..to).contains(&loss.time));
    let lost: u64 = those().map(|loss| loss.bytes).sum();
    if (lost as f64) < MIN_LOST_SHARE * excess {
        return None;
    }
    // A segment in offload is several on the wire.
    let losses = those().map(|loss| loss.bytes.div_ceil(context.mss.max(1)) as usize).sum();
    let trip = match (context.near_receiver, round.sacked) {
        // Its last segments are known when the first of this round has arrived as well.
        (true, _) => Some(to - from).filter(|_| context.has_timestamps),
        (false, (trips, whole)) => (trips >= MIN_ROUND_TRIPS).then(|| Nanos(whole.0 / i64::from(trips))),
    };
    Some(OverrunRound { offered: offered * 8.0 / time, losses, wait: trip.map(|trip| (trip - least).or_zero()) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::estimate::synthetic_transfer::{MSS, context, flights};
    use whyslow_core::tcp::facts::{Loss, Release};
    use whyslow_units::{Nanos, Time};

    /// 8 Mbit/s let 100 of the 200 segments of each of four rounds of 100 ms pass; delivered ones
    /// took `trip`.
    fn overran(trip: Nanos) -> TransferFacts {
        let mut transfer = flights(&[200_000; 5], Release::Ack);
        let mut seq = 1;
        for round in &mut transfer.rounds {
            round.sacked = (80, Nanos(80 * trip.0));
            let lost = (0..100).map(|n| Loss {
                time: round.start + Nanos::from_micros(500 * n),
                until: round.start,
                seq: seq + 2 * n as u64 * MSS,
                bytes: MSS,
                ..Loss::default()
            });
            transfer.losses.extend(lost);
            seq += round.bytes;
        }
        transfer
    }

    #[test]
    fn policed_segments_do_not_wait() {
        let ms = Nanos::from_millis;
        let found = offered_load(&overran(ms(101)), &context(100), 8e6).unwrap();
        assert!(found.passed_unqueued() && !found.is_queued());
        assert_eq!((found.rounds, found.losses, found.wait), (4, 400, Some(ms(1))));
        assert!((found.offered - 16e6).abs() < 1.0);
        // A queue of ten segments that are 1 ms each.
        let found = offered_load(&overran(ms(110)), &context(100), 8e6).unwrap();
        assert!(found.is_queued() && !found.passed_unqueued());
        // Three segments are too few.
        let found = offered_load(&overran(ms(103)), &context(100), 8e6).unwrap();
        assert!(!found.is_queued() && !found.passed_unqueued());
    }

    #[test]
    fn losses_below_the_rate_give_no_offered_load() {
        assert_eq!(offered_load(&overran(Nanos::from_millis(101)), &context(100), 16e6), None);
        let mut transfer = overran(Nanos::from_millis(101));
        // The excess passed, as with unused tokens.
        transfer.losses.retain(|loss| loss.seq % 7 == 1);
        assert_eq!(offered_load(&transfer, &context(100), 8e6), None);
    }

    #[test]
    fn noise_hides_a_queue_at_a_high_rate() {
        let mut transfer = overran(Nanos::from_millis(100));
        transfer.rounds.iter_mut().for_each(|round| round.bytes *= 100);
        transfer.losses.iter_mut().for_each(|loss| loss.bytes *= 100);
        let found = offered_load(&transfer, &context(100), 8e8).unwrap();
        assert!(!found.passed_unqueued() && !found.is_queued(), "{found:?}");
    }

    #[test]
    fn receiver_side_with_timestamps_uses_rounds() {
        let near = Context { near_receiver: true, ..context(99) };
        let found = offered_load(&overran(Nanos::ZERO), &near, 8e6).unwrap();
        assert!(found.passed_unqueued(), "{found:?}");
        let found =
            offered_load(&overran(Nanos::ZERO), &Context { rtt: Some(Nanos::from_millis(80)), ..near }, 8e6).unwrap();
        assert!(found.is_queued(), "{found:?}");
        let found = offered_load(&overran(Nanos::ZERO), &Context { has_timestamps: false, ..near }, 8e6).unwrap();
        assert!(found.wait.is_none() && !found.passed_unqueued() && !found.is_queued());
        assert_eq!(found.began_spaced, Some(false));
        let mut spaced = overran(Nanos::ZERO);
        spaced.rounds[0].last_send = Time::from_millis(190);
        let found = offered_load(&spaced, &Context { has_timestamps: false, ..near }, 8e6).unwrap();
        assert_eq!(found.began_spaced, Some(true));
        let found = offered_load(&spaced, &Context { opening_seen: false, ..near }, 8e6).unwrap();
        assert_eq!(found.began_spaced, None);
    }
}
