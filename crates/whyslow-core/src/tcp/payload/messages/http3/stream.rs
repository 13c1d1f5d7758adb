//! [`Half`]: reassembles one direction of an HTTP/3 stream and splits it into frames (RFC 9114
//! section 7).

use std::collections::{BTreeMap, VecDeque};

/// Frame types.
const DATA: u64 = 0;
const HEADERS: u64 = 1;
/// Type of the QPACK encoder stream (RFC 9204 section 4.2).
const ENCODER: u64 = 2;
/// Longest header block that is decoded, as in HTTP/2.
const MAX_BLOCK: usize = 64 << 10;
/// Maximum number of pieces of a stream that wait for earlier ones.
const MAX_PIECES: usize = 256;

/// A header block.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    pub(super) block: Vec<u8>,
    /// Whether it is the first one.
    pub(super) is_first: bool,
}

/// The next element.
#[derive(Debug)]
pub(super) enum Event {
    Headers(Headers),
    /// Bytes of a body.
    Body(u64),
    Other,
}

#[derive(Clone, Debug)]
enum State {
    /// In the header of a frame: its bytes so far.
    Frame(Vec<u8>),
    /// Number of remaining bytes of the body in this frame.
    Data(u64),
    /// In a header block: its bytes so far, and the number of missing ones.
    Block(Vec<u8>, u64),
    Skip(u64),
    /// In the type of a unidirectional stream.
    Kind(Vec<u8>),
    /// In the QPACK encoder stream.
    Encoder,
    /// Parsing has stopped; bytes are only counted.
    Lost,
}

/// One direction of a stream.
#[derive(Clone, Debug)]
pub(super) struct Half {
    state: State,
    /// Offset after the last byte in order.
    next: u64,
    /// Pieces after a hole.
    later: BTreeMap<u64, Vec<u8>>,
    held: usize,
    /// Pieces in order, not parsed yet.
    ready: VecDeque<Vec<u8>>,
    /// Total length, once it is known.
    size: Option<u64>,
    headers: u32,
    /// Bytes that passed after parsing had stopped.
    passed: u64,
}

impl Default for Half {
    fn default() -> Self {
        Self {
            state: State::Frame(Vec::new()),
            next: 0,
            later: BTreeMap::new(),
            held: 0,
            ready: VecDeque::new(),
            size: None,
            headers: 0,
            passed: 0,
        }
    }
}

impl Half {
    /// Creates one for a unidirectional stream.
    pub(super) fn one_way() -> Self {
        Self { state: State::Kind(Vec::new()), ..Self::default() }
    }

    /// Adds a piece, in any order; `room`: number of bytes that may be buffered. Returns whether
    /// any of it is new.
    pub(super) fn push(&mut self, offset: u64, bytes: &[u8], fin: bool, room: usize) -> bool {
        let end = offset.saturating_add(bytes.len() as u64);
        if fin {
            self.size = Some(end);
        }
        if offset > self.next {
            if self.later.contains_key(&offset) {
                return false;
            }
            if bytes.len() > room || self.later.len() >= MAX_PIECES {
                self.lose(end);
                return true;
            }
            self.held += bytes.len();
            self.later.insert(offset, bytes.to_vec());
            return true;
        }
        let is_new = end > self.next || fin;
        self.append(offset, bytes);
        while let Some((&offset, _)) = self.later.first_key_value().filter(|(offset, _)| **offset <= self.next())
            && let Some(bytes) = self.later.remove(&offset)
        {
            self.held -= bytes.len();
            self.append(offset, &bytes);
        }
        is_new
    }

    fn next(&self) -> u64 {
        self.next
    }

    fn append(&mut self, offset: u64, bytes: &[u8]) {
        let known = usize::try_from(self.next - offset).unwrap_or(usize::MAX);
        let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) else { return };
        self.next += new.len() as u64;
        self.ready.push_back(new.to_vec());
    }

    /// Too many bytes wait for a hole: bytes after it are only counted.
    fn lose(&mut self, end: u64) {
        self.state = State::Lost;
        self.passed += end.saturating_sub(self.next);
        self.next = self.next.max(end);
        self.later.clear();
        self.held = 0;
        self.ready.clear();
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    /// Number of buffered bytes.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    pub(super) fn has_headers(&self) -> bool {
        self.headers > 0
    }

    /// Whether all bytes have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.size.is_some_and(|size| self.next >= size)
    }

    /// Takes the new bytes of the QPACK encoder stream, if it is that stream.
    pub(super) fn take_encoder(&mut self) -> Vec<u8> {
        let mut bytes: Vec<u8> = std::mem::take(&mut self.ready).into_iter().flatten().collect();
        if let State::Kind(start) = &mut self.state {
            start.append(&mut bytes);
            let Some((kind, len)) = varint(start) else { return Vec::new() };
            let rest = start.split_off(len);
            self.state = if kind == ENCODER { State::Encoder } else { State::Skip(u64::MAX) };
            bytes = rest;
        }
        if matches!(self.state, State::Encoder) { bytes } else { Vec::new() }
    }

    /// The next event in the bytes in order.
    pub(super) fn next_event(&mut self) -> Option<Event> {
        let passed = std::mem::take(&mut self.passed);
        if passed > 0 {
            return Some(Event::Body(passed));
        }
        let mut piece = self.ready.pop_front()?;
        let event = self.advance(&mut piece);
        if !piece.is_empty() {
            self.ready.push_front(piece);
        }
        Some(event)
    }

    /// Parses the start of `piece`, and removes the parsed bytes.
    fn advance(&mut self, piece: &mut Vec<u8>) -> Event {
        match &mut self.state {
            State::Frame(header) => {
                // One byte at a time: a header has two numbers of at most eight bytes.
                while !piece.is_empty() {
                    let taken = piece.len().min(16 - header.len().min(15));
                    header.extend(piece.drain(..taken));
                    if let Some((kind, len, rest)) = frame_header(header) {
                        let behind = header.split_off(rest);
                        piece.splice(..0, behind);
                        self.begin(kind, len);
                        break;
                    }
                }
                Event::Other
            }
            State::Data(left) => {
                let taken = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                let is_over = *left == 0;
                piece.drain(..taken);
                if is_over {
                    self.state = State::Frame(Vec::new());
                }
                Event::Body(taken as u64)
            }
            State::Skip(left) => {
                let taken = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                let is_over = *left == 0;
                piece.drain(..taken);
                if is_over {
                    self.state = State::Frame(Vec::new());
                }
                Event::Other
            }
            State::Block(block, left) => {
                let taken = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                block.extend(piece.drain(..taken));
                *left -= taken as u64;
                if *left > 0 {
                    return Event::Other;
                }
                let headers = Headers { block: std::mem::take(block), is_first: self.headers == 0 };
                self.headers += 1;
                self.state = State::Frame(Vec::new());
                Event::Headers(headers)
            }
            State::Kind(_) | State::Encoder => Event::Other,
            State::Lost => {
                let bytes = piece.len() as u64;
                piece.clear();
                Event::Body(bytes)
            }
        }
    }

    fn begin(&mut self, kind: u64, len: u64) {
        self.state = match kind {
            _ if len == 0 => State::Frame(Vec::new()),
            DATA => State::Data(len),
            HEADERS if len <= MAX_BLOCK as u64 => State::Block(Vec::new(), len),
            _ => State::Skip(len),
        };
    }
}

/// Type and length of a frame, and the length of its header.
fn frame_header(header: &[u8]) -> Option<(u64, u64, usize)> {
    let (kind, first) = varint(header)?;
    let (len, second) = varint(header.get(first..)?)?;
    Some((kind, len, first + second))
}

/// A number of one to eight bytes (RFC 9000 section 16), and its length.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let len = 1 << (first >> 6);
    let rest = bytes.get(1..len)?;
    let number = rest.iter().fold(u64::from(first & 0x3f), |number, &byte| number << 8 | u64::from(byte));
    Some((number, len))
}
