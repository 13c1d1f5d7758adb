//! A connection was refused, or reset in the middle of an exchange.
//!
//! ## What it is
//! A RST ends a connection at once, and discards the data that either side had not read. A host
//! sends it if no application listens on the port; an application if it closes with data unread or
//! on purpose (SO_LINGER 0); a host that has lost the connection's state, to the end that still
//! uses it; and middleboxes in the name of either end.
//!
//! ## How it is recognised
//! A RST instead of a SYN-ACK; or a RST while a request waits for its response, while a request is
//! still being sent, or while a response is still on its way: some of it was never acknowledged, or
//! the RST left within a round trip of a last segment that is full (the cost is then uncertain: all
//! sent data arrived, and may be all that was wanted, as in a speed test). The cost is the exchange
//! that has to be repeated if the server cut it short; if the client did, the silence after which
//! it gave up.
//!
//! A RST after both FINs, or after everything was answered and acknowledged, is how many
//! applications close (browsers, health checks, load balancers): it cost nothing, and is not
//! reported. The same holds for the few bytes that a server sends last (a TLS alert, `221 Bye`) to
//! a client that has closed already.
//!
//! ## What it is confused with
//! - `no-answer`: nothing came back at all, or the client gave up after a long wait.
//! - A box on the way may send the RST: its time to live is often another one than that of the
//!   end's other packets. If that end sends data or its SYN-ACK behind the RST, it never sent it.
//! - `capture-loss`: the rest of the answer was not captured.
//! - `elided-text`: a FIN or an ACK of the last exchange is not in the text; then nothing is
//!   reported.
//!
//! ## The fix
//! Refused: start the service on that port (`ss -ltn`), or let the firewall pass it. Reset after a
//! pause, at the first request: the server's keep-alive time is over before the client's; make the
//! client's shorter (nginx `keepalive_timeout`, HAProxy `timeout http-keep-alive`, Node
//! `server.keepAliveTimeout`). Reset in the middle: look at the log of the end that sent it.
//!
//! ## To see that it worked
//! The answer arrives whole, and `nstat -az TcpOutRsts` on the host that sent the reset no longer
//! rises.
//!
//! ## References
//! RFC 9293 section 3.5.2 and 3.10.7; RFC 1122 section 4.2.2.13 (data that was not read); RFC 9112
//! section 9.5 (closing races).

use super::parts::{confirm, end, evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::ConnectionView;
use super::unanswered_request::{AT_ONCE, OutstandingRequest, outstanding};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{
    Actor, ClientState, End, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, Frame, LogTopic, Measure,
    MessageKind, Remedy, State, Unit,
};
use whyslow_core::tcp::INITIAL_SYN_TIMERS;
use whyslow_core::tcp::facts::{Facts, ResetFacts, TransferFacts};
use whyslow_units::{Nanos, Time};

pub(super) const RULE: Rule = Rule::new(Cause::Reset, Check::Connection(check));

/// Less than this is a closing message, bytes: a TLS alert has 24 to 57 (RFC 8446 section 6), `221
/// Bye` of FTP, SMTP or POP3 a line. Half and twice change 0 and 3 of 2,061 captures.
const LAST_WORD: u64 = 100;
/// A connection that was silent for this time may have been closed for that (documentation of
/// Node's `keepAliveTimeout` and Apache's `KeepAliveTimeout`: 5 s). Half and twice change none of
/// 2,061 captures.
const KEPT_ALIVE: Nanos = Nanos::from_millis(4_000);
/// Data that was sent within this share of the minimum round trip is still in flight, whatever the
/// clocks' resolution. Half and twice the distance to 1 change none of 2,061 captures.
const IN_FLIGHT: f64 = 0.8;
/// Largest difference of the TTL in packets of one host: routes change by a hop or two. Half and
/// twice change none of 2,061 captures.
const HOPS: u8 = 2;

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    if facts.capture_defects.one_direction || facts.timeless {
        return None;
    }
    let reset = facts.reset?;
    let found = match facts.state {
        State::Refused if reset.from != facts.client && !facts.fins[reset.from] => refused(view),
        State::Reset if is_end_elided(facts) => None,
        State::Reset if reset.from == facts.client => by_client(view),
        State::Reset => by_server(view),
        _ => None,
    };
    found.map(|found| with_sender(found, facts, reset))
}

/// A text left out packets from the last exchange on: the ACK of data that seems to be in flight
/// may be among them, or a FIN, after which a RST only responds to late data.
fn is_end_elided(facts: &Facts) -> bool {
    let last = facts.directions.iter().filter_map(|direction| direction.transfers.last());
    let start = last.map(|transfer| transfer.start).min();
    facts.elided.iter().any(|&(_, until)| start.is_none_or(|start| until >= start))
}

/// A RST instead of a SYN-ACK.
fn refused(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    let (syn, _) = facts.handshake.syn?;
    let (first, frame) = facts.closing[!facts.client]?;
    let tries = 1 + facts.handshake.retries[facts.client];
    let waited = (if tries > 1 { facts.last } else { first } - syn).or_zero();
    let server = facts.endpoints[!facts.client];
    let statement = ExchangeStatement::Refused { server: end(server), times: tries, waited_s: waited };
    let mut found = finding(Cause::Reset, waited, view.trust(0.9), statement);
    let took = first - syn;
    found.evidence.push(evidence(Measure::SynToReset, took.as_millis_f64(), Unit::Milliseconds, &[frame]));
    found.evidence.extend(super::icmp::undelivered(facts, facts.client).map(super::icmp::as_evidence));
    let (host, port) = (server.0.to_string(), server.1);
    let start = ExchangeAction::StartService { host: host.clone(), port };
    let allow = ExchangeAction::AllowPort { at: host.clone(), host, port };
    found.remedies = vec![Remedy::new(Actor::Application, start), Remedy::new(Actor::Network, allow)];
    Some(found)
}

fn by_server(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    let (client, server) = (facts.client, !facts.client);
    let (at, frame) = facts.closing[server]?;
    let last_response = facts.directions[server].last_payload.map(|(time, _)| time);
    if let Some(asked) = outstanding(facts) {
        return instead_of_an_answer(view, &asked, at, frame);
    }
    if facts.fins[server] {
        return None;
    }
    // Its own answer, or the client's upload, was not over.
    let last = |side: Side| facts.directions[side].transfers.last();
    let [sent, owed] = [server, client].map(|side| facts.directions[side].unacknowledged);
    let upload = last(client).filter(|upload| {
        owed >= LAST_WORD && last_response.is_none_or(|last_response| last_response < upload.last_send)
    });
    let answer = last(server).filter(|answer| sent >= LAST_WORD || is_amid(facts, answer, at));
    let (cut, message, lost) = match (answer, upload) {
        (Some(answer), _) => (answer, MessageKind::Response, sent),
        (None, Some(upload)) => (upload, MessageKind::Request, owed),
        (None, None) if last_response.is_none() && last(client).is_none() && is_opened(facts, at) => {
            return Some(before_anything(view, at, frame));
        }
        (None, None) => return None,
    };
    // A request, or its response, has to be repeated. Unrequested data may be usable as far as it
    // arrived.
    let asks = facts.content[client].heads.iter().any(|(start, _)| (cut.seq.0..cut.seq.1).contains(start));
    let wasted = match cut.answered {
        Some(asked) => (at - asked.first).or_zero(),
        None if owed > 0 && asks => (at - cut.start).or_zero(),
        None => Nanos::ZERO,
    };
    let into_s = (at - cut.start).or_zero();
    // All that was sent arrived. It is unknown whether there was a rest, and whether this is of use
    // without it.
    let (statement, cost, confidence, about) = if lost < LAST_WORD {
        (ExchangeStatement::ResetBehindFullSegment { into_s }, Nanos::ZERO, 0.6, LogTopic::ResponseComplete)
    } else {
        let statement = ExchangeStatement::ResetAmid {
            by: End::Server,
            message,
            into_s: (cut.rounds_total > 1).then_some(into_s),
            unacknowledged: lost,
        };
        (statement, wasted, 0.85, LogTopic::MessageCut)
    };
    let mut found = finding(Cause::Reset, cost, view.trust(confidence), statement);
    report_cut(&mut found, cut, lost, frame);
    found.remedies = remedy(Actor::Application, ExchangeAction::ReadServerLog { about });
    Some(found)
}

/// A request was outstanding. `at`, `frame`: where the server ended the connection.
fn instead_of_an_answer(
    view: &ConnectionView<'_>,
    asked: &OutstandingRequest<'_>,
    at: Time,
    frame: Frame,
) -> Option<Finding> {
    let facts = view.facts;
    let server = !facts.client;
    let last_response = facts.directions[server].last_payload.map(|(time, _)| time);
    let message = asked.message;
    // It had closed before, and the request came too late.
    if facts.fins[server] && message.start < at {
        return None;
    }
    let waited = if facts.fins[server] { facts.last - message.start } else { at - message.last_send }.or_zero();
    let at_once = waited <= facts.rtt.p50.unwrap_or_default() + AT_ONCE;
    let request = asked.as_statement();
    let statement = if facts.fins[server] {
        ExchangeStatement::ClosedBeforeRequest { request }
    } else if at_once {
        ExchangeStatement::RequestReset { request }
    } else {
        ExchangeStatement::ResetWithoutResponse { request, waited_s: waited }
    };
    let mut found = finding(Cause::Reset, waited, view.trust(asked.due.max(0.75)), statement);
    let frames = [message.frames.0, message.frames.1];
    found.evidence.push(evidence(Measure::UnansweredRequest, message.bytes() as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::RequestToReset, waited.as_millis_f64(), Unit::Milliseconds, &[frame]));
    let idle = last_response.map(|last_response| message.start - last_response).filter(|&idle| idle >= KEPT_ALIVE);
    if let Some(idle) = idle {
        found.evidence.push(evidence(Measure::SilenceBeforeRequest, idle.as_secs_f64(), Unit::Seconds, &[]));
    }
    found.remedies = match idle {
        Some(idle) if at_once => forgotten(idle),
        _ => remedy(Actor::Application, ExchangeAction::ReadServerLog { about: LogTopic::RequestDropped }),
    };
    Some(found)
}

fn by_client(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    let server = !facts.client;
    let (at, frame) = facts.closing[facts.client]?;
    let direction = &facts.directions[server];
    let lost = direction.unacknowledged;
    // Behind a FIN the client may still have read it.
    let on_its_way = !facts.fins[facts.client] && direction.last_payload.is_some_and(|(time, _)| time > at);
    if let Some(answer) =
        direction.transfers.last().filter(|answer| lost >= LAST_WORD || (on_its_way && answer.start < at))
    {
        let last_response = answer.rounds.iter().rev().map(|round| round.last_send).find(|&time| time <= at);
        let patience = last_response.map_or(Nanos::ZERO, |last_response| (at - last_response).or_zero());
        // A client that reads on loses no patience.
        let waited = if patience > facts.rtt.p50.unwrap_or_default() + AT_ONCE { patience } else { Nanos::ZERO };
        let statement = ExchangeStatement::ResetAmid {
            by: End::Client,
            message: MessageKind::Response,
            into_s: Some((at - answer.start).or_zero()),
            unacknowledged: lost,
        };
        let mut found = finding(Cause::Reset, waited, view.trust(0.8), statement);
        report_cut(&mut found, answer, lost, frame);
        found.evidence.push(evidence(Measure::ServerSilence, patience.as_millis_f64(), Unit::Milliseconds, &[]));
        let action = ExchangeAction::FindWhyClientClosed { state: ClientState::AmidResponse };
        found.remedies = remedy(Actor::Application, action);
        return Some(found);
    }
    let asked = outstanding(facts)?;
    let waited = (at - asked.message.last_send).or_zero();
    // A longer wait has a name of its own.
    if waited >= INITIAL_SYN_TIMERS[0].max(facts.rtt.p50.unwrap_or_default().scale(2.0))
        || waited < whyslow_analysis::types::MIN_NOTICEABLE_DELAY
    {
        return None;
    }
    let statement = ExchangeStatement::ClientLeft { waited_s: waited };
    let mut found = finding(Cause::Reset, waited, view.trust(asked.due), statement);
    let frames = [asked.message.frames.0, asked.message.frames.1];
    found.evidence.push(evidence(Measure::UnansweredRequest, asked.message.bytes() as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::RequestToClose, waited.as_millis_f64(), Unit::Milliseconds, &[frame]));
    let action = ExchangeAction::FindWhyClientClosed { state: ClientState::BeforeResponse };
    found.remedies = remedy(Actor::Application, action);
    Some(found)
}

/// Whether a server discarded data that its application still had to send: it reset the connection
/// before an ACK of its last segment can have come, and that segment was full, as the last one of a
/// message is only by chance. All that was sent may still arrive and be acknowledged.
fn is_amid(facts: &Facts, answer: &TransferFacts, at: Time) -> bool {
    let direction = &facts.directions[!facts.client];
    let is_full =
        direction.mss > 0 && direction.last_len >= direction.mss && direction.last_len.is_multiple_of(direction.mss);
    let in_flight = facts.min_rtt().is_some_and(|rtt| at - answer.last_send < rtt.scale(IN_FLIGHT));
    // A closed socket had sent all of its data already.
    let aborts = facts.reset.is_some_and(|reset| !reset.is_bare);
    answer.rounds_total > 1 && is_full && in_flight && aborts
}

/// The server had accepted the connection, and the client had not closed it.
fn is_opened(facts: &Facts, at: Time) -> bool {
    facts.handshake.syn_ack.is_some_and(|(time, _)| time < at) && !facts.fins[facts.client]
}

fn before_anything(view: &ConnectionView<'_>, at: Time, frame: Frame) -> Finding {
    let waited = view.facts.handshake.syn.map_or(Nanos::ZERO, |(syn, _)| (at - syn).or_zero());
    let statement = ExchangeStatement::ResetBeforeData { waited_s: waited };
    let mut found = finding(Cause::Reset, waited, view.trust(0.8), statement);
    found.evidence.push(evidence(Measure::SynToReset, waited.as_millis_f64(), Unit::Milliseconds, &[frame]));
    found.remedies = remedy(Actor::Application, ExchangeAction::FindWhyServerDrops);
    found
}

fn report_cut(found: &mut Finding, cut: &TransferFacts, lost: u64, frame: Frame) {
    let frames = [cut.frames.0, cut.frames.1];
    let arrived = cut.bytes().saturating_sub(lost);
    found.evidence.push(evidence(Measure::AcknowledgedBytes, arrived as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::UnacknowledgedBytes, lost as f64, Unit::Bytes, &[frame]));
}

/// Remedies if a server closed a connection because it was silent.
fn forgotten(idle_s: Nanos) -> Vec<Remedy> {
    let actions = [ExchangeAction::CloseIdleSooner { idle_s }, ExchangeAction::RetryOnNewConnection];
    actions.map(|action| Remedy::new(Actor::Application, action)).into()
}

/// Adds that a device on the path may have sent the reset.
fn with_sender(mut found: Finding, facts: &Facts, reset: ResetFacts) -> Finding {
    if reset.is_denied {
        let end = facts.end_of(reset.from);
        found.remedies = remedy(Actor::Network, ExchangeAction::FindResettingBox { end });
        found.to_confirm = confirm(ExchangeQuestion::ResetByMiddlebox { end });
        return found;
    }
    let (syn, payload) = facts.ttl[reset.from];
    let known = [syn, payload];
    let is_other = known.iter().flatten().all(|ttl| ttl.abs_diff(reset.ttl) >= HOPS);
    if let (true, Some(usual)) = (is_other, payload.or(syn)) {
        found.evidence.push(evidence(Measure::ResetTtl, f64::from(reset.ttl), Unit::Hops, &[]));
        found.evidence.push(evidence(Measure::UsualTtl, f64::from(usual), Unit::Hops, &[]));
        found.to_confirm = confirm(ExchangeQuestion::ResetByMiddlebox { end: facts.end_of(reset.from) });
    }
    found
}

#[cfg(test)]
mod tests;
