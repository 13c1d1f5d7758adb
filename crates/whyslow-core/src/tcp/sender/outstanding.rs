//! Outstanding segments, and holes in the sequence space.

use super::slice_queue::SliceQueue;
use crate::tcp::segment::{Seg, TsvalSample};
use crate::units::Time;

/// A segment that was sent and is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct OutstandingSegment {
    pub end: u64,
    /// When it was sent first.
    pub time: Time,
    /// Payload bytes that passed before it.
    pub passed_before: u64,
    pub len: u32,
    pub tsval: TsvalSample,
    pub retransmitted: bool,
}

impl OutstandingSegment {
    /// A segment that ends at `end`, sent once.
    #[inline]
    pub fn new(seg: &Seg, end: u64, passed: u64) -> Self {
        Self {
            end,
            time: seg.time,
            passed_before: passed,
            len: seg.len,
            tsval: seg.tsval_sample(),
            retransmitted: false,
        }
    }

    /// Its first byte.
    pub fn start(&self) -> u64 {
        self.end - u64::from(self.len)
    }
}

/// Sequence space that later segments skipped, as seen at the capture point.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct SequenceHole {
    pub start: u64,
    pub end: u64,
    /// The segment after the hole: its time, timestamp and IP ID.
    pub time: Time,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
    /// The time of the segment before the hole, and the payload bytes that had passed by then.
    pub previous_time: Time,
    pub passed_before: u64,
}

/// Most outstanding segments to remember (at 1,448 B more than 90 MB in flight).
const MAX_OUTSTANDING: usize = 65_536;
/// Most holes to remember.
const MAX_HOLES: usize = 4_096;

/// What was sent and is not acknowledged.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Outstanding {
    pub segments: SliceQueue<OutstandingSegment>,
    /// Whether segments may overlap; if not, they are in order.
    pub may_overlap: bool,
    pub holes: Vec<SequenceHole>,
}

impl Outstanding {
    /// Adds a segment of new data.
    #[inline]
    pub fn push(&mut self, sent: OutstandingSegment) {
        self.segments.push(sent);
        if self.segments.len() > MAX_OUTSTANDING {
            self.segments.drop_first(1);
        }
    }

    pub fn push_hole(&mut self, hole: SequenceHole) {
        if self.holes.len() < MAX_HOLES {
            self.holes.push(hole);
        }
    }

    /// Removes `[start, end)` from the hole that it fills, and returns that hole.
    pub fn fill_hole(&mut self, start: u64, end: u64) -> Option<SequenceHole> {
        let index = self.holes.iter().position(|hole| hole.start < end && hole.end > start)?;
        let hole = self.holes[index];
        let before = SequenceHole { end: start, ..hole };
        let after = SequenceHole { start: end, ..hole };
        self.holes.remove(index);
        for rest in [after, before] {
            if rest.start < rest.end {
                self.holes.insert(index, rest);
            }
        }
        Some(hole)
    }

    /// Inserts a late segment, so that its ACK is understood. Returns whether there was a place for
    /// it.
    pub fn insert(&mut self, sent: OutstandingSegment) -> bool {
        let (start, end) = (sent.start(), sent.end);
        let index = self.segments.partition_point(|other| other.start() < start);
        if index == 0 && self.segments.first().is_some_and(|front| front.start() <= start) {
            return false;
        }
        let before = index.checked_sub(1).and_then(|before| self.segments.get(before));
        let behind = self.segments.get(index);
        self.may_overlap |=
            before.is_some_and(|before| before.end > start) || behind.is_some_and(|next| next.start() < end);
        self.segments.insert(index, sent);
        true
    }

    /// Marks segments within `[start, end)` as retransmitted, oldest first, and gives each to
    /// `found`.
    pub fn mark_retransmitted(&mut self, start: u64, end: u64, mut found: impl FnMut(&OutstandingSegment)) {
        let first = if self.may_overlap { 0 } else { self.segments.partition_point(|sent| sent.end <= start) };
        let until = if self.may_overlap { u64::MAX } else { end };
        let those = self.segments.iter_mut().skip(first).take_while(|sent| sent.start() < until);
        for sent in those.filter(|sent| sent.start() < end && sent.end > start) {
            sent.retransmitted = true;
            found(sent);
        }
    }

    /// Returns when the segment that ends at `end` was sent, if it was sent only once.
    pub fn send_time_of(&self, end: u64) -> Option<Time> {
        let index = self.segments.partition_point(|sent| sent.end < end);
        let sent = self.segments.get(index).filter(|_| !self.may_overlap)?;
        (sent.start() < end && !sent.retransmitted && !sent.tsval.time_clamped()).then_some(sent.time)
    }
}
