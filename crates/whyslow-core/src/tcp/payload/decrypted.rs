//! [`Decrypter`]: the payload of a connection whose secrets may be known, and the messages in it.

use super::content::Content;
use super::http;
use super::http1::{FoundHead, Http1, Placed};
use super::http2::{self, Http2, WindowWait};
use super::http3::{Found, Http3};
use super::kind::PayloadKind;
use super::protocol::{LIST_MAX, Protocol};
use super::requests::{RequestFacts, Requests};
use crate::tcp::quic_notes::QuicNotes;
use crate::tcp::segment::Seg;
use crate::tls::{KeyRing, Opened, PlaintextSink, Sent, Session};
use crate::types::{Decryption, Frame, Product, Side, StreamBytes};

/// What decryption showed of a connection.
#[derive(Clone, Debug)]
pub struct DecryptedFacts {
    /// How far it went.
    pub decryption: Decryption,
    /// Requests with their responses, in the order in which they began: the first ones.
    pub requests: Vec<RequestFacts>,
    /// How many there were.
    pub requests_total: u64,
    /// The waits of each side for a window of HTTP/2.
    pub windows: [Vec<WindowWait>; 2],
}

/// Decrypts a connection, and reads the messages in it.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Decrypter {
    /// None of a QUIC connection, whose packets are opened before.
    session: Option<Session>,
    messages: Messages,
    /// Of the last segment with payload.
    last: Frame,
}

impl Decrypter {
    pub(in crate::tcp) fn new(ring: KeyRing) -> Box<Self> {
        let session = Some(Session::new(ring));
        Box::new(Self { session, messages: Messages::default(), last: Frame::default() })
    }

    /// Of a QUIC connection. `client`: the side that opened it.
    pub(in crate::tcp) fn of_quic(client: Side, is_http3: bool) -> Box<Self> {
        let reader = if is_http3 { Reader::Http3(Box::new(Http3::new(client))) } else { Reader::Other };
        let messages = Messages { reader, ..Messages::default() };
        Box::new(Self { session: None, messages, last: Frame::default() })
    }

    /// Takes bytes of streams of QUIC, which the next segment carries or which came before it.
    pub(in crate::tcp) fn read_streams(&mut self, streams: &[StreamBytes]) {
        streams.iter().for_each(|piece| self.messages.read_stream(piece));
    }

    /// Takes a segment's payload, which begins at `start`; returns what it shows of its part in the
    /// conversation, if that is known.
    pub(super) fn read(&mut self, seg: &Seg, start: u64, payload: &[u8]) -> Option<PayloadKind> {
        self.last = seg.frame_ref.frame();
        let Some(session) = &mut self.session else {
            let kind = self.messages.kind_of_segment(seg.from());
            self.messages.begins_request = false;
            return kind;
        };
        self.messages.begins_request = false;
        let (from, len, time, frame) = (seg.from(), seg.len.into(), seg.time, self.last);
        session.push(&Sent { from, start, bytes: payload, len, time, frame }, &mut self.messages);
        self.messages.kind_of_segment(from)
    }

    /// Whether a side is in the middle of a message.
    pub(super) fn is_within(&self, side: Side) -> bool {
        self.messages.is_within(side)
    }

    /// Gives up heads before these positions.
    pub(in crate::tcp) fn forget(&mut self, before: [u64; 2]) {
        for (heads, before) in self.messages.heads.iter_mut().zip(before) {
            heads.retain(|(seq, _)| *seq >= before);
        }
    }

    /// Adds what it found to what the encrypted payload shows.
    pub(in crate::tcp) fn note(&mut self, content: &mut [Content; 2]) {
        for side in Side::BOTH {
            let (content, found) = (&mut content[side], &mut self.messages);
            content.product = content.product.or(found.products[side]);
            content.server_name = content.server_name.take().or(found.hosts[side].take());
            content.heads.append(&mut found.heads[side]);
            content.heads.sort_by_key(|(seq, _)| *seq);
            content.announced.append(&mut found.requests.take_announced(side as usize));
            content.announced.sort_unstable();
        }
    }

    /// Finishes it; `None` if the connection is not one of TLS, or of QUIC without secrets.
    /// `of_quic`: what is known of a QUIC connection.
    pub(in crate::tcp) fn finish(
        self,
        content: &[Content; 2],
        client: Side,
        of_quic: Option<&QuicNotes>,
    ) -> Option<Box<DecryptedFacts>> {
        let is_tls = content.iter().any(|content| content.protocol == Some(Protocol::Tls));
        let decryption = match &self.session {
            Some(session) if is_tls || session.has_begun() => session.outcome(client, self.last),
            Some(_) => return None,
            None => of_quic?.decryption.clone()?,
        };
        let ((requests, requests_total), windows) = self.messages.finish();
        Some(Box::new(DecryptedFacts { decryption, requests, requests_total, windows }))
    }
}

/// Plaintext that is needed to tell what it is: a frame's header of HTTP/2, and more than any
/// method.
const ENOUGH: usize = 16;

/// The protocol of the plaintext, and its reader.
#[derive(Clone, Debug, Default)]
enum Reader {
    #[default]
    Unknown,
    Http1(Box<Http1>),
    Http2(Box<Http2>),
    Http3(Box<Http3>),
    Other,
}

/// What both directions say.
#[derive(Clone, Debug, Default)]
struct Messages {
    reader: Reader,
    /// The first bytes of each side, until they tell what they are.
    starts: [Vec<u8>; 2],
    requests: Requests,
    heads: [Vec<(u64, String)>; 2],
    hosts: [Option<String>; 2],
    products: [Option<Product>; 2],
    /// A request has begun in the segment that is read.
    begins_request: bool,
}

impl Messages {
    fn is_within(&self, side: Side) -> bool {
        match &self.reader {
            Reader::Http1(http) => http.is_within(side as usize),
            Reader::Http2(http) => http.is_within(side as usize),
            Reader::Http3(http) => http.is_within(side),
            Reader::Unknown | Reader::Other => false,
        }
    }

    /// The requests and how many there were, and the waits for windows.
    fn finish(mut self) -> ((Vec<RequestFacts>, u64), [Vec<WindowWait>; 2]) {
        let windows = match self.reader {
            Reader::Http1(mut http) => {
                http.end(&mut self.requests);
                Default::default()
            }
            Reader::Http2(http) => http.finish(),
            Reader::Http3(_) | Reader::Unknown | Reader::Other => Default::default(),
        };
        (self.requests.finish(), windows)
    }

    /// What the segment that was read shows of its part in the conversation.
    fn kind_of_segment(&mut self, from: Side) -> Option<PayloadKind> {
        match &mut self.reader {
            _ if self.begins_request => Some(PayloadKind::Request),
            Reader::Http2(http) => http.take_is_credit(from as usize).then_some(PayloadKind::Credit),
            Reader::Http1(_) | Reader::Http3(_) | Reader::Unknown | Reader::Other => None,
        }
    }

    fn read(&mut self, from: Side, data: &[u8], at: Placed) {
        let Self { reader, requests, heads, hosts, products, begins_request, .. } = self;
        let mut give = |head: FoundHead| {
            let FoundHead { seq, label, host, product, is_request } = head;
            *begins_request |= is_request;
            products[from] = products[from].or(product);
            hosts[from] = hosts[from].take().or(host);
            if heads[from].len() < LIST_MAX {
                heads[from].push((seq, label));
            }
        };
        match reader {
            Reader::Http1(http) => http.read(data, at, requests, &mut give),
            Reader::Http2(http) => http.read(data, at, requests, &mut give),
            Reader::Http3(_) | Reader::Unknown | Reader::Other => {}
        }
    }

    fn read_stream(&mut self, piece: &StreamBytes) {
        let Self { reader, requests, heads, hosts, products, begins_request, .. } = self;
        let Reader::Http3(http) = reader else { return };
        let client = http.client();
        let mut give = |head: FoundHead| {
            let FoundHead { seq, label, host, product, is_request } = head;
            let side = if is_request { client } else { !client };
            *begins_request |= is_request;
            products[side] = products[side].or(product);
            hosts[side] = hosts[side].take().or(host);
            if heads[side].len() < LIST_MAX {
                heads[side].push((seq, label));
            }
        };
        http.read(piece, &mut Found { requests, give: &mut give });
    }
}

impl PlaintextSink for Messages {
    fn opened(&mut self, record: &Opened<'_>) {
        let Opened { from, start, end, first, last, data } = *record;
        let Some(data) = data.filter(|data| !data.is_empty()) else { return };
        let at = Placed { from: from as usize, seq: start, end, first, last };
        if let Reader::Unknown = self.reader {
            let held = &mut self.starts[from];
            held.extend_from_slice(data.get(..ENOUGH).unwrap_or(data));
            let Some(reader) = reader_of(held, from) else { return };
            self.reader = reader;
            let held = std::mem::take(&mut self.starts[from]);
            let before = held.len().saturating_sub(data.len().min(ENOUGH));
            let held = held.get(..before).unwrap_or_default().to_vec();
            if !held.is_empty() {
                self.read(from, &held, at);
            }
        } else if !self.starts[from].is_empty() {
            let held = std::mem::take(&mut self.starts[from]);
            self.read(from, &held, at);
        }
        self.read(from, data, at);
    }
}

/// Reads plaintext as if it had been decrypted, a record a piece: for tests of this stage. Returns
/// the requests, the number of heads of each side, and how many waits for windows there were.
#[cfg(feature = "unstable")]
pub fn read_plaintext<'a>(pieces: impl Iterator<Item = (Side, &'a [u8])>) -> (Vec<RequestFacts>, [usize; 2], usize) {
    let mut messages = Messages::default();
    for (number, (from, data)) in pieces.enumerate() {
        let (start, time) = (number as u64, crate::units::Time(number as i64));
        messages.opened(&Opened { from, start, end: start + 1, first: time, last: time, data: Some(data) });
        messages.kind_of_segment(from);
    }
    let heads = messages.heads.each_ref().map(Vec::len);
    let ((requests, _), windows) = messages.finish();
    (requests, heads, windows.iter().map(Vec::len).sum())
}

/// What begins with these bytes of a side; `None` if more are needed.
fn reader_of(start: &[u8], from: Side) -> Option<Reader> {
    if let Some(is_client) = http2::opens(start) {
        let client = if is_client { from } else { !from };
        return Some(Reader::Http2(Box::new(Http2::new(client as usize))));
    }
    match http::begins(start) {
        Some(true) => Some(Reader::Http1(Box::default())),
        Some(false) if start.len() < ENOUGH => None,
        _ => Some(Reader::Other),
    }
}
