//! Flights that stay the same: a cap of the sender, or a window of the program's own protocol.

use crate::estimate::{Context, is_growing};
use whyslow_analysis::types::LimitingFactor;
use whyslow_core::tcp::facts::{Release, RoundFacts, SendPause, TransferFacts};
use whyslow_units::Nanos;
use whyslow_units::stats::median;
use whyslow_units::steps;

/// Smallest send buffer, bytes (Linux, tcp(7): the least value of `tcp_wmem`): smaller flights are
/// messages.
const MIN_BUFFER: u64 = 4_096;
/// Minimum share of a plateau in which the sender waits for the receiver. Half and twice change 2
/// and 7 of 2,061 captures.
const MIN_WAIT: f64 = 0.5;
/// The same for a plateau of twice the usual length: a sender that paces (BBR) sends for most of a
/// round trip, and waits for the rest of it. Half and twice change 1 and 0 of 2,061 captures.
const MIN_WAIT_LONG: f64 = 0.25;
/// Minimum number of rounds without growth: slow start would have grown by 16 times in them (RFC
/// 5681 section 3.1). Half and twice change 54 and 6 of 2,061 captures.
const MIN_PLATEAU: usize = 4;
/// The same after a loss, where CUBIC's window is flat around its former maximum (RFC 9438 section
/// 4.1), and grows by 0.53 segments a round at least (section 4.3), or by half of that where every
/// second segment is acknowledged: by the 3 segments that count as the same, and a step of 2, in 19
/// rounds. Half and twice change 2 and 0 of 2,061 captures.
const MIN_PLATEAU_AFTER_LOSS: usize = 20;
/// Largest flight over a plateau's if a buffer is full: the buffer counts packets with their
/// overhead (Linux `truesize`, up to twice the payload), and data that has left it is in flight in
/// addition. Half and twice change 2 and 0 of 2,061 captures.
const MAX_CAPPED_GROWTH: f64 = 3.0;
/// The same after a loss, where a congestion window reduced to 0.7 at most (RFC 9438 section 4.6)
/// makes flights of one size as well: less than 1 / 0.7. Half and twice the excess over 1 change
/// none of 2,061 captures.
const MAX_CAPPED_GROWTH_AFTER_LOSS: f64 = 1.25;
/// Of ten pauses, the number that a message of the receiver ended if the application's protocol has
/// a window: most, and one may carry a pure ACK before the grant. Half and twice change 0 and 1 of
/// 2,061 captures.
const GRANTED: u64 = 7;

/// The largest frame of HTTP/2, unless its settings allow more (RFC 9113 section 6.5.2): a smaller
/// window is of no use.
const HTTP2_FRAME: u64 = 16_384;

/// A run of rounds with the same flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Index of its first round.
    pub first: usize,
    /// Index after its last.
    pub after: usize,
    /// Maximum bytes in flight in a round: the typical value.
    pub bytes: u64,
    /// The least window during it.
    pub window: Option<u64>,
    /// Where large and small flights alternate: bytes and time of two rounds together, typical of
    /// them.
    pub cycle: Option<(u64, Nanos)>,
}

/// Whether the transfer never had as much in flight as any window of its protocol allows.
pub(super) fn fills_no_window(transfer: &TransferFacts, context: &Context) -> bool {
    context.is_http2 && transfer.max_in_flight < HTTP2_FRAME
}

/// Finds the cap of flights that stay the same, and marks their rounds with it in `base`.
/// `at_rate`: the rounds that one rate filled. Returns the longest of the plateaus.
pub(super) fn mark_plateaus(
    base: &mut [LimitingFactor],
    transfer: &TransferFacts,
    context: &Context,
    at_rate: Option<&[bool]>,
) -> Option<Plateau> {
    let rounds = &transfer.rounds;
    let again = transfer.first_retransmit_round();
    // The bytes on one subflow are its scheduler's choice. Messages of one size, each read before
    // the next, are not a plateau either.
    let are_messages = fills_no_window(transfer, context);
    let none = context.is_multipath || are_messages;
    let mut plateaus = if none { Vec::new() } else { plateaus(transfer, context, again) };
    if let Some(at_rate) = at_rate {
        // One rate makes equal flights too.
        let full = |plateau: &Plateau| at_rate[plateau.first..plateau.after].iter().filter(|full| **full).count();
        plateaus.retain(|plateau| full(plateau) * 2 <= plateau.after - plateau.first);
    }
    plateaus.retain(|plateau| {
        is_cap(plateau, rounds, again, context) || are_granted(receiver_waits(transfer, plateau.first, plateau.after))
    });
    let granted = granted(transfer, context, base, again).filter(|_| !are_messages);
    let limit = if granted.is_some() { LimitingFactor::ProtocolWindow } else { plateau_limit(transfer, &plateaus) };
    for plateau in &plateaus {
        base[plateau.first..plateau.after].fill(limit);
        // The last, smaller flight of a transfer that was held there.
        if plateau.after + 1 == rounds.len() {
            base[plateau.after] = limit;
        }
    }
    if let Some(granted) = granted {
        for limit in &mut base[granted.first..granted.after] {
            if *limit == LimitingFactor::CongestionAvoidance {
                *limit = LimitingFactor::ProtocolWindow;
            }
        }
        plateaus.push(granted);
    }
    plateaus.into_iter().max_by_key(|plateau| plateau.after - plateau.first)
}

/// Whether no other flight was much larger: a buffer that is full stays as large as it is, and a
/// congestion window does not. Behind a loss the other transfers count as well.
fn is_cap(plateau: &Plateau, rounds: &[RoundFacts], again: usize, context: &Context) -> bool {
    let at_most = |bytes: u64, growth: f64| bytes as f64 <= plateau.bytes as f64 * growth;
    let is_after_loss = plateau.first >= again || is_after_loss(rounds, context);
    if is_after_loss && !at_most(context.largest_flight, MAX_CAPPED_GROWTH_AFTER_LOSS) {
        return false;
    }
    let growth = if is_after_loss { MAX_CAPPED_GROWTH_AFTER_LOSS } else { MAX_CAPPED_GROWTH };
    rounds.iter().all(|round| at_most(round.in_flight, growth))
}

/// Whether the direction lost segments before these rounds.
fn is_after_loss(rounds: &[RoundFacts], context: &Context) -> bool {
    rounds.first().is_some_and(|round| context.first_loss.is_some_and(|time| time < round.start))
}

/// A program's own window, where messages of the receiver come with the ACKs that end most pauses
/// of the plateaus; else a cap in the sender.
fn plateau_limit(transfer: &TransferFacts, plateaus: &[Plateau]) -> LimitingFactor {
    let waits = plateaus.iter().flat_map(|plateau| receiver_waits(transfer, plateau.first, plateau.after));
    if are_granted(waits) { LimitingFactor::ProtocolWindow } else { LimitingFactor::SenderCap }
}

/// Pauses within rounds that the receiver ended, with room left in its window: by an ACK, or by a
/// message with one, though the program may have been late to answer it.
fn receiver_waits(transfer: &TransferFacts, first: usize, after: usize) -> impl Iterator<Item = &SendPause> {
    let start = transfer.rounds.get(first).map_or(transfer.last_send, |round| round.start);
    let end = transfer.rounds.get(after).map_or(transfer.last_send, |round| round.start);
    steps::add(transfer.pauses.len() as u64);
    let by_receiver = |gap: &&SendPause| match gap.release {
        Release::Ack | Release::Peer => true,
        Release::Nothing => gap.peer_payload_at.is_some(),
        _ => false,
    };
    transfer.pauses.iter().filter(move |gap| gap.start >= start && gap.end <= end).filter(by_receiver)
}

/// Whether a message of the receiver ended most of them.
fn are_granted<'a>(waits: impl Iterator<Item = &'a SendPause>) -> bool {
    let (mut all, mut granted) = (0u64, 0u64);
    for gap in waits {
        all += 1;
        granted += u64::from(gap.with_peer_payload || gap.peer_payload_at.is_some());
    }
    all > 0 && granted * 10 >= all * GRANTED
}

/// Index from which flights stay the same, if half of them do: TCP's own window may have opened
/// before another one limited it.
fn behind_a_ramp(rounds: &[RoundFacts], mss: u64) -> usize {
    let flights: Vec<u64> = rounds.iter().map(|round| round.in_flight).collect();
    let mut first = 0;
    while first * 2 <= flights.len() {
        let rest = flights.get(first..flights.len().saturating_sub(1)).unwrap_or_default();
        if !is_growing(rest, mss) {
            return first;
        }
        first += rest.len() / 8 + 1;
    }
    0
}

/// Rounds behind slow start whose flights a program's own window bounds, though they are not all
/// alike: credit comes in pieces, so that a flight may be a piece smaller than the one before. They
/// do not grow, and messages of the receiver end most pauses.
fn granted(transfer: &TransferFacts, context: &Context, base: &[LimitingFactor], lost: usize) -> Option<Plateau> {
    let opened = base.iter().position(|limit| *limit != LimitingFactor::SlowStart)?;
    let opening = transfer.rounds.get(opened..lost)?;
    let first = opened + behind_a_ramp(opening, context.mss);
    let rounds = transfer.rounds.get(first..lost)?;
    // The last round has the remainder.
    let whole = rounds.len() - usize::from(lost == transfer.rounds.len()).min(rounds.len());
    let flights: Vec<u64> = rounds[..whole].iter().map(|round| round.in_flight).collect();
    let bytes = *flights.iter().max()?;
    let window = rounds.iter().filter_map(|round| round.window).min();
    let room_left = window.is_none_or(|window| window > bytes + alike(bytes, context.mss));
    let is_granted = whole >= MIN_PLATEAU
        && bytes > context.mss
        && room_left
        && !is_growing(&flights, context.mss)
        && waits_for_acks(transfer, first, lost, MIN_WAIT)
        && are_granted(receiver_waits(transfer, first, lost));
    is_granted.then_some(Plateau { first, after: lost, bytes, window, cycle: None })
}

/// Largest difference between flights that count as the same: 3 segments, or in large ones the
/// effect of an ACK for many at once.
fn alike(top: u64, mss: u64) -> u64 {
    (3 * mss).max(top / 128)
}

/// Whether flights stay the same: all alike, and not rising by as much as congestion avoidance
/// would (half a segment a round, RFC 9438 section 4.3, and one RFC 5681).
fn stands_still(tops: &[u64], mss: u64) -> bool {
    let (low, high) = tops.iter().fold((u64::MAX, 0), |(low, high), &top| (low.min(top), high.max(top)));
    high - low <= alike(high, mss) && !is_growing(tops, mss)
}

/// Runs of rounds with the same flight, in order.
fn plateaus(transfer: &TransferFacts, context: &Context, lost: usize) -> Vec<Plateau> {
    let rounds = &transfer.rounds;
    // Some senders alternate a large and a small flight (a full buffer, and the rest of a write):
    // the larger counts.
    let top = |index: usize| {
        let next = rounds.get(index + 1).filter(|_| index + 2 < rounds.len()).map_or(0, |round| round.in_flight);
        rounds[index].in_flight.max(next)
    };
    let tops: Vec<u64> = (0..rounds.len()).map(top).collect();
    let found = alike_runs(transfer, context, lost, &tops);
    // Between losses a congestion window sends the same for a while, too.
    if !found.is_empty() || lost < rounds.len() {
        return found;
    }
    // Where ACKs and new segments meet, the maximum in flight varies, while the data that a buffer
    // releases in a round trip does not.
    let sent: Vec<u64> = rounds.iter().map(|round| round.bytes).collect();
    alike_runs(transfer, context, lost, &sent)
}

/// Runs of rounds of the same size that are plateaus.
fn alike_runs(transfer: &TransferFacts, context: &Context, lost: usize, sizes: &[u64]) -> Vec<Plateau> {
    let rounds = &transfer.rounds;
    // Losses lie perhaps where packets were left out of a text.
    let loss_may_be_unseen = transfer.is_start_unknown() && transfer.retransmitted_bytes > 0;
    let mut found = Vec::new();
    let mut first = 0;
    while first < rounds.len() {
        let mut after = first + 1;
        let (mut low, mut high) = (sizes[first], sizes[first]);
        while after < rounds.len() && rounds[after].retransmitted == 0 {
            let (l, h) = (low.min(sizes[after]), high.max(sizes[after]));
            if h - l > alike(h, context.mss) {
                break;
            }
            (low, high) = (l, h);
            after += 1;
        }
        let after_loss = first >= lost || loss_may_be_unseen || is_after_loss(rounds, context);
        let needed = if after_loss { MIN_PLATEAU_AFTER_LOSS } else { MIN_PLATEAU };
        let window = rounds[first..after].iter().filter_map(|round| round.window).min();
        let most = rounds[first..after].iter().map(|round| round.in_flight).max().unwrap_or_default().max(high);
        let room_left = window.is_none_or(|window| window > most + alike(most, context.mss));
        let length: usize = rounds[first..after].iter().map(|round| round.merged as usize).sum();
        if length >= needed
            && high > context.mss
            && high >= MIN_BUFFER
            && room_left
            && waits_for_acks(transfer, first, after, if length >= 2 * needed { MIN_WAIT_LONG } else { MIN_WAIT })
            && stands_still(&sizes[first..after], context.mss)
        {
            let middle = median(sizes[first..after].to_vec()).unwrap_or_default();
            // Data in flight beyond the sizes is as far as the flights went.
            let bytes = if most > high { most } else { middle };
            found.push(Plateau { first, after, bytes, window, cycle: cycle(transfer, first, after) });
        }
        first = after;
    }
    found
}

/// Joins rounds in pairs if one of the two always has less than half of the other's bytes.
fn cycle(transfer: &TransferFacts, first: usize, after: usize) -> Option<(u64, Nanos)> {
    let rounds = &transfer.rounds;
    let mut pairs: Vec<(u64, Nanos)> = Vec::new();
    let mut uneven = 0;
    for index in first..after.saturating_sub(1) {
        let (one, two) = (rounds[index].bytes, rounds[index + 1].bytes);
        let end = rounds.get(index + 2).map_or(transfer.last_send, |round| round.start);
        uneven += usize::from(one.min(two) * 2 < one.max(two));
        pairs.push((one + two, end - rounds[index].start));
    }
    if pairs.len() < 2 || uneven * 10 < pairs.len() * 8 {
        return None;
    }
    median(pairs.iter().map(|pair| pair.0).collect()).zip(median(pairs.iter().map(|pair| pair.1).collect()))
}

/// Whether the sender spent this share of these rounds waiting for the receiver, and not sending,
/// nor for its application.
fn waits_for_acks(transfer: &TransferFacts, first: usize, after: usize, share: f64) -> bool {
    let start = transfer.rounds[first].start;
    let end = transfer.rounds.get(after).map_or(transfer.last_send, |round| round.start);
    let until = |gap: &SendPause| {
        if gap.release == Release::Nothing { gap.peer_payload_at.unwrap_or(gap.end) } else { gap.end }
    };
    let waited: Nanos = receiver_waits(transfer, first, after).map(|gap| until(gap) - gap.start).sum();
    waited > (end - start).scale(share)
}
