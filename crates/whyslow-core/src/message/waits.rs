//! Attributes the time of an exchange: to the client application before it, to the server within
//! it, or to neither.

use crate::tcp::facts::{Facts, TransferFacts};
use crate::tcp::payload::Protocol;
use whyslow_analysis::types::Side;
use whyslow_units::Nanos;
use whyslow_units::stats::median;

use super::server_push::{ServerPush, may_be_unrelated, reports};
use super::wait::{SEGMENT, Wait};

/// The pauses of a program between its own requests are shorter than this, or than a few round
/// trips. After a longer pause the next request is independent, and the time before it is idle. A
/// push also starts again after such a pause (`tcp::turns`).
const MAX_SERIES_PAUSE: Nanos = Nanos::from_millis(1_000);
const SERIES_ROUND_TRIPS: f64 = 4.0;
/// A connection that has been idle for this time was opened in advance (Chromium closes unused ones
/// after 10 s).
const SPARE_IDLE: Nanos = Nanos::from_millis(10_000);
/// The least time after which a small response may be that of a long poll, which the server delays
/// until an event (long polls time out after 20 to 60 s).
const MIN_POLL: Nanos = Nanos::from_millis(10_000);

/// Smaller messages may be keep-alives or application-level acknowledgments (WebSocket's have a few
/// bytes, with TLS 30 to 60).
const MAX_KEEPALIVE_LEN: u64 = 100;

/// Clients usually give up after this time (nginx' `proxy_read_timeout` is 60 s): a small message
/// that comes later is not a response that a client waited for.
const REQUEST_TIMEOUT: Nanos = Nanos::from_millis(60_000);

/// The waits of each exchange except the TLS handshake, in time order.
pub fn waits(facts: &Facts) -> Vec<Wait> {
    let client = facts.requester;
    let rtt = facts.rtt.p50.or(facts.rtt.min).unwrap_or_default();
    let series = MAX_SERIES_PAUSE.max(rtt.scale(SERIES_ROUND_TRIPS));
    let transfer = |side: Side, index: Option<usize>| facts.directions[side].transfers.get(index?);
    let server_push = ServerPush::of(facts);
    let reports = reports(facts);
    let is_tls = facts.content[client].protocol == Some(Protocol::Tls);
    let mut all: Vec<Wait> = Vec::new();
    for &exchange in &facts.exchanges {
        let (request, answer) = (transfer(client, exchange.request), transfer(!client, exchange.answer));
        let is_handshake =
            |transfer: Option<&TransferFacts>, side| transfer.is_none_or(|t| facts.is_handshake(side, t));
        if is_handshake(request, client) && is_handshake(answer, !client) {
            continue;
        }
        let is_first = all.is_empty();
        let most = if is_first { SPARE_IDLE } else { series };
        let before = exchange.before.filter(|_| request.is_some()).unwrap_or_default();
        let is_clients = before <= most && !server_push.may_push_at(exchange.start);
        let (client, idle) = if is_clients { (before, Nanos::ZERO) } else { (Nanos::ZERO, before) };
        // Time that losses cost is not the server's.
        let server =
            exchange.server.filter(|_| answer.is_none_or(|answer| answer.missing_before == 0 && !answer.begins_lost()));
        let mut wait = Wait { exchange, is_first, client, idle, server, polled: None };
        let is_unseen = answer.is_some_and(|answer| has_unseen(facts, answer));
        // Records of a request are larger than those that acknowledge a push.
        let asks = is_tls && request.is_some_and(|request| request.bytes() >= MAX_KEEPALIVE_LEN);
        let is_aside = reports && answer.is_some_and(|answer| answer.bytes() <= SEGMENT);
        let is_unrequested = || {
            let messages = facts.messages.as_ref().filter(|messages| messages.shows_all_requests());
            messages.zip(answer).is_some_and(|(messages, answer)| !messages.was_waited_for(answer.seq, answer.start))
        };
        if is_unseen
            || is_unrequested()
            || is_aside
            || is_conversation(facts, server_push, [request, answer], exchange.server)
            || (!asks && server_push.may_be_push(&wait, rtt))
        {
            wait.polled = wait.server.take();
        }
        all.push(wait);
    }
    mark_polls(facts, &mut all);
    all
}

/// Whether small messages this far apart are independent, in an unknown protocol: both are as small
/// as keep-alives, or the server sends unrequested data elsewhere on the connection.
fn is_conversation(
    facts: &Facts,
    server_push: ServerPush,
    [request, answer]: [Option<&TransferFacts>; 2],
    server: Option<Nanos>,
) -> bool {
    let are_tiny = request.zip(answer).is_some_and(|pair| pair.0.bytes().max(pair.1.bytes()) < MAX_KEEPALIVE_LEN);
    let is_own = are_tiny || server_push != ServerPush::Never;
    is_own && answer.zip(server).is_some_and(|(answer, late)| may_be_unrelated(facts, answer, late))
}

/// Whether uncaptured data of either side passed between a message and its response: a later
/// request, or an earlier response.
fn has_unseen(facts: &Facts, answer: &TransferFacts) -> bool {
    let Some(request) = answer.answered else { return false };
    let time = facts.directions.iter().flat_map(|direction| &direction.missing).map(|&(_, time)| time);
    time.into_iter().any(|time| time > request.last && time <= answer.start)
}

/// Marks long polls: their small responses usually come late. If most responses are prompt, a late
/// one is a delay.
fn mark_polls(facts: &Facts, all: &mut [Wait]) {
    let sender = !facts.requester;
    let direction = &facts.directions[sender];
    let is_small = |wait: &Wait| {
        let answer = wait.exchange.answer.and_then(|index| direction.transfers.get(index));
        wait.exchange.request.is_some() && answer.is_some_and(|answer| answer.bytes() <= SEGMENT)
    };
    let announces = facts.content[sender].protocol == Some(Protocol::Http);
    for wait in all.iter_mut().filter(|wait| is_small(wait) && !announces) {
        if wait.server.is_some_and(|time| time >= REQUEST_TIMEOUT) {
            wait.polled = wait.server.take();
        }
    }
    let thinking: Vec<Nanos> = all.iter().filter(|wait| is_small(wait)).filter_map(|wait| wait.server).collect();
    let late = thinking.iter().filter(|time| **time >= MIN_POLL).count();
    if late < 2 {
        return;
    }
    if median(thinking).is_none_or(|typical| typical < MIN_POLL) {
        return;
    }
    for wait in all.iter_mut().filter(|wait| is_small(wait)) {
        if wait.server.is_some_and(|time| time >= MAX_SERIES_PAUSE) {
            wait.polled = wait.server.take();
        }
    }
}
