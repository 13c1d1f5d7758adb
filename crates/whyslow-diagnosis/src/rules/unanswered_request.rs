//! Data outstanding when a connection ended, or the capture did: the client's last message, if a
//! response to it was due.
//!
//! Knows which side sent payload last, how often the client was answered before, and the content of
//! the payload if readable. It never calls a push, a protocol's credit, a reply or a closing
//! message a request; if it cannot distinguish them, it returns none.

use super::rule_input::SSH_PORT;
use whyslow_analysis::UnansweredRequest;
use whyslow_core::message;
use whyslow_core::tcp::facts::{Facts, TransferFacts};
use whyslow_core::tcp::payload::{Content, Protocol, RequestFacts};
use whyslow_units::{Nanos, Time};

/// The message of the client to which an answer was due.
#[derive(Clone, Debug)]
pub(super) struct OutstandingRequest<'a> {
    /// The client's message.
    pub message: &'a TransferFacts,
    /// Probability that an answer was due, 0–1.
    pub due: f64,
    /// Label from its payload: `GET /`.
    pub label: Option<&'a str>,
    /// Longest time that an answer on this connection took before.
    pub usual: Option<Nanos>,
    /// A silence must be this much longer to be out of the ordinary.
    pub times: f64,
}

/// Content type of a handshake record (RFC 8446 section 5.1).
const HANDSHAKE: u8 = 22;

/// Smaller messages may be credit, an answer to a ping, or an alert, bytes: an HTTP/2 WINDOW_UPDATE
/// has 13 (RFC 9113 section 6.9), an SSH window adjust 36 to 68 (RFC 4254 section 5.2), both
/// encrypted. Half and twice change 6 and 1 of 2,061 captures.
const SMALL: u64 = 100;

/// A side that sends on after such a pause, with all acknowledged, was not waiting for a response.
/// A client waits about 1 s for permission to send a request's body (RFC 9110 section 10.1.1;
/// curl). Half and twice change 1 and 0 of 2,061 captures.
const PUSHES: Nanos = Nanos::from_millis(1_500);

/// A side that sends or closes within this time of the last message reacts to it. Follows from the
/// least delay that is noticed (`NOTICEABLE_WAIT`). Half and twice change none of 2,061 captures.
pub(super) const AT_ONCE: Nanos = Nanos::from_millis(50);

/// Minimum number of responses that show, for an unreadable protocol, that the client is the side
/// that requests. Half and twice change none of 2,061 captures.
const ANSWERS: usize = 3;

/// Largest payload of a record with a PING, bytes: 8, its frame header (RFC 9113 section 6.7) and
/// encryption. Half and twice change none of 2,061 captures.
const ECHO_MAX: u64 = 100;

/// The client's last message, if no payload of the server came after it and an answer was due.
pub(super) fn outstanding(facts: &Facts) -> Option<OutstandingRequest<'_>> {
    let (client, server) = (facts.client, !facts.client);
    let [asking, answering] = [&facts.directions[client], &facts.directions[server]];
    let message = asking.transfers.last()?;
    let (last, _) = asking.last_payload?;
    let last_response = answering.last_payload.map(|(time, _)| time);
    // Short transfers are dropped if there are very many.
    let is_last = message.last_send == last && last_response.is_none_or(|last_response| last_response < last);
    // Bytes that were acknowledged, or that a FIN lies behind, and that never came here.
    let captured = answering.transfers.last().map_or(0, |answer| answer.seq.1.saturating_sub(1));
    let unseen =
        facts.capture_defects.one_direction || facts.capture_defects.unseen_bytes > 0 || answering.bytes > captured;
    if !is_last || unseen || facts.timeless {
        return None;
    }
    let answers = || answering.transfers.iter().filter_map(|answer| Some((answer, answer.answered?)));
    let usual = answers().map(|(answer, asked)| (answer.start - asked.last).or_zero()).max();
    if is_echo(facts, message) {
        return None;
    }
    let first = first_unanswered(facts, last_response);
    let message = first.unwrap_or(message);
    let label = head(&facts.content[client], message);
    let (due, times) = match label {
        Some(_) => (0.85, 1.0),
        None if first.is_some() => (0.85, 1.0),
        None if message::may_send_unrequested(facts, message.start) => return None,
        None => due(facts, message, last_response, answers().count())?,
    };
    Some(OutstandingRequest { message, due, label, usual, times })
}

impl OutstandingRequest<'_> {
    /// As findings state it.
    pub fn as_statement(&self) -> UnansweredRequest {
        UnansweredRequest { line: self.label.map(str::to_owned), bytes: self.message.bytes() }
    }

    /// Whether answers took as long as that before, or nearly.
    pub fn is_usual(&self, waited: Nanos) -> bool {
        self.usual.is_some_and(|usual| waited <= usual.scale(self.times))
    }
}

/// The first message since the server last spoke in which a known request begins that waits for its
/// response: the client may have sent more meanwhile.
fn first_unanswered(facts: &Facts, heard: Option<Time>) -> Option<&TransferFacts> {
    let messages = facts.messages.as_ref().filter(|messages| messages.shows_all_requests())?;
    let is_waiting = |request: &&RequestFacts| {
        let is_later = heard.is_none_or(|heard| request.start > heard);
        request.sent.is_some() && request.response_seq.is_none() && !request.is_poll && is_later
    };
    let request = messages.requests.iter().find(is_waiting)?;
    let transfers = &facts.directions[facts.client].transfers;
    transfers.iter().find(|transfer| (transfer.seq.0..transfer.seq.1).contains(&request.seq))
}

/// Whether the client returns a small record of the server: the ACK of a PING (RFC 9113 section
/// 6.7), which has the length of the PING, or a heartbeat.
fn is_echo(facts: &Facts, message: &TransferFacts) -> bool {
    let is_tls = facts.content[facts.client].protocol == Some(Protocol::Tls);
    let before = facts.directions[!facts.client].transfers.last();
    is_tls && message.bytes() <= ECHO_MAX && before.is_some_and(|ping| ping.bytes() == message.bytes())
}

/// The head that an HTTP message begins with.
fn head<'a>(content: &'a Content, message: &TransferFacts) -> Option<&'a str> {
    let (_, label) = content.heads.iter().rfind(|(start, _)| (message.seq.0..message.seq.1).contains(start))?;
    Some(label)
}

/// Confidence that a response was due, if the payload does not show it, and how much longer than
/// usual a silence must be.
fn due(facts: &Facts, message: &TransferFacts, last_response: Option<Time>, answered: usize) -> Option<(f64, f64)> {
    let content = &facts.content[facts.client];
    let asking = &facts.directions[facts.client];
    let begins_tls = content.firsts.first().is_some_and(|&(start, _, kind)| start <= 1 && kind == HANDSHAKE);
    if last_response.is_none() && begins_tls {
        return Some((0.85, 1.0));
    }
    let is_small = message.bytes() < SMALL;
    let leaves = facts.closing[facts.client].is_some_and(|(time, _)| time - message.last_send <= AT_ONCE);
    let is_ssh = content.protocol == Some(Protocol::Ssh) || facts.endpoints[!facts.client].1 == SSH_PORT;
    let pushed = facts.directions.iter().flat_map(|direction| &direction.transfers).any(pushes);
    if pushed || (is_small && leaves) || is_ssh {
        return None;
    }
    let Some(last_response) = last_response else {
        // A first message alone may be a push: if it is not an upload, it is as likely a request.
        let is_first = asking.transfers_total == 1 && message.rounds_total == 1 && facts.handshake.syn_ack.is_some();
        return is_first.then_some((0.5, 1.0));
    };
    if content.protocol == Some(Protocol::Tls) && !is_small {
        return Some((0.7, 3.0));
    }
    // Credit, replies and the responses of a client that is asked follow their cause at once.
    let prompted = message.start - last_response <= facts.rtt.p50.unwrap_or_default() + AT_ONCE;
    let (_, earlier) = asking.transfers.split_last()?;
    let as_large = message.bytes() >= SMALL.min(earlier.iter().map(TransferFacts::bytes).min()?);
    let alternate = asking.transfers_total.abs_diff(facts.directions[!facts.client].transfers_total) <= 1;
    let asks = answered >= ANSWERS && alternate && as_large;
    asks.then_some((0.65, if prompted { 10.0 } else { 3.0 }))
}

/// More was sent after a pause in which all was acknowledged and the other side sent nothing.
fn pushes(message: &TransferFacts) -> bool {
    message.pauses.iter().any(|gap| gap.idle && gap.end - gap.start > PUSHES)
}
