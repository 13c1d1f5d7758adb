//! A connection was refused, or reset in the middle of an exchange.
//!
//! ## What it is
//! A RST ends a connection at once, and throws away what either side had not read. A host sends it
//! where nobody listens, a program where it closes with data unread or on purpose (SO_LINGER 0), a
//! host that has forgotten the connection to whoever still uses it, and boxes on the way in the
//! name of either end.
//!
//! ## How it is recognised
//! A RST instead of a SYN-ACK; or a RST while a request waits for its answer, while a request is
//! still being sent, or while an answer is still on its way: some of it was never acknowledged, or
//! the RST left within a round trip of a last segment that is full (no time is lost for certain
//! then: all that was sent came, and may be all that was wanted, as of a speed test). What counts
//! as lost is the exchange that has to be made again, where the server cut it short; where the
//! client did, the silence after which it lost its patience.
//!
//! A RST after both FINs, or after everything was answered and acknowledged, is how many programs
//! close (browsers, health checks, load balancers): it cost nothing, and nothing is said. So it is
//! with the few bytes that a server says last (a TLS alert, `221 Bye`) to a client that has closed
//! already.
//!
//! ## What it is confused with
//! - `no-answer`: nothing came back at all, or the client gave up after a long wait.
//! - A box on the way may send the RST: its time to live is often another one than that of the
//!   end's other packets.
//! - `capture-loss`: the rest of the answer was not captured.
//! - `elided-text`: a FIN or an ACK of the last exchange is not in the text; then nothing is said.
//!
//! ## The fix
//! Refused: start what should listen on that port (`ss -ltn`), or let the firewall pass it. Reset
//! after a pause, at the first request: the server's keep-alive time is over before the client's;
//! let the client's be shorter (nginx `keepalive_timeout`, HAProxy `timeout http-keep-alive`, Node
//! `server.keepAliveTimeout`). Reset in the middle: the log of the end that sent it.
//!
//! ## To see that it worked
//! The answer arrives whole, and `nstat -az TcpOutRsts` on the host that sent the reset no longer
//! rises.
//!
//! ## References
//! RFC 9293 section 3.5.2 and 3.10.7; RFC 1122 section 4.2.2.13 (data that was not read); RFC 9112
//! section 9.5 (closing races).

use super::case::ConnectionCase;

use super::outstanding::{OutstandingRequest, outstanding};
use super::rule::{Check, Rule};
use super::say::{confirm, count, end, evidence, finding, fix, thousands, time};
use crate::analysis::{Actor, Finding, Frame, Remedy, State, Unit};
use crate::cause::Cause;
use crate::tcp::INITIAL_SYN_TIMERS;
use crate::tcp::facts::{Facts, ResetFacts, TransferFacts};
use crate::types::Side;
use crate::units::{Nanos, Time};

pub(super) const RULE: Rule = Rule::new(Cause::Reset, Check::Connection(check));

/// Less than this is a last word: a TLS alert is 24 to 57 bytes, a goodbye of FTP, SMTP or POP3 a
/// line.
const LAST_WORD: u64 = 100;
/// A RST within a round trip and this answers what was sent before it.
const AT_ONCE: Nanos = Nanos::from_millis(50);
/// A connection that was silent for so long may have been closed for that (Node's server waits 5 s,
/// Apache's too).
const KEPT_ALIVE: Nanos = Nanos::from_millis(4_000);
/// Of the minimum RTT: what was sent in the last part of it is still on its way, whatever the
/// clocks' grain.
const IN_FLIGHT: f64 = 0.8;
/// Routes change by a hop; a time to live that is farther off is another host's.
const HOPS: u8 = 2;

fn check(case: &ConnectionCase<'_>) -> Option<Finding> {
    let facts = case.facts;
    if facts.capture_defects.one_direction || facts.timeless {
        return None;
    }
    let reset = facts.reset?;
    let found = match facts.state {
        State::Refused if reset.from != facts.client && !facts.fins[reset.from] => refused(case),
        State::Reset if is_end_elided(facts) => None,
        State::Reset if reset.from == facts.client => by_client(case),
        State::Reset => by_server(case),
        _ => None,
    };
    found.map(|found| with_sender(found, facts, reset))
}

/// A text left out packets from the last exchange on: the ACK of what seems to have been on its way
/// may be among them, or a FIN, behind which a RST merely answers what came too late.
fn is_end_elided(facts: &Facts) -> bool {
    let last = facts.directions.iter().filter_map(|direction| direction.transfers.last());
    let start = last.map(|transfer| transfer.start).min();
    facts.elided.iter().any(|&(_, until)| start.is_none_or(|start| until >= start))
}

/// A RST instead of a SYN-ACK.
fn refused(case: &ConnectionCase<'_>) -> Option<Finding> {
    let facts = case.facts;
    let (syn, _) = facts.handshake.syn?;
    let (first, frame) = facts.closing[!facts.client]?;
    let tries = 1 + facts.handshake.retries[facts.client];
    let waited = if tries > 1 { facts.last } else { first } - syn;
    let (address, port) = facts.endpoints[!facts.client];
    let summary = if tries > 1 {
        format!("{} refused the connection, {} in {}", end((address, port)), count(tries, "time"), time(waited))
    } else {
        format!("{} refused the connection: a RST came {} after the SYN", end((address, port)), time(waited))
    };
    let mut found = finding(Cause::Reset, waited.or_zero(), case.trust(0.9), summary);
    found.evidence.push(evidence(
        "from the SYN to the RST",
        (first - syn).as_millis_f64(),
        Unit::Milliseconds,
        &[frame],
    ));
    found.evidence.extend(super::icmp::undelivered(facts, facts.client).map(super::icmp::as_evidence));
    found.remedies = fix(
        Actor::Application,
        format!("on {address}, start what should listen on port {port}, or let the firewall that refuses it pass"),
        Some(format!("ss -ltn 'sport = :{port}'")),
    );
    Some(found)
}

fn by_server(case: &ConnectionCase<'_>) -> Option<Finding> {
    let facts = case.facts;
    let (client, server) = (facts.client, !facts.client);
    let (at, frame) = facts.closing[server]?;
    let heard = facts.directions[server].last_payload.map(|(time, _)| time);
    if let Some(asked) = outstanding(facts) {
        return instead_of_an_answer(case, &asked, at, frame);
    }
    if facts.fins[server] {
        return None;
    }
    // Its own answer, or the client's upload, was not over.
    let last = |side: Side| facts.directions[side].transfers.last();
    let [sent, owed] = [server, client].map(|side| facts.directions[side].unacknowledged);
    let upload = last(client).filter(|upload| owed >= LAST_WORD && heard.is_none_or(|heard| heard < upload.last_send));
    let answer = last(server).filter(|answer| sent >= LAST_WORD || is_amid(facts, answer, at));
    let (cut, what, lost) = match (answer, upload) {
        (Some(answer), _) => (answer, "its answer", sent),
        (None, Some(upload)) => (upload, "what the client sent", owed),
        (None, None) if heard.is_none() && last(client).is_none() && is_opened(facts, at) => {
            return Some(before_anything(case, at, frame));
        }
        (None, None) => return None,
    };
    // A request, or its answer, has to be repeated. Of what was sent unasked, what arrived may be
    // of use.
    let asks = facts.content[client].heads.iter().any(|(start, _)| (cut.seq.0..cut.seq.1).contains(start));
    let wasted = match cut.answered {
        Some(asked) => (at - asked.first).or_zero(),
        None if owed > 0 && asks => (at - cut.start).or_zero(),
        None => Nanos::ZERO,
    };
    let summary = if cut.rounds_total > 1 {
        format!(
            "the server reset the connection {} into {what}: {} of it were never acknowledged",
            time((at - cut.start).or_zero()),
            bytes(lost)
        )
    } else {
        format!("the server reset the connection while {} of {what} were on their way", bytes(lost))
    };
    if lost < LAST_WORD {
        // All that was sent has come: that it is of no use without the rest is not known, nor that
        // there was a rest.
        let into = time((at - cut.start).or_zero());
        let summary =
            format!("the server reset the connection {into} into {what}, amid full segments, all of which came");
        let mut found = finding(Cause::Reset, Nanos::ZERO, case.trust(0.6), summary);
        report_cut(&mut found, cut, lost, frame);
        let what =
            "see in the server's log, or in that of the proxy before it, whether it gave up before it had said all";
        found.remedies = fix(Actor::Application, what, None);
        return Some(found);
    }
    let mut found = finding(Cause::Reset, wasted, case.trust(0.85), summary);
    report_cut(&mut found, cut, lost, frame);
    found.remedies = fix(
        Actor::Application,
        "see in the server's log, or in that of the proxy before it, why it gave up; what came so far has to be transferred again",
        None,
    );
    Some(found)
}

/// A request was outstanding. `at`, `frame`: where the server ended the connection.
fn instead_of_an_answer(
    case: &ConnectionCase<'_>,
    asked: &OutstandingRequest<'_>,
    at: Time,
    frame: Frame,
) -> Option<Finding> {
    let facts = case.facts;
    let server = !facts.client;
    let heard = facts.directions[server].last_payload.map(|(time, _)| time);
    let message = asked.message;
    let what = asked.label.map_or_else(|| format!("{} B", thousands(message.bytes())), str::to_owned);
    // It had closed before, and the request came too late.
    if facts.fins[server] && message.start < at {
        return None;
    }
    let waited = if facts.fins[server] { facts.last - message.start } else { at - message.last_send }.or_zero();
    let at_once = waited <= facts.rtt.p50.unwrap_or_default() + AT_ONCE;
    let summary = if facts.fins[server] {
        format!("the server had closed the connection when a request came ({what}), and answered it by a reset")
    } else if at_once {
        format!("the server answered a request by a reset ({what})")
    } else {
        format!("the server reset the connection {} after a request ({what}), without an answer", time(waited))
    };
    let mut found = finding(Cause::Reset, waited, case.trust(asked.due.max(0.75)), summary);
    let frames = [message.frames.0, message.frames.1];
    found.evidence.push(evidence("request without an answer", message.bytes() as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence("from its end to the RST", waited.as_millis_f64(), Unit::Milliseconds, &[frame]));
    let idle = heard.map(|heard| message.start - heard).filter(|&idle| idle >= KEPT_ALIVE);
    if let Some(idle) = idle {
        found.evidence.push(evidence("silence before the request", idle.as_secs_f64(), Unit::Seconds, &[]));
    }
    found.remedies = match idle {
        Some(idle) if at_once => forgotten(idle),
        _ => fix(
            Actor::Application,
            "see in the server's log, or in that of the proxy before it, why it dropped this request",
            None,
        ),
    };
    Some(found)
}

fn by_client(case: &ConnectionCase<'_>) -> Option<Finding> {
    let facts = case.facts;
    let server = !facts.client;
    let (at, frame) = facts.closing[facts.client]?;
    let direction = &facts.directions[server];
    let lost = direction.unacknowledged;
    // Behind a FIN the client may still have read it.
    let on_its_way = !facts.fins[facts.client] && direction.last_payload.is_some_and(|(time, _)| time > at);
    if let Some(answer) =
        direction.transfers.last().filter(|answer| lost >= LAST_WORD || (on_its_way && answer.start < at))
    {
        let heard = answer.rounds.iter().rev().map(|round| round.last_send).find(|&time| time <= at);
        let patience = heard.map_or(Nanos::ZERO, |heard| (at - heard).or_zero());
        // A client that reads on loses no patience.
        let waited = if patience > facts.rtt.p50.unwrap_or_default() + AT_ONCE { patience } else { Nanos::ZERO };
        let summary = format!(
            "the client ended the connection {} into the server's answer, while {} of it were on their way",
            time((at - answer.start).or_zero()),
            bytes(lost)
        );
        let mut found = finding(Cause::Reset, waited, case.trust(0.8), summary);
        report_cut(&mut found, answer, lost, frame);
        found.evidence.push(evidence(
            "silence of the server before it",
            patience.as_millis_f64(),
            Unit::Milliseconds,
            &[],
        ));
        found.remedies = fix(
            Actor::Application,
            "see why the client's program closed before it had read all: a timeout, a limit, or somebody who went on",
            None,
        );
        return Some(found);
    }
    let asked = outstanding(facts)?;
    let waited = (at - asked.message.last_send).or_zero();
    // A longer wait has a name of its own.
    if waited >= INITIAL_SYN_TIMERS[0].max(facts.rtt.p50.unwrap_or_default().scale(2.0))
        || waited < super::say::WORTH_SAYING
    {
        return None;
    }
    let summary = format!("the client ended the connection {} after its request, before an answer came", time(waited));
    let mut found = finding(Cause::Reset, waited, case.trust(asked.due), summary);
    let frames = [asked.message.frames.0, asked.message.frames.1];
    found.evidence.push(evidence("request without an answer", asked.message.bytes() as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence("from its end to the close", waited.as_millis_f64(), Unit::Milliseconds, &[frame]));
    found.remedies = fix(Actor::Application, "see why the client's program did not wait for the answer", None);
    Some(found)
}

/// Whether a server threw away what its program had yet to say: it reset the connection before an
/// ACK of its last segment can have come, and that segment was full, as the last one of a message
/// is by chance alone. All that was sent may arrive, and be acknowledged, meanwhile.
fn is_amid(facts: &Facts, answer: &TransferFacts, at: Time) -> bool {
    let direction = &facts.directions[!facts.client];
    let is_full =
        direction.mss > 0 && direction.last_len >= direction.mss && direction.last_len.is_multiple_of(direction.mss);
    let in_flight = facts.min_rtt().is_some_and(|rtt| at - answer.last_send < rtt.scale(IN_FLIGHT));
    // A socket that is closed already had said all that it was given.
    let aborts = facts.reset.is_some_and(|reset| !reset.is_bare);
    answer.rounds_total > 1 && is_full && in_flight && aborts
}

/// The server had accepted the connection, and the client had not closed it.
fn is_opened(facts: &Facts, at: Time) -> bool {
    facts.handshake.syn_ack.is_some_and(|(time, _)| time < at) && !facts.fins[facts.client]
}

fn before_anything(case: &ConnectionCase<'_>, at: Time, frame: Frame) -> Finding {
    let waited = case.facts.handshake.syn.map_or(Nanos::ZERO, |(syn, _)| (at - syn).or_zero());
    let summary = format!("the server reset the connection {} after the SYN, before anything was sent", time(waited));
    let mut found = finding(Cause::Reset, waited, case.trust(0.8), summary);
    found.evidence.push(evidence("from the SYN to the RST", waited.as_millis_f64(), Unit::Milliseconds, &[frame]));
    found.remedies = fix(
        Actor::Application,
        "see why the server drops connections that it has accepted: a full backlog (tcp_abort_on_overflow), a limit, or a proxy without a backend",
        Some("nstat -az TcpExtListenOverflows TcpExtTCPAbortOnData TcpExtTCPAbortOnClose".into()),
    );
    found
}

fn bytes(number: u64) -> String {
    format!("{} B", thousands(number))
}

fn report_cut(found: &mut Finding, cut: &TransferFacts, lost: u64, frame: Frame) {
    let frames = [cut.frames.0, cut.frames.1];
    let arrived = cut.bytes().saturating_sub(lost);
    found.evidence.push(evidence("acknowledged before the end", arrived as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence("sent and never acknowledged", lost as f64, Unit::Bytes, &[frame]));
}

/// A server that closed a connection for its silence.
fn forgotten(idle: Nanos) -> Vec<Remedy> {
    fix(
        Actor::Application,
        format!(
            "the server had dropped the connection after {} of silence: let the client close idle connections sooner than the server does, and try again on a new one",
            time(idle)
        ),
        None,
    )
}

/// A box on the way may have sent it.
fn with_sender(mut found: Finding, facts: &Facts, reset: ResetFacts) -> Finding {
    let (syn, payload) = facts.ttl[reset.from];
    let known = [syn, payload];
    let is_other = known.iter().flatten().all(|ttl| ttl.abs_diff(reset.ttl) >= HOPS);
    if let (true, Some(usual)) = (is_other, payload.or(syn)) {
        found.evidence.push(evidence("time to live of the RST", f64::from(reset.ttl), Unit::Hops, &[]));
        found.evidence.push(evidence("time to live of its other packets", f64::from(usual), Unit::Hops, &[]));
        let end = if reset.from == facts.client { "client" } else { "server" };
        found.to_confirm = confirm(format!(
            "its time to live differs: a firewall or balancer on the way may have sent it in the {end}'s name; a capture at the {end} tells"
        ));
    }
    found
}

#[cfg(test)]
mod tests;
