//! `limit`: from what TCP did to what held it back.
//!
//! Cuts a transfer's time, from its first byte sent to the ACK of its last, into spans of one
//! [`Limit`] each. Spans meet without gap or overlap, so their shares sum to 1. A long pause is
//! judged by what ended it; the rest of a round by what the rounds around it show (`rounds`).

mod alike;
mod context;
mod inter_loss;
mod overrun;
mod path;
mod phases;
mod rates;
mod rounds;
mod server_push;
mod wait;
mod waits;

pub(crate) use alike::rises;
pub use context::Context;
pub use inter_loss::InterLossRate;
pub use overrun::Overrun;
pub use path::{INITIAL_WINDOW, LARGEST_INITIAL_WINDOW, burst_rate, first_lossy_flight, least_rate, rounds_needed};
pub use phases::{handshake, phases_before, tls_handshake};
pub(crate) use rounds::first_retransmit_round;
pub use rounds::{Plateau, Shape};
pub use server_push::may_speak_unasked;
pub use wait::{NOTICEABLE_WAIT, Wait};
pub use waits::waits;

use crate::tcp::facts::{Facts, Gap, Release, Retransmitted, RoundFacts, TransferFacts};
use crate::tcp::payload::Protocol;
use crate::types::{Limit, Near, Side};
use crate::units::Nanos;
use server_push::ServerPush;
use wait::SEGMENT;

/// What the path carries, payload bits per second, if the user said so.
pub fn seen_rate(transfer: &TransferFacts, partition: &Partition, context: &Context) -> Option<f64> {
    let held = partition.time(Limit::Bandwidth).0 * MIN_HELD_SHARE >= transfer.duration().0;
    partition.shape.steady.filter(|_| held).or_else(|| burst_rate(transfer, context))
}

/// Of a transfer's time, what the path must have held it for to tell what it carries.
const MIN_HELD_SHARE: i64 = 4;

impl Context {
    /// The context of transfers that `sender` sends.
    pub fn new(facts: &Facts, sender: Side) -> Self {
        let rtt = facts.min_rtt();
        let alone = Self {
            mss: facts.directions[sender].mss,
            rtt,
            epsilon: Nanos::from_millis(1).max(rtt.unwrap_or_default().scale(0.1)),
            one_direction: facts.capture_defects.one_direction,
            elided: !facts.elided.is_empty(),
            near_receiver: facts.vantage.toward[sender] > facts.vantage.toward[!sender],
            has_timestamps: facts.handshake.offers.iter().all(|offer| offer.is_some_and(|offer| offer.timestamps)),
            next_to_receiver: facts.vantage.near == if sender == facts.client { Near::Server } else { Near::Client },
            opening_seen: facts.handshake.syn.is_some() || facts.handshake.syn_ack.is_some(),
            small_window: small_window(facts, sender),
            first_loss: time_of_first_loss(facts, sender),
            server_push: ServerPush::of(facts),
            is_multipath: facts.handshake.is_multipath(),
            path_rate: None,
            pooled_rate: None,
            announces_length: matches!(facts.content[sender].protocol, Some(Protocol::Http | Protocol::Tls)),
        };
        Self { pooled_rate: inter_loss::pooled_rate(&facts.directions[sender].transfers, &alone), ..alone }
    }
}

/// Returns when the first transfer with a retransmission began.
fn time_of_first_loss(facts: &Facts, sender: Side) -> Option<Nanos> {
    facts.directions[sender]
        .transfers
        .iter()
        .find(|transfer| transfer.retransmitted_bytes > 0)
        .map(|transfer| transfer.start)
}

/// Returns the smallest initial window that the sender has shown, if less than four segments: full
/// segments, which Nagle never holds, waited for the ACK of a first flight this small. A
/// retransmitted SYN or SYN-ACK leaves a window of one (RFC 5681 section 3.1).
fn small_window(facts: &Facts, sender: Side) -> Option<u64> {
    let direction = &facts.directions[sender];
    if facts.handshake.retries[sender] > 0 {
        return Some(direction.mss);
    }
    let used_up = |gap: &&Gap| {
        gap.release == Release::Ack
            && !gap.recovering
            && gap.after_len >= direction.mss
            && gap.in_flight > 0
            && gap.in_flight <= 3 * direction.mss
    };
    let firsts = direction.transfers.iter().take(FIRST_TRANSFERS).filter_map(|transfer| transfer.gaps.first());
    firsts.filter(used_up).map(|gap| gap.in_flight).min()
}

/// Transfers of a connection that are examined for the sender's initial window.
const FIRST_TRANSFERS: usize = 64;

#[cfg(test)]
pub(crate) mod tests;

/// A delayed ACK is at least this much later than the path alone makes it (Linux delays by 40 ms at
/// least).
pub const DELAYED_ACK: Nanos = Nanos::from_millis(25);
/// … and at most this much later (RFC 1122 allows 500 ms, Windows and macOS use up to 200 ms).
const DELAYED_ACK_MOST: Nanos = Nanos::from_millis(500);

/// With more segments in flight, another comes before a receiver has delayed its ACK for long.
const MAX_FEW_SEGMENTS: u64 = 4;

/// Linux' minimum RTO; RFC 6298 asks for 1 s.
const MIN_TIMER: Nanos = Nanos::from_millis(190);

/// No sender's timer or probe is shorter (Linux: two ticks, 8 ms at 250 Hz).
const MIN_PROBE_TIMER: Nanos = Nanos::from_millis(8);
/// A segment that stands longer than this in a queue causes an RTO (RFC 6298 section 2.4).
const MIN_RTO: Nanos = Nanos::from_millis(1_000);

/// More rounds than this with less than a segment each are separate messages.
const MIN_MESSAGE_ROUNDS: u64 = 3;

/// A stretch of time under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which.
    pub limit: Limit,
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
}

impl Span {
    /// How long.
    pub fn length(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }

    fn limit_time(&self) -> LimitTime {
        LimitTime { limit: self.limit, time: self.length() }
    }
}

/// A transfer's time, cut into spans.
#[derive(Clone, Debug)]
pub struct Partition {
    /// In time order, without gaps, from start to end of the transfer.
    pub spans: Vec<Span>,
    /// For each round, the limit that took most of it.
    pub rounds: Vec<Limit>,
    /// What the rounds show as a whole.
    pub shape: Shape,
}

impl Partition {
    /// Returns the time under `limit`.
    pub fn time(&self, limit: Limit) -> Nanos {
        self.spans.iter().filter(|span| span.limit == limit).map(Span::length).sum()
    }

    /// Returns the time under each limit, most first.
    pub fn times(&self) -> Vec<LimitTime> {
        sum_by_limit(self.spans.iter().map(Span::limit_time))
    }

    /// Returns runs of one limit in time order, at most `most`: the shortest are added to their
    /// longer neighbours.
    pub fn timeline(&self, most: usize) -> Vec<Span> {
        let mut runs: Vec<Span> = Vec::new();
        let push = |runs: &mut Vec<Span>, span: Span| match runs.last_mut() {
            Some(last) if last.limit == span.limit => last.end = span.end,
            _ => runs.push(span),
        };
        for &span in &self.spans {
            push(&mut runs, span);
        }
        let mut shortest = Nanos::from_micros(100);
        while runs.len() > most {
            let mut fewer: Vec<Span> = Vec::with_capacity(runs.len());
            for span in runs {
                match fewer.last_mut() {
                    Some(last) if span.length() < shortest => last.end = span.end,
                    _ => push(&mut fewer, span),
                }
            }
            runs = fewer;
            shortest = shortest.scale(2.0);
        }
        runs
    }
}

/// Time under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitTime {
    /// Which.
    pub limit: Limit,
    /// How long.
    pub time: Nanos,
}

/// Sums times by limit, most first.
pub fn sum_by_limit(times: impl Iterator<Item = LimitTime>) -> Vec<LimitTime> {
    let mut sums: Vec<LimitTime> = Vec::new();
    for part in times {
        match sums.iter_mut().find(|known| known.limit == part.limit) {
            Some(sum) => sum.time += part.time,
            None => sums.push(part),
        }
    }
    sums.retain(|sum| sum.time > Nanos::ZERO);
    sums.sort_by_key(|sum| (std::cmp::Reverse(sum.time), sum.limit));
    sums
}

/// Cuts up a transfer's time.
pub fn partition(transfer: &TransferFacts, context: &Context) -> Partition {
    let shape = rounds::shape(transfer, context);
    let mut spans = Vec::new();
    let mut by_round = Vec::with_capacity(transfer.rounds.len());
    let tail = transfer.spurious_tail_start();
    let mut gaps = transfer.gaps.iter().take_while(|gap| tail.is_none_or(|tail| gap.start < tail)).peekable();
    // If packets are missing, an ACK that was left out may have ended any pause.
    let untold_from = transfer.known_span.map(|(_, until)| until).filter(|until| *until < transfer.end);
    if let Some((from, _)) = transfer.known_span.filter(|_| transfer.is_start_unknown()) {
        add(&mut spans, Limit::Unknown, transfer.start, from);
    }
    for (index, round) in transfer.rounds.iter().enumerate() {
        let next = transfer.rounds.get(index + 1).map(|next| next.start).or(untold_from);
        let end = next.unwrap_or(transfer.last_send.max(round.start));
        let first = spans.len();
        let base = shape.base[index];
        let queued = base == Limit::Bandwidth && context.stands_in_queue(transfer, index);
        let rest = if queued { base } else { base_of_round(round, base) };
        let mut at = round.start;
        while let Some(gap) = gaps.next_if(|gap| gap.start < end || (gap.end <= end && next.is_none())) {
            add(&mut spans, rest, at, gap.start);
            let alone = transfer.rounds.get(index + 1).is_some_and(|next| {
                next.start == gap.end && next.bytes <= context.mss && index + 2 < transfer.rounds.len()
            });
            if is_between_messages(gap, transfer, context) && transfer.retransmitted == Retransmitted::default() {
                add(&mut spans, Limit::Idle, gap.start, gap.end);
            } else {
                cut_gap(&mut spans, gap, (transfer, round, queued), base, alone, &shape, context);
            }
            at = gap.end.max(at);
        }
        add(&mut spans, rest, at, end);
        if next.is_none() {
            if let Some(tail) = tail {
                spans.truncate(spans.partition_point(|span| span.start < tail));
                spans.iter_mut().for_each(|span| span.end = span.end.min(tail));
            }
            add_last_wait(&mut spans, transfer, base, context);
        }
        by_round.push(spans.get(first..).and_then(longest).unwrap_or(base));
    }
    if let Some(from) = untold_from {
        add(&mut spans, Limit::Unknown, from, transfer.end);
    }
    if context.one_direction {
        // Without both directions nothing about pauses is known.
        spans = vec![Span { limit: Limit::Unknown, start: transfer.start, end: transfer.end }];
        by_round.fill(Limit::Unknown);
    }
    Partition { spans, rounds: by_round, shape }
}

fn add(spans: &mut Vec<Span>, limit: Limit, start: Nanos, end: Nanos) {
    // Each span starts where the previous one ended, so they always meet.
    let start = spans.last().map_or(start, |last: &Span| last.end);
    if end > start {
        spans.push(Span { limit, start, end });
    }
}

fn longest(spans: &[Span]) -> Option<Limit> {
    sum_by_limit(spans.iter().map(Span::limit_time)).first().map(|sum| sum.limit)
}

/// Returns what held the sender in short pauses of a round.
fn base_of_round(round: &RoundFacts, base: Limit) -> Limit {
    let recovering = if is_rate_limit(base) { Nanos::ZERO } else { round.recovering };
    let most = round.flowing.max(round.window_full).max(recovering);
    if most == Nanos::ZERO || most == round.flowing {
        base
    } else if most == round.window_full {
        Limit::ReceiveWindow
    } else {
        Limit::LossRecovery
    }
}

/// Returns whether one rate holds the transfer, whatever single pauses show.
fn is_rate_limit(base: Limit) -> bool {
    matches!(base, Limit::Bandwidth | Limit::Pacing)
}

/// `alone`: one segment followed the pause and waited for its ACK before the next.
fn cut_gap(
    spans: &mut Vec<Span>,
    gap: &Gap,
    (transfer, round, queued): (&TransferFacts, &RoundFacts, bool),
    base: Limit,
    alone: bool,
    shape: &Shape,
    context: &Context,
) {
    if let Some((from, length)) = gap.closed.filter(|_| gap.release != Release::Timer) {
        // A window that closed was full before, and may be full again after it opened.
        let from = from.max(gap.start).min(gap.end);
        let until = (from + length).min(gap.end);
        add(spans, Limit::ReceiveWindow, gap.start, from);
        add(spans, Limit::ZeroWindow, from, until);
        let rest = Gap { start: until, closed: None, ..*gap };
        if rest.start < gap.end {
            cut_gap(spans, &rest, (transfer, round, queued), base, alone, shape, context);
        }
        return;
    }
    let limit = match gap.release {
        Release::Timer => Limit::Timeout,
        // At least half of a full window stood in a queue of the path: a larger window would only
        // lengthen the queue.
        Release::WindowAck if queued => base,
        Release::WindowAck | Release::WindowUpdate => Limit::ReceiveWindow,
        // A small message after one of the other side answers it or grants credit.
        Release::Peer if base == Limit::Application => base,
        Release::Peer => Limit::ProtocolWindow,
        // A full path loses nothing by repairs.
        Release::Ack if gap.recovering && !is_rate_limit(base) => Limit::LossRecovery,
        Release::Ack => {
            let late = ack_delay_of(gap, round, context);
            if late >= DELAYED_ACK && context.elided {
                // If ACKs were left out, the next one shown comes late.
                add(spans, base, gap.start, gap.end - late);
                add(spans, Limit::Unknown, gap.end - late, gap.end);
                return;
            }
            if late >= DELAYED_ACK && late <= DELAYED_ACK_MOST {
                if is_nagle(gap, context) {
                    add(spans, Limit::NagleDelayedAck, gap.start, gap.end);
                } else {
                    add(spans, base, gap.start, gap.end - late);
                    add(spans, Limit::AckDelay, gap.end - late, gap.end);
                }
                return;
            }
            let held = match base {
                Limit::SlowStart => is_nagled_remainder(gap, context),
                Limit::Application => is_nagled_message(gap, context),
                _ => false,
            };
            if held { Limit::NagleDelayedAck } else { base }
        }
        Release::Nothing => {
            // Credit came, and the program used it late.
            if base == Limit::ProtocolWindow
                && let Some(heard) = gap.peer_payload_at
            {
                add(spans, base, gap.start, heard);
            }
            idle_limit(gap, transfer, base, alone, shape, context)
        }
    };
    add(spans, limit, gap.start, gap.end);
}

/// Returns how long the releasing ACK was delayed beyond the other ACKs of its round.
///
/// A receiver delays the ACK of one segment, not of two (RFC 1122 section 4.2.3.2). ACKs that come
/// while many segments are in flight are spaced by the path and its queue.
fn ack_delay_of(gap: &Gap, round: &RoundFacts, context: &Context) -> Nanos {
    if !gap.last_ack && gap.in_flight > MAX_FEW_SEGMENTS * context.mss {
        return Nanos::ZERO;
    }
    let usual = round.ack_late.unwrap_or(Nanos::ZERO);
    if gap.ack_late > usual { (gap.ack_late - usual).min(gap.end - gap.start) } else { gap.lone_ack_late() }
}

/// Returns whether Nagle (RFC 896) held a small segment while another was outstanding, here for a
/// delayed ACK.
fn is_nagle(gap: &Gap, context: &Context) -> bool {
    gap.after_len < context.mss && gap.before_len < context.mss && gap.in_flight < context.mss
}

/// Returns whether a small segment left with the bare ACK of the only other small one outstanding:
/// Nagle, although the ACK was not late.
fn is_nagled_message(gap: &Gap, context: &Context) -> bool {
    is_nagle(gap, context) && gap.last_ack && !gap.with_peer_payload && gap.in_flight <= gap.before_len
}

/// Returns whether the rest of a write, less than a segment, waited for an ACK although the initial
/// window had room: Nagle, and not the congestion window. Initial windows are up to 4 segments
/// (RFC 3390) or 10 (RFC 6928); a sender that has shown a smaller one has used it up.
fn is_nagled_remainder(gap: &Gap, context: &Context) -> bool {
    if context.small_window.is_some_and(|window| gap.in_flight >= window && gap.in_flight <= 3 * context.mss) {
        return false;
    }
    let (small, whole) = (3 * context.mss, 9 * context.mss);
    let after = gap.in_flight + gap.after_len;
    gap.after_len < context.mss && (after <= small || (gap.in_flight > 4 * context.mss && after <= whole))
}

/// Returns whether any data outstanding before this pause was lost by then.
fn has_lost(transfer: &TransferFacts, gap: &Gap) -> bool {
    let outstanding = gap.snd_max.saturating_sub(gap.in_flight)..gap.snd_max;
    transfer.losses.iter().any(|loss| outstanding.contains(&loss.seq) && loss.time <= gap.start)
}

/// Returns the limit of a pause that no captured packet ended.
fn idle_limit(
    gap: &Gap,
    transfer: &TransferFacts,
    base: Limit,
    alone: bool,
    shape: &Shape,
    context: &Context,
) -> Limit {
    let length = gap.end - gap.start;
    if is_rate_limit(base) && !gap.app_limited {
        return base;
    }
    // Sent together and separated by a queue on the path. With nothing in flight it was no queue of
    // this transfer.
    if gap.sent_apart.is_some_and(|apart| apart.0 < length.0 / 2) {
        return if gap.idle { Limit::Unknown } else { base };
    }
    // If whole flights may be lost before the capture point, a silence of an RTO between full
    // segments is the wait for a retransmission that was not captured either, unless IP IDs show
    // that the sender sent nothing.
    let full = gap.before_len >= context.mss && gap.after_len >= context.mss && gap.missing != Some(0);
    if shape.lost_before && full && length >= MIN_PROBE_TIMER.max(context.rtt.unwrap_or_default().scale(2.0)) {
        return Limit::Timeout;
    }
    // So is a silence of at least the minimum RTO between full segments, after which the sender has
    // a window of one segment: an RTO leaves no more (RFC 5681 section 3.1), and an idle sender
    // would use its initial window.
    if full && !gap.app_limited && alone && length >= MIN_TIMER {
        return Limit::Timeout;
    }
    // Without timestamps nothing tells whether the ACK that ended it was left out.
    if context.elided && (gap.unseen || gap.sent_apart.is_none()) {
        return Limit::Unknown;
    }
    // Bytes sent before, or lost, were available to send. No RTO is shorter than one RTT.
    let is_brief = context.rtt.is_some_and(|rtt| length <= rtt + context.epsilon);
    if (gap.app_limited || gap.idle) && (gap.is_retransmit || (!gap.idle && has_lost(transfer, gap))) {
        return match is_brief {
            true if gap.is_retransmit => Limit::LossRecovery,
            true => base,
            false if length >= MIN_TIMER => Limit::Timeout,
            false => Limit::LossRecovery,
        };
    }
    // Packets that were not captured may have come at any time in it, and other data may use
    // another subflow.
    if gap.unseen || context.is_multipath {
        return Limit::Unknown;
    }
    // Amid losses it may also be an RTO.
    if is_between_messages(gap, transfer, context) {
        return Limit::Unknown;
    }
    // Next to the receiver only a timestamp tells when it was sent: full segments may have stood in
    // a queue behind others meanwhile.
    let queued =
        context.next_to_receiver && gap.sent_apart.is_none() && gap.before_len >= context.mss && length < MIN_RTO;
    if gap.app_limited || (gap.idle && !queued) {
        return Limit::Application;
    }
    // Shorter than one RTT with data in flight: part of the rhythm of the round.
    if is_brief { base } else { Limit::Unknown }
}

/// Returns whether nobody waited for the data after this pause. Log lines, echoes of keystrokes and
/// chat messages are complete when sent, nothing is outstanding, and nobody can tell whether more
/// was due. Without a request, messages of a few segments are such; an answer may be one message in
/// several writes, and counts as several messages only if each is less than a segment.
fn is_between_messages(gap: &Gap, transfer: &TransferFacts, context: &Context) -> bool {
    let (segments, least) = match transfer.answered {
        // If neither side needs to ask, a screen that fits the first flight (RFC 6928) is one.
        _ if context.server_push.may_push_at(transfer.start) => (10, 0),
        None => (3, 0),
        // Less than a segment in all is a message or two, except heads and records, which may
        // announce more.
        Some(_) if transfer.bytes() < SEGMENT && !context.announces_length => (1, 1),
        Some(_) => (1, MIN_MESSAGE_ROUNDS),
    };
    // Without a request, data in flight is complete as well.
    let is_over = gap.idle || least == 0;
    let by_program =
        gap.release == Release::Nothing && is_over && gap.app_limited && gap.closed.is_none() && !gap.unseen;
    let small = transfer.max_in_flight < segments * SEGMENT + u64::from(segments > 1);
    by_program && small && transfer.rounds_total > least
}

/// The time from the last send to its ACK: one RTT, and the ACK's delay beyond that.
///
/// Nobody waits for the ACK of a message's last segment: its receiver has everything. Only a queue
/// on the path or a repair counts, and those delayed the ACKs before it as well.
fn add_last_wait(spans: &mut Vec<Span>, transfer: &TransferFacts, base: Limit, context: &Context) {
    let from = transfer.spurious_tail_start().unwrap_or(transfer.last_send);
    let Some(rtt) = context.rtt else {
        add(spans, Limit::Unknown, from, transfer.end);
        return;
    };
    let path = (from + rtt + context.epsilon).min(transfer.end);
    add(spans, Limit::RoundTrip, from, path);
    let queued = (path + usually_late(transfer)).min(transfer.end);
    let rest = transfer.end - path;
    let (limit, then) = match base {
        Limit::Bandwidth | Limit::Pacing | Limit::LossRecovery => (base, base),
        _ if context.elided && rest > context.epsilon => (Limit::Unknown, Limit::Unknown),
        _ if rest <= context.epsilon => (Limit::RoundTrip, Limit::RoundTrip),
        _ if transfer.end - queued <= DELAYED_ACK_MOST || transfer.spurious_tail_start().is_some() => {
            (Limit::Unknown, Limit::Idle)
        }
        _ => (Limit::Unknown, Limit::Unknown),
    };
    add(spans, limit, path, queued);
    add(spans, then, queued, transfer.end);
}

/// Returns how much later than the earliest the ACKs before the last one came. Of one or two
/// segments there is no other.
fn usually_late(transfer: &TransferFacts) -> Nanos {
    let late = |round: &RoundFacts| round.ack_late.unwrap_or_default();
    match transfer.rounds.as_slice() {
        [.., before, last] => late(before).min(late(last)),
        [only] if transfer.segments > 2 => late(only),
        _ => Nanos::ZERO,
    }
}
