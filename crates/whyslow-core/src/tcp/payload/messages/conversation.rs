//! [`Conversation`]: the messages of both sides, parsed by the parser for their first bytes.

use super::facts::MessageFacts;
use super::http3::{self, Http3};
use super::opening::{self, Opened, Opening};
use super::reader::Reader;
use super::reading::{Found, FoundHead, MessageState, Placed};
use crate::tcp::payload::content::Content;
use crate::tcp::payload::kind::PayloadKind;
use crate::tls::{Opened as Record, PlaintextSink};
use whyslow_analysis::types::{Side, StreamBytes};

/// Plaintext bytes needed to recognise the protocol: an HTTP/2 frame header, and more than any
/// method.
const ENOUGH: usize = 16;

/// The messages of both sides.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp::payload) struct Conversation {
    reader: Reader,
    /// The first bytes of each side, until the protocol is recognised.
    starts: [Vec<u8>; 2],
    found: Found,
}

impl Conversation {
    /// Creates one for a protocol in clear that begins with these bytes, if it is known.
    pub(super) fn in_clear(opening: &Opening<'_>) -> Option<Self> {
        let reader = opening::in_clear(opening);
        (!matches!(reader, Reader::Unknown | Reader::Other)).then(|| Self { reader, ..Self::default() })
    }

    /// Creates one for HTTP/3, whose bytes come from streams. `client`: the side that opened the
    /// connection.
    pub(in crate::tcp::payload) fn http3(client: Side) -> Self {
        Self { reader: Reader::Http3(Box::new(Http3::new(client))), ..Self::default() }
    }

    /// Creates one for an unknown protocol.
    pub(in crate::tcp::payload) fn unknown() -> Self {
        Self { reader: Reader::Other, ..Self::default() }
    }

    /// Takes bytes of a QUIC stream.
    pub(in crate::tcp::payload) fn read_stream(&mut self, piece: &StreamBytes) {
        let Self { reader, found, .. } = self;
        let Reader::Http3(http) = reader else { return };
        let (client, heads) = (http.client(), &mut found.heads);
        let mut give = |head: FoundHead| {
            let side = if head.is_request { client } else { !client };
            heads.add(side as usize, head);
        };
        http.read_stream(piece, &mut http3::Found { requests: &mut found.requests, give: &mut give });
    }

    /// Begins a new segment.
    pub(in crate::tcp::payload) fn begin_segment(&mut self) {
        self.found.heads.begins_request = false;
    }

    /// Whether a side is in the middle of a message.
    pub(in crate::tcp::payload) fn is_within(&self, side: Side) -> bool {
        self.state(side as usize) == MessageState::Incomplete
    }

    pub(super) fn state(&self, side: usize) -> MessageState {
        self.reader.known().map_or(MessageState::Unknown, |reader| reader.state(side))
    }

    pub(super) fn unread(&self, side: usize) -> u64 {
        self.reader.known().map_or(0, |reader| reader.unread(side))
    }

    /// The role of the current segment in the conversation.
    pub(in crate::tcp::payload) fn kind_of_segment(&mut self, from: Side) -> Option<PayloadKind> {
        let kind = self.reader.messages().and_then(|reader| reader.take_kind(from as usize));
        if self.found.heads.begins_request { Some(PayloadKind::Request) } else { kind }
    }

    pub(super) fn read(&mut self, bytes: &[u8], at: Placed) {
        let Self { reader, found, .. } = self;
        if let Some(messages) = reader.messages() {
            messages.read(bytes, at, found);
        }
        if let Reader::Http1(http) = reader
            && let Some((http2, rest)) = http.take_upgrade(found)
        {
            *reader = Reader::Http2(Box::new(http2));
            if let Some(messages) = reader.messages() {
                messages.read(&rest, at, found);
            }
        }
    }

    pub(super) fn pass(&mut self, bytes: u64, at: Placed) {
        let Self { reader, found, .. } = self;
        if let Some(messages) = reader.messages() {
            messages.pass(bytes, at, found);
        }
    }

    /// Drops heads before these positions.
    pub(in crate::tcp::payload) fn forget(&mut self, before: [u64; 2]) {
        for (heads, before) in self.found.heads.heads.iter_mut().zip(before) {
            heads.retain(|(seq, _)| *seq >= before);
        }
    }

    /// Adds the results to the other facts about the payload.
    pub(in crate::tcp::payload) fn note(&mut self, content: &mut [Content; 2]) {
        for side in Side::BOTH {
            let (content, found) = (&mut content[side], &mut self.found);
            content.product = content.product.or(found.heads.products[side]);
            content.server_name = content.server_name.take().or(found.heads.hosts[side].take());
            content.heads.append(&mut found.heads.heads[side]);
            content.heads.sort_by_key(|(seq, _)| *seq);
            content.heads.dedup();
            content.announced.append(&mut found.requests.take_announced(side as usize));
            content.announced.sort_unstable();
        }
    }

    /// The side that sends the requests, if that is known.
    pub(super) fn client(&self) -> Option<Side> {
        let client = self.reader.known()?.client()?;
        Side::BOTH.into_iter().find(|side| *side as usize == client)
    }

    /// The facts; `None` if the protocol is unknown.
    pub(in crate::tcp::payload) fn finish(mut self) -> Option<MessageFacts> {
        let protocol = self.reader.protocol()?;
        let states = [0, 1].map(|side| self.state(side));
        let windows = self.reader.messages().and_then(|reader| reader.finish(&mut self.found));
        let Found { requests, heartbeats, .. } = self.found;
        let (requests, requests_total) = requests.finish();
        let is_whole = !states.contains(&MessageState::Unknown);
        Some(MessageFacts { protocol, requests, requests_total, windows, heartbeats, is_whole })
    }

    /// Takes the plaintext of a record.
    fn open(&mut self, record: &Record<'_>) {
        let Record { from, start, end, first, last, data } = *record;
        let Some(data) = data.filter(|data| !data.is_empty()) else { return };
        let at = Placed { from: from as usize, seq: start, end, first, last };
        if let Reader::Unknown = self.reader {
            let held = &mut self.starts[from];
            let before = held.len();
            held.extend_from_slice(data.get(..ENOUGH).unwrap_or(data));
            let bytes = if before == 0 { data } else { held.as_slice() };
            let opening = Opening { from: from as usize, bytes, len: bytes.len() as u64, ports: [0; 2] };
            match opening::in_plaintext(&opening, ENOUGH) {
                Opened::Reader(reader) => self.reader = reader,
                Opened::More => return,
                // The other side may still show the protocol.
                Opened::No if self.starts.iter().any(|held| held.len() < ENOUGH) => return,
                Opened::No => self.reader = Reader::Other,
            }
            let held = std::mem::take(&mut self.starts[from]);
            if let Some(held) = held.get(..before).filter(|held| !held.is_empty()) {
                self.read(held, at);
            }
        } else if !self.starts[from].is_empty() {
            let held = std::mem::take(&mut self.starts[from]);
            self.read(&held, at);
        }
        self.read(data, at);
    }
}

impl PlaintextSink for Conversation {
    fn opened(&mut self, record: &Record<'_>) {
        self.open(record);
    }
}

/// For tests of this stage: parses plaintext as if it had been decrypted, one record per piece.
/// Returns the requests, the number of heads of each side, and the number of waits for windows.
#[cfg(feature = "unstable")]
pub fn read_plaintext<'a>(
    pieces: impl Iterator<Item = (Side, &'a [u8])>,
) -> (Vec<super::requests::RequestFacts>, [usize; 2], usize) {
    let mut messages = Conversation::default();
    for (number, (from, data)) in pieces.enumerate() {
        let (start, time) = (number as u64, whyslow_units::Time(number as i64));
        messages.open(&Record { from, start, end: start + 1, first: time, last: time, data: Some(data) });
        messages.kind_of_segment(from);
    }
    let heads = messages.found.heads.heads.each_ref().map(Vec::len);
    let Some(facts) = messages.finish() else { return (Vec::new(), heads, 0) };
    (facts.requests, heads, facts.windows.iter().flatten().map(Vec::len).sum())
}

/// The next input of a side for [`read_clear`].
#[cfg(feature = "unstable")]
#[derive(Clone, Copy, Debug)]
pub enum ClearPiece<'a> {
    /// Captured bytes.
    Bytes(&'a [u8]),
    /// Number of uncaptured bytes.
    Missing(u64),
}

/// For tests of this stage: parses unencrypted messages to these ports, one segment per piece.
/// Returns the requests, and whether everything was parsed; `None` if the protocol is unknown.
#[cfg(feature = "unstable")]
pub fn read_clear<'a>(
    ports: [u16; 2],
    pieces: impl Iterator<Item = (Side, ClearPiece<'a>)>,
) -> Option<(Vec<super::requests::RequestFacts>, bool)> {
    let (mut messages, mut ends) = (None::<Conversation>, [1u64; 2]);
    for (number, (side, piece)) in pieces.enumerate() {
        let (from, time) = (side as usize, whyslow_units::Time(number as i64 * 1_000_000));
        let len = match piece {
            ClearPiece::Bytes(bytes) => bytes.len() as u64,
            ClearPiece::Missing(missing) => missing,
        };
        let seq = ends[from];
        ends[from] += len;
        let at = Placed { from, seq, end: ends[from], first: time, last: time };
        if let (None, ClearPiece::Bytes(bytes)) = (&messages, piece) {
            messages = Conversation::in_clear(&Opening { from, bytes, len, ports });
        }
        let Some(messages) = &mut messages else { continue };
        messages.begin_segment();
        match piece {
            ClearPiece::Bytes(bytes) => messages.read(bytes, at),
            ClearPiece::Missing(missing) => messages.pass(missing, at),
        }
        messages.kind_of_segment(side);
    }
    messages?.finish().map(|facts| (facts.requests, facts.is_whole))
}

/// For tests of this stage: parses HTTP/3 streams from the packets of a connection. Returns the
/// requests.
#[cfg(feature = "unstable")]
pub fn read_http3(pieces: &[StreamBytes]) -> Vec<super::requests::RequestFacts> {
    let mut messages = Conversation::http3(Side::A);
    for piece in pieces {
        messages.begin_segment();
        messages.read_stream(piece);
        messages.kind_of_segment(Side::A);
    }
    messages.finish().map(|facts| facts.requests).unwrap_or_default()
}
