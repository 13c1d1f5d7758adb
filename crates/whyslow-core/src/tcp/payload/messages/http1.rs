//! [`Http1`]: parses the HTTP/1 messages in two plaintext streams without holes (RFC 9112).

use super::http2::{Http2, WindowWait};
use super::reading::{Found, FoundHead, MessageState, Messages, Placed};
use super::requests::{RequestFacts, Requests, redact};
use crate::tcp::payload::http::{self, Head, Parsed};
use crate::tcp::payload::kind::PayloadKind;
use crate::tcp::payload::protocol::GATHER_MAX;
use std::collections::VecDeque;

/// Maximum number of pending requests of one connection. If a client sends more, responses cannot
/// be matched.
const MAX_PIPELINED: usize = 256;

/// Position of a direction's parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In a head, or between two messages.
    #[default]
    Head,
    /// Number of remaining bytes of the body.
    Body(u64),
    Chunk(Chunk),
    /// The body ends with the connection.
    ToEnd,
    /// HTTP/2 follows, as the client requested.
    Switched,
    /// Not HTTP.
    Lost,
}

/// Position in a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    /// In the line with the chunk's size: the value so far, and whether its digits are complete.
    Size {
        size: u64,
        has_ended: bool,
    },
    Data(u64),
    /// At the end of line after the data.
    End,
    /// In the trailers: the length of the current line.
    Trailer {
        line: u64,
    },
}

/// The parser of one direction.
#[derive(Clone, Debug, Default)]
struct Direction {
    state: State,
    /// An incomplete head.
    gather: Vec<u8>,
    began: Option<Placed>,
    /// The current request: sent, or answered, by this direction.
    current: Option<usize>,
    /// Whether it sends responses.
    answers: bool,
    /// The current message, if its length is known.
    announced: Option<usize>,
}

/// A pending request.
#[derive(Clone, Copy, Debug)]
struct Pending {
    place: Option<usize>,
    /// HEAD, whose response has no body.
    is_head: bool,
}

/// Both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Http1 {
    directions: [Direction; 2],
    pending: VecDeque<Pending>,
    /// The client, if it asks to upgrade to HTTP/2.
    upgrading: Option<usize>,
    /// Bytes after the response that accepts the upgrade.
    behind: Vec<u8>,
}

impl Http1 {
    /// Creates one for a client that asks to upgrade to HTTP/2.
    pub(super) fn upgrading(client: usize) -> Self {
        Self { upgrading: Some(client), ..Self::default() }
    }

    /// Returns the HTTP/2 parser and the server's first HTTP/2 bytes, once the server has accepted.
    pub(super) fn take_upgrade(&mut self, found: &mut Found) -> Option<(Http2, Vec<u8>)> {
        let client = self.upgrading?;
        let server = self.directions.get(1 - client.min(1)).filter(|server| server.state == State::Switched)?;
        let place = server.current;
        if let Some(request) = found.requests.at(place) {
            // The response is sent as HTTP/2 on the first stream (RFC 7540 section 3.2).
            (request.status, request.headers, request.response_seq) = (None, None, None);
            request.stream = Some(1);
        }
        Some((Http2::upgraded(client, place), std::mem::take(&mut self.behind)))
    }

    /// Takes the next plaintext of a direction, and passes on the heads in it.
    fn read_bytes(&mut self, mut bytes: &[u8], at: Placed, requests: &mut Requests, give: &mut dyn FnMut(FoundHead)) {
        let Self { directions, pending, upgrading, behind } = self;
        let Some(direction) = directions.get_mut(at.from) else { return };
        while !bytes.is_empty() {
            match direction.state {
                State::Head => match direction.head(&mut bytes, at) {
                    None => return,
                    Some(head) => {
                        let switches = upgrading.is_some() && head.status == Some(101);
                        give(direction.begin(head, pending, requests));
                        if switches {
                            direction.state = State::Switched;
                        }
                    }
                },
                State::Body(_) | State::Chunk(_) | State::ToEnd => {
                    let body = direction.body(&mut bytes);
                    direction.note_body(body, at, requests);
                }
                State::Switched => return behind.extend_from_slice(bytes),
                State::Lost => return,
            }
        }
    }

    /// Ends a direction with the connection, and with it a body of unknown length.
    fn end(&mut self, requests: &mut Requests) {
        for direction in &self.directions {
            if direction.state == State::ToEnd
                && direction.answers
                && let Some(request) = requests.at(direction.current)
            {
                request.is_complete = true;
            }
        }
    }
}

impl Messages for Http1 {
    fn read(&mut self, bytes: &[u8], at: Placed, found: &mut Found) {
        let Found { requests, heads, .. } = found;
        self.read_bytes(bytes, at, requests, &mut |head| heads.add(at.from, head));
    }

    fn pass(&mut self, bytes: u64, at: Placed, found: &mut Found) {
        let Some(direction) = self.directions.get_mut(at.from) else { return };
        let left = match &mut direction.state {
            State::Body(left) | State::Chunk(Chunk::Data(left)) if *left >= bytes => {
                *left -= bytes;
                Some(*left)
            }
            State::ToEnd => Some(u64::MAX),
            _ => None,
        };
        match (left, direction.state) {
            (None, _) => direction.state = State::Lost,
            (Some(left), state) => {
                if left == 0 && matches!(state, State::Chunk(_)) {
                    direction.state = State::Chunk(Chunk::End);
                }
                let ends = left == 0 && matches!(state, State::Body(_));
                direction.note_body((bytes, ends), at, &mut found.requests);
            }
        }
    }

    fn unread(&self, from: usize) -> u64 {
        match self.directions.get(from).map(|direction| direction.state) {
            Some(State::Body(left) | State::Chunk(Chunk::Data(left))) => left.saturating_sub(1),
            Some(State::ToEnd | State::Lost) => u64::MAX,
            Some(State::Head | State::Chunk(_) | State::Switched) | None => 0,
        }
    }

    fn state(&self, from: usize) -> MessageState {
        match self.directions.get(from).map(|direction| (direction.state, direction.gather.is_empty())) {
            Some((State::Head, true) | (State::Switched, _)) => MessageState::Complete,
            Some((State::Head | State::Body(_) | State::Chunk(_), _)) => MessageState::Incomplete,
            Some((State::ToEnd | State::Lost, _)) | None => MessageState::Unknown,
        }
    }

    fn take_kind(&mut self, _from: usize) -> Option<PayloadKind> {
        None
    }

    fn finish(&mut self, found: &mut Found) -> Option<[Vec<WindowWait>; 2]> {
        self.end(&mut found.requests);
        None
    }
}

/// A head, and the form of its body.
struct WholeHead {
    found: FoundHead,
    began: Placed,
    last: Placed,
    status: Option<u16>,
    method: Option<&'static str>,
    /// Length of the body, if it is known.
    body: Option<u64>,
    is_chunked: bool,
}

impl Direction {
    /// Parses a head to its end; `None` if it is incomplete.
    fn head(&mut self, bytes: &mut &[u8], at: Placed) -> Option<WholeHead> {
        if self.gather.is_empty() {
            // An empty line before a request is skipped (RFC 9112 section 2.2).
            *bytes = bytes.trim_ascii_start();
            if bytes.is_empty() {
                return None;
            }
            self.began = Some(at);
        }
        let room = GATHER_MAX.saturating_sub(self.gather.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.gather.extend_from_slice(taken);
        let gathered = std::mem::take(&mut self.gather);
        match http::parse(&gathered, true, true) {
            Parsed::Head(head) => {
                let behind = gathered.len().saturating_sub(usize::try_from(head.len).unwrap_or(usize::MAX));
                *bytes = bytes.get(taken.len().saturating_sub(behind)..).unwrap_or_default();
                Some(whole(&head, self.began.unwrap_or(at), at))
            }
            Parsed::More if gathered.len() < GATHER_MAX => {
                self.gather = gathered;
                None
            }
            Parsed::More | Parsed::No => {
                self.state = State::Lost;
                None
            }
        }
    }

    /// Begins the message of a head.
    fn begin(&mut self, head: WholeHead, pending: &mut VecDeque<Pending>, requests: &mut Requests) -> FoundHead {
        let WholeHead { found, began, last, status, method, body, is_chunked } = head;
        self.answers = !found.is_request;
        let mut body = body;
        if found.is_request {
            let request = RequestFacts::new(found.label.clone(), found.seq, began.first);
            self.current = requests.push(request);
            if pending.len() < MAX_PIPELINED {
                pending.push_back(Pending { place: self.current, is_head: method == Some("HEAD ") });
            }
        } else {
            let is_interim = status.is_some_and(|status| (100..200).contains(&status) && status != 101);
            if is_interim {
                return found;
            }
            let asked = pending.pop_front();
            if asked.is_some_and(|asked| asked.is_head) {
                body = Some(0);
            }
            self.current = asked.and_then(|asked| asked.place);
            if let Some(request) = requests.at(self.current) {
                request.status = status;
                request.headers = Some(began.first);
                request.latest = Some(last.last);
                request.response_seq = Some(found.seq);
            }
        }
        self.state = match body {
            Some(body) => State::Body(body),
            None if is_chunked => State::Chunk(Chunk::Size { size: 0, has_ended: false }),
            None => State::ToEnd,
        };
        self.announced = body.and_then(|_| requests.begin_message(last.from, found.seq));
        if self.state == State::Body(0) {
            self.complete(last, requests);
        }
        found
    }

    /// Consumes bytes of the body; returns their number, and whether the body ends.
    fn body(&mut self, bytes: &mut &[u8]) -> (u64, bool) {
        match &mut self.state {
            State::Body(left) => {
                let taken = take(bytes, *left);
                *left -= taken;
                (taken, *left == 0)
            }
            State::Chunk(chunk) => match chunk.read(bytes) {
                Some(outcome) => outcome,
                None => {
                    self.state = State::Lost;
                    (0, false)
                }
            },
            State::ToEnd => (take(bytes, u64::MAX), false),
            State::Head | State::Switched | State::Lost => (take(bytes, u64::MAX), false),
        }
    }

    fn note_body(&mut self, (taken, ends): (u64, bool), at: Placed, requests: &mut Requests) {
        if let Some(request) = requests.at(self.current) {
            if self.answers {
                request.on_body(taken, (at.first, at.last));
            } else {
                request.bytes[0] += taken;
            }
        }
        if ends {
            self.complete(at, requests);
        }
    }

    /// Completes the message.
    fn complete(&mut self, at: Placed, requests: &mut Requests) {
        self.state = State::Head;
        requests.end_message(at.from, self.announced.take(), at.end);
        if let Some(request) = requests.at(self.current.take()) {
            if self.answers {
                request.is_complete = true;
                request.latest = Some(at.last);
            } else {
                request.sent = Some(at.last);
            }
        }
    }
}

impl Chunk {
    /// Parses more of the body; returns the number of data bytes, and whether it ends. `None` if it
    /// is not chunked.
    fn read(&mut self, bytes: &mut &[u8]) -> Option<(u64, bool)> {
        match self {
            Self::Data(left) => {
                let taken = take(bytes, *left);
                *left -= taken;
                if *left == 0 {
                    *self = Self::End;
                }
                return Some((taken, false));
            }
            Self::Size { size, has_ended } => match *bytes.split_off_first()? {
                b'\n' if *size == 0 => *self = Self::Trailer { line: 0 },
                b'\n' => *self = Self::Data(*size),
                byte => match char::from(byte).to_digit(16).filter(|_| !*has_ended) {
                    Some(digit) => *size = size.checked_mul(16)?.checked_add(digit.into())?,
                    None => *has_ended = true,
                },
            },
            Self::End => match *bytes.split_off_first()? {
                b'\r' => {}
                b'\n' => *self = Self::Size { size: 0, has_ended: false },
                _ => return None,
            },
            Self::Trailer { line } => match *bytes.split_off_first()? {
                b'\r' => {}
                b'\n' if *line == 0 => return Some((0, true)),
                b'\n' => *line = 0,
                _ => *line += 1,
            },
        }
        Some((0, false))
    }
}

/// Consumes at most `most` bytes; returns the number.
fn take(bytes: &mut &[u8], most: u64) -> u64 {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len());
    *bytes = bytes.get(count..).unwrap_or_default();
    count as u64
}

fn whole(head: &Head<'_>, began: Placed, last: Placed) -> WholeHead {
    let label = String::from_utf8_lossy(&head.label);
    let is_request = label.starts_with(|first: char| first.is_ascii_alphabetic());
    let method = if label.starts_with("HEAD ") { Some("HEAD ") } else { None };
    let found = FoundHead {
        seq: began.seq,
        label: if is_request { redact(&label) } else { label.clone().into_owned() },
        host: head.host.map(|host| String::from_utf8_lossy(host).into_owned()),
        product: head.product,
        is_request,
    };
    let status = if is_request { None } else { label.get(..3).and_then(|code| code.parse().ok()) };
    let body = head.next.map(|next| next.saturating_sub(head.len));
    WholeHead { found, began, last, status, method, body, is_chunked: head.is_chunked }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use whyslow_units::Time;

    /// Parses messages of both directions in pieces of a size, a millisecond apart.
    fn read(messages: &[(usize, &[u8])], size: usize) -> (Vec<RequestFacts>, Vec<String>, Http1) {
        let (mut reader, mut requests, mut heads) = (Http1::default(), Requests::default(), Vec::new());
        let mut now = 0;
        for (from, message) in messages {
            for piece in message.chunks(size) {
                now += 1;
                let at =
                    Placed { from: *from, seq: now, end: now + 1, first: Time(now as i64), last: Time(now as i64) };
                reader.read_bytes(piece, at, &mut requests, &mut |head| heads.push(head.label));
            }
        }
        reader.end(&mut requests);
        (requests.finish().0, heads, reader)
    }

    const CHUNKED: &[u8] =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nX: y\r\n\r\n";

    #[test]
    fn messages_in_any_pieces_end_at_their_last_byte() {
        let talk: [(usize, &[u8]); 6] = [
            (0, b"GET /a?q=1 HTTP/1.1\r\nHost: h.example\r\n\r\n"),
            (1, CHUNKED),
            (0, b"HEAD /b HTTP/1.1\r\nHost: h.example\r\n\r\nPOST /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
            (1, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"),
            (1, b"HTTP/1.1 204 No Content\r\n\r\n"),
            (0, b"\r\n"),
        ];
        for size in [1, 2, 7, 1_000] {
            let (requests, heads, reader) = read(&talk, size);
            let labels: Vec<_> = requests.iter().map(|request| request.label.as_str()).collect();
            assert_eq!(labels, ["GET /a?…", "HEAD /b", "POST /c"]);
            assert!(requests.iter().all(|request| request.is_complete && request.sent.is_some()), "pieces of {size}");
            let statuses: Vec<_> = requests.iter().map(|request| request.status.unwrap()).collect();
            assert_eq!(statuses, [200, 200, 204]);
            assert_eq!((requests[0].bytes, requests[1].bytes, requests[2].bytes), ([0, 21], [0, 0], [3, 0]));
            assert_eq!(heads.len(), 7, "{heads:?}");
            assert!(reader.state(0) == MessageState::Complete && reader.state(1) == MessageState::Complete);
        }
    }

    #[test]
    fn incomplete_message_is_within() {
        let cut: [(usize, &[u8]); 2] =
            [(0, b"GET / HTTP/1.1\r\n\r\n"), (1, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123")];
        let (requests, _, reader) = read(&cut, 1_000);
        assert!(reader.state(1) == MessageState::Incomplete && !requests[0].is_complete);
        assert_eq!(requests[0].bytes[1], 3);
        let (_, _, reader) = read(&[(1, &CHUNKED[..60])], 1_000);
        assert_eq!(reader.state(1), MessageState::Incomplete);
    }

    #[test]
    fn body_without_length_ends_with_the_connection() {
        let talk: [(usize, &[u8]); 2] =
            [(0, b"GET / HTTP/1.0\r\n\r\n"), (1, b"HTTP/1.0 200 OK\r\n\r\nsome text of any length")];
        let (requests, _, _) = read(&talk, 1_000);
        assert!(requests[0].is_complete);
        assert_eq!(requests[0].bytes[1], 23);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(pieces in prop::collection::vec((0usize..2, prop_oneof![
            Just(CHUNKED.to_vec()), Just(b"GET / HTTP/1.1\r\n\r\n".to_vec()),
            Just(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..60),
        ]), 0..40)) {
            let pieces: Vec<(usize, &[u8])> = pieces.iter().map(|(from, bytes)| (*from, &bytes[..])).collect();
            let (_, _, reader) = read(&pieces, 17);
            prop_assert!(reader.directions.iter().all(|direction| direction.gather.len() <= GATHER_MAX));
        }
    }
}
