//! What equal amounts of bytes tell: one rate that governs a transfer, a burst that went before it, and whether it is the sender's own.

use super::Context;
use super::rounds::rises;
use crate::tcp::facts::{Release, RoundFacts, TransferFacts};
use crate::units::Nanos;

/// What passed before the rate came into force, as a token bucket lets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Bytes beyond what the rate alone would have let through: the size of the bucket.
    pub bytes: u64,
    /// Bits per second at which it passed.
    pub rate: f64,
    /// When it was used up, by the sender's clock.
    pub until: Nanos,
}

/// Points of the curve of delivered bytes that are needed on each side of a change.
const LEAST_BEFORE: usize = 2;
const LEAST_AFTER: usize = 8;
/// A burst went at least so much faster than the rate behind it.
const FASTER: f64 = 1.5;
/// Of a burst, what has passed at its end.
const NEARLY: f64 = 0.95;
/// And is larger than what an initial window, acknowledged at once, makes of the first moments.
const LEAST_BURST: u64 = 20;

/// The rate of the later part of a transfer, bits per second, and the burst before it.
pub(super) fn after_burst(transfer: &TransferFacts, context: &Context) -> Option<(f64, Burst)> {
    let curve = &transfer.delivered;
    let doubtful = transfer.unseen > 0 && transfer.retransmitted.unseen_original == 0;
    if curve.len() < LEAST_BEFORE + LEAST_AFTER || doubtful {
        return None;
    }
    // The rate of the second half of the time: it governs most of the transfer, or else there is none.
    let (first, last) = (curve.first()?, curve.last()?);
    let middle = first.0 + (last.0 - first.0).scale(0.5);
    let half = curve.partition_point(|point| point.0 < middle).min(curve.len() - 2);
    let rate = (last.1 - curve[half].1) as f64 / (last.0 - curve[half].0).as_secs_f64().max(1e-9);
    // What came beyond that rate: where that is most, between any two points, is the burst.
    let beyond = |point: &(Nanos, u64)| point.1 as f64 - rate * (point.0 - first.0).as_secs_f64();
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
    // It ends where nearly all of it has passed: from then on the curve follows the rate, now above it and now below.
    let passed_by = |point: &(Nanos, u64)| beyond(point) - least >= NEARLY * bytes;
    let until = from + curve[from..].iter().position(passed_by)?;
    let (start, end) = (curve[from], curve[until]);
    let rtt = context.rtt?;
    let enough = (LEAST_BURST * context.mss) as f64;
    let passed = (end.1 - start.1) as f64 / (end.0 - start.0).as_secs_f64().max(1e-9);
    let after = &curve[until..];
    let is_burst = until >= from + LEAST_BEFORE
        && bytes >= enough.max(rate * rtt.as_secs_f64())
        && passed >= FASTER * rate
        && after.len() > LEAST_AFTER
        && (last.0 - end.0).0 * 2 >= (last.0 - first.0).0;
    if !is_burst {
        return None;
    }
    let mut paces: Vec<f64> = after
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0).as_secs_f64() / (pair[1].1 - pair[0].1).max(1) as f64)
        .collect();
    paces.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| paces.get((share * paces.len() as f64) as usize).copied();
    let even = at(0.9).zip(at(0.1)).is_some_and(|(slow, quick)| super::rounds::alike_rates(1.0 / slow, 1.0 / quick));
    even.then_some((rate * 8.0, Burst { bytes: bytes as u64, rate: passed * 8.0, until: end.0 }))
}

/// Whether a queue stands at this rate: more is in flight than rate and round trip need. Else it is no path's rate, however even: a
/// sender that always has the same in flight is even too.
pub(crate) fn queues(transfer: &TransferFacts, context: &Context, rate: f64, from: Nanos) -> bool {
    let rounds = &transfer.rounds[first_round(transfer, from)..];
    let mut flights: Vec<u64> = rounds.iter().map(|round| round.in_flight).collect();
    flights.sort_unstable();
    let needed = context.rtt.map(|rtt| rate / 8.0 * rtt.scale(BEYOND).as_secs_f64());
    flights.get(flights.len() / 2).zip(needed).is_some_and(|(&typical, needed)| typical as f64 > needed)
}

/// Index of the first round that belongs to what holds from a time on: the one that goes on then, if more of it comes after. A queue
/// that takes all that is left of a transfer makes one long round of it, which began before the queue was full.
pub(super) fn first_round(transfer: &TransferFacts, from: Nanos) -> usize {
    let rounds = &transfer.rounds;
    let next = rounds.partition_point(|round| round.start < from);
    let end = rounds.get(next).map_or(transfer.end, |round| round.start);
    let goes_on = next.checked_sub(1).is_some_and(|index| from - rounds[index].start < end - from);
    next - usize::from(goes_on)
}

/// Rounds whose flights must stand still.
const LEAST_ROUNDS: usize = 8;
/// What may be in flight beyond what rate and round trip need, of it; beside three segments, and what a sender hands down at once
/// (Linux: a millisecond's worth).
const BEYOND: f64 = 1.25;
/// And in the one or other round, when ACKs were late; a sender that looks for more rate goes beyond (BBR: to twice as much and more).
const EVER: f64 = 1.75;
const AT_ONCE: Nanos = Nanos::from_millis(1);
/// Of the rate, what a round carries that it governs.
const CARRIED: f64 = 0.9;
/// Halves of round trips that must be alike.
const LEAST_HALVES: usize = 16;
/// An ACK that is waited for starts the sender at once: later than this, of a round trip, something else did.
const AT_AN_ACK: f64 = 1.1;
/// Time that may be spent otherwise, of the whole.
const OTHERWISE: f64 = 0.2;
/// Segments are full ones, on average.
const FULL: f64 = 0.8;
/// Rates of links: a sender whose own link is full sends evenly too. Bits per second with Ethernet's own overhead.
const LINKS: [f64; 6] = [10e6, 100e6, 1e9, 2.5e9, 10e9, 25e9];

/// Whether the sender itself keeps to the steady rate: nothing queues, as no more than rate × round trip is ever in flight and that
/// does not grow; and it waits neither for ACKs nor for a window. A sender that is held by the path has a window that grows, or a queue.
pub(super) fn is_paced(transfer: &TransferFacts, context: &Context, rate: f64, from: Nanos) -> bool {
    let Some(rtt) = context.rtt.filter(|rtt| *rtt > Nanos::ZERO) else {
        return false;
    };
    // Where a text has packets left out, the rounds are those that it shows whole.
    let unseen = transfer.unseen > 0 && transfer.told.is_none();
    let doubtful = context.one_direction || unseen || transfer.resent_bytes > 0;
    // A mark is made by a queue.
    let marked = transfer.ecn_echoes > 0;
    let mss = context.mss as f64;
    let full = transfer.bytes() as f64 >= FULL * mss * transfer.segments as f64;
    if doubtful || marked || !full || is_a_links(rate * (mss + 90.0) / mss) {
        return false;
    }
    let rounds = governed(&transfer.rounds, rate, from);
    let needed = |share: f64| rate / 8.0 * (rtt.scale(share) + AT_ONCE).as_secs_f64() + 3.0 * mss;
    let (usual, most) = (needed(BEYOND), needed(EVER));
    let has_room = |round: &RoundFacts| {
        round.in_flight as f64 <= most && round.window.is_none_or(|window| window > round.in_flight + 3 * context.mss)
    };
    let queued = rounds.iter().filter(|round| round.in_flight as f64 > usual).count();
    let flights: Vec<u64> = rounds.iter().map(|round| round.in_flight).collect();
    // What is left over goes in the last round.
    let whole = &flights[..flights.len().saturating_sub(1)];
    rounds.len() >= LEAST_ROUNDS
        && rounds.iter().all(has_room)
        && queued * 10 <= rounds.len()
        && !rises(whole, context.mss)
        && otherwise(transfer, rtt, from).0 as f64 <= OTHERWISE * transfer.told_for().0 as f64
}

/// The rounds after the first one that carried the rate: before it, the window was still opening, and in it what left at once, before
/// any rate was in force, may still be in flight.
fn governed(rounds: &[RoundFacts], rate: f64, from: Nanos) -> &[RoundFacts] {
    let filled = |pair: &[RoundFacts]| {
        let time = (pair[1].start - pair[0].start).as_secs_f64();
        pair[0].start >= from && pair[0].bytes as f64 * 8.0 >= CARRIED * rate * time
    };
    let later = rounds.get(1..).unwrap_or_default();
    let first = later.windows(2).position(filled).map_or(later.len(), |index| index + 1);
    &later[first..]
}

/// The rate of a sender that spaces clumps of segments, too few of them in ten segments to be even there: equal over halves of a round
/// trip, in which a window that is used up leaves its mark. Or of a path whose queue says by marks (ECN) that it is full.
pub(super) fn of_clumps(transfer: &TransferFacts, context: &Context) -> Option<f64> {
    let (first, last) = (transfer.delivered.first()?, transfer.delivered.last()?);
    let rate = (last.1 - first.1) as f64 / (last.0 - first.0).as_secs_f64().max(1e-9);
    let half = (rate * context.rtt?.as_secs_f64() / 2.0) as u64;
    let mut paces: Vec<f64> = Vec::new();
    let mut since = *first;
    for &point in &transfer.delivered {
        if point.1 - since.1 >= half.max(1) {
            paces.push((point.0 - since.0).as_secs_f64() / (point.1 - since.1) as f64);
            since = point;
        }
    }
    paces.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| paces.get((share * paces.len() as f64) as usize).copied();
    let even = paces.len() >= LEAST_HALVES
        && at(0.9).zip(at(0.1)).is_some_and(|(slow, quick)| super::rounds::alike_rates(1.0 / slow, 1.0 / quick));
    let rate = 8.0 / at(0.5).filter(|_| even)?;
    // A mark is made by a queue: then the rate is the path's.
    let queued = transfer.ecn_echoes > 0;
    (queued || is_paced(transfer, context, rate, transfer.start)).then_some(rate)
}

fn is_a_links(rate: f64) -> bool {
    LINKS.iter().any(|link| (rate / link - 1.0).abs() < 0.01)
}

/// Time in which the sender waited for an ACK of what it had in flight, as a full window does, or had nothing to send.
fn otherwise(transfer: &TransferFacts, rtt: Nanos, from: Nanos) -> Nanos {
    let gaps = transfer.gaps.iter().filter(|gap| gap.start >= from);
    gaps.filter(|gap| match gap.release {
        Release::Ack => {
            let pause = gap.end - gap.start;
            pause >= rtt.scale(0.5) && pause <= rtt.scale(AT_AN_ACK) + gap.ack_late
        }
        Release::Nothing => gap.ran_dry,
        _ => true,
    })
    .map(|gap| gap.end - gap.start)
    .sum()
}
