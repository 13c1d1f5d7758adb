//! ACKs that precede their data in the file.
//!
//! A host records each receive queue of a network card on its own processor, and each direction of
//! a mirror port on its own interface. So packets within microseconds of each other may be recorded
//! in the wrong order. An ACK before its data looks as if the capture had lost the data, and then
//! the data looks retransmitted. Therefore such an ACK waits for the next segments: until the data
//! follows, or until more time has passed than this disorder explains.

use super::connection::Tracking;
use super::segment::Seg;
use crate::wire::{Flags, SackBlocks};
use whyslow_units::{Nanos, Time};

/// The largest disorder of one device. A larger step back is a step of the clock.
pub(super) const MAX_DISORDER: Nanos = Nanos::from_millis(1);
/// Maximum bytes that an ACK may be ahead of the captured data.
const MAX_AHEAD: i32 = 1 << 20;
/// Maximum number of waiting segments.
const MAX_WAITING: usize = 32;

impl Tracking {
    /// Returns whether the segment acknowledges data that may follow in the file.
    fn is_early_ack(&self, seg: &Seg) -> bool {
        let data = &self.senders[!seg.from()];
        let opens_or_closes = seg.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST).0 != 0;
        !opens_or_closes
            && data.is_captured()
            && seg
                .ack()
                .is_some_and(|ack| data.snd_nxt().is_some_and(|next| (1..=MAX_AHEAD).contains(&ack.distance(next))))
    }

    /// Returns whether the segment waits, or was processed here.
    pub(super) fn waits_for_data(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        if let Some((first, _)) = self.early.segs.first() {
            let is_late = seg.time - first.time > MAX_DISORDER || self.early.segs.len() >= MAX_WAITING;
            let is_next = self.senders[seg.from()].snd_nxt() == Some(seg.seq);
            if is_late {
                self.release_early_acks(|_, _| true);
            } else if seg.from() == first.from() {
                self.early.segs.push((*seg, *sack));
                return true;
            } else if seg.len > 0 && is_next {
                self.early.passed = seg.time;
                self.observe_and_track(seg, sack);
                self.release_early_acks(|tracking, ack| !tracking.is_early_ack(ack));
                return true;
            } else {
                self.release_early_acks(|_, _| true);
            }
        }
        let waits = self.suspect.is_none() && self.is_early_ack(seg);
        if waits {
            self.early.passed = Time::MIN;
            self.early.segs.push((*seg, *sack));
        }
        waits
    }

    /// Processes the waiting segments in order, up to the first one that is not due.
    pub(super) fn release_early_acks(&mut self, is_due: impl Fn(&Self, &Seg) -> bool) {
        let mut waiting = std::mem::take(&mut self.early.segs);
        let due = waiting.iter().position(|(seg, _)| !is_due(self, seg)).unwrap_or(waiting.len());
        for (mut seg, sack) in waiting.drain(..due) {
            if seg.time < self.early.passed {
                seg.clamp_time(self.early.passed);
            }
            self.observe_and_track(&seg, &sack);
        }
        self.early.segs = waiting;
    }
}
