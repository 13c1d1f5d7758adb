//! `limit`: what TCP did → what held it back.
//!
//! Cuts a transfer's time, from its first byte sent to the ACK of its last, into stretches of one
//! [`Limit`] each. The stretches meet without gap or overlap, so that their shares sum to 1. Long
//! pauses are told by what ended them; the rest of a round goes to what its round shows over the
//! rounds around it (`rounds`).

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
pub use context::{Context, PooledRate};
pub use inter_loss::InterLossRate;
pub use overrun::Overrun;
pub use path::{INITIAL_WINDOW, LARGEST_INITIAL_WINDOW, burst_rate, first_lossy_flight, least_rate, rounds_needed};
pub use phases::{handshake, phases_before, tls_handshake};
pub use rates::Burst;
pub(crate) use rounds::first_retransmit_round;
pub use rounds::{Plateau, Shape};
pub use server_push::may_speak_unasked;
pub use wait::{NOTICEABLE_WAIT, Wait};
pub use waits::waits;

use crate::analysis::{Limit, LimitShare, LimitSpan, Near, Retransmitted};
use crate::flow::Side;
use crate::tcp::content::Protocol;
use crate::tcp::facts::{Facts, Gap, Release, RoundFacts, TransferFacts};
use crate::units::Nanos;
use server_push::ServerPush;
use wait::SEGMENT;

/// What the path carries, payload bits per second, as far as this transfer shows it: the rate at
/// which a queue stood before it, or the one at which it delivered bursts.
pub fn seen_rate(transfer: &TransferFacts, partition: &Partition, context: &Context) -> Option<f64> {
    let held = partition.time(Limit::Bandwidth).0 * MIN_HELD_SHARE >= transfer.duration().0;
    partition.shape.steady.filter(|_| held).or_else(|| burst_rate(transfer, context))
}

/// Of a transfer's time, what the path must have held it for to tell what it carries.
const MIN_HELD_SHARE: i64 = 4;

impl Context {
    /// For transfers that `sender` sends.
    pub fn new(facts: &Facts, sender: Side) -> Self {
        let rtt = facts.min_rtt();
        let alone = Self {
            mss: facts.directions[sender].mss,
            rtt,
            epsilon: Nanos::from_millis(1).max(rtt.unwrap_or_default().scale(0.1)),
            one_direction: facts.capture_defects.one_direction,
            elided: !facts.elided.is_empty(),
            near_receiver: facts.vantage.toward[sender] > facts.vantage.toward[1 - sender],
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

/// When a transfer began in which something had to be sent again, the first of them.
fn time_of_first_loss(facts: &Facts, sender: Side) -> Option<Nanos> {
    facts.directions[sender]
        .transfers
        .iter()
        .find(|transfer| transfer.retransmitted_bytes > 0)
        .map(|transfer| transfer.start)
}

/// The least window that the sender has shown to begin with, if it is less than four segments:
/// whole segments, which Nagle never holds, waited for the ACK of so small a first flight. A SYN or
/// SYN-ACK sent twice leaves a window of one (RFC 5681 section 3.1).
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

/// So many transfers of a connection show the window that its sender begins with.
const FIRST_TRANSFERS: usize = 64;

#[cfg(test)]
pub(crate) mod tests;

/// A delayed ACK is at least this much later than the path alone makes it (Linux delays by 40 ms at
/// least).
pub const DELAYED_ACK: Nanos = Nanos::from_millis(25);
/// And at most this much (RFC 1122 allows 500 ms, Windows and macOS use up to 200 ms).
const DELAYED_ACK_MOST: Nanos = Nanos::from_millis(500);

/// With more segments than this in flight, another comes before a receiver has waited long for it.
const MAX_FEW_SEGMENTS: u64 = 4;

/// Linux' least retransmission timer; RFC 6298 asks for 1 s.
const MIN_TIMER: Nanos = Nanos::from_millis(190);

/// No sender's timer or probe is shorter (Linux: two ticks, 8 ms at 250 Hz).
const MIN_PROBE_TIMER: Nanos = Nanos::from_millis(8);
/// The timer of a sender whose segment stands longer than this in a queue runs out (RFC 6298
/// section 2.4).
const MIN_RTO: Nanos = Nanos::from_millis(1_000);

/// More rounds than this of less than a segment each are messages of their own.
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
}

/// A transfer's time, cut up.
#[derive(Clone, Debug)]
pub struct Partition {
    /// In time order, meeting each other, from the transfer's start to its end.
    pub spans: Vec<Span>,
    /// For each round, the limit that took most of it.
    pub rounds: Vec<Limit>,
    /// What the rounds show together.
    pub shape: Shape,
}

impl Partition {
    /// Time under `limit`.
    pub fn time(&self, limit: Limit) -> Nanos {
        self.spans.iter().filter(|span| span.limit == limit).map(Span::length).sum()
    }

    /// Time under each limit that took any, most first.
    pub fn shares(&self) -> Vec<LimitShare> {
        shares(self.spans.iter().map(|span| (span.limit, span.length())))
    }

    /// Runs of one limit in time order, at most `most`: the shortest are given to their longer
    /// neighbours.
    pub fn timeline(&self, from: Nanos, most: usize) -> Vec<LimitSpan> {
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
        runs.iter()
            .map(|span| LimitSpan { limit: span.limit, start_s: span.start - from, seconds: span.length() })
            .collect()
    }
}

/// Sums times by limit and gives each its share of the whole, most first.
pub fn shares(times: impl Iterator<Item = (Limit, Nanos)>) -> Vec<LimitShare> {
    let mut sums: Vec<(Limit, Nanos)> = Vec::new();
    for (limit, time) in times {
        match sums.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, sum)) => *sum += time,
            None => sums.push((limit, time)),
        }
    }
    sums.retain(|&(_, time)| time > Nanos::ZERO);
    sums.sort_by_key(|&(limit, time)| (std::cmp::Reverse(time), limit));
    let whole: Nanos = sums.iter().map(|&(_, time)| time).sum();
    sums.into_iter()
        .map(|(limit, seconds)| LimitShare { limit, seconds, share: seconds.0 as f64 / whole.0.max(1) as f64 })
        .collect()
}

/// Cuts up a transfer's time.
pub fn partition(transfer: &TransferFacts, context: &Context) -> Partition {
    let shape = rounds::shape(transfer, context);
    let mut spans = Vec::new();
    let mut by_round = Vec::with_capacity(transfer.rounds.len());
    let tail = transfer.spurious_tail_start();
    let mut gaps = transfer.gaps.iter().take_while(|gap| tail.is_none_or(|tail| gap.start < tail)).peekable();
    // Where packets are missing, an ACK that was left out may have ended any pause.
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
        // Without the ACKs, or without the data, nothing that is said of a pause can be known.
        spans = vec![Span { limit: Limit::Unknown, start: transfer.start, end: transfer.end }];
        by_round.fill(Limit::Unknown);
    }
    Partition { spans, rounds: by_round, shape }
}

fn add(spans: &mut Vec<Span>, limit: Limit, start: Nanos, end: Nanos) {
    // Each starts where the one before it ended, so that they meet whatever the parts say.
    let start = spans.last().map_or(start, |last: &Span| last.end);
    if end > start {
        spans.push(Span { limit, start, end });
    }
}

fn longest(spans: &[Span]) -> Option<Limit> {
    shares(spans.iter().map(|span| (span.limit, span.length()))).first().map(|share| share.limit)
}

/// What held the sender in the short pauses of a round.
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

/// One rate holds the transfer, whatever its single pauses show.
fn is_rate_limit(base: Limit) -> bool {
    matches!(base, Limit::Bandwidth | Limit::Pacing)
}

/// `alone`: a single segment followed the pause, and its ACK was waited for before the next.
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
        // Before it closed it was full, and so it may be once more after it opened.
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
        // Half of a full window and more stood in a queue of the path: a larger one only makes that
        // longer.
        Release::WindowAck if queued => base,
        Release::WindowAck | Release::WindowUpdate => Limit::ReceiveWindow,
        // A small message that follows one of the other side's answers it, or gives it credit.
        Release::Peer if base == Limit::Application => base,
        Release::Peer => Limit::ProtocolWindow,
        // A path that carries all it can loses nothing by repairs.
        Release::Ack if gap.recovering && !is_rate_limit(base) => Limit::LossRecovery,
        Release::Ack => {
            let late = ack_delay_of(gap, round, context);
            if late >= DELAYED_ACK && context.elided {
                // Where ACKs were left out, the next one that is shown comes late.
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
            // Credit came, and the program was late to use it.
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

/// By how much the ACK that ended the pause was held back, beyond what the other ACKs of its round
/// took.
///
/// A receiver holds back the ACK of one segment, not of two (RFC 1122 section 4.2.3.2). What comes
/// in while many are on their way is spaced by the path, and by the queue in it.
fn ack_delay_of(gap: &Gap, round: &RoundFacts, context: &Context) -> Nanos {
    if !gap.last_ack && gap.in_flight > MAX_FEW_SEGMENTS * context.mss {
        return Nanos::ZERO;
    }
    let usual = round.ack_late.unwrap_or(Nanos::ZERO);
    if gap.ack_late > usual { (gap.ack_late - usual).min(gap.end - gap.start) } else { gap.lone_ack_late() }
}

/// Nagle (RFC 896): a small segment waits while one is outstanding, here for a delayed ACK.
fn is_nagle(gap: &Gap, context: &Context) -> bool {
    gap.after_len < context.mss && gap.before_len < context.mss && gap.in_flight < context.mss
}

/// A small segment left with the bare ACK of the only one that was outstanding, small too: Nagle,
/// though the ACK was not late.
fn is_nagled_message(gap: &Gap, context: &Context) -> bool {
    is_nagle(gap, context) && gap.last_ack && !gap.with_peer_payload && gap.in_flight <= gap.before_len
}

/// What a write left over, less than a segment, waited for an ACK, though so little was in flight
/// that the initial window had room for it: Nagle, and not the congestion window. Initial windows
/// are up to 4 segments (RFC 3390) or 10 (RFC 6928); where this sender's has been seen to be
/// smaller, it is the window that is used up.
fn is_nagled_remainder(gap: &Gap, context: &Context) -> bool {
    if context.small_window.is_some_and(|window| gap.in_flight >= window && gap.in_flight <= 3 * context.mss) {
        return false;
    }
    let (small, whole) = (3 * context.mss, 9 * context.mss);
    let after = gap.in_flight + gap.after_len;
    gap.after_len < context.mss && (after <= small || (gap.in_flight > 4 * context.mss && after <= whole))
}

/// Whether some of what was outstanding before this pause had been lost by then.
fn has_lost(transfer: &TransferFacts, gap: &Gap) -> bool {
    let outstanding = gap.snd_max.saturating_sub(gap.in_flight)..gap.snd_max;
    transfer.losses.iter().any(|loss| outstanding.contains(&loss.seq) && loss.time <= gap.start)
}

/// A pause that nothing seen in the capture ended.
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
    // Sent together: a queue on the path has put them apart. With nothing in flight it was no queue
    // of this transfer's.
    if gap.sent_apart.is_some_and(|apart| apart.0 < length.0 / 2) {
        return if gap.idle { Limit::Unknown } else { base };
    }
    // Where whole flights may be lost before the capture point, a silence of the timer's length
    // between full segments is the wait for a retransmission that was not captured either. Unless
    // the sender's IP numbers show that it sent nothing.
    let full = gap.before_len >= context.mss && gap.after_len >= context.mss && gap.missing != Some(0);
    if shape.lost_before && full && length >= MIN_PROBE_TIMER.max(context.rtt.unwrap_or_default().scale(2.0)) {
        return Limit::Timeout;
    }
    // So is a silence between full segments as long as the least timer, after which the sender has
    // a window of one segment: the timer leaves it no more (RFC 5681 section 3.1), and an idle
    // sender would begin with its initial window.
    if full && !gap.app_limited && alone && length >= MIN_TIMER {
        return Limit::Timeout;
    }
    // Without timestamps nothing tells whether an ACK that ended it was left out.
    if context.elided && (gap.unseen || gap.sent_apart.is_none()) {
        return Limit::Unknown;
    }
    // What had been sent before, or what was lost, was there to be sent. No timer is shorter than a
    // round trip.
    let is_brief = context.rtt.is_some_and(|rtt| length <= rtt + context.epsilon);
    if (gap.app_limited || gap.idle) && (gap.is_retransmit || (!gap.idle && has_lost(transfer, gap))) {
        return match is_brief {
            true if gap.is_retransmit => Limit::LossRecovery,
            true => base,
            false if length >= MIN_TIMER => Limit::Timeout,
            false => Limit::LossRecovery,
        };
    }
    // What was not captured may have come at any time in it; and what is not sent here may go over
    // another subflow.
    if gap.unseen || context.is_multipath {
        return Limit::Unknown;
    }
    // Amid losses it may be a timer's silence as well.
    if is_between_messages(gap, transfer, context) {
        return Limit::Unknown;
    }
    // Next to the receiver nothing but a timestamp tells when it was sent: full segments may have
    // stood in a queue behind those of others meanwhile.
    let queued =
        context.next_to_receiver && gap.sent_apart.is_none() && gap.before_len >= context.mss && length < MIN_RTO;
    if gap.app_limited || (gap.idle && !queued) {
        return Limit::Application;
    }
    // Shorter than a round trip, with data on the way: part of the round's own rhythm.
    if is_brief { base } else { Limit::Unknown }
}

/// Whether nobody waited for what came after this pause. Lines of a log, keystrokes' echoes,
/// messages of a chat: each is whole when it is sent, nothing is outstanding, and whether more was
/// due nobody can tell. Unasked, messages of a few segments are such; what answers a request may be
/// one message in several writes, and is a row of messages only where each is less than a segment.
fn is_between_messages(gap: &Gap, transfer: &TransferFacts, context: &Context) -> bool {
    let (segments, least) = match transfer.answered {
        // Where neither side need be asking, a screen that fits a first flight (RFC 6928) is one.
        _ if context.server_push.may_push_at(transfer.start) => (10, 0),
        None => (3, 0),
        // Less than a segment in all is a message or two, unless they are heads and records, which
        // may announce more.
        Some(_) if transfer.bytes() < SEGMENT && !context.announces_length => (1, 1),
        Some(_) => (1, MIN_MESSAGE_ROUNDS),
    };
    // Unasked, what is on its way is whole as well.
    let is_over = gap.idle || least == 0;
    let by_program =
        gap.release == Release::Nothing && is_over && gap.app_limited && gap.closed.is_none() && !gap.unseen;
    let small = transfer.max_in_flight < segments * SEGMENT + u64::from(segments > 1);
    by_program && small && transfer.rounds_total > least
}

/// From the last send to its ACK: a round trip, and what the ACK was late beyond that.
///
/// The ACK of a message's last segment keeps nobody waiting: its receiver has all of it. Only what
/// a queue on the path, or a repair, adds is waited for; that much the ACKs before it were late as
/// well.
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

/// By how much the ACKs before the last one were later than the soonest of all. Of one or two
/// segments there is no other.
fn usually_late(transfer: &TransferFacts) -> Nanos {
    let late = |round: &RoundFacts| round.ack_late.unwrap_or_default();
    match transfer.rounds.as_slice() {
        [.., before, last] => late(before).min(late(last)),
        [only] if transfer.segments > 2 => late(only),
        _ => Nanos::ZERO,
    }
}
