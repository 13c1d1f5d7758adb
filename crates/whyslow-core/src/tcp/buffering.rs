//! The first segments of a connection, until it is known where the capture stands. Most connections
//! are over by then, so that little is held of each.

use super::recent_packets;
use super::segment::Seg;
use super::segment::packed::{AdvanceIter, PackedSegments, SegmentIter};
use super::trace;
use crate::wire::{Flags, SackBlocks};

/// Segments held at most: enough for a handshake, a TLS handshake and the first round.
const MAX_BUFFERED: usize = 128;
const _: () = assert!(MAX_BUFFERED < u8::MAX as usize, "places among them are bytes");

/// The first segments.
#[derive(Debug, Default)]
pub(super) struct Buffering {
    segs: PackedSegments,
    /// The IP numbers of each side.
    numbers: [SeenIpIds; 2],
    /// The segment size was known from this place on.
    mss_known_from: Option<u8>,
    /// One of them offers no byte.
    pub has_zero_window: bool,
    /// Where the points go that are asked for.
    pub trace: Option<Box<trace::Trace>>,
}

/// What is known of the IP numbers that a side used: the first one (0: none yet), and how far
/// beyond it the farthest is.
#[derive(Clone, Copy, Debug, Default)]
struct SeenIpIds {
    first: u16,
    span: u16,
}

impl SeenIpIds {
    /// Whether it is beyond all of them, so that none of them can be the same.
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
    /// How many there are.
    pub fn len(&self) -> usize {
        self.segs.len()
    }

    /// The segment size is known from here on.
    pub fn mss_known(&mut self) {
        self.mss_known_from = self.mss_known_from.or(u8::try_from(self.segs.len()).ok());
    }

    /// Whether the segment at this place is the first since the segment size is known.
    pub fn is_mss_known_at(&self, place: usize) -> bool {
        self.mss_known_from.is_some_and(|from| usize::from(from) == place)
    }

    /// Whether this is a packet captured a second time.
    #[inline(always)]
    pub fn is_recaptured(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        let number = seg.ip_id_or_zero();
        number != 0 && !self.numbers[seg.from()].is_beyond(number) && self.contains(seg, sack)
    }

    #[inline(never)]
    fn contains(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        recent_packets::is_among(self.iter(), seg, sack)
    }

    /// Holds one more; says whether these are as many as may be held.
    pub fn push(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        if seg.ip_id_or_zero() != 0 {
            self.numbers[seg.from()].note(seg.ip_id_or_zero());
        }
        self.has_zero_window |= seg.window == 0 && !seg.flags.has(Flags::RST);
        self.segs.push(seg, sack);
        self.segs.len() >= MAX_BUFFERED
    }

    /// All of them, each with its SACK blocks.
    pub fn iter(&self) -> SegmentIter<'_> {
        self.segs.iter()
    }

    /// All of them, as far as their times and numbers go.
    pub fn advances(&self) -> AdvanceIter<'_> {
        self.segs.advances()
    }

    /// All of them, to be looked at several times.
    pub fn to_vec(&self) -> Vec<(Seg, SackBlocks)> {
        let mut all = Vec::with_capacity(self.segs.len());
        let mut segs = self.iter();
        while let Some((seg, sack)) = segs.next() {
            all.push((seg, *sack));
        }
        all
    }
}
