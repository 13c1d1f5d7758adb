//! No response: a SYN, a request or data was sent, and nothing came back.
//!
//! ## What it is
//! One end waits for another that is down, unreachable or busy. TCP tries a SYN for about two
//! minutes (Linux: 6 more times in 127 s) and data for a quarter of an hour, with waits that
//! double; a request that was delivered and is not answered is waited for as long as the client's
//! program likes.
//!
//! ## How it is recognised
//! - A SYN comes twice or more without any reply; or the server answers each of them, and none of
//!   its SYN-ACKs is acknowledged: they do not reach the client, which repeats its SYN. (A
//!   connection that opens in the end is `syn-loss`.)
//! - The timer sends the same data twice or more up to the last packet, and it is never
//!   acknowledged.
//! - A request was acknowledged, and no payload comes: until the client gives up, the server
//!   closes, or the capture ends. A response must have been due: the request is readable, or
//!   earlier ones on the connection were answered, one by one; and the silence is longer than any
//!   of those took (three to ten times as long, if the protocol is unreadable), than a second (the
//!   least timer of RFC 6298) and two round trips, and not longer than five minutes. Pushed data, a
//!   protocol's credit and closing messages do not wait for a response.
//! - A router, or the host, reports by ICMP that the SYN cannot be delivered: one error is enough.
//!   It counts if it quotes a segment that was in flight. Errors for probes of traceroute, which
//!   are meant to expire on the way, do not count.
//! - An answer stops at a full segment that its sender did not push, so that it had more to send;
//!   or the server does not even acknowledge the client's FIN behind it. The window was open, and
//!   the silence is twice as long as any pause before.
//!
//! If the capture ends during the wait, the finding reports it: the response may have come a moment
//! later.
//!
//! ## What it is confused with
//! - `server-think`: the answer came, late.
//! - `syn-loss`: the connection opened, late.
//! - `timeout`: the retransmitted data arrived in the end.
//! - `mtu-black-hole`: only large segments are not acknowledged.
//! - `reset`: the other end did answer, with a RST.
//! - A capture that lost packets, or has one direction: then only tries whose waits double count.
//!
//! ## The fix
//! For a SYN: check that the host is up and listens there (a full backlog drops SYNs: `nstat -az
//! TcpExtListenOverflows`), and that no firewall or route on the way there or back drops it:
//! `traceroute -T -p PORT HOST`. For data after a long pause: a NAT or firewall may have dropped
//! the connection's state: set keep-alives below its timeout (`net.ipv4.tcp_keepalive_time`). For a
//! request: check the server's log and its backends, and set a timeout in the client.
//!
//! ## To see that it worked
//! `nc -vz ADDRESS PORT` from the client connects at once, and the request is answered.
//!
//! ## References
//! RFC 9293 section 3.8.3 and 3.9.2.2 (ICMP), RFC 5461 and RFC 5927 (effects of ICMP errors on TCP,
//! and forged ones), RFC 6298; Linux `tcp_syn_retries`, `tcp_retries2`; RFC 5382 (state of a NAT).

use super::black_hole::is_stuck;
use super::icmp;
use super::loss_cost::{TRIES, given_up};
use super::parts::{confirm, end, evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::ConnectionView;
use super::rule_input::is_half_open;
use super::unanswered_request::{OutstandingRequest, outstanding};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{
    Actor, End, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, Frame, LogTopic, Measure, Remedy, State,
    Unit, WaitEnd,
};
use whyslow_core::tcp::INITIAL_SYN_TIMERS;
use whyslow_core::tcp::facts::{DirectionFacts, Facts, Fate, SendPause, TransferFacts};
use whyslow_units::{Nanos, Time};

pub(super) const RULE: Rule =
    Rule::new(Cause::NoAnswer, Check::Connection(check)).may_cost(|brief| brief.may_be_awaited);

/// The first timer of a SYN (RFC 6298 section 2.1), and the least one of data (section 2.4).
const FIRST_TIMER: Nanos = INITIAL_SYN_TIMERS[0];
/// The first timer of older systems: 3 s (RFC 1122 section 4.2.3.1).
const OLD_FIRST_TIMER: Nanos = INITIAL_SYN_TIMERS[1];
/// Longest time of an ACK beyond a round trip: a delayed ACK (Linux `TCP_DELACK_MAX` and Windows:
/// 200 ms).
const ACK: Nanos = Nanos::from_millis(200);
/// Longest wait for a response, after which the connection is idle: Firefox and Chrome give up
/// after 5 min (Firefox' documentation of `network.http.response.timeout`).
const MAX_ANSWER_WAIT: Nanos = Nanos::from_millis(300_000);
/// A pause after which a middlebox may have dropped the connection's state: RFC 5382 section 5 asks
/// for 2 h 4 min, many take less (Azure's documentation: 4 min). Half and twice change none of
/// 2,061 captures.
const FORGOTTEN: Nanos = Nanos::from_millis(60_000);

/// Ratio of a wait to the one before if the timer backs off (RFC 6298 section 5.5: doubled; Linux's
/// timers are up to an eighth late).
const BACK_OFF: std::ops::Range<f64> = 1.7..2.3;
/// Confidence if one direction was captured: ACKs of other data may have been missed. Half and
/// twice the distance to 1 change 3 and 3 of 2,061 captures.
const ONE_DIRECTION: f64 = 0.7;

/// Packets with fewer hops to go are meant to expire: traceroute(8) tries 30 at most, and no system
/// starts with as few (RFC 1700: 64).
const TRACED: u8 = 30;

/// A wait without an answer.
struct Wait {
    found: Finding,
    /// End of the wait: the connection's or the capture's.
    until: Time,
}

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    wait(view).map(|wait| wait.found)
}

/// Until when an answer is waited for: the connection lasts that long, though its last packet may
/// have come before.
pub(super) fn awaited_until(view: &ConnectionView<'_>) -> Option<Time> {
    wait(view).map(|wait| wait.until)
}

fn wait(view: &ConnectionView<'_>) -> Option<Wait> {
    let facts = view.facts;
    // The response may be in the part that the text left out.
    if facts.timeless || !facts.elided.is_empty() {
        return None;
    }
    // ACKs that were not captured cannot have come between tries whose waits double.
    if facts.capture_defects.one_direction {
        return lost_contact(view).filter(|_| view.facts.directions.iter().any(backs_off));
    }
    let undeliverable = Some(view).filter(|_| facts.state == State::Unanswered).and_then(undeliverable);
    if undeliverable.is_some() {
        return undeliverable;
    }
    let mut wait = if facts.state == State::Unanswered {
        unopened(view)?
    } else if is_half_open(facts) {
        Wait { found: half_open(view), until: facts.last }
    } else {
        lost_contact(view).or_else(|| unanswered(view)).or_else(|| broken_off(view))?
    };
    wait.found.evidence.extend(facts.notices.list.iter().map(icmp::as_evidence));
    Some(wait)
}

/// SYNs that a router or the host itself reports as undeliverable by ICMP. Linux ends the attempt
/// with the first such error; a client that retries all the same waits for the next one.
fn undeliverable(view: &ConnectionView<'_>) -> Option<Wait> {
    let facts = view.facts;
    let (first, frame) = facts.handshake.syn?;
    let (ttl, _) = facts.ttl[facts.client];
    let traced = |fate| fate == Fate::TimeExceeded && ttl.is_some_and(|ttl| ttl <= TRACED);
    let notice = icmp::undelivered(facts, facts.client).find(|notice| !traced(notice.fate))?;
    // Errors are late where the router asked for the host in vain first (Linux: 3 s).
    let last = icmp::undelivered(facts, facts.client).map(|notice| notice.last).max()?;
    if facts.last - last > OLD_FIRST_TIMER {
        return None;
    }
    let tries = 1 + facts.handshake.retries[facts.client];
    let until = last.max(facts.last);
    let waited = (until - first).or_zero();
    let server = facts.endpoints[!facts.client];
    let reason = icmp::reason(notice, server);
    let statement = ExchangeStatement::SynUndelivered { server: end(server), reason, syns: tries, waited_s: waited };
    // Any host can send an ICMP error.
    let mut found = finding(Cause::NoAnswer, waited, view.trust(0.85), statement);
    found.evidence.push(evidence(Measure::UnansweredSyns, tries as f64, Unit::Syns, &[frame]));
    found.evidence.push(evidence(
        Measure::FirstSynToLastError,
        (last - first).as_millis_f64(),
        Unit::Milliseconds,
        &[],
    ));
    found.evidence.extend(icmp::undelivered(facts, facts.client).map(icmp::as_evidence));
    found.remedies = icmp::fix_undelivered(notice, server);
    Some(Wait { found, until })
}

/// SYNs alone.
fn unopened(view: &ConnectionView<'_>) -> Option<Wait> {
    let facts = view.facts;
    let (first, frame) = facts.handshake.syn?;
    let last = facts.handshake.answered_syn?;
    let tries = 1 + facts.handshake.retries[facts.client];
    let (tried, silence) = (last - first, (facts.until - last).or_zero());
    // The wait for the next one would be as long as all before it, and the first timer more.
    let open = silence <= if tries < TRIES { OLD_FIRST_TIMER } else { tried + FIRST_TIMER.scale(1.1) };
    // A request that the client closed without a response is no longer waited for.
    let only = facts.last == last && open && silence > FIRST_TIMER;
    if tries < TRIES && !only {
        return None;
    }
    let waited = if open { facts.until - first } else { tried };
    let (address, port) = facts.endpoints[!facts.client];
    let statement = ExchangeStatement::SynUnanswered {
        server: end((address, port)),
        syns: tries,
        waited_s: waited,
        end: if open { WaitEnd::CaptureEnded } else { WaitEnd::GaveUp },
    };
    let confidence = if tries < TRIES { 0.5 } else { 0.9 };
    let mut found = finding(Cause::NoAnswer, waited, view.trust(confidence), statement);
    found.evidence.push(evidence(Measure::UnansweredSyns, tries as f64, Unit::Syns, &[frame]));
    found.evidence.push(evidence(Measure::FirstToLastSyn, tried.as_secs_f64(), Unit::Seconds, &[]));
    found.evidence.push(evidence(Measure::SilenceToCaptureEnd, silence.as_secs_f64(), Unit::Seconds, &[]));
    found.remedies = remedy(Actor::Network, ExchangeAction::CheckServer { host: address.to_string(), port });
    found.to_confirm = confirm(ExchangeQuestion::SynsArrive);
    Some(Wait { found, until: if open { facts.until } else { facts.last } })
}

fn half_open(view: &ConnectionView<'_>) -> Finding {
    let facts = view.facts;
    let handshake = &facts.handshake;
    let [asked, answered] = [facts.client, !facts.client].map(|side| 1 + handshake.retries[side]);
    let (first, frame) = handshake.syn.or(handshake.syn_ack).unwrap_or_default();
    let waited = (facts.last - first).or_zero();
    let client = facts.endpoints[facts.client];
    let statement =
        ExchangeStatement::SynAckUnanswered { client: end(client), syns: asked, syn_acks: answered, waited_s: waited };
    let mut found = finding(Cause::NoAnswer, waited, view.trust(0.9), statement);
    found.evidence.push(evidence(Measure::Syns, asked as f64, Unit::Syns, &[frame]));
    let frames: Vec<Frame> = handshake.syn_ack.iter().map(|(_, frame)| *frame).collect();
    found.evidence.push(evidence(Measure::UnacknowledgedSynAcks, answered as f64, Unit::SynAcks, &frames));
    found.remedies = remedy(Actor::Network, ExchangeAction::CheckWayBack { host: client.0.to_string() });
    found.to_confirm = confirm(ExchangeQuestion::SynAcksArrive);
    found
}

/// Data that the timer retransmitted and again, up to the last packet.
fn lost_contact(view: &ConnectionView<'_>) -> Option<Wait> {
    let facts = view.facts;
    let given_up = |side: Side| {
        let transfer = facts.directions[side].transfers.last()?;
        let waits = given_up(&facts.directions[side], transfer);
        // Small segments may pass.
        let black_hole = is_stuck(facts, side, transfer);
        (!waits.is_empty() && !black_hole).then_some((side, transfer, waits))
    };
    let (side, transfer, waits) = [facts.client, !facts.client].into_iter().find_map(given_up)?;
    let (first, last) = (waits.first()?, waits.last()?);
    // A side that still sends is alive, and one that had closed before does not wait for anything.
    let is_there = facts.directions[!side].last_payload.is_some_and(|(time, _)| time > transfer.last_send);
    let had_closed = facts.closing[!side].is_some_and(|(time, _)| time <= first.start);
    // A RST in response to the last retry shows that the host no longer has the connection: the
    // retries before it were in vain all the same. A side that sends a RST itself gives up.
    let last_try = facts.directions[side].last_payload.map_or(last.end, |(time, _)| time);
    let is_reset_earlier = facts.reset.is_some() && facts.closing.iter().flatten().any(|&(time, _)| time < last_try);
    if is_there || had_closed || is_reset_earlier {
        return None;
    }
    // The wait before the first copy began with the first one.
    let tries = waits.len() as u64 + 1;
    let silence = (facts.until - last.end).or_zero();
    let open = facts.closing.iter().all(|end| end.is_none_or(|(time, _)| time <= last.end))
        && silence <= (last.end - last.start).scale(2.2);
    let closed = facts.closing.iter().flatten().map(|&(time, _)| time).filter(|&time| time > last.end).min();
    let waited = if open { facts.until } else { closed.unwrap_or(last.end) } - first.start;
    let other = facts.end_of(!side);
    let statement = ExchangeStatement::DataUnanswered {
        by: other,
        tries,
        waited_s: waited,
        end: if open { WaitEnd::CaptureEnded } else { WaitEnd::GaveUp },
    };
    let confidence = if facts.capture_defects.one_direction { ONE_DIRECTION } else { 0.9 };
    let mut found = finding(Cause::NoAnswer, waited, view.trust(confidence), statement);
    let frames: Vec<Frame> = waits.iter().take(6).map(|wait| wait.frames.1).collect();
    found.evidence.push(evidence(Measure::TriesWithoutAck, tries as f64, Unit::Tries, &frames));
    let wait = last.end - last.start;
    found.evidence.push(evidence(Measure::LastRetransmissionWait, wait.as_secs_f64(), Unit::Seconds, &[]));
    found.evidence.push(evidence(Measure::UnacknowledgedBytes, last.in_flight as f64, Unit::Bytes, &[]));
    let idle = before(facts, transfer).filter(|&idle| idle >= FORGOTTEN);
    if let Some(notice) = icmp::undelivered(facts, side).last() {
        let peer = facts.endpoints[!side];
        found.details.push(ExchangeStatement::Undelivered { reason: icmp::reason(notice, peer) }.into());
        found.remedies = icmp::fix_undelivered(notice, peer);
    } else {
        let silence = |idle: Nanos| evidence(Measure::SilenceBeforeFirstTry, idle.as_secs_f64(), Unit::Seconds, &[]);
        found.evidence.extend(idle.map(silence));
        let action = match idle {
            Some(idle_s) => ExchangeAction::SendKeepalives { idle_s },
            None => ExchangeAction::CheckPeer { end: other },
        };
        found.remedies = remedy(Actor::Network, action);
    }
    found.to_confirm = confirm(ExchangeQuestion::RetransmissionsArrive { at: other });
    Some(Wait { found, until: if open { facts.until } else { facts.last } })
}

/// Whether the last transfer of a direction was sent again with waits that double, several times.
fn backs_off(direction: &DirectionFacts) -> bool {
    let Some(transfer) = direction.transfers.last() else { return false };
    let waits = given_up(direction, transfer);
    let doubles = |pair: &[SendPause]| {
        let [one, next] = pair else { return false };
        let (one, next) = (one.end - one.start, next.end - next.start);
        (one.scale(BACK_OFF.start)..=one.scale(BACK_OFF.end)).contains(&next)
    };
    // A tail probe comes before the first doubling (RFC 8985 section 7.2).
    waits.windows(2).filter(|pair| doubles(pair)).count() as u64 >= TRIES
}

/// How long neither side had sent payload before a transfer, or its last part, began.
fn before(facts: &Facts, transfer: &TransferFacts) -> Option<Nanos> {
    let idle = transfer.pauses.iter().filter(|gap| gap.idle).map(|gap| gap.end - gap.start).max();
    let transfers = facts.directions.iter().flat_map(|direction| &direction.transfers);
    let earlier = transfers.filter(|other| other.last_send < transfer.start).map(|other| other.last_send).max();
    idle.max(earlier.map(|last| transfer.start - last))
}

/// How the wait for an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The capture did.
    Capture,
    /// One end closed.
    Closed(End, Time, Frame),
}

/// A request that was delivered and not answered.
fn unanswered(view: &ConnectionView<'_>) -> Option<Wait> {
    let facts = view.facts;
    let asked = outstanding(facts)?;
    let OutstandingRequest { message, due, usual, .. } = asked;
    if !message.acknowledged {
        return None;
    }
    let (ended, waited) = silence(facts, message.last_send)?;
    if asked.is_usual(waited) {
        return None;
    }
    let statement = ExchangeStatement::RequestUnanswered {
        request: asked.as_statement(),
        waited_s: waited,
        end: ended.as_statement(),
    };
    let mut found = finding(Cause::NoAnswer, waited, view.trust(due), statement);
    let frames = [message.frames.0, message.frames.1];
    found.evidence.push(evidence(Measure::UnansweredRequest, message.bytes() as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::SilenceAfterRequest, waited.as_secs_f64(), Unit::Seconds, &ended.frames()));
    if let Some(usual) = usual {
        found.evidence.push(evidence(Measure::LongestResponseWait, usual.as_secs_f64(), Unit::Seconds, &[]));
    }
    found.remedies = remedy(Actor::Application, ExchangeAction::ReadServerLog { about: LogTopic::RequestReceived });
    found.to_confirm = confirm(if ended == Ended::Capture {
        ExchangeQuestion::ResponseAfterCapture
    } else {
        ExchangeQuestion::MayBeProxy { end: End::Server }
    });
    Some(Wait { found, until: if ended == Ended::Capture { facts.until } else { facts.last } })
}

/// An answer that stopped in the middle.
fn broken_off(view: &ConnectionView<'_>) -> Option<Wait> {
    let facts = view.facts;
    let direction = &facts.directions[!facts.client];
    let answer = direction.transfers.last()?;
    let (last, _) = direction.last_payload?;
    let asked_since = facts.directions[facts.client].last_payload.is_some_and(|(time, _)| time > last);
    // A window that closes stops it as well.
    let held = direction.zero_windows > 0 || answer.rounds_total < 2 || answer.last_send != last;
    let (ended, waited) = silence(facts, last)?;
    // The sender had more; or it does not even acknowledge the client's FIN.
    let an_ack = facts.min_rtt().unwrap_or_default() + ACK;
    let is_gone = |closed: Time| facts.state == State::Open && facts.until - closed > an_ack;
    let gone = matches!(ended, Ended::Closed(End::Client, time, _) if facts.fins[facts.client] && is_gone(time));
    let is_cut = direction.last_len >= direction.mss && (direction.last_unpushed || gone);
    if !is_cut || direction.unacknowledged > 0 || asked_since || held || facts.fins[!facts.client] {
        return None;
    }
    let usual = answer.pauses.iter().map(|gap| gap.end - gap.start).max().unwrap_or_default();
    if matches!(ended, Ended::Closed(End::Server, ..)) || waited <= usual.scale(2.0) {
        return None;
    }
    let statement =
        ExchangeStatement::ResponseStopped { bytes: answer.bytes(), waited_s: waited, end: ended.as_statement() };
    let mut found = finding(Cause::NoAnswer, waited, view.trust(0.6), statement);
    let frames = [answer.frames.0, answer.frames.1];
    found.evidence.push(evidence(Measure::ResponseReceived, answer.bytes() as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::SilenceAfterResponse, waited.as_secs_f64(), Unit::Seconds, &ended.frames()));
    found.evidence.push(evidence(Measure::LongestPause, usual.as_millis_f64(), Unit::Milliseconds, &[]));
    let log = ExchangeAction::ReadServerLog { about: LogTopic::ResponseComplete };
    found.remedies = remedy(Actor::Network, ExchangeAction::CheckPeer { end: End::Server });
    found.remedies.push(Remedy::new(Actor::Application, log));
    found.to_confirm = confirm(ExchangeQuestion::ServerWentOn);
    Some(Wait { found, until: if ended == Ended::Capture { facts.until } else { facts.last } })
}

impl Ended {
    fn frames(self) -> Vec<Frame> {
        if let Self::Closed(_, _, frame) = self { vec![frame] } else { Vec::new() }
    }

    fn as_statement(self) -> WaitEnd {
        match self {
            Self::Capture => WaitEnd::CaptureEnded,
            Self::Closed(End::Client, ..) => WaitEnd::GaveUp,
            Self::Closed(End::Server, ..) => WaitEnd::Closed,
        }
    }
}

/// How a silence that began at `from` ended, and its length; `None` if it is too short, or the
/// server reset the connection.
fn silence(facts: &Facts, from: Time) -> Option<(Ended, Nanos)> {
    let ended = ended(facts, from)?;
    let until = match ended {
        Ended::Capture => facts.until,
        Ended::Closed(_, time, _) => time,
    };
    let waited = (until - from).or_zero();
    let least = FIRST_TIMER.max(facts.rtt.p50.unwrap_or_default().scale(2.0));
    (least..=MAX_ANSWER_WAIT).contains(&waited).then_some((ended, waited))
}

/// How the wait that began at `asked` ended; `None` if a reset of the server cut it short.
fn ended(facts: &Facts, asked: Time) -> Option<Ended> {
    let closings = [(End::Client, facts.client), (End::Server, !facts.client)];
    let closed = |(end, side): (End, Side)| {
        let (time, frame) = facts.closing[side]?;
        (time >= asked).then_some((time, frame, end, side))
    };
    match closings.into_iter().filter_map(closed).min_by_key(|&(time, ..)| time) {
        None if facts.closing.iter().any(Option::is_some) => None,
        None => Some(Ended::Capture),
        Some((.., End::Server, side)) if !facts.fins[side] => None,
        Some((time, frame, end, _)) => Some(Ended::Closed(end, time, frame)),
    }
}

#[cfg(test)]
mod tests;
