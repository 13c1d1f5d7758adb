//! [`Plan`]: the bytes of a stored object that a range of plaintext needs.

use super::layout::Layout;
use super::size::{HEADER, chunk_offset};
use crate::age::CHUNK;
use std::ops::Range;

/// The bytes to request from the storage, and the plaintext to hand out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    spans: Vec<Range<u64>>,
    pub(super) pieces: Vec<Piece>,
}

/// The part of a slice that a range needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Index of the slice.
    pub slice: usize,
    /// The chunks that hold it.
    pub chunks: Range<u64>,
    /// The plaintext to hand out, counted from the slice's first byte.
    pub plain: Range<u64>,
}

impl Plan {
    /// Bytes of the stored object, ascending and apart: the requests, made all at once. The
    /// [`Reader`](super::Reader) takes their answers in this order.
    pub fn spans(&self) -> &[Range<u64>] {
        &self.spans
    }
}

impl Layout {
    /// Returns the bytes that `range` of the plaintext needs: the header and the chunks of each
    /// slice that it touches. Spans with at most `gap` bytes between them become one request, and
    /// the bytes between are skipped.
    ///
    /// The last chunk is not needed for the length, which age alone would take from it: the header
    /// has it.
    ///
    /// Returns `None` if the range is empty or not in the object. [`Layout::plan_all`] is for the
    /// whole object.
    pub fn plan(&self, range: Range<u64>, gap: u64) -> Option<Plan> {
        (range.start < range.end && range.end <= self.length()).then_some(())?;
        let first = self.slices().partition_point(|slice| slice.plain().end <= range.start);
        let touched = self.slices().iter().enumerate().skip(first);
        let touched = touched.take_while(|(_, slice)| slice.start < range.end).filter(|(_, slice)| slice.length > 0);
        let pieces = touched.map(|(index, slice)| {
            let from = range.start.saturating_sub(slice.start);
            let to = (range.end - slice.start).min(slice.length);
            Piece { slice: index, chunks: from / CHUNK as u64..to.div_ceil(CHUNK as u64), plain: from..to }
        });
        Some(self.spans_of(pieces.collect(), gap))
    }

    /// Returns the bytes of the whole object: every slice from its first byte to its last, also
    /// those without
    /// plaintext. Fillers of more than `gap` bytes are left out.
    pub fn plan_all(&self, gap: u64) -> Plan {
        let pieces = self.slices().iter().enumerate().map(|(index, slice)| {
            let chunks = 0..super::size::chunks(slice.length);
            Piece { slice: index, chunks, plain: 0..slice.length }
        });
        self.spans_of(pieces.collect(), gap)
    }

    fn spans_of(&self, pieces: Vec<Piece>, gap: u64) -> Plan {
        let mut spans: Vec<Range<u64>> = Vec::new();
        for piece in &pieces {
            let slice = &self.slices()[piece.slice];
            let header = slice.at..slice.at + HEADER;
            let end = chunk_offset(piece.chunks.end).min(slice.sealed);
            let chunks = slice.at + chunk_offset(piece.chunks.start)..slice.at + end;
            for span in [header, chunks] {
                match spans.last_mut() {
                    Some(last) if span.start - last.end <= gap => last.end = span.end,
                    _ => spans.push(span),
                }
            }
        }
        Plan { spans, pieces }
    }
}
