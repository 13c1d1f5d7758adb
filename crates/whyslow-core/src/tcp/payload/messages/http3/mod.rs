//! [`Http3`]: parses the HTTP/3 messages in the streams of a QUIC connection (RFC 9114).

mod qpack;
mod stream;

use super::http2::{HeaderFields, WindowWait, request_label};
use super::reading::{self, FoundHead, MessageState, Messages, Placed};
use super::requests::{RequestFacts, Requests};
use crate::tcp::payload::http::without_port;
use crate::tcp::payload::kind::PayloadKind;
use crate::tcp::payload::protocol::is_name;
use qpack::{Block, Qpack};
use std::collections::BTreeMap;
use stream::{Event, Half, Headers};
use whyslow_analysis::types::{End, Product, Side, StreamBytes};
use whyslow_units::Time;

/// Maximum number of simultaneous streams: servers allow 100 to 256.
const MAX_STREAMS: usize = 1024;
/// Maximum number of header blocks that wait for entries of the dynamic table (browsers allow at
/// most 100).
const MAX_BLOCKED: usize = 128;
/// Maximum number of buffered bytes of all streams.
const MAX_HELD: usize = 256 << 10;

/// A request and its response.
#[derive(Clone, Debug, Default)]
struct Exchange {
    place: Option<usize>,
    /// The client's half and the server's.
    halves: [Half; 2],
    /// Each side's message, if its length is known.
    announced: [Option<usize>; 2],
    ended: [bool; 2],
}

/// A header block that waits for the dynamic table.
#[derive(Clone, Debug)]
struct BlockedHeaders {
    stream: u64,
    is_client: bool,
    headers: Headers,
    at: Placed,
}

/// The parser of both sides.
#[derive(Clone, Debug)]
pub(super) struct Http3 {
    client: Side,
    /// The dynamic tables of the client's encoder and of the server's.
    tables: [Qpack; 2],
    exchanges: BTreeMap<u64, Exchange>,
    /// Unidirectional streams of both ends.
    one_way: BTreeMap<u64, Half>,
    blocked: Vec<BlockedHeaders>,
    held: usize,
}

/// Its bytes come from streams, and not from segments.
impl Messages for Http3 {
    fn read(&mut self, _bytes: &[u8], _at: Placed, _found: &mut reading::Found) {}

    fn pass(&mut self, _bytes: u64, _at: Placed, _found: &mut reading::Found) {}

    fn unread(&self, _from: usize) -> u64 {
        u64::MAX
    }

    fn state(&self, from: usize) -> MessageState {
        let side = if from == Side::A as usize { Side::A } else { Side::B };
        if self.is_within(side) { MessageState::Incomplete } else { MessageState::Complete }
    }

    fn take_kind(&mut self, _from: usize) -> Option<PayloadKind> {
        None
    }

    fn finish(&mut self, _found: &mut reading::Found) -> Option<[Vec<WindowWait>; 2]> {
        None
    }
}

/// The parser's outputs.
pub(super) struct Found<'a> {
    pub(super) requests: &'a mut Requests,
    pub(super) give: &'a mut dyn FnMut(FoundHead),
}

impl Http3 {
    pub(super) fn new(client: Side) -> Self {
        Self {
            client,
            tables: Default::default(),
            exchanges: BTreeMap::new(),
            one_way: BTreeMap::new(),
            blocked: Vec::new(),
            held: 0,
        }
    }

    /// The side of the client.
    pub(super) fn client(&self) -> Side {
        self.client
    }

    /// Takes stream bytes in any order.
    pub(super) fn read_stream(&mut self, piece: &StreamBytes, found: &mut Found<'_>) {
        let is_client = piece.from == End::Client;
        if piece.stream & 2 != 0 {
            return self.one_way(piece, is_client, found);
        }
        // Requests use streams that the client opens.
        if piece.stream & 1 != 0 {
            return;
        }
        let is_new = !self.exchanges.contains_key(&piece.stream);
        if is_new && (!is_client || self.exchanges.len() >= MAX_STREAMS) {
            return;
        }
        let side = if is_client { self.client } else { !self.client } as usize;
        let end = piece.seq + piece.bytes.len() as u64;
        let at = Placed { from: side, seq: piece.seq, end, first: piece.time, last: piece.time };
        let mut exchange = self.exchanges.remove(&piece.stream).unwrap_or_default();
        let half = if is_client { 0 } else { 1 };
        let room = MAX_HELD.saturating_sub(self.held);
        let before = exchange.halves[half].held();
        let has_new_bytes = exchange.halves[half].push(piece.offset, &piece.bytes, piece.fin, room);
        while let Some(event) = exchange.halves[half].next_event() {
            match event {
                Event::Headers(headers) => {
                    let one = BlockedHeaders { stream: piece.stream, is_client, headers, at };
                    self.headers(&mut exchange, one, found);
                }

                Event::Body(bytes) => body(&exchange, is_client, bytes, at.last, found.requests),
                Event::Other => {}
            }
        }
        self.held = (self.held + exchange.halves[half].held()).saturating_sub(before);
        if has_new_bytes
            && !is_client
            && exchange.halves[half].has_headers()
            && let Some(request) = found.requests.at(exchange.place)
        {
            request.latest = Some(at.last);
        }
        if exchange.halves[half].is_complete() && !exchange.ended[half] {
            end_message(&mut exchange, is_client, at, found.requests);
        }
        if exchange.ended == [true; 2] {
            self.held = self.held.saturating_sub(exchange.halves.iter().map(Half::held).sum());
        } else {
            self.exchanges.insert(piece.stream, exchange);
        }
    }

    /// Handles the QPACK encoder stream; all others are ignored.
    fn one_way(&mut self, piece: &StreamBytes, is_client: bool, found: &mut Found<'_>) {
        if !self.one_way.contains_key(&piece.stream) && self.one_way.len() >= 16 {
            return;
        }
        let half = self.one_way.entry(piece.stream).or_insert_with(Half::one_way);
        let room = MAX_HELD.saturating_sub(self.held);
        let before = half.held();
        half.push(piece.offset, &piece.bytes, piece.fin, room);
        let bytes = half.take_encoder();
        self.held = (self.held + half.held()).saturating_sub(before);
        let table = &mut self.tables[usize::from(!is_client)];
        if half.is_lost() {
            table.lose();
        }
        if bytes.is_empty() {
            return;
        }
        table.instructions(&bytes);
        for one in std::mem::take(&mut self.blocked) {
            let Some(mut exchange) = self.exchanges.remove(&one.stream) else { continue };
            let stream = one.stream;
            self.headers(&mut exchange, one, found);
            self.exchanges.insert(stream, exchange);
        }
    }

    fn headers(&mut self, exchange: &mut Exchange, one: BlockedHeaders, found: &mut Found<'_>) {
        let BlockedHeaders { stream, is_client, headers, at } = one;
        if is_client && exchange.place.is_none() && headers.is_first {
            let mut request = RequestFacts::new("HTTP/3 request".to_owned(), at.seq, at.first);
            request.stream = u32::try_from(stream).ok();
            exchange.place = found.requests.push(request);
        }
        let fields = match self.tables[usize::from(!is_client)].decode(&headers.block) {
            Block::Decoded(fields) => *fields,
            Block::Lost => HeaderFields::default(),
            Block::Blocked if self.blocked.len() < MAX_BLOCKED => {
                self.blocked.push(BlockedHeaders { stream, is_client, headers, at });
                return;
            }
            Block::Blocked => HeaderFields::default(),
        };
        if is_client {
            if headers.is_first {
                request(exchange, &fields, at, found);
            }
        } else {
            response(exchange, &fields, at, found);
        }
        let half = usize::from(!is_client);
        if fields.has_length && headers.is_first && !exchange.ended[half] {
            exchange.announced[half] = found.requests.begin_message(at.from, at.seq);
        }
    }

    /// Whether this side is in the middle of a message.
    pub(super) fn is_within(&self, from: Side) -> bool {
        let half = usize::from(from != self.client);
        let is_open = |exchange: &Exchange| {
            let has_begun = exchange.halves[half].has_headers();
            !exchange.ended[half] && (has_begun || half == 1 && exchange.ended[0]) && exchange.place.is_some()
        };
        self.exchanges.values().any(is_open)
    }
}

/// Handles the head of a request.
fn request(exchange: &Exchange, fields: &HeaderFields, at: Placed, found: &mut Found<'_>) {
    let label = request_label(fields, "HTTP/3 request");
    if let Some(request) = found.requests.at(exchange.place) {
        request.label.clone_from(&label);
    }
    let authority = fields.authority.as_deref();
    let host = authority.map(|authority| without_port(authority.as_bytes())).filter(|host| is_name(host));
    let host = host.map(|host| String::from_utf8_lossy(host).into_owned());
    let product = fields.product.as_deref().and_then(Product::of_field);
    (found.give)(FoundHead { seq: at.seq, label, host, product, is_request: true });
}

/// Handles the head of a response, or its trailers.
fn response(exchange: &Exchange, fields: &HeaderFields, at: Placed, found: &mut Found<'_>) {
    let Some(request) = found.requests.at(exchange.place) else { return };
    request.latest = Some(at.last);
    request.grpc_status = fields.grpc_status.or(request.grpc_status);
    let Some(status) = fields.status.filter(|status| !(100..200).contains(status)) else { return };
    request.status = Some(status);
    request.headers.get_or_insert(at.first);
    request.response_seq.get_or_insert(at.seq);
    let product = fields.product.as_deref().and_then(Product::of_field);
    (found.give)(FoundHead { seq: at.seq, label: status.to_string(), host: None, product, is_request: false });
}

/// Handles bytes of a body.
fn body(exchange: &Exchange, is_client: bool, bytes: u64, time: Time, requests: &mut Requests) {
    let Some(request) = requests.at(exchange.place) else { return };
    if is_client {
        request.bytes[0] += bytes;
    } else {
        request.on_body(bytes, (time, time));
    }
}

/// Handles the end of a side's message.
fn end_message(exchange: &mut Exchange, is_client: bool, at: Placed, requests: &mut Requests) {
    let half = usize::from(!is_client);
    exchange.ended[half] = true;
    requests.end_message(at.from, exchange.announced[half].take(), at.end);
    if let Some(request) = requests.at(exchange.place) {
        if is_client {
            request.sent = Some(at.last);
        } else {
            request.latest = Some(at.last);
            request.is_complete = true;
        }
    }
}

#[cfg(test)]
mod tests;
