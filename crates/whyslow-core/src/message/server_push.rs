//! Whether a server may have spoken unasked: then what it says late is no late answer.
//!
//! What comes behind a question is mostly its answer. But the ends of a routing session tell each
//! other news, a shell writes when its program does, and a chat when somebody speaks. There the
//! client's small words are answers, or signs of life, and what the server says seconds later has
//! nothing to do with them. It knows how the payload of a connection begins, its ports, who spoke
//! when; and promises to doubt what none of these shows to be an answer.

use super::wait::{NOTICEABLE_WAIT, SEGMENT, Wait};
use crate::stats::median;
use crate::tcp::facts::{Facts, Gap, Release, TransferFacts};
use crate::tcp::payload::{Content, Protocol};
use crate::units::{Nanos, Time};

/// What comes sooner after the other side's words than this is a program's reaction to them, and no
/// person's (Card, Moran, Newell: "The Model Human Processor", 1986: about 240 ms from seeing to a
/// key).
const REACTION_TIME: Nanos = Nanos::from_millis(200);
/// What a server says later than this, where it speaks unasked, is as likely news.
const NEWS_DELAY: Nanos = Nanos::from_millis(1_000);
/// So many answers show how prompt they are as a rule.
const MIN_ANSWERS: usize = 8;
/// Where either end speaks when it likes: BGP (RFC 4271), MSDP (RFC 3618), LDP (RFC 5036).
const PEER_PORTS: [u16; 3] = [179, 639, 646];
/// So many pauses between small messages make a row of them.
const MIN_PAUSES_IN_ROW: usize = 3;
/// An answer of a program that reports is no larger; more is an upload.
const MAX_REPORT_ANSWER: u64 = 10 * SEGMENT;
/// Messages without an answer from which a client sends reports, …
const MIN_REPORTS: usize = 4;
/// … and how many of them there are for each with an answer.
const REPORTS_PER_ANSWER: usize = 3;
/// Databases, caches and directories, of which the client asks: LDAP, MS SQL, Oracle, MySQL,
/// PostgreSQL, Redis, Cassandra, memcached, MongoDB.
const CLIENT_ASKS_PORTS: [u16; 9] = [389, 1433, 1521, 3306, 5432, 6379, 9042, 11211, 27017];
/// Where the server greets in bytes that are no text, and the client asks: MySQL, SSH.
const SERVER_GREETS_PORTS: [u16; 2] = [22, 3306];

/// From when on a server may speak unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ServerPush {
    /// All that it says is an answer.
    #[default]
    Never,
    /// It did so then.
    Since(Time),
    /// It can at any time, though who asks is known.
    Always,
    /// It can at any time, and who asks is not known.
    Unknown,
    /// Neither asks: both speak when they like, or the answers go over other connections.
    Peers,
}

impl ServerPush {
    /// What a connection shows of it.
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
            // Each message was read: which were asked for is known (`waits`).
            return Self::Never;
        }
        let pushes = |times: usize| pauses(facts, times).map_or(Self::Never, Self::Since);
        match protocol {
            // Every answer has its head, until the connection is upgraded to another protocol
            // (WebSocket's answer is 101, RFC 6455).
            Some(Protocol::Http) => return upgrade(facts).map_or(Self::Never, Self::Since),
            // A page may come in a piece or two.
            Some(Protocol::Tls) => return pushes(MIN_PAUSES_IN_ROW),
            // A server of HTTP/2 sends its settings unasked, and responses.
            None if facts.content[facts.client].is_http2 => return Self::Never,
            Some(Protocol::Ssh) | None => {}
        }
        let begins = facts.handshake.offers.iter().any(Option::is_some);
        // The first words of a connection are a greeting where it is one to be read, or all that
        // follows is prompt answers.
        let greets = facts.begins_with_text[server] || SERVER_GREETS_PORTS.contains(&port) || is_prompt(facts);
        let answers = |index: Option<usize>| facts.directions[server].transfers.get(index?);
        let unasked = facts.exchanges.iter().enumerate().find(|(index, exchange)| {
            let is_greeting = *index == 0 && begins && greets;
            exchange.request.is_none() && answers(exchange.answer).is_some_and(|t| t.answered.is_none()) && !is_greeting
        });
        match unasked {
            None if begins && answers_less(facts) && !CLIENT_ASKS_PORTS.contains(&port) => Self::Unknown,
            None if begins || is_prompt(facts) => pushes(1),
            Some((_, exchange)) if begins => match pushes(1) {
                Self::Since(pause) => Self::Since(pause.min(exchange.start)),
                _ => Self::Since(exchange.start),
            },
            _ => Self::Unknown,
        }
    }

    /// Whether the client need not have asked for anything at this time.
    pub fn may_push_at(self, time: Time) -> bool {
        match self {
            Self::Never => false,
            Self::Since(since) => time >= since,
            Self::Always | Self::Unknown | Self::Peers => true,
        }
    }

    /// Whether what the server said in this exchange may be no answer: what the client had said was
    /// a reaction itself, or it came so late. `rtt`: by so much the time before a message may be
    /// off, where the capture does not tell where it stands.
    pub fn may_be_push(self, wait: &Wait, rtt: Nanos) -> bool {
        let is_reaction = || wait.exchange.before.is_none_or(|before| before <= REACTION_TIME + rtt);
        let is_late = wait.server.is_some_and(|time| time > NEWS_DELAY);
        match self {
            Self::Never => false,
            Self::Peers => true,
            // The first words are a greeting on both sides.
            Self::Always => is_late || wait.is_first,
            Self::Since(_) | Self::Unknown => self.may_push_at(wait.exchange.start) && (is_late || is_reaction()),
        }
    }
}

/// Whether the client need not have asked for anything at this time, as the server may speak
/// unasked.
pub fn may_speak_unasked(facts: &Facts, time: Time) -> bool {
    ServerPush::of(facts).may_push_at(time)
}

/// Whether a small message that the server sends so `late` may be no answer to the small one before
/// it: no protocol is known, and no other exchange of the connection shows that small requests are
/// usually answered at once. It may be a chat, or news.
pub fn may_be_unrelated(facts: &Facts, answer: &TransferFacts, late: Nanos) -> bool {
    let server = !facts.client;
    let (_, port) = facts.endpoints[server];
    let is_read = facts.messages.as_ref().is_some_and(|messages| messages.is_whole);
    let is_known = is_read || facts.content.iter().any(Content::is_readable) || CLIENT_ASKS_PORTS.contains(&port);
    let asked = answer.answered.map_or(0, |asked| asked.bytes);
    if is_known || late <= NEWS_DELAY || answer.bytes() > SEGMENT || asked > SEGMENT {
        return false;
    }
    let times = facts.exchanges.iter().filter(|exchange| exchange.request.is_some()).filter_map(|one| one.server);
    let (prompt, late): (Vec<Nanos>, Vec<Nanos>) = times.partition(|time| *time <= NOTICEABLE_WAIT);
    prompt.len() < late.len() || prompt.is_empty()
}

/// Whether most of what the client says wants no answer, so that what little the server says is as
/// likely its own: reports, published messages. No protocol is known.
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
        let messages = 1 + request.gaps.iter().filter(|gap| gap.idle).count();
        let is_answered = usize::from(exchange.answer.is_some());
        answered += is_answered;
        reports += messages - is_answered;
    }
    reports >= MIN_REPORTS && reports > REPORTS_PER_ANSWER * answered
}

/// When the answer began with which the server left HTTP for another protocol.
fn upgrade(facts: &Facts) -> Option<Time> {
    let server = !facts.client;
    let (at, _) = facts.content[server].heads.iter().find(|(_, head)| head.starts_with("101"))?;
    let transfer = facts.directions[server].transfers.iter().find(|t| (t.seq.0..t.seq.1).contains(at))?;
    Some(transfer.start)
}

/// When the client had spoken before the first message of the server's that others followed after a
/// pause longer than a reaction takes, with nothing asked between them, if there are so many such
/// pauses.
fn pauses(facts: &Facts, times: usize) -> Option<Time> {
    let is_push = |gap: &&Gap| {
        let length = gap.end - gap.start;
        let alone =
            gap.release == Release::Nothing && gap.idle && gap.app_limited && gap.closed.is_none() && !gap.unseen;
        alone && length > REACTION_TIME && gap.after_len < SEGMENT && gap.before_len < SEGMENT
    };
    // A subscription's first news may come as late as the next ones.
    let late = |transfer: &TransferFacts| transfer.answered.filter(|asked| transfer.start - asked.last > REACTION_TIME);
    let asked = |transfer: &TransferFacts| late(transfer).map_or(transfer.start, |asked| asked.first);
    let mut pushed = facts.directions[!facts.client]
        .transfers
        .iter()
        .filter(|transfer| transfer.max_in_flight < SEGMENT && !transfer.is_housekeeping)
        .flat_map(|transfer| transfer.gaps.iter().filter(is_push).map(|_| asked(transfer)));
    let first = pushed.next()?;
    (times <= 1 || pushed.nth(times - 2).is_some()).then_some(first)
}

/// Whether the client's prompt messages are larger than what the server says behind them, as a
/// rule: answers, or small uploads.
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

/// Whether the server is known, though not how the connection began, by its many answers, which are
/// prompt as a rule.
fn is_prompt(facts: &Facts) -> bool {
    let times: Vec<Nanos> =
        facts.exchanges.iter().filter(|e| e.request.is_some()).filter_map(|exchange| exchange.server).collect();
    times.len() >= MIN_ANSWERS && median(times).is_some_and(|typical| typical <= NOTICEABLE_WAIT)
}
