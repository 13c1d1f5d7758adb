//! Rates over equal amounts of bytes: one rate that governs a transfer, a burst before it, and
//! whether the sender sets it.

use super::context::Context;
use super::stability::{alike_rates, is_growing};
use whyslow_core::tcp::facts::{Release, RoundFacts, SendPause, TransferFacts};
use whyslow_units::stats::median;
use whyslow_units::{Nanos, Time};

/// Burst before the rate took effect, as a token bucket permits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Bytes beyond the rate: the size of the bucket.
    pub bytes: u64,
    /// Bits per second at which the burst passed.
    pub rate: f64,
    /// Time when the burst was used up, by the sender's clock.
    pub until: Time,
}

/// Minimum number of points of the curve of delivered bytes before a change: two make a rate. Half
/// and twice change none of 2,061 captures.
const MIN_BEFORE: usize = 2;
/// Minimum number of points after it: each is then an eighth of the rest at most. Half and twice
/// change none of 2,061 captures.
const MIN_AFTER: usize = 8;
/// Minimum rate of a burst over the rate after it: twice the excess that an even rate may have
/// (`STEADY`). Half and twice the excess over 1 change none of 2,061 captures.
const MIN_BURST_SPEEDUP: f64 = 1.5;
/// A burst ends when this share of it has passed: after that the curve follows the rate, above and
/// below it. Half and twice the distance to 1 change none of 2,061 captures.
const BURST_USED_SHARE: f64 = 0.95;
/// Minimum size of a burst, segments: twice an initial window (RFC 6928), which a path may deliver
/// at once. Half and twice change none of 2,061 captures.
const MIN_BURST_SEGMENTS: u64 = 20;

/// The rate of the later part of a transfer, bits per second, and the burst before it.
pub(crate) fn after_burst(transfer: &TransferFacts, context: &Context) -> Option<(f64, Burst)> {
    let curve = &transfer.delivered;
    let doubtful = transfer.unseen > 0 && transfer.retransmitted.unseen_original == 0;
    if curve.len() < MIN_BEFORE + MIN_AFTER || doubtful {
        return None;
    }
    // The rate of the second half of the time: it governs most of the transfer, or else there is
    // none.
    let (first, last) = (curve.first()?, curve.last()?);
    let middle = first.0 + (last.0 - first.0).scale(0.5);
    let direction = curve.partition_point(|point| point.0 < middle).min(curve.len() - 2);
    let rate = (last.1 - curve[direction].1) as f64 / (last.0 - curve[direction].0).as_secs_f64().max(1e-9);
    // Bytes above that rate: the largest excess between any two points is the burst.
    let beyond = |point: &(Time, u64)| point.1 as f64 - rate * (point.0 - first.0).as_secs_f64();
    let mut low = (0, beyond(first));
    let (mut from, mut bytes) = (low, 0.0);
    for (index, point) in curve.iter().enumerate() {
        let here = beyond(point);
        if here < low.1 {
            low = (index, here);
        }
        if here - low.1 > bytes {
            (from, bytes) = (low, here - low.1);
        }
    }
    let (from, least) = from;
    // It ends where nearly all of it has passed: from then on the curve follows the rate, now above
    // it and now below.
    let passed_by = |point: &(Time, u64)| beyond(point) - least >= BURST_USED_SHARE * bytes;
    let until = from + curve[from..].iter().position(passed_by)?;
    let (start, end) = (curve[from], curve[until]);
    let rtt = context.rtt?;
    let enough = (MIN_BURST_SEGMENTS * context.mss) as f64;
    let passed = (end.1 - start.1) as f64 / (end.0 - start.0).as_secs_f64().max(1e-9);
    let after = &curve[until..];
    let is_burst = until >= from + MIN_BEFORE
        && bytes >= enough.max(rate * rtt.as_secs_f64())
        && passed >= MIN_BURST_SPEEDUP * rate
        && after.len() > MIN_AFTER
        && (last.0 - end.0).0 * 2 >= (last.0 - first.0).0;
    if !is_burst {
        return None;
    }
    is_even_rate(after).then_some((rate * 8.0, Burst { bytes: bytes as u64, rate: passed * 8.0, until: end.0 }))
}

/// Whether a queue stands at this rate: more is in flight than rate and round trip need, and more
/// than the clumps of the sender's writes explain, which are in flight as a whole without waiting
/// anywhere. Without a queue an even rate is not the path's: a sender with a constant amount in
/// flight is even too.
pub(crate) fn queues(transfer: &TransferFacts, context: &Context, rate: f64, from: Time) -> bool {
    let rounds = &transfer.rounds[first_round(transfer, from)..];
    let flights = rounds.iter().map(|round| round.in_flight);
    let Some(needed) = needed(context, rate) else { return false };
    let Some(typical) = median(flights.collect()) else { return false };
    let more = typical as f64 - needed;
    more > 0.0 && (more > clump(transfer) || is_usually_long(transfer, context, from))
}

/// Maximum number of bytes in flight that this rate needs.
fn needed(context: &Context, rate: f64) -> Option<f64> {
    Some(rate / 8.0 * context.rtt?.scale(MAX_USUAL_FLIGHT).as_secs_f64())
}

/// Whether ACKs usually show round trips longer than the minimum. Next to the receiver only a
/// round's length estimates its round trip, and an application that writes in clumps makes it
/// longer too.
fn is_usually_long(transfer: &TransferFacts, context: &Context, from: Time) -> bool {
    let rounds = first_round(transfer, from)..transfer.rounds.len();
    let clocked = rounds.clone().filter(|&index| context.is_clocked(transfer, index)).count();
    !context.near_receiver && clocked * 2 > rounds.len() && context.usually_sees_queue(transfer, rounds)
}

/// Bytes that were sent between one pause and the next, where pauses take most of the time; else
/// there are no clumps.
fn clump(transfer: &TransferFacts) -> f64 {
    let paused: Nanos = transfer.pauses.iter().map(|gap| gap.end - gap.start).sum();
    let in_clumps = paused.0 > transfer.known_for().0 / 2;
    if in_clumps { transfer.bytes() as f64 / (transfer.pauses.len() + 1) as f64 } else { 0.0 }
}

/// Minimum number of rounds with more in flight that made round trips longer: one may be a delayed
/// ACK. Half and twice change none of 2,061 captures.
const MIN_PROBES: usize = 2;

/// Whether the sender had more in flight than this rate needs, now and then at least, and the
/// round trip grew by it: then the path gives no more. BBR keeps no queue, but it probes for more
/// rate, and its beginning overruns the path.
fn was_path_probed(transfer: &TransferFacts, context: &Context, rate: f64, from: Time) -> bool {
    let Some(needed) = needed(context, rate) else { return false };
    let needed = needed + if context.near_receiver { clump(transfer) } else { 0.0 };
    let full = (first_round(transfer, from)..transfer.rounds.len()).filter(|&index| {
        let is_large = transfer.rounds[index].in_flight as f64 > needed;
        is_large && context.sees_queue(transfer, index)
    });
    full.take(MIN_PROBES).count() == MIN_PROBES
}

/// Two rates are the same within this factor, as an even rate's tenths are (`STEADY`). Half and
/// twice the excess over 1 change none of 2,061 captures.
const SAME_RATE_FACTOR: f64 = 1.25;

/// Whether it is the path's rate. A full path leaves a queue, a loss or a mark, or spaces segments
/// that were sent together by this rate. A rate without any of these is set by the sender or its
/// application, and the path may carry any other.
pub(crate) fn is_path_rate(transfer: &TransferFacts, context: &Context, rate: f64, from: Time) -> bool {
    if runs_empty(transfer, context) {
        return false;
    }
    let spaced = || {
        let burst = super::path::burst_rate(transfer, context).filter(|_| context.near_receiver);
        burst.is_some_and(|burst| burst <= SAME_RATE_FACTOR * rate && rate <= SAME_RATE_FACTOR * burst)
    };
    let queued = queues(transfer, context, rate, from) || was_path_probed(transfer, context, rate, from);
    queued || transfer.ecn_echoes > 0 || (!is_trickle(transfer, context) && (has_lost(transfer) || spaced()))
}

/// Share of the rounds that ended with a wait for the ACK of all that was sent. Measured with
/// blocks of 8,192 B over an uplink of 240 kbit/s: without it a full link for 3.74 s. Half and
/// twice the distance to 1 change none of 2,061 captures.
const EMPTIED: f64 = 0.8;

/// Whether the sender waits in nearly every round until all is acknowledged: then the link has
/// nothing to carry for a round trip each time, and is not full.
pub(crate) fn runs_empty(transfer: &TransferFacts, context: &Context) -> bool {
    let Some(rtt) = context.rtt.filter(|_| !context.near_receiver) else { return false };
    let is_emptied =
        |gap: &&SendPause| gap.release == Release::Ack && gap.idle && gap.end - gap.start >= rtt.scale(0.5);
    let rounds = transfer.rounds_total.saturating_sub(1);
    rounds >= MIN_ROUNDS as u64 && transfer.pauses.iter().filter(is_emptied).count() as f64 >= EMPTIED * rounds as f64
}

/// Something was lost on the way, and not only sent twice.
fn has_lost(transfer: &TransferFacts) -> bool {
    transfer.retransmitted_bytes > 0 || !transfer.losses.is_empty()
}

/// Segments are short on average: a sender that has more to send than it may fills them.
pub(crate) fn is_trickle(transfer: &TransferFacts, context: &Context) -> bool {
    let full = if context.is_quic && !context.encrypted { FULL_OVER_QUIC } else { FULL };
    (transfer.bytes() as f64) < full * context.mss as f64 * transfer.segments as f64
}

/// The rate at which a program writes: its segments are short, it waits for no ACK, and nothing
/// queues.
pub(crate) fn program_rate(transfer: &TransferFacts, context: &Context, rate: f64) -> bool {
    let waits = |gap: &&SendPause| match gap.release {
        Release::Ack => gap.end - gap.start >= context.rtt.unwrap_or_default().scale(0.5),
        Release::Nothing => false,
        _ => true,
    };
    let waited: Nanos = transfer.pauses.iter().filter(waits).map(|gap| gap.end - gap.start).sum();
    let doubtful = context.one_direction || context.rtt.is_none();
    !doubtful
        && is_trickle(transfer, context)
        && !is_path_rate(transfer, context, rate, transfer.start)
        && waited.0 as f64 <= MAX_OTHER_LIMITS * transfer.known_for().0 as f64
}

/// Minimum number of round trips of the rate after an episode of losses: two cycles of BBR, each of
/// eight (draft-cardwell-iccrg-bbr-congestion-control-00, gain cycling). Half and twice change none
/// of 2,061 captures.
const MIN_RTTS_IN_FORCE: f64 = 16.0;
/// The rate begins before this share of the time has passed, so that it governs most of the
/// transfer. Half and twice change none of 2,061 captures.
const MAX_OF_IT: f64 = 0.5;

/// The rate of the later part of a transfer, bits per second, and its start, if there were losses
/// before: one episode of losses does not affect the rest.
pub(crate) fn after_losses(transfer: &TransferFacts, context: &Context) -> Option<(f64, Time)> {
    let curve = &transfer.delivered;
    let doubtful = transfer.unseen > 0 && transfer.retransmitted.unseen_original == 0;
    if curve.len() <= MIN_AFTER || transfer.losses.is_empty() || doubtful {
        return None;
    }
    let (first, last) = (curve.first()?, curve.last()?);
    let middle = first.0 + (last.0 - first.0).scale(1.0 - MAX_OF_IT);
    // From the earliest point at which the rest is even: bisection finds it approximately.
    let latest = curve.partition_point(|point| point.0 < middle);
    let is_even = |from: usize| {
        let after = &curve[from..];
        after.len() > MIN_AFTER && is_even_rate(after)
    };
    let (mut early, mut late) = (0, latest);
    if !is_even(late) {
        return None;
    }
    while early < late {
        let direction = (early + late) / 2;
        if is_even(direction) { late = direction } else { early = direction + 1 }
    }
    let since = curve[late];
    let rate = (last.1 - since.1) as f64 * 8.0 / (last.0 - since.0).as_secs_f64().max(1e-9);
    let long = context.rtt.is_some_and(|rtt| last.0 - since.0 >= rtt.scale(MIN_RTTS_IN_FORCE));
    let full = queues(transfer, context, rate, since.0) || was_path_probed(transfer, context, rate, since.0);
    (late > 0 && long && full).then_some((rate, since.0))
}

/// Whether points of the curve lie at one rate.
fn is_even_rate(points: &[(Time, u64)]) -> bool {
    let mut paces: Vec<f64> = points
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0).as_secs_f64() / (pair[1].1 - pair[0].1).max(1) as f64)
        .collect();
    paces.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| paces.get((share * paces.len() as f64) as usize).copied();
    at(0.9).zip(at(0.1)).is_some_and(|(slow, quick)| alike_rates(1.0 / slow, 1.0 / quick))
}

/// Index of the first round of the state that begins at `from`: the round in progress then, if most
/// of it comes after. A queue that holds the rest of a transfer makes one long round, which begins
/// before the queue is full.
pub(crate) fn first_round(transfer: &TransferFacts, from: Time) -> usize {
    let rounds = &transfer.rounds;
    let next = rounds.partition_point(|round| round.start < from);
    let end = rounds.get(next).map_or(transfer.end, |round| round.start);
    let goes_on = next.checked_sub(1).is_some_and(|index| from - rounds[index].start < end - from);
    next - usize::from(goes_on)
}

/// Minimum number of rounds whose flights stand still: as for a full link, more than slow start
/// takes (RFC 5681 section 3.1). Half and twice change none of 2,061 captures.
const MIN_ROUNDS: usize = 8;
/// Largest usual flight over rate × round trip, next to three segments and [`AT_ONCE`]: a steady
/// rate varies as much (`STEADY`). Half and twice the excess over 1 change none of 2,061 captures.
const MAX_USUAL_FLIGHT: f64 = 1.25;
/// Largest flight in single rounds, when ACKs were late, over rate × round trip: below the two of a
/// BBR sender that looks for more rate (draft-ietf-ccwg-bbr, BBR.cwnd_gain). Half and twice the
/// excess over 1 change none of 2,061 captures.
const MAX_SINGLE_FLIGHT: f64 = 1.75;
/// Data that a sender hands down at once, as time at its rate: Linux sizes bursts for a millisecond
/// (`tcp_tso_autosize`, `sk_pacing_shift` 10).
const AT_ONCE: Nanos = Nanos::from_millis(1);
/// Minimum share of the rate in a round that it governs. Follows from `STEADY`: the lower half of
/// its range. Half and twice the distance to 1 change none of 2,061 captures.
const CARRIED: f64 = 0.9;
/// Minimum number of halves of round trips with equal rates: eight whole ones, as [`MIN_ROUNDS`].
/// Half and twice change none of 2,061 captures.
const MIN_HALVES: usize = 16;
/// A pause up to this multiple of the round trip ended with an awaited ACK, which starts the sender
/// at once; a longer one had another reason. Half and twice the excess over 1 change none of 2,061
/// captures.
const AT_AN_ACK: f64 = 1.1;
/// Largest share of the time that other limits may take from a rate that governs the transfer. Half
/// and twice change none of 2,061 captures.
const MAX_OTHER_LIMITS: f64 = 0.2;
/// Mean segment over the MSS, above which the application filled its segments. Half and twice the
/// distance to 1 change none of 2,061 captures.
const FULL: f64 = 0.8;
/// The same over QUIC, whose congestion window counts bytes (RFC 9002 section 7): a sender with
/// more to send may use what is left of it for a short packet behind each full one. Measured with
/// aioquic 1.7: 0.72 on full links.
const FULL_OVER_QUIC: f64 = 0.5;
/// Rates of Ethernet links (IEEE 802.3), bits per second with Ethernet's overhead: a sender whose
/// own link is full sends evenly too. Source: https://www.ieee802.org/3/.
const LINKS: [f64; 6] = [10e6, 100e6, 1e9, 2.5e9, 10e9, 25e9];

/// One byte in this number may be missing from the capture: of 50 rounds, the flights then differ
/// by less than a round. Measured: 2 % of capture loss hides no pacing. Half and twice change none
/// of 2,061 captures.
const MAX_UNSEEN: u64 = 50;

/// Whether the sender itself keeps to the steady rate: there is no queue, as at most rate × round
/// trip is in flight and that does not grow; and it waits neither for ACKs nor for a window. A
/// sender that is limited by the path has a growing window, or a queue.
pub(crate) fn is_paced(transfer: &TransferFacts, context: &Context, rate: f64, from: Time) -> bool {
    let Some(rtt) = context.rtt.filter(|rtt| *rtt > Nanos::ZERO) else {
        return false;
    };
    // If packets were left out of a text, the rounds are those that it shows whole.
    let unseen = transfer.unseen > transfer.bytes() / MAX_UNSEEN && transfer.known_span.is_none();
    let doubtful = context.one_direction || unseen || transfer.retransmitted_bytes > 0;
    // A mark is made by a queue.
    let marked = transfer.ecn_echoes > 0;
    // Next to the receiver only timestamps show how much is in flight, and so whether a queue
    // stands. A sender that paces usually does so from its first byte; a burst before it suggests a
    // shaper. Linux does not pace the first ten segments: if they arrived at this rate, the path
    // may have spaced them.
    let unseen_queue = context.hides_queue();
    let hidden = unseen_queue && (from > transfer.start || begins_spaced(transfer, context, rate) == Some(true));
    let mss = context.mss as f64;
    if doubtful || marked || hidden || is_link_rate(rate * (mss + 90.0) / mss) {
        return false;
    }
    let rounds = governed(&transfer.rounds, rate, from);
    let needed = |share: f64| rate / 8.0 * (rtt.scale(share) + AT_ONCE).as_secs_f64() + 3.0 * mss;
    let (usual, most) = (needed(MAX_USUAL_FLIGHT), needed(MAX_SINGLE_FLIGHT));
    let has_room = |round: &RoundFacts| {
        round.in_flight as f64 <= most && round.window.is_none_or(|window| window > round.in_flight + 3 * context.mss)
    };
    let queued = rounds.iter().filter(|round| round.in_flight as f64 > usual).count();
    let flights: Vec<u64> = rounds.iter().map(|round| round.in_flight).collect();
    // The last round has the remainder.
    let whole = &flights[..flights.len().saturating_sub(1)];
    rounds.len() >= MIN_ROUNDS
        && rounds.iter().all(has_room)
        && queued * 10 <= rounds.len()
        && !is_growing(whole, context.mss)
        && time_otherwise_spent(transfer, rtt, from).0 as f64 <= MAX_OTHER_LIMITS * transfer.known_for().0 as f64
}

/// Segments after the first one that show how a flight is spaced: more than an ACK for two (RFC
/// 5681 section 4.2) puts together. Half and twice change none of 2,061 captures.
const SPACED: u64 = 3;

/// Whether the first flight, the segments that left before any ACK, arrived spaced by this rate;
/// `None` if too little of it was captured.
pub(crate) fn begins_spaced(transfer: &TransferFacts, context: &Context, rate: f64) -> Option<bool> {
    let first = transfer.rounds.first().filter(|_| context.opening_seen)?;
    let behind = first.bytes.saturating_sub(context.mss);
    let at_rate = behind as f64 * 8.0 / rate.max(1.0);
    let took = (first.last_send - first.start).as_secs_f64();
    (behind >= SPACED * context.mss).then_some(took * SAME_RATE_FACTOR >= at_rate)
}

/// The rounds after the first one that carried the rate: before it, the window was still opening,
/// and in it data that left at once, before the rate took effect, may still be in flight.
fn governed(rounds: &[RoundFacts], rate: f64, from: Time) -> &[RoundFacts] {
    let filled = |pair: &[RoundFacts]| {
        let time = (pair[1].start - pair[0].start).as_secs_f64();
        pair[0].start >= from && pair[0].bytes as f64 * 8.0 >= CARRIED * rate * time
    };
    let later = rounds.get(1..).unwrap_or_default();
    let first = later.windows(2).position(filled).map_or(later.len(), |index| index + 1);
    &later[first..]
}

/// The rate of a sender that spaces clumps of segments, which ten segments are too few to show as
/// even: equal over halves of a round trip, in which an exhausted window would leave a mark. Or the
/// rate of a path whose queue marks packets (ECN) when it is full.
pub(crate) fn clumped_rate(transfer: &TransferFacts, context: &Context) -> Option<f64> {
    let (first, last) = (transfer.delivered.first()?, transfer.delivered.last()?);
    let rate = (last.1 - first.1) as f64 / (last.0 - first.0).as_secs_f64().max(1e-9);
    let direction = (rate * context.rtt?.as_secs_f64() / 2.0) as u64;
    let mut paces: Vec<f64> = Vec::new();
    let mut since = *first;
    for &point in &transfer.delivered {
        if point.1 - since.1 >= direction.max(1) {
            paces.push((point.0 - since.0).as_secs_f64() / (point.1 - since.1) as f64);
            since = point;
        }
    }
    paces.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| paces.get((share * paces.len() as f64) as usize).copied();
    let even = paces.len() >= MIN_HALVES
        && at(0.9).zip(at(0.1)).is_some_and(|(slow, quick)| alike_rates(1.0 / slow, 1.0 / quick));
    let rate = 8.0 / at(0.5).filter(|_| even)?;
    // A mark is made by a queue: then the rate is the path's.
    let queued = transfer.ecn_echoes > 0;
    (queued || is_paced(transfer, context, rate, transfer.start)).then_some(rate)
}

fn is_link_rate(rate: f64) -> bool {
    LINKS.iter().any(|link| (rate / link - 1.0).abs() < 0.01)
}

/// Time in which the sender waited for an ACK of its data in flight, as with a full window, or had
/// no data to send.
fn time_otherwise_spent(transfer: &TransferFacts, rtt: Nanos, from: Time) -> Nanos {
    let gaps = transfer.pauses.iter().filter(|gap| gap.start >= from);
    gaps.filter(|gap| match gap.release {
        Release::Ack => {
            let pause = gap.end - gap.start;
            pause >= rtt.scale(0.5) && pause <= rtt.scale(AT_AN_ACK) + gap.ack_late
        }
        Release::Nothing => gap.app_limited,
        _ => true,
    })
    .map(|gap| gap.end - gap.start)
    .sum()
}
