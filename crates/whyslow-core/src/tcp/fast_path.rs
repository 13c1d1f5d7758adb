//! The short way of plain segments, which nearly all are.
//!
//! Of a side whose connection is settled, which has nothing more to tell of how that began, nor yet
//! of how it ends, and which nobody traces, and whose right checksums nobody need count, one flag
//! says all of that ([`Connection::update_fast_path`] keeps it true). What such a side sends goes
//! straight to what is known of both directions; all else goes the way of [`Connection::push`] from
//! where it is found to be something else.

use super::FrameRef;
use super::connection::{Connection, Stage, Tracking, note_payload};
use super::segment::Seg;

use crate::flow::Side;
use crate::units::Nanos;
use crate::wire::{PlainSegment, SackBlocks};

impl Connection {
    /// As [`push`](Self::push), for a segment that can do less.
    #[inline(always)]
    pub fn push_plain(&mut self, plain: &PlainSegment<'_>, from: Side, time: Nanos, place: FrameRef) {
        // Put together where the segment's fields are read, so that they are written down but once.
        let mut seg = Seg::plain(plain, from, time, place);
        self.clamp_time(&mut seg);
        self.push_plain_seg(&mut seg, plain.rest());
    }

    /// `rest` is what was captured behind the headers.
    #[inline(never)]
    pub(super) fn push_plain_seg(&mut self, seg: &mut Seg, rest: &[u8]) {
        match seg.from() {
            0 if self.uses_fast_path[0] => self.push_plain_from::<0>(seg, rest),
            1 if self.uses_fast_path[1] => self.push_plain_from::<1>(seg, rest),
            _ => self.track_plain(seg, rest),
        }
    }

    #[inline(never)]
    fn push_plain_from<const FROM: Side>(&mut self, seg: &mut Seg, rest: &[u8]) {
        // From here on it is known what nearly all of them are, and where the state of their side
        // is, so that no step asks for it again; the others go the same way in a copy of the code
        // that does ask.
        match &mut self.stage {
            Stage::Tracking(settled) if seg.is_plain_ack::<FROM>() => {
                if settled.is_recaptured(seg, &SackBlocks::NONE) {
                    return self.note_duplicate_frame();
                }
                self.last = seg.time;
                if self.payload_streams.on_segment(seg, rest, &self.isns) {
                    // All else that there is to note of a known side is noted, and it stays known.
                    note_payload(seg, &mut self.ttl[FROM][1], &mut self.first_payload_side);
                }
                if !settled.push_untraced(seg, &SackBlocks::NONE) {
                    self.undo_dropped();
                }
            }
            _ => self.track_plain(seg, rest),
        }
    }

    #[inline(never)]
    fn track_plain(&mut self, seg: &mut Seg, rest: &[u8]) {
        let sack = &SackBlocks::NONE;
        self.note_good_checksum(seg);
        if self.is_recaptured(seg, sack) {
            return;
        }
        let ends = !self.is_past_opening[seg.from()] && self.note(seg);
        self.track(seg, sack, rest);
        if ends {
            self.shrink_buffers();
        }
    }

    /// As [`push`](Self::push), for a segment that is plain but for its FIN.
    pub fn push_closing(&mut self, closing: &PlainSegment<'_>, from: Side, time: Nanos, place: FrameRef) {
        let mut seg = Seg::plain(closing, from, time, place);
        self.clamp_time(&mut seg);
        let sack = &SackBlocks::NONE;
        self.note_good_checksum(&seg);
        if !self.is_recaptured(&seg, sack) {
            self.track_noted(&mut seg, sack, closing.rest());
        }
    }

    /// Of a plain segment without payload it was looked at.
    #[inline(always)]
    fn note_good_checksum(&mut self, seg: &Seg) {
        if seg.len == 0 {
            self.checksums[seg.from()].note(true);
        }
    }

    /// To be called when a side becomes known or is so no more, the connection is settled, or it is
    /// traced.
    pub(super) fn update_fast_path(&mut self) {
        if let Stage::Tracking(settled) = &self.stage {
            let is_traced = settled.trace.is_some();
            let sums_tell = settled.checksums_reliable[0] || settled.checksums_reliable[1];
            self.uses_fast_path = self.is_past_opening.map(|is_known| is_known && !is_traced && !sums_tell);
        }
    }
}

impl Tracking {
    /// As [`push`](Self::push), where it is not traced.
    #[inline(always)]
    fn push_untraced(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let is_odd = self.needs_check(seg);
        if is_odd && self.defers_or_drops(seg, sack) {
            return false;
        }
        if self.estimator.observe(seg) {
            self.refresh_paths();
        }
        self.process(seg, sack);
        !is_odd
    }
}
