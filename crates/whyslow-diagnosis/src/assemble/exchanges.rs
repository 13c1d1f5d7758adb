//! A connection's exchanges, as the analysis lists them.

use super::label::{end_of, label};
use crate::rules::ConnectionView;
use crate::timeline::{ExchangeCut, ExchangeParts};
use std::cmp::Reverse;
use whyslow_analysis::types::{MIN_NOTICEABLE_DELAY, Side};
use whyslow_analysis::{Exchange, LimitingFactor, MAX_EXCHANGES, Message, ResponseTimes, Transfer};
use whyslow_core::message::Wait;
use whyslow_core::tcp::facts::{Facts, PeerMessage, TransferFacts};
use whyslow_units::{Nanos, Time};

/// Number of the first exchanges that are listed; the others are those that were waited for
/// longest.
const LISTED_FIRST: usize = 16;

/// Returns the listed exchanges, and the number of all. `transfers`: the listed ones. Times count
/// from `first`.
pub(super) fn list_exchanges(view: &ConnectionView<'_>, transfers: &[Transfer], first: Time) -> (Vec<Exchange>, u64) {
    let ConnectionView { facts, waits, .. } = view;
    if facts.timeless || facts.capture_defects.one_direction {
        return (Vec::new(), 0);
    }
    let handshakes = facts.exchanges.len().saturating_sub(waits.len()) as u64;
    let total = facts.exchanges_total.saturating_sub(handshakes);
    let mut order: Vec<usize> = (0..waits.len()).collect();
    if let Some(others) = order.get_mut(LISTED_FIRST..) {
        others.sort_by_key(|&index| (Reverse(waits[index].waited()), index));
    }
    order.truncate(MAX_EXCHANGES);
    order.sort_unstable();
    let listed = order.into_iter().map(|index| exchange(view, &waits[index], transfers, first));
    (listed.collect(), total)
}

/// The response times of all exchanges. Of very many exchanges only the longest are kept, so their
/// quantiles come from a sample that was taken before any was dropped.
pub(super) fn response_times(view: &ConnectionView<'_>) -> Option<ResponseTimes> {
    let ConnectionView { facts, waits, .. } = view;
    if facts.timeless || facts.capture_defects.one_direction {
        return None;
    }
    let mut times: Vec<Nanos> = waits.iter().map(|wait| cut(view, wait).waited()).collect();
    times.sort_unstable();
    let &max_s = times.last()?;
    if facts.exchanges_total > facts.exchanges.len() as u64 {
        let sampled = facts.directions[!facts.requester].response_times?;
        let [p50_s, p95_s] =
            [sampled.p50, sampled.p95].map(|time| (time + facts.vantage.loop_to(facts.requester)).min(max_s));
        return Some(ResponseTimes { count: sampled.count, p50_s, p95_s, max_s });
    }
    let at = |share: f64| times[((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1];
    Some(ResponseTimes { count: times.len() as u64, p50_s: at(0.5), p95_s: at(0.95), max_s })
}

fn exchange(view: &ConnectionView<'_>, wait: &Wait, transfers: &[Transfer], first: Time) -> Exchange {
    let facts = view.facts;
    let (client, server) = (facts.requester, !facts.requester);
    let find = |side: Side, index: Option<usize>| facts.directions[side].transfers.get(index?);
    let (request, answer) = (find(client, wait.exchange.request), find(server, wait.exchange.answer));
    let asked = answer.and_then(|answer| answer.answered);
    let place = |side: Side, transfer: &TransferFacts| {
        let (from, start) = (end_of(facts, side), transfer.start - first);
        transfers.iter().position(|listed| listed.from == from && listed.start_s == start)
    };
    let places = [(client, request), (server, answer)];
    let cut = cut(view, wait);
    let wait_s = cut.waited();
    let is_noticed = wait_s >= MIN_NOTICEABLE_DELAY;
    let (spans, spans_total) = if is_noticed { cut.spans(end_of(facts, client), first) } else { (Vec::new(), None) };
    Exchange {
        start_s: wait.exchange.start - first,
        request: match (request, asked) {
            (Some(request), asked) => Some(message(facts, client, request, asked, first)),
            // It was part of an earlier transfer.
            (None, Some(asked)) => Some(Message {
                from: end_of(facts, client),
                bytes: asked.bytes,
                start_s: asked.first - first,
                duration_s: asked.last - asked.first,
                label: None,
            }),
            (None, None) => None,
        },
        answer: answer.map(|answer| message(facts, server, answer, None, first)),
        client_s: wait.client,
        idle_s: wait.idle + (wait.exchange.wait() - wait_s),
        server_s: wait.server,
        wait_s,
        spans,
        spans_total,
        transfers: places.into_iter().filter_map(|(side, transfer)| place(side, transfer?)).collect(),
    }
}

/// Cuts a wait into its time by party.
fn cut(view: &ConnectionView<'_>, wait: &Wait) -> ExchangeCut {
    let (client, server) = (view.facts.requester, !view.facts.requester);
    let of = |side: Side, index: Option<usize>| view.transfers[side].get(index?);
    let (request, answer) = (of(client, wait.exchange.request), of(server, wait.exchange.answer));
    let asked = answer.and_then(|(answer, _)| answer.answered);
    let sent = asked.map(|asked| asked.last).or(request.map(|(transfer, _)| transfer.last_send));
    let between = match answer {
        Some(_) if wait.polled.is_some() => LimitingFactor::Idle,
        Some((answer, _)) if answer.missing_before > 0 => LimitingFactor::Timeout,
        Some((answer, _)) if answer.begins_lost() => LimitingFactor::LossRecovery,
        _ => LimitingFactor::ServerThink,
    };
    ExchangeCut::new(&ExchangeParts {
        start: wait.exchange.start,
        whole: wait.exchange.wait(),
        request: sent.map(|sent| (request.map_or(&[][..], |(_, cut)| &cut.spans), sent)),
        answer: answer.map(|(answer, cut)| (&cut.spans[..], answer.start, answer.last_send)),
        rtt: view.facts.min_rtt().unwrap_or_default(),
        between,
    })
}

/// `asked`: the part of it that was answered, if credit preceded it.
fn message(facts: &Facts, side: Side, transfer: &TransferFacts, asked: Option<PeerMessage>, first: Time) -> Message {
    // If parts of the message were not captured, its sequence numbers show its length.
    let later = asked.filter(|asked| asked.first > transfer.start && transfer.unseen == 0);
    let (start, bytes) = later.map_or((transfer.start, transfer.bytes()), |asked| (asked.first, asked.bytes));
    Message {
        from: end_of(facts, side),
        bytes,
        start_s: start - first,
        duration_s: (transfer.last_send - start).or_zero(),
        label: label(facts, side, transfer),
    }
}
