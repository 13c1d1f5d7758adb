//! The short way of plain segments, which nearly all are.
//!
//! Of a side whose connection is settled, which has nothing more to tell of how that began, nor yet of how it ends, and which nobody
//! traces, and whose right checksums nobody need count, one flag says all of that ([`Connection::note_direct`] keeps it true). What such a side sends goes straight to what is known of
//! both directions; all else goes the way of [`Connection::push`] from where it is found to be something else.

use super::Place;
use super::connection::{Connection, Settled, Stage, note_payload};
use super::segment::Seg;

use crate::flow::Side;
use crate::units::Nanos;
use crate::wire::{Plain, SackBlocks};

impl Connection {
    /// As [`push`](Self::push), for a segment that can do less.
    #[inline(always)]
    pub fn push_plain(&mut self, plain: &Plain<'_>, from: Side, time: Nanos, place: Place) {
        // Put together where the segment's fields are read, so that they are written down but once.
        let mut seg = Seg::plain(plain, from, time, place);
        self.clock(&mut seg);
        self.push_plain_seg(&mut seg, plain.rest());
    }

    /// `rest` is what was captured behind the headers.
    #[inline(never)]
    pub(super) fn push_plain_seg(&mut self, seg: &mut Seg, rest: &[u8]) {
        match seg.from() {
            0 if self.is_direct[0] => self.push_plain_from::<0>(seg, rest),
            1 if self.is_direct[1] => self.push_plain_from::<1>(seg, rest),
            _ => self.take_plain(seg, rest),
        }
    }

    #[inline(never)]
    fn push_plain_from<const FROM: Side>(&mut self, seg: &mut Seg, rest: &[u8]) {
        // From here on it is known what nearly all of them are, and where the state of their side is, so that no step asks for it
        // again; the others go the same way in a copy of the code that does ask.
        match &mut self.stage {
            Stage::Settled(settled) if seg.is_usual::<FROM>() => {
                if settled.holds(seg, &SackBlocks::NONE) {
                    return self.note_captured();
                }
                self.last = seg.time;
                if self.talk.take(seg, rest, &self.origins) {
                    // All else that there is to note of a known side is noted, and it stays known.
                    note_payload(seg, &mut self.ttl[FROM][1], &mut self.first_payload);
                }
                if !settled.push_untraced(seg, &SackBlocks::NONE) {
                    self.take_back();
                }
            }
            _ => self.take_plain(seg, rest),
        }
    }

    #[inline(never)]
    fn take_plain(&mut self, seg: &mut Seg, rest: &[u8]) {
        let sack = &SackBlocks::NONE;
        self.note_right_sum(seg);
        if self.has_captured(seg, sack) {
            return;
        }
        let ends = !self.is_known[seg.from()] && self.note(seg);
        self.follow(seg, sack, rest);
        if ends {
            self.rest();
        }
    }

    /// As [`push`](Self::push), for a segment that is plain but for its FIN.
    pub fn push_closing(&mut self, closing: &Plain<'_>, from: Side, time: Nanos, place: Place) {
        let mut seg = Seg::plain(closing, from, time, place);
        self.clock(&mut seg);
        let sack = &SackBlocks::NONE;
        self.note_right_sum(&seg);
        if !self.has_captured(&seg, sack) {
            self.take_noted(&mut seg, sack, closing.rest());
        }
    }

    /// Of a plain segment without payload it was looked at.
    #[inline(always)]
    fn note_right_sum(&mut self, seg: &Seg) {
        if seg.len == 0 {
            self.sums[seg.from()].note(true);
        }
    }

    /// To be called when a side becomes known or is so no more, the connection is settled, or it is traced.
    pub(super) fn note_direct(&mut self) {
        if let Stage::Settled(settled) = &self.stage {
            let is_traced = settled.trace.is_some();
            let sums_tell = settled.sums_tell[0] || settled.sums_tell[1];
            self.is_direct = self.is_known.map(|is_known| is_known && !is_traced && !sums_tell);
        }
    }
}

impl Settled {
    /// As [`push`](Self::push), where it is not traced.
    #[inline(always)]
    fn push_untraced(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let is_odd = self.is_odd(seg);
        if is_odd && self.puts_aside(seg, sack) {
            return false;
        }
        if self.estimator.see(seg) {
            self.look();
        }
        self.process(seg, sack);
        !is_odd
    }
}
