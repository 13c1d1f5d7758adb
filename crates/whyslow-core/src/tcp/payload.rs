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
//! It promises never to panic, to keep at most [`GATHER_MAX`] bytes (while a hello or a head is
//! incomplete, and only then) and at most [`LIST_MAX`] entries in a list, and to name nothing that
//! it has seen only in part. Splitting a stream into segments differently gives the same
//! [`Content`], as long as the stream is seen from its start and its messages start where a segment
//! does. Ignored are HTTP/2 and later, TLS inside TLS, and messages that start inside a segment
//! after a body of untold length (chunked).

mod heads;
mod http;
mod kind;
mod protocol;
pub(super) mod streams;
mod tls;

use heads::Heads;
use http::Parsed;
pub(crate) use kind::PayloadKind;
pub(super) use kind::{SMALL, is_text};
use protocol::Verdict;
pub use protocol::{GATHER_MAX, LIST_MAX, Protocol};

/// In place of an awaited position: nothing is awaited before the next message.
const NOWHERE: u64 = u64::MAX;

/// What the payload of one direction showed. Positions are relative sequence numbers, as they were
/// fed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// What the payload is; none when it was not recognised. HTTP that turns into TLS (a CONNECT
    /// tunnel) is TLS.
    pub protocol: Option<Protocol>,
    /// The name in the ClientHello (RFC 6066 section 3), or else in the first Host header, without
    /// the port: 1 to 255 printable ASCII characters. Only one that was captured to its end.
    pub server_name: Option<String>,
    /// Whether the ServerHello chose TLS 1.3 (RFC 8446 section 4.2.1); none when that was not seen.
    pub tls13: Option<bool>,
    /// End of the last handshake record (content types 20 and 22) seen before the first
    /// application-data record. With TLS 1.3 the encrypted part of the handshake travels as
    /// application data. Where headers went unseen (a hole, a short snapshot length) this and the
    /// next may be others than the true last and first.
    pub handshake_end: Option<u64>,
    /// Start and end of the first application-data record (content type 23) seen.
    pub first_application_data: Option<(u64, u64)>,
    /// Start of the second one; none when a gap in the record chain before it leaves its rank
    /// unknown.
    pub second_application_data: Option<u64>,
    /// The first TLS record after each change of direction: start, end, content type. In order.
    pub firsts: Vec<(u64, u64, u8)>,
    /// HTTP heads: start, and `GET /path` or `200 OK`, in printable ASCII (and `…` where it was
    /// cut). In order.
    pub heads: Vec<(u64, String)>,
    /// TLS records whose header was seen.
    pub records: u64,
    /// The largest of them, in bytes with its header.
    pub largest_record: u32,
}

/// Reads one direction of a connection. Small while there is little to remember.
#[derive(Debug)]
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
    protocol: Option<Protocol>,
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
            protocol: None,
            gather: None,
            heads: Heads::default(),
            found: None,
        }
    }
}

/// Contiguous bytes, kept until they are enough to be read.
#[derive(Debug)]
struct Gather {
    /// Where they start.
    start: u64,
    /// Where they go on.
    at: u64,
    bytes: Vec<u8>,
    kind: GatherKind,
}

/// What is being gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GatherKind {
    /// A TLS handshake message, without the headers of the records that carry it.
    Hello,
    /// The start of something not yet recognised, or an HTTP head; and whether a message must start
    /// here.
    Opening { message: bool },
}

impl Gather {
    fn new(start: u64, what: GatherKind) -> Box<Self> {
        Box::new(Self { start, at: start, bytes: Vec::new(), kind: what })
    }

    /// Takes as much of `bytes` as there is room for.
    fn push(&mut self, bytes: &[u8]) {
        let room = GATHER_MAX.saturating_sub(self.bytes.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(taken);
        self.at = self.at.saturating_add(taken.len() as u64);
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= GATHER_MAX
    }

    /// Whether a message must start here.
    fn message(&self) -> bool {
        self.kind == GatherKind::Opening { message: true }
    }

    /// As if they had come in one segment.
    fn piece(&self) -> Piece<'_> {
        Piece { start: self.start, end: self.at, bytes: &self.bytes }
    }
}

/// The payload of a segment: `bytes` from `start`, and perhaps more, not captured, up to `end`.
#[derive(Clone, Copy)]
struct Piece<'a> {
    start: u64,
    end: u64,
    bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// The captured bytes from position `at` on; none when that one is not among them.
    fn from(&self, at: u64) -> Option<&'a [u8]> {
        // Positions saturate: none may be reached where they no longer move on.
        if at == NOWHERE {
            return None;
        }
        let offset = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(offset..).filter(|rest| !rest.is_empty())
    }
}

/// What came of looking for an opening.
enum OpeningKind {
    /// Not here.
    Nothing,
    /// An HTTP head was read.
    Head,
    /// The bytes go on in the next segment, and that decides.
    More,
    /// A TLS record starts here.
    Tls,
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

    /// What was found. The bytes of a hello or head that never got complete are read as far as they
    /// got.
    pub fn finish(mut self) -> Content {
        if let Some(gather) = self.gather.take() {
            self.settle(*gather);
        }
        let found = self.found.map(|found| *found).unwrap_or_default();
        let (heads, host) = self.heads.unpack();
        Content { protocol: self.protocol, heads, server_name: found.server_name.or(host), ..found }
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

    /// TLS: follows the chain of records through a piece.
    fn records(&mut self, piece: Piece<'_>) {
        if self.expected() < piece.start && piece.start >= self.next && tls::Header::read(piece.bytes).is_some() {
            self.resume(piece.start);
        }
        loop {
            self.gather_hello(piece);
            let Some(bytes) = piece.from(self.expected()) else { return };
            for (to, from) in self.header.iter_mut().skip(usize::from(self.have)).zip(bytes) {
                *to = *from;
                self.have += 1;
            }
            if usize::from(self.have) < tls::HEADER_LEN {
                return;
            }
            self.have = 0;
            let header = tls::Header::read(&self.header);
            if header.is_none_or(|header| header.kind != tls::HANDSHAKE)
                && let Some(gather) = self.gather.take()
            {
                self.settle(*gather);
            }
            // No header: `awaited` stays behind, and so the chain is broken.
            let Some(header) = header else { return };
            self.record(header);
        }
    }

    /// A record starts at the awaited position.
    fn record(&mut self, header: tls::Header) {
        let start = self.awaited;
        let body = start.saturating_add(tls::HEADER_LEN as u64);
        let end = body.saturating_add(u64::from(header.len));
        let fresh = std::mem::take(&mut self.fresh);
        let broken = self.broken;
        let found = self.found();
        found.records += 1;
        found.largest_record = found.largest_record.max(u32::from(header.len) + tls::HEADER_LEN as u32);
        if fresh && found.firsts.len() < LIST_MAX {
            if found.firsts.is_empty() {
                // Of most connections one entry is all.
                found.firsts.reserve_exact(1);
            }
            found.firsts.push((start, end, header.kind));
        }
        match header.kind {
            tls::HANDSHAKE | tls::CHANGE_CIPHER_SPEC if found.first_application_data.is_none() => {
                found.handshake_end = Some(end);
            }
            tls::APPLICATION_DATA if found.first_application_data.is_none() => {
                found.first_application_data = Some((start, end));
            }
            tls::APPLICATION_DATA if found.second_application_data.is_none() && !broken => {
                found.second_application_data = Some(start);
            }
            _ => {}
        }
        self.awaited = end;
        if header.kind == tls::HANDSHAKE {
            match &mut self.gather {
                Some(gather) => gather.at = body,
                None if !self.greeted => self.gather = Some(Gather::new(body, GatherKind::Hello)),
                None => {}
            }
        }
    }

    /// Adds to a hello what the piece holds of the current record's body.
    fn gather_hello(&mut self, piece: Piece<'_>) {
        let Some(gather) = &mut self.gather else { return };
        let left = usize::try_from(self.awaited.saturating_sub(gather.at)).unwrap_or(usize::MAX);
        let Some(bytes) = piece.from(gather.at).filter(|_| left > 0) else { return };
        gather.push(bytes.get(..left).unwrap_or(bytes));
        if (gather.is_full() || tls::is_whole(&gather.bytes))
            && let Some(gather) = self.gather.take()
        {
            self.settle(*gather);
        }
    }

    /// Not TLS so far: looks for openings in a piece, where its bytes are new and where one is
    /// awaited.
    fn openings(&mut self, piece: Piece<'_>) {
        if let Some(mut gather) = self.gather.take() {
            if piece.end <= gather.at {
                self.gather = Some(gather); // retransmitted
                return;
            }
            if let Some(bytes) = piece.from(gather.at) {
                gather.push(bytes);
            }
            if gather.at == piece.end && !gather.is_full() {
                match self.open(gather.start, &gather.bytes, piece.end, gather.message(), true) {
                    OpeningKind::More => self.gather = Some(gather),
                    OpeningKind::Tls => self.records(gather.piece()),
                    OpeningKind::Head | OpeningKind::Nothing => {}
                }
            } else {
                self.settle(*gather);
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

    /// Whether another opening may be looked for.
    fn may_look(&self) -> bool {
        self.gather.is_none() && self.may_open()
    }

    /// Looks for an opening at position `at` of a piece; true when that was a head.
    fn open_in(&mut self, piece: Piece<'_>, at: u64, message: bool) -> bool {
        let Some(bytes) = piece.from(at) else { return false };
        let whole = piece.start.saturating_add(piece.bytes.len() as u64) == piece.end;
        match self.open(at, bytes, piece.end, message, whole && bytes.len() < GATHER_MAX) {
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

    /// Looks at `bytes` from position `at`, in a segment that ends at `end`. A `message` must start
    /// there, if there is one at all; otherwise more proof is asked for. `more` is whether bytes
    /// may still come that settle an open question.
    fn open(&mut self, at: u64, bytes: &[u8], end: u64, message: bool, more: bool) -> OpeningKind {
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
                self.heads.push(at, &head.label, head.host);
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

    /// Reads what was gathered, complete or not, and lets go of it.
    fn settle(&mut self, gather: Gather) {
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
                if let OpeningKind::Tls = self.open(gather.start, &gather.bytes, gather.at, message, false) {
                    self.records(gather.piece());
                }
            }
        }
    }
}

/// Whether the payload of a segment begins with a byte with which anything that is known here can.
#[inline]
pub(super) fn may_open(payload: &[u8]) -> bool {
    payload.first().is_some_and(|&first| OPENINGS[usize::from(first)])
}

/// With which bytes anything that is known here can start, in the middle of a stream: most bytes
/// are none.
static OPENINGS: [bool; 256] = {
    let mut openings = [false; 256];
    let mut first = 0u8;
    while first < u8::MAX {
        openings[first as usize] = tls::may_open(first) || http::may_open(first);
        first += 1;
    }
    openings
};

#[cfg(test)]
mod tests;
