//! [`Reader`]: the spans of a plan in pieces of any size, verified plaintext out.

use super::fault::{Fault, Problem};
use super::header;
use super::layout::{Layout, Slice};
use super::plan::Plan;
use super::size::{HEADER, chunk_offset, chunks};
use super::slice::{Role, SliceHead};
use crate::age::{CHUNK, SEALED_CHUNK, StreamKey, TAG};
use crate::keys::Keyring;
use std::sync::Arc;

/// Opens the bytes of a [`Plan`].
///
/// Every byte that it hands out was sealed as this byte of this object, and none follows a
/// fault.
#[derive(Debug)]
pub struct Reader {
    keyring: Arc<Keyring>,
    layout: Arc<Layout>,
    plan: Plan,
    /// The current span, and the position in it.
    span: usize,
    position: u64,
    /// The current piece, and the next part of it.
    piece: usize,
    next: Next,
    /// The bytes read of it.
    buffer: Vec<u8>,
    fault: Option<Fault>,
}

/// The next item of a piece.
#[derive(Debug)]
enum Next {
    Header,
    Chunk(u64, Box<StreamKey>),
}

impl Reader {
    /// Reads by this plan, which `layout` must have made.
    pub fn new(keyring: Arc<Keyring>, layout: Arc<Layout>, plan: Plan) -> Self {
        let position = plan.spans().first().map_or(0, |span| span.start);
        let (next, buffer) = (Next::Header, Vec::new());
        Self { keyring, layout, plan, span: 0, position, piece: 0, next, buffer, fault: None }
    }

    /// Takes bytes of the plan's spans, in their order, split anywhere, and appends the plaintext
    /// that they complete to `out`. On a fault `out` ends before it.
    ///
    /// # Errors
    /// If the object is not as it was sealed; every later call returns the same error.
    pub fn read(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.advance(input, out).inspect_err(|fault| self.fault = Some(*fault))
    }

    /// Whether all planned bytes were handed out.
    ///
    /// # Errors
    /// If bytes are missing, or there was a fault.
    pub fn finish(self) -> Result<(), Fault> {
        match (self.fault, self.needed()) {
            (Some(fault), _) => Err(fault),
            (None, Some((at, _))) => Err(Problem::Truncated.at(at)),
            (None, None) => Ok(()),
        }
    }

    /// Offset and length of the next item.
    fn needed(&self) -> Option<(u64, usize)> {
        let slice = self.slice()?;
        Some(match &self.next {
            Next::Header => (slice.at, HEADER as usize),
            Next::Chunk(index, _) => {
                let offset = chunk_offset(*index);
                // At most a whole chunk.
                (slice.at + offset, (slice.sealed - offset).min(SEALED_CHUNK as u64) as usize)
            }
        })
    }

    fn slice(&self) -> Option<Slice> {
        self.plan.pieces.get(self.piece).map(|piece| self.layout.slices()[piece.slice])
    }

    fn advance(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        while !input.is_empty() {
            let (at, length) = self.needed().ok_or(Problem::Surplus.at(self.position))?;
            let gap = usize::try_from(at.saturating_sub(self.position)).unwrap_or(usize::MAX);
            if gap > 0 {
                input = self.take(input, gap).1;
            } else if self.buffer.is_empty() && input.len() >= length {
                let (item, rest) = self.take(input, length);
                self.item(item, at, out)?;
                input = rest;
            } else {
                let (more, rest) = self.take(input, length - self.buffer.len());
                self.buffer.extend_from_slice(more);
                input = rest;
                if self.buffer.len() == length {
                    let mut item = std::mem::take(&mut self.buffer);
                    self.item(&item, at, out)?;
                    item.clear();
                    self.buffer = item;
                }
            }
            // An item that has begun is after the position.
            if self.buffer.is_empty() {
                self.enter_next_span();
            }
        }
        Ok(())
    }

    /// Takes at most `count` bytes, and advances by their number.
    fn take<'i>(&mut self, input: &'i [u8], count: usize) -> (&'i [u8], &'i [u8]) {
        let (taken, rest) = input.split_at(count.min(input.len()));
        self.position += taken.len() as u64;
        (taken, rest)
    }

    fn enter_next_span(&mut self) {
        if self.plan.spans().get(self.span).is_some_and(|span| span.end == self.position) {
            self.span += 1;
            self.position = self.plan.spans().get(self.span).map_or(self.position, |span| span.start);
        }
    }

    /// A whole header or chunk.
    fn item(&mut self, item: &[u8], at: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        let Some(slice) = self.slice() else { return Ok(()) };
        let first = self.plan.pieces[self.piece].chunks.start;
        match &self.next {
            Next::Header => {
                let stream = self.header(item, &slice).map_err(|problem| problem.at(at))?;
                self.next = Next::Chunk(first, Box::new(stream));
            }
            Next::Chunk(index, stream) => {
                let (index, last) = (*index, *index + 1 == chunks(slice.length));
                let start = out.len();
                out.extend_from_slice(item);
                let length = stream.open(index, last, &mut out[start..]);
                out.truncate(start + length.unwrap_or(0));
                length.ok_or(Problem::Chunk.at(at))?;
                self.hand_out(index, start, out);
            }
        }
        Ok(())
    }

    /// Returns the payload's key, if this header belongs there.
    fn header(&self, bytes: &[u8], slice: &Slice) -> Result<StreamKey, Problem> {
        let object = self.layout.object;
        let opened = header::open(&self.keyring, object.epoch, bytes)?;
        let expected = SliceHead { object: object.id, role: slice.role, length: slice.length };
        if opened.head != expected {
            return Err(Problem::Misplaced { expected, found: opened.head });
        }
        match (slice.tag, slice.role) {
            (Some(tag), Role::Part(number)) if tag != opened.tag => Err(Problem::OtherVersion(number)),
            _ => Ok(opened.stream),
        }
    }

    /// Keeps the requested part of the chunk at `start` in `out`, and advances to the next.
    fn hand_out(&mut self, index: u64, start: usize, out: &mut Vec<u8>) {
        let piece = &self.plan.pieces[self.piece];
        let base = index * CHUNK as u64;
        let within = |offset: u64| usize::try_from(offset.saturating_sub(base)).unwrap_or(usize::MAX).min(CHUNK);
        let (from, to) = (within(piece.plain.start), within(piece.plain.end));
        out.truncate(start + to);
        out.drain(start..start + from);
        if index + 1 == piece.chunks.end {
            self.piece += 1;
            self.next = Next::Header;
        } else if let Next::Chunk(index, _) = &mut self.next {
            *index += 1;
        }
    }
}

const _: () = assert!(CHUNK + TAG == SEALED_CHUNK);
