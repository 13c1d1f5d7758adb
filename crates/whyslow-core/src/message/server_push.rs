//! Whether a server may send unrequested data: then its late data is not a late response.
//!
//! Data after a request is usually its response. But the ends of a routing session send updates at
//! any time, a shell prints when its program does, and a chat server when another user writes.
//! There the small messages of the client are responses or keep-alives, and data that the server
//! sends seconds later has nothing to do with them. The inputs are the first payload of a
//! connection, its ports and the times of messages. Data counts as a response only if one of these
//! shows it.

use super::wait::{NOTICEABLE_WAIT, SEGMENT, Wait};
use crate::tcp::facts::{Facts, Release, SendPause, TransferFacts};
use crate::tcp::payload::{Content, Protocol};
use whyslow_units::stats::median;
use whyslow_units::{Nanos, Time};

/// Data that follows the other side's data sooner than this is the reaction of a program and not of
/// a person (Card, Moran, Newell: "The Model Human Processor", 1986: about 240 ms from seeing to a
/// key press).
const REACTION_TIME: Nanos = Nanos::from_millis(200);
/// If a server sends unrequested data, a message later than this may be such data.
const UNREQUESTED_DELAY: Nanos = Nanos::from_millis(1_000);
/// Responses that are needed to judge how prompt they usually are.
const MIN_ANSWERS: usize = 8;
/// Ports of protocols in which both ends send at any time: BGP (RFC 4271), MSDP (RFC 3618), LDP
/// (RFC 5036).
const PEER_PORTS: [u16; 3] = [179, 639, 646];
/// Consecutive pauses between small messages that make a pattern.
const MIN_PAUSES_IN_ROW: usize = 3;
/// Largest response to a client that sends reports; a larger one contradicts that pattern.
const MAX_REPORT_ANSWER: u64 = 10 * SEGMENT;
/// A client sends reports if at least this many messages get no response, …
const MIN_REPORTS: usize = 4;
/// … and this many of them for each message with a response.
const REPORTS_PER_ANSWER: usize = 3;
/// Ports of databases, caches and directories, where only the client sends requests: LDAP, MS SQL,
/// Oracle, MySQL, PostgreSQL, Redis, Cassandra, memcached, MongoDB.
const CLIENT_ASKS_PORTS: [u16; 9] = [389, 1433, 1521, 3306, 5432, 6379, 9042, 11211, 27017];
/// Ports where the server greets in a binary protocol and then the client sends requests: MySQL,
/// SSH.
const SERVER_GREETS_PORTS: [u16; 2] = [22, 3306];

/// When a server may send unrequested data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerPush {
    /// The server only responds.
    #[default]
    Never,
    /// At any time after this one, at which it did.
    Since(Time),
    /// At any time, and the client is the side that sends requests.
    Always,
    /// At any time, and it is unknown which side sends requests.
    Unknown,
    /// Neither end sends requests: both send at any time, or responses use other connections.
    Peers,
}

impl ServerPush {
    /// The pattern that a connection shows.
    pub fn of(facts: &Facts) -> Self {
        let server = !facts.client;
        let (_, port) = facts.endpoints[server];
        let protocol = facts.content[server].protocol.or(facts.content[facts.client].protocol);
        if PEER_PORTS.contains(&port) || facts.handshake.is_subflow() {
            return Self::Peers;
        }
        if facts.requester != facts.client {
            return Self::Always;
        }
        if facts.messages.as_ref().is_some_and(|messages| messages.shows_all_requests()) {
            // Every message was parsed, so its request is known (`waits`).
            return Self::Never;
        }
        let pushes = |times: usize| pauses(facts, times).map_or(Self::Never, Self::Since);
        match protocol {
            // Every response has a header, until the connection is upgraded to another protocol
            // (WebSocket's response is 101, RFC 6455).
            Some(Protocol::Http) => return upgrade(facts).map_or(Self::Never, Self::Since),
            // A page may come in one or two pieces.
            Some(Protocol::Tls) => return pushes(MIN_PAUSES_IN_ROW),
            // An HTTP/2 server sends settings unrequested, and otherwise responses.
            None if facts.content[facts.client].is_http2 => return Self::Never,
            Some(Protocol::Ssh) | None => {}
        }
        let begins = facts.handshake.offers.iter().any(Option::is_some);
        // The first data of a server is a greeting if it is text, or if only prompt responses
        // follow.
        let greets = facts.begins_with_text[server] || SERVER_GREETS_PORTS.contains(&port) || is_prompt(facts);
        let answers = |index: Option<usize>| facts.directions[server].transfers.get(index?);
        let unrequested = facts.exchanges.iter().enumerate().find(|(index, exchange)| {
            let is_greeting = *index == 0 && begins && greets;
            exchange.request.is_none() && answers(exchange.answer).is_some_and(|t| t.answered.is_none()) && !is_greeting
        });
        match unrequested {
            None if begins && answers_less(facts) && !CLIENT_ASKS_PORTS.contains(&port) => Self::Unknown,
            None if begins || is_prompt(facts) => pushes(1),
            Some((_, exchange)) if begins => match pushes(1) {
                Self::Since(pause) => Self::Since(pause.min(exchange.start)),
                _ => Self::Since(exchange.start),
            },
            _ => Self::Unknown,
        }
    }

    /// Whether the server may send data at this time without a request.
    pub fn may_push_at(self, time: Time) -> bool {
        match self {
            Self::Never => false,
            Self::Since(since) => time >= since,
            Self::Always | Self::Unknown | Self::Peers => true,
        }
    }

    /// Whether the server's data in this exchange may be unrequested: the client's data was itself
    /// a reaction, or the server's came very late. `rtt`: possible error of the time before a
    /// message, if the position of the capture is unknown.
    pub fn may_be_push(self, wait: &Wait, rtt: Nanos) -> bool {
        let is_reaction = || wait.exchange.before.is_none_or(|before| before <= REACTION_TIME + rtt);
        let is_late = wait.server.is_some_and(|time| time > UNREQUESTED_DELAY);
        match self {
            Self::Never => false,
            Self::Peers => true,
            // The first data is a greeting on both sides.
            Self::Always => is_late || wait.is_first,
            Self::Since(_) | Self::Unknown => self.may_push_at(wait.exchange.start) && (is_late || is_reaction()),
        }
    }
}

/// Whether the server may send data at this time without a request, because it does so on this
/// connection.
pub fn may_send_unrequested(facts: &Facts, time: Time) -> bool {
    ServerPush::of(facts).may_push_at(time)
}

/// Whether a small message of the server that comes `late` may be unrelated to the small message
/// before it: the protocol is unknown, and no other exchange of the connection shows that small
/// requests usually get a prompt response. It may be a chat, or a notification.
pub fn may_be_unrelated(facts: &Facts, answer: &TransferFacts, late: Nanos) -> bool {
    let server = !facts.client;
    let (_, port) = facts.endpoints[server];
    let is_read = facts.messages.as_ref().is_some_and(|messages| messages.is_whole);
    let is_known = is_read || facts.content.iter().any(Content::is_readable) || CLIENT_ASKS_PORTS.contains(&port);
    let asked = answer.answered.map_or(0, |asked| asked.bytes);
    if is_known || late <= UNREQUESTED_DELAY || answer.bytes() > SEGMENT || asked > SEGMENT {
        return false;
    }
    let times = facts.exchanges.iter().filter(|exchange| exchange.request.is_some()).filter_map(|one| one.server);
    let (prompt, late): (Vec<Nanos>, Vec<Nanos>) = times.partition(|time| *time <= NOTICEABLE_WAIT);
    prompt.len() < late.len() || prompt.is_empty()
}

/// Whether most messages of the client get no response, so that the few messages of the server may
/// be unrequested: the client sends reports or publishes messages. The protocol is unknown.
pub(super) fn reports(facts: &Facts) -> bool {
    let client = facts.requester;
    let (_, port) = facts.endpoints[!client];
    if facts.content.iter().any(Content::is_readable) || CLIENT_ASKS_PORTS.contains(&port) {
        return false;
    }
    let (mut answered, mut reports) = (0, 0);
    for exchange in &facts.exchanges {
        let request = exchange.request.and_then(|index| facts.directions[client].transfers.get(index));
        let Some(request) = request.filter(|request| request.max_in_flight <= SEGMENT) else { continue };
        let messages = 1 + request.pauses.iter().filter(|gap| gap.idle).count();
        let is_answered = usize::from(exchange.answer.is_some());
        answered += is_answered;
        reports += messages - is_answered;
    }
    reports >= MIN_REPORTS && reports > REPORTS_PER_ANSWER * answered
}

/// Start of the response with which the server switched from HTTP to another protocol.
fn upgrade(facts: &Facts) -> Option<Time> {
    let server = !facts.client;
    let (at, _) = facts.content[server].heads.iter().find(|(_, head)| head.starts_with("101"))?;
    let transfer = facts.directions[server].transfers.iter().find(|t| (t.seq.0..t.seq.1).contains(at))?;
    Some(transfer.start)
}

/// Returns the time of the client's last data before the server's first message that was followed
/// by others, each after a pause longer than a reaction and without a request between them. `None`
/// if there are fewer than `times` such pauses.
fn pauses(facts: &Facts, times: usize) -> Option<Time> {
    let is_push = |gap: &&SendPause| {
        let length = gap.end - gap.start;
        let alone =
            gap.release == Release::Nothing && gap.idle && gap.app_limited && gap.closed.is_none() && !gap.unseen;
        alone && length > REACTION_TIME && gap.after_len < SEGMENT && gap.before_len < SEGMENT
    };
    // The first notification of a subscription may come as late as the next ones.
    let late = |transfer: &TransferFacts| transfer.answered.filter(|asked| transfer.start - asked.last > REACTION_TIME);
    let asked = |transfer: &TransferFacts| late(transfer).map_or(transfer.start, |asked| asked.first);
    let mut pushed = facts.directions[!facts.client]
        .transfers
        .iter()
        .filter(|transfer| transfer.max_in_flight < SEGMENT && !transfer.is_housekeeping)
        .flat_map(|transfer| transfer.pauses.iter().filter(is_push).map(|_| asked(transfer)));
    let first = pushed.next()?;
    (times <= 1 || pushed.nth(times - 2).is_some()).then_some(first)
}

/// Whether the client's prompt messages are usually larger than the server's data after them: they
/// are responses, or small uploads.
fn answers_less(facts: &Facts) -> bool {
    let halves = &facts.directions;
    let (mut all, mut less) = (0, 0);
    for exchange in &facts.exchanges {
        let request = exchange.request.and_then(|index| halves[facts.client].transfers.get(index));
        let answer = exchange.answer.and_then(|index| halves[!facts.client].transfers.get(index));
        if let (Some(request), Some(answer)) = (request, answer) {
            let prompt = exchange.before.is_some_and(|before| before <= REACTION_TIME);
            let late = exchange.server.is_some_and(|time| time > NOTICEABLE_WAIT);
            all += 1;
            less +=
                usize::from(prompt && late && request.bytes() <= MAX_REPORT_ANSWER && request.bytes() > answer.bytes());
        }
    }
    less >= 2 && less * 2 > all
}

/// Whether the server usually responds promptly. It must have many responses, because the start of
/// the connection is unknown.
fn is_prompt(facts: &Facts) -> bool {
    let times: Vec<Nanos> =
        facts.exchanges.iter().filter(|e| e.request.is_some()).filter_map(|exchange| exchange.server).collect();
    times.len() >= MIN_ANSWERS && median(times).is_some_and(|typical| typical <= NOTICEABLE_WAIT)
}
