//! Buffers the first segments of a connection until the vantage is known. Most connections end
//! before that, so the buffer is small.

use super::recent_packets;
use super::segment::Seg;
use super::segment::packed::{AdvanceIter, PackedSegments, SegmentIter};
use super::trace;
use crate::wire::{Flags, SackBlocks};

/// Maximum number of segments to hold: enough for a handshake, a TLS handshake and the first round.
const MAX_BUFFERED: usize = 128;
const _: () = assert!(MAX_BUFFERED < u8::MAX as usize, "places among them are bytes");

/// The first segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffering {
    segs: PackedSegments,
    /// The IP IDs seen from each side.
    numbers: [SeenIpIds; 2],
    /// The MSS is known from this index on.
    mss_known_from: Option<u8>,
    /// Whether a segment offers a zero window.
    pub has_zero_window: bool,
    /// Receives trace points, if tracing is on.
    pub trace: Option<Box<trace::Trace>>,
}

/// The IP IDs that a side has used: the first one (0 before that), and the distance of the highest
/// one from it.
#[derive(Clone, Copy, Debug, Default)]
struct SeenIpIds {
    first: u16,
    span: u16,
}

impl SeenIpIds {
    /// Returns whether this ID is higher than all others, so that it cannot be a repetition.
    fn is_beyond(self, number: u16) -> bool {
        self.first == 0 || number.wrapping_sub(self.first) > self.span
    }

    fn note(&mut self, number: u16) {
        if self.first == 0 {
            self.first = number;
        }
        self.span = self.span.max(number.wrapping_sub(self.first));
    }
}

impl Buffering {
    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.segs.len()
    }

    /// Records that the MSS is known from here on.
    pub fn mss_known(&mut self) {
        self.mss_known_from = self.mss_known_from.or(u8::try_from(self.segs.len()).ok());
    }

    /// Returns whether the segment at `place` is the first with a known MSS.
    pub fn is_mss_known_at(&self, place: usize) -> bool {
        self.mss_known_from.is_some_and(|from| usize::from(from) == place)
    }

    /// Returns whether this packet is a duplicate of a buffered one.
    #[inline(always)]
    pub fn is_recaptured(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        let number = seg.ip_id_or_zero();
        number != 0 && !self.numbers[seg.from()].is_beyond(number) && self.contains(seg, sack)
    }

    #[inline(never)]
    fn contains(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        recent_packets::is_among(self.iter(), seg, sack)
    }

    /// Adds a segment. Returns whether the buffer is full.
    pub fn push(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        if seg.ip_id_or_zero() != 0 {
            self.numbers[seg.from()].note(seg.ip_id_or_zero());
        }
        self.has_zero_window |= seg.window == 0 && !seg.flags.has(Flags::RST);
        self.segs.push(seg, sack);
        self.segs.len() >= MAX_BUFFERED
    }

    /// All segments with their SACK blocks.
    pub fn iter(&self) -> SegmentIter<'_> {
        self.segs.iter()
    }

    /// All segments, reduced to times and sequence numbers.
    pub fn advances(&self) -> AdvanceIter<'_> {
        self.segs.advances()
    }

    /// All segments, unpacked for repeated access.
    pub fn to_vec(&self) -> Vec<(Seg, SackBlocks)> {
        let mut all = Vec::with_capacity(self.segs.len());
        let mut segs = self.iter();
        while let Some((seg, sack)) = segs.next() {
            all.push((seg, *sack));
        }
        all
    }
}
