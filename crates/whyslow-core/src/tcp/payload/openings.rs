//! Recognises the first bytes of a protocol: a TLS record, an HTTP head, SSH's greeting.

use super::Stream;
use super::first_byte::may_open;
use super::gather::{Gather, GatherKind, NOWHERE, Piece};
use super::http::{self, Parsed};
use super::protocol::{GATHER_MAX, Protocol, Verdict};
use super::tls;

/// The first bytes of an HTTP/2 client in the clear (RFC 9113 section 3.4).
pub(super) const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n";

/// Result of looking for an opening.
enum OpeningKind {
    /// No opening at this position.
    Nothing,
    /// An HTTP head.
    Head,
    /// The next segment's bytes are needed.
    More,
    /// A TLS record.
    Tls,
}

/// A position where an opening is possible.
#[derive(Clone, Copy)]
struct Opening<'a> {
    /// Its position in the stream.
    at: u64,
    /// The captured bytes from there.
    bytes: &'a [u8],
    /// End of the segment.
    end: u64,
    /// Whether only the start of a message is possible here; otherwise more evidence is required.
    message: bool,
    /// Whether later bytes may still decide.
    more: bool,
}

impl<'a> Opening<'a> {
    /// The collected bytes, if no more follow.
    fn of(gather: &'a Gather) -> Self {
        Self { at: gather.start, bytes: &gather.bytes, end: gather.at, message: gather.message(), more: false }
    }
}

impl Stream {
    /// For a stream that is not TLS so far: looks for openings in the new bytes of a piece where
    /// one is expected.
    pub(super) fn openings(&mut self, piece: Piece<'_>) {
        if let Some(mut gather) = self.gather.take() {
            if piece.end <= gather.at {
                self.gather = Some(gather); // retransmitted
                return;
            }
            if let Some(bytes) = piece.from(gather.at) {
                gather.push(bytes);
            }
            if gather.at == piece.end && !gather.is_full() {
                let opening = Opening { message: gather.message(), more: true, end: piece.end, ..Opening::of(&gather) };
                match self.open(opening) {
                    OpeningKind::More => self.gather = Some(gather),
                    OpeningKind::Tls => self.records(gather.piece()),
                    OpeningKind::Head | OpeningKind::Nothing => {}
                }
            } else {
                self.parse_gathered(*gather);
            }
            if self.protocol == Some(Protocol::Tls) {
                self.records(piece);
            }
        }
        if may_open(piece.bytes) && self.may_look() && piece.start >= self.next && piece.start != self.awaited {
            self.open_in(piece, piece.start, false);
        }
        while (piece.start..piece.end).contains(&self.awaited)
            && self.may_look()
            && self.open_in(piece, self.awaited, true)
        {}
    }

    /// Whether to look for another opening.
    fn may_look(&self) -> bool {
        self.gather.is_none() && self.may_open()
    }

    /// Looks for an opening at position `at` of a piece; returns true if it was a head.
    fn open_in(&mut self, piece: Piece<'_>, at: u64, message: bool) -> bool {
        let Some(bytes) = piece.from(at) else { return false };
        let whole = piece.start.saturating_add(piece.bytes.len() as u64) == piece.end;
        let more = whole && bytes.len() < GATHER_MAX;
        match self.open(Opening { at, bytes, end: piece.end, message, more }) {
            OpeningKind::Head => return true,
            OpeningKind::More => {
                let mut gather = Gather::new(at, GatherKind::Opening { message });
                gather.push(bytes);
                self.gather = Some(gather);
            }
            OpeningKind::Tls => self.records(piece),
            OpeningKind::Nothing => {}
        }
        false
    }

    /// Examines the bytes at a position.
    fn open(&mut self, opening: Opening<'_>) -> OpeningKind {
        let Opening { at, bytes, end, message, more } = opening;
        let first = message && self.protocol.is_none();
        match tls::opens(bytes, end.saturating_sub(at), first, more) {
            Verdict::Yes => {
                self.protocol = Some(Protocol::Tls);
                self.awaited = at;
                self.have = 0;
                return OpeningKind::Tls;
            }
            Verdict::More => return OpeningKind::More,
            Verdict::No => {}
        }
        self.is_http2 |= first && bytes.starts_with(HTTP2);
        if first && bytes.starts_with(b"SSH-") {
            self.protocol = Some(Protocol::Ssh);
            return OpeningKind::Nothing;
        }
        if first && more && b"SSH-".starts_with(bytes) {
            return OpeningKind::More;
        }
        match http::parse(bytes, message, more) {
            Parsed::Head(head) => {
                self.protocol = Some(Protocol::Http);
                self.awaited = head.next.map_or(NOWHERE, |next| at.saturating_add(next));
                self.product = self.product.or(head.product);
                self.heads.push(at, head.announced, &head.label, head.host);
                self.wants_close |= head.wants_close;
                self.in_request = !head.label.first().is_some_and(u8::is_ascii_digit);
                OpeningKind::Head
            }
            Parsed::More => OpeningKind::More,
            Parsed::No => {
                if message {
                    self.awaited = NOWHERE;
                }
                OpeningKind::Nothing
            }
        }
    }

    /// Parses the collected bytes, complete or not, and drops them.
    pub(super) fn parse_gathered(&mut self, gather: Gather) {
        match gather.kind {
            GatherKind::Hello => {
                self.greeted = true;
                match tls::hello(&gather.bytes) {
                    Some(tls::Hello::Client { server_name: Some(name) }) => self.found().server_name = Some(name),
                    Some(tls::Hello::Server { tls13: Some(tls13) }) => self.found().tls13 = Some(tls13),
                    _ => {}
                }
            }
            GatherKind::Opening { message } => {
                let opening = Opening { message, ..Opening::of(&gather) };
                if let OpeningKind::Tls = self.open(opening) {
                    self.records(gather.piece());
                }
            }
        }
    }
}
