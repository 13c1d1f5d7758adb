//! [`Http2`]: parses the HTTP/2 messages in two plaintext streams without holes (RFC 9113).

mod frames;
mod header_block;
mod windows;

use super::reading::{Found, FoundHead, MessageState, Messages, Placed};
use super::requests::{RequestFacts, Requests, redact};
use crate::tcp::payload::http::without_port;
use crate::tcp::payload::kind::PayloadKind;
use crate::tcp::payload::protocol::is_name;
use frames::{Event, Frame, Frames, PREFACE, fragment, kind};
pub(super) use header_block::Fields as HeaderFields;
use header_block::{Fields, HeaderDecoder, MAX_BLOCK};
use std::collections::BTreeMap;
use whyslow_analysis::types::Product;
use windows::Windows;
pub use windows::{UsedWindow, WindowWait};

/// Flags.
const END_STREAM: u8 = 0x1;
const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
/// The setting for the initial window of streams (RFC 9113 section 6.5.2).
const INITIAL_WINDOW_SIZE: u16 = 4;
/// Maximum number of simultaneous streams: servers allow 100 to 250 (nginx 128).
const MAX_STREAMS: usize = 1024;

/// A stream.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Index of its request.
    place: Option<usize>,
    /// Whether each side has sent its last byte.
    ended: [bool; 2],
    /// Whether the response has begun.
    has_response: bool,
    /// Each side's message, if its length is known.
    announced: [Option<usize>; 2],
}

/// The parser of one side.
#[derive(Clone, Debug, Default)]
struct Sender {
    frames: Frames,
    headers: HeaderDecoder,
    /// An incomplete header block: its stream, and whether it ends the stream.
    block: Option<(u32, bool, Vec<u8>)>,
    windows: Windows,
    /// Whether the current segment has data or headers, and not only control frames.
    has_message: bool,
    has_credit: bool,
    /// Whether this side sent control frames and messages since the other one's last request.
    since_request: (bool, bool),
}

/// The parser of both sides.
#[derive(Clone, Debug)]
pub(super) struct Http2 {
    /// Index of the client.
    client: usize,
    senders: [Sender; 2],
    streams: BTreeMap<u32, Stream>,
}

/// Whether these bytes begin HTTP/2, and whether they are the client's; `None` for other or too few
/// bytes.
pub(super) fn opens(start: &[u8]) -> Option<bool> {
    if start.len() >= 16 && PREFACE.starts_with(start.get(..16)?) {
        return Some(true);
    }
    // The server's first frame is SETTINGS, here with at most 20 settings (RFC 9113 section 3.4).
    match start {
        [0, 0, len, kind::SETTINGS, 0, 0, 0, 0, 0, ..] if len.is_multiple_of(6) && *len <= 120 => Some(false),
        _ => None,
    }
}

/// The parser's state and its outputs.
struct Reading<'a> {
    from: usize,
    client: usize,
    at: Placed,
    streams: &'a mut BTreeMap<u32, Stream>,
    requests: &'a mut Requests,
    give: &'a mut dyn FnMut(FoundHead),
}

impl Http2 {
    /// `client`: the side that sent the preface.
    pub(super) fn new(client: usize) -> Self {
        let mut senders = [Sender::default(), Sender::default()];
        if let Some(sender) = senders.get_mut(client) {
            sender.frames = Frames::behind_preface();
        }
        Self { client, senders, streams: BTreeMap::new() }
    }

    /// Creates one for a connection that began with HTTP/1; `place`: index of the request that is
    /// answered on the first stream.
    pub(super) fn upgraded(client: usize, place: Option<usize>) -> Self {
        let mut http = Self::new(client);
        let mut ended = [false; 2];
        if let Some(ended) = ended.get_mut(client) {
            *ended = true;
        }
        http.senders.iter_mut().for_each(|sender| sender.windows.open(1));
        http.streams.insert(1, Stream { place, ended, has_response: false, announced: [None; 2] });
        http
    }

    /// Takes the next plaintext of a direction, and passes on the heads in it.
    fn read_bytes(&mut self, bytes: Bytes<'_>, at: Placed, requests: &mut Requests, give: &mut dyn FnMut(FoundHead)) {
        let Self { client, senders, streams } = self;
        let [a, b] = senders;
        let (sender, other) = if at.from == 0 { (a, b) } else { (b, a) };
        let mut reading = Reading { from: at.from, client: *client, at, streams, requests, give };
        let mut frames = std::mem::take(&mut sender.frames);
        let mut give = |event: Event<'_>| reading.event(event, sender, other);
        match bytes {
            Bytes::Read(bytes) => frames.read(bytes, &mut give),
            Bytes::Passed(bytes) => frames.pass(bytes, &mut give),
        }
        sender.frames = frames;
    }
}

/// The next bytes.
enum Bytes<'a> {
    Read(&'a [u8]),
    /// Number of unreadable bytes.
    Passed(u64),
}

impl Messages for Http2 {
    fn read(&mut self, bytes: &[u8], at: Placed, found: &mut Found) {
        let Found { requests, heads, .. } = found;
        self.read_bytes(Bytes::Read(bytes), at, requests, &mut |head| heads.add(at.from, head));
    }

    fn pass(&mut self, bytes: u64, at: Placed, found: &mut Found) {
        let Found { requests, heads, .. } = found;
        self.read_bytes(Bytes::Passed(bytes), at, requests, &mut |head| heads.add(at.from, head));
    }

    fn unread(&self, from: usize) -> u64 {
        self.senders.get(from).map_or(0, |sender| sender.frames.unread())
    }

    fn state(&self, from: usize) -> MessageState {
        let Some(sender) = self.senders.get(from) else { return MessageState::Unknown };
        if sender.frames.is_lost() {
            return MessageState::Unknown;
        }
        let is_open =
            |stream: &Stream| stream.has_response && stream.place.is_some() && stream.ended.get(from) == Some(&false);
        let is_answering = from != self.client && self.streams.values().any(is_open);
        if sender.frames.is_within() || is_answering { MessageState::Incomplete } else { MessageState::Complete }
    }

    fn take_kind(&mut self, from: usize) -> Option<PayloadKind> {
        let [a, b] = &mut self.senders;
        let (sender, other) = if from == 0 { (a, b) } else { (b, a) };
        let (message, credit) = (std::mem::take(&mut sender.has_message), std::mem::take(&mut sender.has_credit));
        if from == self.client && message {
            other.since_request = (false, false);
        }
        let (has_control, has_message) = sender.since_request;
        sender.since_request = (has_control || credit, has_message || message);
        if from != self.client && message && has_control && !has_message {
            // The data before it was not a response.
            return Some(PayloadKind::BehindGreeting);
        }
        (credit && !message).then_some(PayloadKind::Credit)
    }

    fn finish(&mut self, _found: &mut Found) -> Option<[Vec<WindowWait>; 2]> {
        let is_lost = self.senders.iter().any(|sender| sender.frames.is_lost());
        let windows = self.senders.each_mut().map(|sender| std::mem::take(&mut sender.windows).finish());
        (!is_lost).then_some(windows)
    }
}

impl Reading<'_> {
    fn event(&mut self, event: Event<'_>, sender: &mut Sender, other: &mut Sender) {
        let now = self.at.last;
        match event {
            Event::DataBegins(frame) => {
                sender.has_message = true;
                sender.windows.sent(frame.stream, frame.len, now);
            }
            Event::Data(frame, bytes, left) => {
                self.data(frame, bytes as u64);
                if left == 0 && frame.has(END_STREAM) {
                    self.end_stream(frame.stream, [sender, other]);
                }
            }
            Event::Whole(frame, payload) => self.whole(frame, payload, sender, other),
            Event::Skipped(frame) => {
                if matches!(frame.kind, kind::HEADERS | kind::CONTINUATION | kind::PUSH_PROMISE) {
                    sender.headers.lose();
                }
            }
        }
    }

    /// Handles bytes of a body.
    fn data(&mut self, frame: Frame, bytes: u64) {
        let place = self.streams.get(&frame.stream).and_then(|stream| stream.place);
        if let Some(request) = self.requests.at(place) {
            if self.from == self.client {
                request.bytes[0] += bytes;
            } else {
                request.on_body(bytes, (self.at.first, self.at.last));
            }
        }
    }

    fn whole(&mut self, frame: Frame, payload: &[u8], sender: &mut Sender, other: &mut Sender) {
        let now = self.at.last;
        match frame.kind {
            kind::HEADERS | kind::PUSH_PROMISE => {
                sender.has_message = true;
                let Some(block) = fragment(frame, payload) else { return sender.headers.lose() };
                let ends = frame.kind == kind::HEADERS && frame.has(END_STREAM);
                sender.block = Some((frame.stream, ends, block.to_vec()));
                self.block(frame, [sender, other]);
            }
            kind::CONTINUATION => {
                if let Some((stream, _, block)) = &mut sender.block
                    && *stream == frame.stream
                    && block.len() + payload.len() <= MAX_BLOCK
                {
                    block.extend_from_slice(payload);
                } else {
                    sender.headers.lose();
                }
                self.block(frame, [sender, other]);
            }
            kind::RST_STREAM => {
                sender.has_message = true;
                self.close(frame.stream, [sender, other]);
            }
            kind::SETTINGS => {
                sender.has_credit = true;
                let settings = if frame.has(ACK) { &[] } else { payload.as_chunks::<6>().0 };
                for &[i0, i1, a, b, c, d] in settings {
                    if u16::from_be_bytes([i0, i1]) == INITIAL_WINDOW_SIZE {
                        other.windows.set_initial(u32::from_be_bytes([a, b, c, d]), now);
                    }
                }
            }
            kind::WINDOW_UPDATE => {
                sender.has_credit = true;
                if let Some(&[a, b, c, d]) = payload.first_chunk() {
                    other.windows.granted(frame.stream, u32::from_be_bytes([a & 0x7f, b, c, d]), now);
                }
            }
            kind::PING | kind::GOAWAY => sender.has_credit = true,
            _ => {}
        }
    }

    /// Handles a header block, if it is complete.
    fn block(&mut self, frame: Frame, [sender, other]: [&mut Sender; 2]) {
        if !frame.has(END_HEADERS) {
            return;
        }
        let Some((stream, ends, block)) = sender.block.take() else { return };
        let fields = sender.headers.decode(&block);
        if frame.kind == kind::PUSH_PROMISE {
            return;
        }
        let announced = fields.as_ref().is_some_and(|fields| fields.has_length);
        if self.from == self.client {
            self.request(stream, fields, [sender, other]);
        } else if let Some(fields) = fields {
            self.response(stream, fields);
        }
        if ends {
            self.end_stream(stream, [sender, other]);
        } else if announced
            && let Some(open) = self.streams.get_mut(&stream)
            && let Some(message) = open.announced.get_mut(self.from)
        {
            *message = message.or_else(|| self.requests.begin_message(self.from, self.at.seq));
        }
    }

    /// Handles the head of a request, or its trailers if the stream is open.
    fn request(&mut self, stream: u32, fields: Option<Fields>, [sender, other]: [&mut Sender; 2]) {
        if self.streams.contains_key(&stream) || self.streams.len() >= MAX_STREAMS {
            return;
        }
        sender.windows.open(stream);
        other.windows.open(stream);
        let fields = fields.unwrap_or_default();
        let label = request_label(&fields, "HTTP/2 request");
        let Fields { authority, product, .. } = fields;
        let mut request = RequestFacts::new(label.clone(), self.at.seq, self.at.first);
        request.stream = Some(stream);
        let place = self.requests.push(request);
        self.streams.insert(stream, Stream { place, ended: [false; 2], has_response: false, announced: [None; 2] });
        let host =
            authority.as_deref().map(|authority| without_port(authority.as_bytes())).filter(|host| is_name(host));
        let host = host.map(|host| String::from_utf8_lossy(host).into_owned());
        let product = product.and_then(|value| Product::of_field(&value));
        (self.give)(FoundHead { seq: self.at.seq, label, host, product, is_request: true });
    }

    /// Handles the head of a response, or its trailers.
    fn response(&mut self, stream: u32, fields: Fields) {
        let Some(open) = self.streams.get_mut(&stream) else { return };
        open.has_response = true;
        let Some(request) = self.requests.at(open.place) else { return };
        request.latest = Some(self.at.last);
        request.grpc_status = fields.grpc_status.or(request.grpc_status);
        let Some(status) = fields.status else { return };
        if (100..200).contains(&status) {
            return;
        }
        request.status = Some(status);
        request.headers.get_or_insert(self.at.first);
        request.response_seq.get_or_insert(self.at.seq);
        let product = fields.product.and_then(|value| Product::of_field(&value));
        (self.give)(FoundHead { seq: self.at.seq, label: status.to_string(), host: None, product, is_request: false });
    }

    /// Ends the sender's half of a stream.
    fn end_stream(&mut self, stream: u32, senders: [&mut Sender; 2]) {
        let Some(open) = self.streams.get_mut(&stream) else { return };
        if let Some(ended) = open.ended.get_mut(self.from) {
            *ended = true;
        }
        let (place, is_over) = (open.place, open.ended == [true; 2]);
        let message = open.announced.get_mut(self.from).and_then(Option::take);
        self.requests.end_message(self.from, message, self.at.end);
        if let Some(request) = self.requests.at(place) {
            if self.from == self.client {
                request.sent = Some(self.at.last);
            } else {
                request.latest = Some(self.at.last);
                request.is_complete = true;
            }
        }
        if is_over {
            self.close(stream, senders);
        }
    }

    fn close(&mut self, stream: u32, senders: [&mut Sender; 2]) {
        self.streams.remove(&stream);
        senders.into_iter().for_each(|sender| sender.windows.close(stream));
    }
}

/// Method and path without the query; `otherwise` if they are unknown.
pub(super) fn request_label(fields: &Fields, otherwise: &str) -> String {
    printable(&match (&fields.method, &fields.path) {
        (Some(method), Some(path)) => redact(&format!("{method} {path}")),
        (Some(method), None) => method.clone(),
        (None, _) => otherwise.to_owned(),
    })
}

/// A label in printable ASCII with at most 90 characters.
fn printable(label: &str) -> String {
    const MAX_LABEL: usize = 90;
    let is_cut = label.chars().count() > MAX_LABEL;
    let shown = label.chars().map(|c| if c.is_ascii_graphic() || matches!(c, ' ' | '…') { c } else { '?' });
    let mut shown: String = shown.take(if is_cut { MAX_LABEL - 1 } else { MAX_LABEL }).collect();
    if is_cut {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
