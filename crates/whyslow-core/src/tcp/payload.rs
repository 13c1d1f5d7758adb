//! Parses the payload of one direction of a connection: TLS records, HTTP/1 heads, the server name.
//!
//! Supports the framing of TLS (RFC 8446 section 5.1, RFC 5246 section 6.2.1), the two hellos, and
//! the heads of HTTP/1 (RFC 9112); it does not decrypt, and does not read bodies. The input is the
//! captured bytes of each segment, which may be truncated by a snapshot length, late, duplicated or
//! missing.
//!
//! The central state is the position of the next expected record header or message head. A record's
//! length gives the position of the next header, so bodies are skipped by arithmetic whether or not
//! they were captured. Any segment that covers the expected position continues the chain, in order
//! or late. If that position was passed without being captured (in a hole, or beyond the snapshot
//! length), the chain restarts at the next segment that begins with a plausible header.
//!
//! It never panics, keeps at most `GATHER_MAX` bytes (only while a hello or a head is incomplete)
//! and at most `LIST_MAX` entries in a list, and reports only names that were completely captured.
//! [`Content`] does not depend on the segmentation of a stream if the stream's start was captured
//! and its messages start at segment boundaries. HTTP/2 and later, TLS inside TLS, and messages
//! that start inside a segment after a body of unknown length (chunked) are ignored.

mod content;
mod decrypted;
mod first_byte;
mod gather;
mod greeting;
mod heads;
mod http;
mod kind;
mod messages;
mod openings;
mod protocol;
pub mod readable;
mod readers;
mod records;
pub(super) mod streams;
mod tls;

pub use content::Content;
pub(super) use decrypted::Decrypter;
use gather::{Gather, GatherKind, NOWHERE, Piece};
use greeting::Greeting;
use heads::{Heads, UnpackedHeads};
pub use kind::PayloadKind;
pub(super) use kind::{SMALL, is_text};
#[cfg(any(test, feature = "unstable"))]
pub use messages::WindowWait;
#[cfg(feature = "unstable")]
pub use messages::{ClearPiece, read_clear, read_http3, read_plaintext};
pub use messages::{MessageFacts, RequestFacts, UsedWindow};
pub use protocol::Protocol;
pub(super) use readers::{PayloadReaders, ReaderPlace};
use whyslow_analysis::types::Product;

/// Parses one direction of a connection. It is small while it has little state.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Position of the first byte; [`NOWHERE`] before it.
    origin: u64,
    /// Position after the last byte so far.
    next: u64,
    /// Position of the next record header or head; less than `next` if it was passed without being
    /// captured.
    awaited: u64,
    /// The first bytes of a record header that is split over segments.
    header: [u8; tls::HEADER_LEN],
    /// Number of bytes in `header`.
    have: u8,
    /// Whether there was no record since the direction changed.
    fresh: bool,
    /// Whether the record chain was broken at least once.
    broken: bool,
    /// Whether a hello was parsed, or skipped.
    greeted: bool,
    /// Whether an HTTP head asks to close the connection.
    wants_close: bool,
    /// Whether a request of unknown length continues until the other side sends.
    in_request: bool,
    /// Whether it began with the HTTP/2 preface.
    is_http2: bool,
    /// The server's records after the TLS 1.3 handshake.
    greeting: Option<Box<Greeting>>,
    protocol: Option<Protocol>,
    product: Option<Product>,
    gather: Option<Box<Gather>>,
    /// HTTP heads and the host; for most connections this is all.
    heads: Heads,
    /// All other results.
    found: Option<Box<Content>>,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            origin: NOWHERE,
            next: 0,
            awaited: 0,
            header: [0; tls::HEADER_LEN],
            have: 0,
            fresh: false,
            broken: false,
            greeted: false,
            wants_close: false,
            in_request: false,
            is_http2: false,
            greeting: None,
            protocol: None,
            product: None,
            gather: None,
            heads: Heads::default(),
            found: None,
        }
    }
}

impl Stream {
    /// Parses the payload of a segment: its first byte has the relative sequence number `start`,
    /// its length on the wire was `len`, and `payload` is the captured part, from the first byte.
    pub fn feed(&mut self, start: u64, len: u64, payload: &[u8]) {
        let end = start.saturating_add(len.max(payload.len() as u64));
        if start < end {
            self.read_piece(start, end, payload);
        }
    }

    /// Number of bytes from [`next`](Self::next) on that may be [skipped](Self::skip), because they
    /// contain nothing to parse. This is not valid if a message [may open](Self::may_open), and a
    /// segment begins like one.
    pub fn skippable(&self) -> u64 {
        let until = match self.protocol {
            _ if self.gather.is_some() || self.origin == NOWHERE => self.next,
            None | Some(Protocol::Http) if self.awaited < self.next => NOWHERE,
            None | Some(Protocol::Http) => self.awaited,
            Some(Protocol::Tls) => self.expected(),
            Some(Protocol::Ssh) => NOWHERE,
        };
        until.saturating_sub(self.next)
    }

    /// Whether records or heads may start at unexpected positions.
    pub fn may_open(&self) -> bool {
        matches!(self.protocol, None | Some(Protocol::Http))
    }

    /// Returns the role of a segment's payload at `start` before it is fed: whether it continues a
    /// record or a body with a known end.
    pub(super) fn is_within(&self, start: u64) -> bool {
        if self.in_request && self.awaited == NOWHERE {
            return start >= self.next;
        }
        let end = match self.protocol {
            Some(Protocol::Tls) => self.expected(),
            Some(Protocol::Http) => self.awaited,
            None | Some(Protocol::Ssh) => NOWHERE,
        };
        end != NOWHERE && start < end && start >= self.next
    }

    /// Returns the role of a message whose first segment has `len` bytes, of which `payload` was
    /// captured, after it was fed.
    pub(super) fn kind_of(&self, payload: &[u8], len: u64) -> PayloadKind {
        kind::kind_of(payload, len, self.protocol)
    }

    /// Skips this number of [skippable](Self::skippable) bytes.
    pub fn skip(&mut self, bytes: u64) {
        self.next = self.next.saturating_add(bytes);
    }

    fn read_piece(&mut self, start: u64, end: u64, payload: &[u8]) {
        if self.protocol.is_none() && start < self.origin {
            // The first bytes, or late bytes before them.
            if self.origin == NOWHERE {
                self.next = start;
            }
            self.origin = start;
            self.awaited = start;
            self.fresh = true;
            self.gather = None;
        }
        let piece = Piece { start, end, bytes: payload };
        match self.protocol {
            None | Some(Protocol::Http) => self.openings(piece),
            Some(Protocol::Tls) => self.records(piece),
            Some(Protocol::Ssh) => {}
        }
        self.next = self.next.max(piece.end);
        // Data that continues in uncaptured bytes is parsed as far as it was captured. (At the end
        // of a record, a hello continues after the next header.)
        let next = self.next;
        if let Some(gather) = self
            .gather
            .take_if(|gather| gather.at < next && !(gather.kind == GatherKind::Hello && gather.at == self.awaited))
        {
            self.parse_gathered(*gather);
        }
    }

    /// The other side sent payload: the next record or head begins a new message. Returns whether
    /// another turn would change nothing until more is fed.
    pub fn on_turn(&mut self) -> bool {
        if self.origin == NOWHERE {
            return true;
        }
        self.fresh = true;
        self.in_request = false;
        // The collected bytes may begin a record, which then is not the first of the next message.
        let had_turn = self.gather.is_none();
        match self.protocol {
            None | Some(Protocol::Http) => {
                if let Some(gather) = self.gather.take() {
                    self.parse_gathered(*gather);
                }
                // A position ahead comes from a Content-Length, and is valid even if the other side
                // sends.
                if self.awaited < self.next || self.awaited == NOWHERE {
                    self.awaited = self.next;
                }
            }
            Some(Protocol::Tls) if self.expected() < self.next => self.resume(self.next),
            Some(Protocol::Tls | Protocol::Ssh) => {}
        }
        had_turn
    }

    /// Whether all data after the handshake may not be a response: then the next data may begin
    /// one.
    pub(super) fn ends_with_greeting(&self) -> bool {
        self.greeting.as_ref().is_some_and(|greeting| greeting.may_end_at(self.next))
    }

    /// Returns the results. Parses the captured bytes of an incomplete hello or head.
    pub fn finish(mut self) -> Content {
        if let Some(gather) = self.gather.take() {
            self.parse_gathered(*gather);
        }
        let found = self.found.map(|found| *found).unwrap_or_default();
        let greeting = self.greeting.and_then(|greeting| greeting.certain());
        let UnpackedHeads { heads, announced, host } = self.heads.unpack();
        let server_name = found.server_name.or(host);
        let (protocol, product) = (self.protocol, self.product);
        let (wants_close, is_http2) = (self.wants_close, self.is_http2);
        Content { protocol, product, wants_close, is_http2, heads, announced, server_name, greeting, ..found }
    }

    /// Drops results before this position, except the name and the first payload's.
    pub fn forget(&mut self, before: u64) {
        self.heads.forget(before);
        if let Some(found) = &mut self.found {
            let mut index = 0;
            found.firsts.retain(|&(start, ..)| {
                index += 1;
                index == 1 || start >= before
            });
        }
    }

    /// The next relative sequence number, to unwrap sequence numbers near it; 0 before the first
    /// payload.
    pub fn next(&self) -> u64 {
        self.next
    }

    fn found(&mut self) -> &mut Content {
        self.found.get_or_insert_default()
    }

    /// Position of the next missing byte of the expected record header.
    fn expected(&self) -> u64 {
        self.awaited.saturating_add(u64::from(self.have))
    }

    /// Restarts the record chain at `at`.
    fn resume(&mut self, at: u64) {
        self.awaited = at;
        self.have = 0;
        self.broken = true;
        if let Some(gather) = self.gather.take() {
            self.parse_gathered(*gather);
        }
    }
}

#[cfg(test)]
mod tests;
