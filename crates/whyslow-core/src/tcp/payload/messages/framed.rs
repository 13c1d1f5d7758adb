//! [`Framed`]: parses messages with a length field; a [`Format`] interprets them.

use super::http2::WindowWait;
use super::reading::{Found, HEAD_MAX, MAX_PENDING, MessageState, Messages, Placed};
use super::requests::RequestFacts;
use crate::tcp::payload::kind::PayloadKind;
use std::collections::VecDeque;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

/// The length of a message, from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// More bytes are needed; holds the total.
    Need(usize),
    /// The complete line is needed.
    Line,
    /// The message's length; only its first `head` bytes, or all if it is shorter, are parsed.
    Message { len: u64, head: usize },
    /// The bytes are not of this protocol, or another protocol follows.
    Lost,
}

/// Kind of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Belongs to the next request, which begins with it.
    Opens,
    /// A request.
    Request(Request),
    /// The request continues. `ends`: with this message.
    Continues { ends: bool },
    /// A response, or a part of one. `ends`: with this message.
    Response { key: Option<u64>, ends: bool, error: Option<String>, status: Option<u16> },
    /// A heartbeat, or the response to one.
    Heartbeat,
    /// A message without a request.
    Push,
    /// Housekeeping of the protocol.
    Other,
}

/// The start of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) label: String,
    /// The key in its response; `None` if responses come in order.
    pub(super) key: Option<u64>,
    /// It gets no response.
    pub(super) is_unanswered: bool,
    /// It waits for an event (a long poll).
    pub(super) is_poll: bool,
    /// More messages of it follow.
    pub(super) continues: bool,
    /// It is only a keep-alive.
    pub(super) is_heartbeat: bool,
}

impl Part {
    /// A request that gets a response.
    pub(super) fn request(label: impl Into<String>, key: Option<u64>) -> Self {
        Self::Request(Request { label: label.into(), key, ..Request::default() })
    }

    /// A response in one message.
    pub(super) fn response(key: Option<u64>) -> Self {
        Self::Response { key, ends: true, error: None, status: None }
    }

    /// A part of the next response.
    pub(super) fn response_part() -> Self {
        Self::Response { key: None, ends: false, error: None, status: None }
    }
}

/// Splits a protocol's messages and interprets them.
pub(super) trait Format {
    /// The length of the message that begins with these bytes of a side; there is at least one.
    fn split(&self, from: Role, bytes: &[u8]) -> Split;

    /// The kind of a message of this length, from its first bytes.
    fn part(&mut self, from: Role, head: &[u8], len: u64) -> Part;

    /// Whether these first bytes of a segment, after uncaptured bytes, certainly begin a message.
    fn resumes(&self, _from: Role, _bytes: &[u8]) -> bool {
        false
    }
}

/// Position of a side's parser.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// In the head of a message, or between messages.
    #[default]
    Head,
    /// Number of remaining bytes of the message.
    Rest(u64),
    /// In the rest of a line that is too long.
    Line,
    Lost,
}

/// The parser of one side.
#[derive(Clone, Debug, Default)]
struct Half {
    state: State,
    gather: Vec<u8>,
    /// Position where the message began.
    began: Option<Placed>,
    /// Position where the first message of the request began.
    opened: Option<Placed>,
    part: Option<Part>,
    /// Index of the request that it sends.
    request: Option<usize>,
    /// A request of several messages is incomplete.
    continues: bool,
    /// The pending request that the message answers.
    answers: Option<usize>,
    has_request: bool,
}

/// A pending request.
#[derive(Clone, Copy, Debug)]
struct Pending {
    key: Option<u64>,
    place: Option<usize>,
    has_begun: bool,
    is_heartbeat: bool,
}

/// The parser for a format.
#[derive(Clone, Debug)]
pub(super) struct Framed<F> {
    format: F,
    client: usize,
    halves: [Half; 2],
    pending: VecDeque<Pending>,
}

impl<F: Format> Framed<F> {
    /// `client`: the side that sends requests.
    pub(super) fn new(format: F, client: usize) -> Self {
        Self { format, client, halves: Default::default(), pending: VecDeque::new() }
    }

    pub(super) fn format(&self) -> &F {
        &self.format
    }

    fn role(&self, from: usize) -> Role {
        if from == self.client { Role::Client } else { Role::Server }
    }

    /// Parses the head of a message. Returns the bytes after it, or `None` if more are needed.
    fn head<'a>(&mut self, bytes: &'a [u8], at: Placed, found: &mut Found) -> Option<&'a [u8]> {
        let role = self.role(at.from);
        let mut rest = bytes;
        let mut gather = std::mem::take(&mut self.halves.get_mut(at.from)?.gather);
        let mut wanted = 1;
        loop {
            let room = wanted.min(HEAD_MAX).saturating_sub(gather.len()).min(rest.len());
            let (taken, behind) = rest.split_at(room);
            gather.extend_from_slice(taken);
            rest = behind;
            let half = self.halves.get_mut(at.from)?;
            half.began.get_or_insert(at);
            if gather.len() < wanted.min(HEAD_MAX) {
                half.gather = gather;
                return None;
            }
            match self.format.split(role, &gather) {
                Split::Need(bytes) if bytes > gather.len() && bytes <= HEAD_MAX => wanted = bytes,
                Split::Line if gather.len() < HEAD_MAX => {
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    wanted = gather.len() + end.map_or(rest.len().max(1), |end| end + 1);
                }
                Split::Line => {
                    half.state = State::Line;
                    self.begin(&gather, u64::MAX, at, found);
                    return Some(rest);
                }
                Split::Message { len, head } => {
                    let head = usize::try_from(len).unwrap_or(HEAD_MAX).min(head).min(HEAD_MAX);
                    if gather.len() < head {
                        wanted = head;
                        continue;
                    }
                    let left = len.saturating_sub(gather.len() as u64);
                    self.begin(&gather, len, at, found);
                    if left == 0 {
                        self.end(at, found);
                    } else if let Some(half) = self.halves.get_mut(at.from)
                        && !matches!(half.state, State::Lost)
                    {
                        half.state = State::Rest(left);
                    }
                    return Some(rest);
                }
                Split::Need(_) | Split::Lost => {
                    self.lose(at.from);
                    return None;
                }
            }
        }
    }

    /// Begins a message after its head.
    fn begin(&mut self, head: &[u8], len: u64, at: Placed, found: &mut Found) {
        let role = self.role(at.from);
        let part = self.format.part(role, head, len);
        let Self { halves, pending, .. } = self;
        let Some(half) = halves.get_mut(at.from) else { return };
        let began = half.began.unwrap_or(at);
        match &part {
            Part::Opens => {
                half.opened.get_or_insert(began);
            }
            Part::Request(request) => {
                let began = half.opened.take().unwrap_or(began);
                let facts = RequestFacts::new(request.label.clone(), began.seq, began.first);
                let facts = RequestFacts { is_poll: request.is_poll, ..facts };
                half.request = if request.is_heartbeat { None } else { found.requests.push(facts) };
                half.has_request = true;
                half.continues = request.continues;
                if !request.is_unanswered && pending.len() < MAX_PENDING {
                    let Request { key, is_heartbeat, .. } = *request;
                    pending.push_back(Pending { key, place: half.request, has_begun: false, is_heartbeat });
                }
            }
            Part::Response { key, error, status, .. } => {
                half.answers = pending.iter().position(|waiting| key.is_none() || waiting.key == *key);
                if let Some(waiting) = half.answers.and_then(|index| pending.get_mut(index)) {
                    waiting.has_begun = true;
                    if let Some(request) = found.requests.at(waiting.place) {
                        request.headers.get_or_insert(began.first);
                        request.first_byte.get_or_insert(began.first);
                        request.response_seq.get_or_insert(began.seq);
                        request.status = status.or(request.status);
                        request.error = request.error.take().or_else(|| error.clone());
                    }
                }
            }
            Part::Push | Part::Continues { .. } | Part::Heartbeat | Part::Other => {}
        }
        half.part = Some(part);
    }

    /// Ends the message.
    fn end(&mut self, at: Placed, found: &mut Found) {
        let Self { halves, pending, .. } = self;
        let Some(half) = halves.get_mut(at.from) else { return };
        half.state = State::Head;
        let began = half.began.take();
        half.gather.clear();
        match half.part.take() {
            Some(Part::Request(Request { is_heartbeat: true, .. })) => {
                found.heartbeat(at.from, began.map_or(at.seq, |began| began.seq), at.end);
            }
            Some(Part::Request(Request { continues: false, .. }) | Part::Continues { ends: true }) => {
                half.continues = false;
                if let Some(request) = found.requests.at(half.request) {
                    request.sent = Some(at.last);
                }
            }
            Some(Part::Continues { ends: false }) => half.continues = true,
            Some(Part::Response { ends, .. }) => {
                let waiting = half.answers.take();
                let of = waiting.and_then(|index| pending.get(index)).copied();
                if let Some(request) = found.requests.at(of.and_then(|of| of.place)) {
                    request.latest = Some(at.last);
                    request.is_complete = ends;
                }
                if of.is_some_and(|of| of.is_heartbeat) {
                    found.heartbeat(at.from, began.map_or(at.seq, |began| began.seq), at.end);
                }
                if ends && let Some(index) = waiting {
                    pending.remove(index);
                }
            }
            Some(Part::Heartbeat) => {
                found.heartbeat(at.from, began.map_or(at.seq, |began| began.seq), at.end);
            }
            _ => {}
        }
    }

    /// Counts bytes of the rest of a message.
    fn count(&mut self, bytes: u64, from: usize, found: &mut Found) {
        let Self { halves, pending, client, .. } = self;
        let Some(half) = halves.get_mut(from) else { return };
        if from == *client {
            if let Some(request) = found.requests.at(half.request) {
                request.bytes[0] += bytes;
            }
        } else {
            let place = half.answers.and_then(|index| pending.get(index)).and_then(|waiting| waiting.place);
            if let Some(request) = found.requests.at(place) {
                request.bytes[1] += bytes;
            }
        }
    }

    /// The rest of a head was not captured: interprets the message by its first bytes.
    fn pass_head(&mut self, bytes: u64, at: Placed, found: &mut Found) {
        let role = self.role(at.from);
        let gather = self.halves.get_mut(at.from).map(|half| std::mem::take(&mut half.gather)).unwrap_or_default();
        let read = gather.len() as u64 + bytes;
        match self.format.split(role, &gather) {
            Split::Message { len, .. } if len >= read => {
                self.begin(&gather, len, at, found);
                if len == read {
                    self.end(at, found);
                } else if let Some(half) = self.halves.get_mut(at.from)
                    && !matches!(half.state, State::Lost)
                {
                    half.state = State::Rest(len - read);
                }
            }
            _ => self.lose(at.from),
        }
    }

    fn lose(&mut self, from: usize) {
        if let Some(half) = self.halves.get_mut(from) {
            *half = Half { state: State::Lost, has_request: half.has_request, ..Half::default() };
        }
    }
}

impl<F: Format> Messages for Framed<F> {
    fn read(&mut self, bytes: &[u8], at: Placed, found: &mut Found) {
        let mut rest = bytes;
        let role = self.role(at.from);
        if let Some(half) = self.halves.get_mut(at.from)
            && matches!(half.state, State::Lost)
            && self.format.resumes(role, bytes)
        {
            half.state = State::Head;
            // It is unknown which of the earlier requests were answered.
            self.pending.clear();
        }
        while !rest.is_empty() {
            let Some(half) = self.halves.get_mut(at.from) else { return };
            match &mut half.state {
                State::Lost => return,
                State::Line => {
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    rest = end.map_or(&[][..], |end| rest.get(end + 1..).unwrap_or_default());
                    if end.is_some() {
                        self.end(at, found);
                    }
                }
                State::Rest(left) => {
                    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= taken as u64;
                    let is_over = *left == 0;
                    rest = rest.get(taken..).unwrap_or_default();
                    self.count(taken as u64, at.from, found);
                    if is_over {
                        self.end(at, found);
                    }
                }
                State::Head => match self.head(rest, at, found) {
                    Some(behind) => rest = behind,
                    None => return,
                },
            }
        }
    }

    fn pass(&mut self, bytes: u64, at: Placed, found: &mut Found) {
        let Some(half) = self.halves.get_mut(at.from) else { return };
        match &mut half.state {
            State::Rest(left) if *left >= bytes => {
                *left -= bytes;
                let is_over = *left == 0;
                self.count(bytes, at.from, found);
                if is_over {
                    self.end(at, found);
                }
            }
            State::Head if !half.gather.is_empty() => self.pass_head(bytes, at, found),
            _ => self.lose(at.from),
        }
    }

    fn client(&self) -> Option<usize> {
        Some(self.client)
    }

    fn unread(&self, from: usize) -> u64 {
        match self.halves.get(from).map(|half| half.state) {
            Some(State::Rest(left)) => left.saturating_sub(1),
            Some(State::Head | State::Line | State::Lost) | None => 0,
        }
    }

    fn state(&self, from: usize) -> MessageState {
        let Some(half) = self.halves.get(from) else { return MessageState::Unknown };
        let is_answering = from != self.client && self.pending.iter().any(|waiting| waiting.has_begun);
        match half.state {
            State::Lost => MessageState::Unknown,
            State::Head if half.gather.is_empty() && !half.continues && half.opened.is_none() && !is_answering => {
                MessageState::Complete
            }
            State::Head | State::Rest(_) | State::Line => MessageState::Incomplete,
        }
    }

    fn take_kind(&mut self, from: usize) -> Option<PayloadKind> {
        let half = self.halves.get_mut(from)?;
        std::mem::take(&mut half.has_request).then_some(PayloadKind::Request)
    }

    fn finish(&mut self, _found: &mut Found) -> Option<[Vec<WindowWait>; 2]> {
        None
    }
}
