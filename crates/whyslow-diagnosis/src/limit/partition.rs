//! [`Partition`]: a transfer's time, cut into spans of one limit each.

use super::pauses::{MAX_DELAYED_ACK, Pause, is_between_messages, is_rate_limit};
use super::rounds::{self, Shape};
use super::span::{Span, SpanCutter, sum_by_limit};
use crate::estimate::Context;
use whyslow_analysis::LimitTime;
use whyslow_analysis::types::Limit;
use whyslow_core::tcp::facts::{Retransmitted, RoundFacts, TransferFacts};
use whyslow_units::Nanos;

/// A transfer's time, cut into spans.
#[derive(Clone, Debug)]
pub struct Partition {
    /// In time order, without gaps, from start to end of the transfer: they add up to its duration.
    pub spans: Vec<Span>,
    /// For each round, the limit that took most of it.
    pub rounds: Vec<Limit>,
    /// Result of all rounds together.
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
}

/// Cuts up a transfer's time.
pub fn partition(transfer: &TransferFacts, context: &Context) -> Partition {
    let shape = rounds::shape(transfer, context);
    let mut spans = SpanCutter::new(transfer.start, transfer.end);
    let mut by_round = Vec::with_capacity(transfer.rounds.len());
    let tail = transfer.spurious_tail_start();
    let mut gaps = transfer.gaps.iter().take_while(|gap| tail.is_none_or(|tail| gap.start < tail)).peekable();
    // If packets are missing, an ACK that was left out may have ended any pause.
    let unknown_from = transfer.known_span.map(|(_, until)| until).filter(|until| *until < transfer.end);
    if let Some((from, _)) = transfer.known_span.filter(|_| transfer.is_start_unknown()) {
        spans.add(Limit::Unknown, from);
    }
    for (index, round) in transfer.rounds.iter().enumerate() {
        let next = transfer.rounds.get(index + 1).map(|next| next.start).or(unknown_from);
        let end = next.unwrap_or(transfer.last_send.max(round.start));
        let first = spans.spans().len();
        let base = shape.base[index];
        let queued = base == Limit::Bandwidth && context.stands_in_queue(transfer, index);
        let rest = if queued { base } else { base_of_round(round, base) };
        while let Some(gap) = gaps.next_if(|gap| gap.start < end || (gap.end <= end && next.is_none())) {
            spans.add(rest, gap.start);
            if is_between_messages(gap, transfer, context) && transfer.retransmitted == Retransmitted::default() {
                spans.add(Limit::Idle, gap.end);
            } else {
                Pause { gap: *gap, transfer, round: index, base, queued, shape: &shape, context }.cut(&mut spans);
            }
        }
        spans.add(rest, end);
        if next.is_none() {
            if let Some(tail) = tail {
                spans.truncate(tail);
            }
            add_last_wait(&mut spans, transfer, base, context);
        }
        by_round.push(spans.spans().get(first..).and_then(longest).unwrap_or(base));
    }
    if context.one_direction {
        // Without both directions nothing about pauses is known.
        spans.truncate(transfer.start);
        by_round.fill(Limit::Unknown);
    }
    Partition { spans: spans.finish(), rounds: by_round, shape }
}

fn longest(spans: &[Span]) -> Option<Limit> {
    sum_by_limit(spans.iter().map(Span::limit_time)).first().map(|sum| sum.limit)
}

/// Returns the sender's limit in short pauses of a round.
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

/// The time from the last send to its ACK: one RTT, and the ACK's delay beyond that.
///
/// The ACK of a message's last segment does not delay its receiver, which has everything. Only a
/// queue on the path or a retransmission counts, and those delayed the ACKs before it as well.
fn add_last_wait(spans: &mut SpanCutter, transfer: &TransferFacts, base: Limit, context: &Context) {
    let from = transfer.spurious_tail_start().unwrap_or(transfer.last_send);
    let Some(rtt) = context.rtt else {
        spans.add(Limit::Unknown, transfer.end);
        return;
    };
    let path = (from + rtt + context.epsilon).min(transfer.end);
    spans.add(Limit::RoundTrip, path);
    let queued = (path + usually_late(transfer)).min(transfer.end);
    let rest = transfer.end - path;
    let (limit, then) = match base {
        Limit::Bandwidth | Limit::Pacing | Limit::LossRecovery => (base, base),
        _ if context.elided && rest > context.epsilon => (Limit::Unknown, Limit::Unknown),
        _ if rest <= context.epsilon => (Limit::RoundTrip, Limit::RoundTrip),
        _ if transfer.end - queued <= MAX_DELAYED_ACK || transfer.spurious_tail_start().is_some() => {
            (Limit::Unknown, Limit::Idle)
        }
        _ => (Limit::Unknown, Limit::Unknown),
    };
    spans.add(limit, queued);
    spans.add(then, transfer.end);
}

/// Returns how much later than the earliest the ACKs before the last one came. For one or two
/// segments there is no other.
fn usually_late(transfer: &TransferFacts) -> Nanos {
    let late = |round: &RoundFacts| round.ack_late.unwrap_or_default();
    match transfer.rounds.as_slice() {
        [.., before, last] => late(before).min(late(last)),
        [only] if transfer.segments > 2 => late(only),
        _ => Nanos::ZERO,
    }
}
