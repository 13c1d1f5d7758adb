//! [`TimeAttribution`]: a transfer's time, cut into spans of one limit each.

use super::pauses::{MAX_DELAYED_ACK, PauseInRound, is_between_messages, is_rate_limit};
use super::rounds::{self, Shape};
use super::span::{Span, SpanCutter, sum_by_limit};
use crate::estimate::Context;
use whyslow_analysis::LimitTime;
use whyslow_analysis::types::LimitingFactor;
use whyslow_core::tcp::facts::{Retransmitted, RoundFacts, TransferFacts};
use whyslow_units::Nanos;

/// A transfer's time, cut into spans.
#[derive(Clone, Debug)]
pub struct TimeAttribution {
    /// In time order, without gaps, from start to end of the transfer: they add up to its duration.
    pub spans: Vec<Span>,
    /// For each round, the limit that took most of it.
    pub rounds: Vec<LimitingFactor>,
    /// Result of all rounds together.
    pub shape: Shape,
}

impl TimeAttribution {
    /// Returns the time under `limit`.
    pub fn time(&self, limit: LimitingFactor) -> Nanos {
        self.spans.iter().filter(|span| span.limit == limit).map(Span::length).sum()
    }

    /// Returns the time under each limit, most first.
    pub fn times(&self) -> Vec<LimitTime> {
        sum_by_limit(self.spans.iter().map(Span::limit_time))
    }
}

/// Cuts up a transfer's time.
pub fn attribute_time(transfer: &TransferFacts, context: &Context) -> TimeAttribution {
    let shape = rounds::shape(transfer, context);
    let mut spans = SpanCutter::new(transfer.start, transfer.end);
    let mut by_round = Vec::with_capacity(transfer.rounds.len());
    let tail = transfer.spurious_tail_start();
    let mut gaps = transfer.pauses.iter().take_while(|gap| tail.is_none_or(|tail| gap.start < tail)).peekable();
    // If packets are missing, an ACK that was left out may have ended any pause.
    let unknown_from = transfer.known_span.map(|(_, until)| until).filter(|until| *until < transfer.end);
    if let Some((from, _)) = transfer.known_span.filter(|_| transfer.is_start_unknown()) {
        spans.add(LimitingFactor::Unknown, from);
    }
    for (index, round) in transfer.rounds.iter().enumerate() {
        let next = transfer.rounds.get(index + 1).map(|next| next.start).or(unknown_from);
        let end = next.unwrap_or(transfer.last_send.max(round.start));
        let first = spans.spans().len();
        let base = shape.base[index];
        let queued = base == LimitingFactor::Bandwidth && context.stands_in_queue(transfer, index);
        let rest = if queued { base } else { base_of_round(round, base) };
        while let Some(gap) = gaps.next_if(|gap| gap.start < end || (gap.end <= end && next.is_none())) {
            spans.add(rest, gap.start);
            if is_between_messages(gap, transfer, context) && transfer.retransmitted == Retransmitted::default() {
                spans.add(LimitingFactor::Idle, gap.end);
            } else {
                PauseInRound { gap: *gap, transfer, round: index, base, queued, shape: &shape, context }
                    .cut(&mut spans);
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
        by_round.fill(LimitingFactor::Unknown);
    }
    let spans = without_free_link(spans.finish(), transfer, &shape, context);
    TimeAttribution { spans, rounds: by_round, shape }
}

/// Share of its rate at which a link is taken to work: a link of one rate delivers at most a tenth
/// less in a part of its time (the lower tenth of the rates), and headers and copies of segments
/// take some. Half and twice the distance to 1 change 0 of 1,851 captures.
const LEAST_SERVICE: f64 = 0.8;

/// A link works from the first byte that is sent over it until all bytes are through. What a full
/// link took beyond that, and a round trip, is unknown: the path held packets back, or their ACKs.
fn without_free_link(spans: Vec<Span>, transfer: &TransferFacts, shape: &Shape, context: &Context) -> Vec<Span> {
    let (Some(rate), Some(rtt)) = (shape.steady.filter(|_| !shape.varies), context.rtt) else { return spans };
    let mut rounds = transfer.rounds.iter().peekable();
    let mut works_until = transfer.start;
    let mut parts = Vec::with_capacity(spans.len());
    for span in spans {
        while let Some(round) = rounds.next_if(|round| round.start <= span.start) {
            let bytes = round.bytes + u64::from(round.retransmitted) * context.mss;
            let service = Nanos::from_secs_f64(bytes as f64 * 8.0 / (rate * LEAST_SERVICE));
            works_until = works_until.max(round.start) + service;
        }
        let until = (works_until + rtt + context.epsilon).max(span.start);
        if span.limit == LimitingFactor::Bandwidth && until < span.end {
            parts.push(Span { end: until, ..span });
            parts.push(Span { limit: LimitingFactor::Unknown, start: until, ..span });
        } else {
            parts.push(span);
        }
    }
    parts.retain(|span| span.end > span.start);
    parts
}

fn longest(spans: &[Span]) -> Option<LimitingFactor> {
    sum_by_limit(spans.iter().map(Span::limit_time)).first().map(|sum| sum.limit)
}

/// Returns the sender's limit in short pauses of a round.
fn base_of_round(round: &RoundFacts, base: LimitingFactor) -> LimitingFactor {
    let recovering = if is_rate_limit(base) { Nanos::ZERO } else { round.recovering };
    let most = round.flowing.max(round.window_full).max(recovering);
    if most == Nanos::ZERO || most == round.flowing {
        base
    } else if most == round.window_full {
        LimitingFactor::ReceiveWindow
    } else {
        LimitingFactor::LossRecovery
    }
}

/// The time from the last send to its ACK: one RTT, and the ACK's delay beyond that.
///
/// The ACK of a message's last segment does not delay its receiver, which has everything. Only a
/// queue on the path or a retransmission counts, and those delayed the ACKs before it as well.
fn add_last_wait(spans: &mut SpanCutter, transfer: &TransferFacts, base: LimitingFactor, context: &Context) {
    let from = transfer.spurious_tail_start().unwrap_or(transfer.last_send);
    let Some(rtt) = context.rtt else {
        spans.add(LimitingFactor::Unknown, transfer.end);
        return;
    };
    let path = (from + rtt + context.epsilon).min(transfer.end);
    spans.add(LimitingFactor::RoundTrip, path);
    let queued = (path + usually_late(transfer)).min(transfer.end);
    let rest = transfer.end - path;
    let (limit, then) = match base {
        LimitingFactor::Bandwidth | LimitingFactor::Pacing | LimitingFactor::LossRecovery => (base, base),
        _ if context.elided && rest > context.epsilon => (LimitingFactor::Unknown, LimitingFactor::Unknown),
        _ if rest <= context.epsilon => (LimitingFactor::RoundTrip, LimitingFactor::RoundTrip),
        _ if transfer.end - queued <= MAX_DELAYED_ACK || transfer.spurious_tail_start().is_some() => {
            (LimitingFactor::Unknown, LimitingFactor::Idle)
        }
        _ => (LimitingFactor::Unknown, LimitingFactor::Unknown),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{context, flights};
    use whyslow_core::tcp::facts::{RateSpread, Release};
    use whyslow_units::Time;

    #[test]
    fn held_link_is_not_full_after_its_bytes_are_through() {
        // 60 kB in each 100 ms, which a link of 4.8 Mbit/s needs.
        let mut transfer = flights(&[60_000; 20], Release::WindowAck);
        transfer.acked_rate = RateSpread { p10: 4.7e6, p50: 4.8e6, p90: 4.9e6, bins: 100 };
        transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
        let shape = rounds::shape(&transfer, &context(40));
        let cut = |until: i64| {
            let whole = Span {
                limit: LimitingFactor::Bandwidth,
                start: transfer.rounds[19].start,
                end: Time::from_millis(until),
            };
            without_free_link(vec![whole], &transfer, &shape, &context(40))
        };
        assert_eq!(cut(2_000).len(), 1, "the last flight takes a part of it");
        // 1.2 MB need 2.5 s at the least service, and the last ACK 40 ms and the accuracy.
        let held = cut(9_000);
        let times: Vec<_> = held.iter().map(Span::limit_time).map(|part| (part.limit, part.time)).collect();
        let free = Nanos::from_millis(9_000 - 1_900 - 600 - 44);
        assert_eq!(times, [(LimitingFactor::Bandwidth, Nanos::from_millis(644)), (LimitingFactor::Unknown, free)]);
    }
}
