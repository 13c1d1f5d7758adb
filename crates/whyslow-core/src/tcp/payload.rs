//! What the payload of one direction of a connection says: TLS records, HTTP/1 heads, the server's
//! name.
//!
//! Knows the framing of TLS (RFC 8446 section 5.1, RFC 5246 section 6.2.1), the two hellos, and the
//! heads of HTTP/1 (RFC 9112); decrypts nothing and reads no body. It is fed the captured bytes of
//! each segment, which may be cut by a snapshot length, and may come late, twice or never.
//!
//! One position is at the heart of it: where the next record header or message head is awaited. A
//! record tells where the next one starts, so body bytes are skipped by arithmetic whether or not
//! they were captured, and any segment that covers the awaited position is welcome, in order or
//! late. Once that position has gone by unseen (in a hole, or behind the snapshot length) the next
//! segment that starts with a plausible header is where the chain begins again.
//!
//! It promises never to panic, to keep at most `GATHER_MAX` bytes (while a hello or a head is
//! incomplete, and only then) and at most `LIST_MAX` entries in a list, and to name nothing that
//! it has seen only in part. Splitting a stream into segments differently gives the same
//! [`Content`], as long as the stream is seen from its start and its messages start where a segment
//! does. Ignored are HTTP/2 and later, TLS inside TLS, and messages that start inside a segment
//! after a body of untold length (chunked).

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
pub(crate) mod readable;
mod readers;
mod records;
pub(super) mod streams;
mod tls;

use crate::types::Product;
pub use content::Content;
pub(super) use decrypted::Decrypter;
use gather::{Gather, GatherKind, NOWHERE, Piece};
use greeting::Greeting;
use heads::{Heads, UnpackedHeads};
pub(crate) use kind::PayloadKind;
pub(super) use kind::{SMALL, is_text};
#[cfg(any(test, feature = "unstable"))]
pub use messages::WindowWait;
#[cfg(feature = "unstable")]
pub use messages::read_plaintext;
pub use messages::{MessageFacts, RequestFacts, UsedWindow};
pub use protocol::Protocol;
pub(super) use readers::{PayloadReaders, ReaderPlace};

/// Reads one direction of a connection. Small while there is little to remember.
#[derive(Clone, Debug)]
pub struct Stream {
    /// First byte ever fed; [`NOWHERE`] before.
    origin: u64,
    /// Behind the last byte sent so far.
    next: u64,
    /// Where the next record header or head starts; behind `next` when it went by unseen.
    awaited: u64,
    /// The first bytes of a record header that is spread over segments.
    header: [u8; tls::HEADER_LEN],
    /// How many bytes `header` holds.
    have: u8,
    /// No record since the direction changed.
    fresh: bool,
    /// The record chain was broken at least once.
    broken: bool,
    /// A hello was read, or given up.
    greeted: bool,
    /// A head of HTTP wants the connection closed.
    wants_close: bool,
    /// A request whose length is not known goes on until the other side speaks.
    in_request: bool,
    /// It began with the preface of HTTP/2.
    is_http2: bool,
    /// What came behind the handshake of TLS 1.3, on the side of the server.
    greeting: Option<Box<Greeting>>,
    protocol: Option<Protocol>,
    product: Option<Product>,
    gather: Option<Box<Gather>>,
    /// HTTP heads, and the name in them: of most connections that is all.
    heads: Heads,
    /// All else.
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
    /// The payload of a segment: its first byte has relative sequence number `start`, it was `len`
    /// bytes long on the wire, and `payload` is what was captured of it, from the first byte.
    pub fn feed(&mut self, start: u64, len: u64, payload: &[u8]) {
        let end = start.saturating_add(len.max(payload.len() as u64));
        if start < end {
            self.read_piece(start, end, payload);
        }
    }

    /// So many bytes from [`next`](Self::next) on may [pass](Self::skip) without being fed, for
    /// there is nothing to be read in them: unless [something may open](Self::may_open), and a
    /// segment among them begins as if it did.
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

    /// Whether records or heads may open where none is awaited.
    pub fn may_open(&self) -> bool {
        matches!(self.protocol, None | Some(Protocol::Http))
    }

    /// What the payload of a segment shows that begins at `start`, before it is fed: whether it
    /// goes on within a record or a body whose end is known.
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

    /// What a message is whose first segment carries `len` bytes, `payload` of them captured, after
    /// it was fed.
    pub(super) fn kind_of(&self, payload: &[u8], len: u64) -> PayloadKind {
        kind::kind_of(payload, len, self.protocol)
    }

    /// So many of the [quiet](Self::skippable) bytes have passed.
    pub fn skip(&mut self, bytes: u64) {
        self.next = self.next.saturating_add(bytes);
    }

    fn read_piece(&mut self, start: u64, end: u64, payload: &[u8]) {
        if self.protocol.is_none() && start < self.origin {
            // The first bytes, or bytes even before them: they were late.
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
        // What goes on in bytes that were not captured is read as far as it got. (At the end of a
        // record, a hello goes on behind the next header.)
        let next = self.next;
        if let Some(gather) = self
            .gather
            .take_if(|gather| gather.at < next && !(gather.kind == GatherKind::Hello && gather.at == self.awaited))
        {
            self.settle(*gather);
        }
    }

    /// The other side sent payload: the next record or head is the first of a new message. Says
    /// whether another turn would change nothing until more is fed.
    pub fn on_turn(&mut self) -> bool {
        if self.origin == NOWHERE {
            return true;
        }
        self.fresh = true;
        self.in_request = false;
        // What was gathered may be the beginning of a record, which is not the first of the next
        // message.
        let had_turn = self.gather.is_none();
        match self.protocol {
            None | Some(Protocol::Http) => {
                if let Some(gather) = self.gather.take() {
                    self.settle(*gather);
                }
                // A position still to come was told by a Content-Length, and holds however the
                // other side speaks.
                if self.awaited < self.next || self.awaited == NOWHERE {
                    self.awaited = self.next;
                }
            }
            Some(Protocol::Tls) if self.expected() < self.next => self.resume(self.next),
            Some(Protocol::Tls | Protocol::Ssh) => {}
        }
        had_turn
    }

    /// Whether all that was sent behind the handshake may be no answer: what comes next may begin
    /// one.
    pub(super) fn ends_with_greeting(&self) -> bool {
        self.greeting.as_ref().is_some_and(|greeting| greeting.may_end_at(self.next))
    }

    /// What was found. The bytes of a hello or head that never got complete are read as far as they
    /// got.
    pub fn finish(mut self) -> Content {
        if let Some(gather) = self.gather.take() {
            self.settle(*gather);
        }
        let found = self.found.map(|found| *found).unwrap_or_default();
        let greeting = self.greeting.and_then(|greeting| greeting.certain());
        let UnpackedHeads { heads, announced, host } = self.heads.unpack();
        let server_name = found.server_name.or(host);
        let (protocol, product) = (self.protocol, self.product);
        let (wants_close, is_http2) = (self.wants_close, self.is_http2);
        Content { protocol, product, wants_close, is_http2, heads, announced, server_name, greeting, ..found }
    }

    /// Gives up what was found before this position, but for the name, and what it begins with.
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

    /// The relative sequence number expected next, to unwrap sequence numbers near it; 0 before the
    /// first payload.
    pub fn next(&self) -> u64 {
        self.next
    }

    fn found(&mut self) -> &mut Content {
        self.found.get_or_insert_default()
    }

    /// The next byte of the awaited record header.
    fn expected(&self) -> u64 {
        self.awaited.saturating_add(u64::from(self.have))
    }

    /// Begins the record chain again at `at`.
    fn resume(&mut self, at: u64) {
        self.awaited = at;
        self.have = 0;
        self.broken = true;
        if let Some(gather) = self.gather.take() {
            self.settle(*gather);
        }
    }
}

#[cfg(test)]
mod tests;
