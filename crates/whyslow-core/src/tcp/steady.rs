//! The straight way of what nearly all segments of a transfer are: payload that follows what was sent before it, and ACKs for
//! payload, while nothing is missing, sent again or reported, and the window is open.
//!
//! Each function here first looks whether all is so. Then it does what the general way (`half`, `acknowledgement`) comes to in
//! that case, which is little; if not, it does nothing and says so. It knows nothing that the general way does not: a test
//! plays connections both ways, and finds the same.

use super::half::{Half, View};
use super::retransmission::PROBE_FLOOR;
use super::segment::Seg;
use super::sent::{Ack, Recovery};
use crate::units::Nanos;
use crate::wire::Flags;

impl Half {
    /// Nothing is missing, sent again or reported, and nobody asks what each segment was.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        #[cfg(test)]
        if self.never_steady {
            return false;
        }
        self.recovery == Recovery::None && self.sacked.is_empty() && self.resent.is_empty() && self.notes.is_none()
    }

    /// New payload from `start` to `end` that the sender sends on within a transfer and within a round. Says whether it was
    /// that, and was recorded.
    #[inline(always)]
    pub(super) fn steady_send(&mut self, seg: &Seg, start: u64, end: u64) -> bool {
        let (Some((last, _)), Some(transfer)) = (self.last_send, &mut self.transfer) else { return false };
        let pause = seg.time - last;
        let echo = seg.timestamps().map(|(_, echo)| echo);
        // An ACK that was not captured began a round.
        let unseen_ack = echo.zip(self.newest_stamp).is_some_and(|(now, newest)| now.wrapping_sub(newest) as i32 > 0);
        let mss = self.negotiated_mss.unwrap_or(self.largest_len.min(1460)).max(1);
        // So little room may have stopped the sender: see [`Half::stops`].
        let tight = self.since.least_room.is_some_and(|room| room < 3 * mss);
        let steady = start == self.sent_max
            && !self.round_due
            && self.peer.is_none()
            && pause < PROBE_FLOOR
            && pause <= transfer.gap_floor()
            && !unseen_ack
            && !tight;
        if !steady || !self.is_calm() {
            return false;
        }
        #[cfg(test)]
        {
            self.steady[0] += 1;
        }
        let Some(transfer) = &mut self.transfer else { return false };
        transfer.reopen();
        transfer.short_gap(pause, false, false);
        self.sent_max = end;
        self.note_new(seg, start, end);
        let in_flight = end.saturating_sub(self.una);
        self.note_flight(seg, end, in_flight);
        self.sent_now(seg);
        true
    }

    /// An ACK that acknowledges in order, or comes with payload, and leaves the window open. Says whether it was that, and was
    /// applied.
    #[inline(always)]
    pub(super) fn steady_ack(&mut self, ack: &Ack<'_>, at: Nanos, view: &View) -> bool {
        let Some(window) = ack.window else { return false };
        let steady = ack.seg.flags.0 & !(Flags::ACK | Flags::PSH).0 == 0
            && ack.sack.is_empty()
            && window > 0
            && self.zero_since.is_none()
            // Of an ACK for nothing new and without payload it is asked whether it is a duplicate.
            && (ack.ack > self.una || (ack.ack == self.una && ack.seg.len > 0))
            && self.copies_end <= self.una;
        if !steady || !self.is_calm() {
            return false;
        }
        #[cfg(test)]
        {
            self.steady[1] += 1;
        }
        let newly = ack.ack - self.una;
        let (room, edge) = (self.room(), Some(ack.ack + window));
        let (mut rtt, mut late) = (None, Nanos::ZERO);
        if newly > 0 {
            self.una = ack.ack;
            self.duplicate_acks = 0;
            let (newest, any_resent) = self.take_acknowledged(ack.ack);
            if let Some(sent) = newest.filter(|_| !any_resent && !ack.seg.moved()) {
                (rtt, late) = self.measured(ack.seg.time - sent, view);
            }
        }
        let opened = edge > self.edge;
        self.window = Some(window);
        self.edge = edge;
        self.facts.max_window = self.facts.max_window.max(Some(window));
        self.round_due |= self.una >= self.round_mark;
        if newly > 0 || opened || ack.seg.len > 0 {
            self.since.update |= opened && newly == 0;
            self.since.emptied = self.una >= self.sent_max;
            self.since.late = if newly > 0 { late } else { self.since.late };
            self.since.released(ack.seg, at, newly > 0, room);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.acked(at, ack.ack, newly, rtt, late, 10 * self.negotiated_mss.unwrap_or(1460));
        }
        true
    }
}
