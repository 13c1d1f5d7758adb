//! Pauses between two sends of one direction, and what ended each.

use super::facts::{Gap, HalfFacts, Release};
use super::half::{Half, View};
use super::resend::SentAgain;
use super::segment::Seg;
use super::sent::Recovery;
use crate::units::Nanos;

impl Half {
    /// Whether so little room to the right edge stops a sender. A full segment must fit (RFC 9293 section 3.8.6.2.1);
    /// senders with segmentation offload wait for more, up to a third of the window (Linux tcp_tso_should_defer).
    pub(super) fn stops(&self, room: u64) -> bool {
        let mss = self.mss();
        let window = self.window.unwrap_or(u64::MAX);
        // The right side is never more than three segments.
        room < 3 * mss && room < mss.min(window.max(1)).max((3 * mss).min(window / 4))
    }

    /// Whether so little room is left that a sender with more to send waits, though the window is no larger itself: for a full segment, but
    /// for no more than half of the largest window (RFC 9293 section 3.8.6.2.1, Linux tcp_bound_to_half_wnd). Its timer then sends what
    /// fits (section 3.8.6.1), or the window opens.
    fn is_too_little(&self, room: u64) -> bool {
        room > 0 && room < self.mss().min(self.facts.max_window.unwrap_or(0) / 2)
    }

    /// Whether this segment had too little room at some time since the last send: one that is smaller than the room had enough.
    fn is_stopped(&self, seg: &Seg) -> bool {
        self.least_room().is_some_and(|room| self.stops(room) || self.is_too_little_for(room, seg))
    }

    fn is_too_little_for(&self, room: u64, seg: &Seg) -> bool {
        u64::from(seg.len) >= room && self.is_too_little(room)
    }

    /// Whether the window is closed still, or nearly.
    pub(super) fn is_shut(&self, seg: &Seg) -> bool {
        let room = self.edge.map(|edge| edge.saturating_sub(self.sent_max));
        self.zero_since.is_some() || room.is_some_and(|room| self.is_too_little_for(room, seg))
    }

    /// The pause before this send is over; says what ended it. `unseen`: bytes between the last send and this one are not
    /// in the capture. `again`: how it came to be sent again, if it was.
    pub(super) fn end_gap(&mut self, seg: &Seg, unseen: bool, again: Option<SentAgain>, view: &View) {
        let Some(transfer) = &mut self.transfer else {
            return;
        };
        let Some((last, _)) = self.last_send else {
            transfer.begins(seg.time);
            return;
        };
        if seg.time.since(last) > transfer.gap_floor().since(Nanos::ZERO) {
            self.tell_gap(seg, unseen, again, view);
        } else {
            self.end_brief_gap(seg, seg.time.after(last), again, view);
        }
    }

    /// The same, of a pause of this length, too short to be told of on its own.
    #[inline(always)]
    pub(super) fn end_brief_gap(&mut self, seg: &Seg, length: Nanos, again: Option<SentAgain>, view: &View) {
        if self.recovery != Recovery::None {
            if let Some(transfer) = &mut self.transfer {
                transfer.recovered(length);
            }
        } else if self.is_full() {
            let (release, prompt) = self.release(seg, again, view);
            // No timer of a window that is nearly closed is so short.
            let by_window = prompt && matches!(release, Release::WindowAck | Release::WindowUpdate);
            let held = by_window || self.since.zero_window();
            if let Some(transfer) = self.transfer.as_mut().filter(|_| held) {
                transfer.held(length);
            }
        }
    }

    /// Whether too little room to the right edge has stopped the sender since its last send.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.least_room().is_some_and(|room| self.stops(room))
    }

    /// What ended the pause before this send, and whether an ACK came right before it.
    #[inline(always)]
    fn release(&self, seg: &Seg, again: Option<SentAgain>, view: &View) -> (Release, bool) {
        let since = &self.since;
        // A queue that the sender filled itself makes ACKs take effect later; with nothing in flight there is none.
        let is_idle = self.una >= self.sent_max;
        let queued = || if is_idle { Nanos::ZERO } else { (self.toward_sender_now - view.toward_sender).or_zero() };
        let prompt = since.at.is_some_and(|at| {
            let later = seg.time - at;
            later <= view.epsilon || later <= view.epsilon + queued()
        });
        let full = self.is_stopped(seg);
        let release = match again {
            Some(SentAgain { timer: true, .. }) => Release::Timer,
            _ if prompt && since.payload && self.una == self.sent_max => Release::Peer,
            _ if prompt && full && since.update && !since.new => Release::WindowUpdate,
            _ if prompt && full => Release::WindowAck,
            _ if prompt => Release::Ack,
            // A closed window holds the sender whatever else is or is not seen, and so does one that is nearly closed.
            _ if self.is_shut(seg) => Release::WindowUpdate,
            _ => Release::Nothing,
        };
        (release, prompt)
    }

    /// A pause that is told of on its own.
    #[inline(never)]
    fn tell_gap(&mut self, seg: &Seg, unseen: bool, again: Option<SentAgain>, view: &View) {
        let (Some(gap), Some(transfer)) = (self.gap_before(seg, unseen, again, view), &mut self.transfer) else {
            return;
        };
        let most = again.and_then(|again| again.most).unwrap_or(Nanos::MAX);
        if gap.idle && gap.end - gap.start > most.scale(1.25) {
            // Its program was silent first, and then its timer.
            let (start, missing) = (gap.end - most, gap.missing.map(|_| 0));
            let release = Release::Nothing;
            transfer.gap(Gap { end: start, release, tail: false, resent: false, missing, ..gap });
            transfer.gap(Gap { start, ..gap });
        } else {
            transfer.gap(gap);
        }
    }

    /// The pause before this send of new bytes, if it is one that is told of on its own.
    pub(super) fn pause_before(&self, seg: &Seg, view: &View) -> Option<Gap> {
        let (last, _) = self.last_send?;
        let floor = self.transfer.as_ref()?.gap_floor();
        if seg.time - last > floor { self.gap_before(seg, false, None, view) } else { None }
    }

    fn gap_before(&self, seg: &Seg, unseen: bool, again: Option<SentAgain>, view: &View) -> Option<Gap> {
        let (last, last_place) = self.last_send?;
        let (release, prompt) = self.release(seg, again, view);
        let since = self.since;
        Some(Gap {
            start: last,
            end: seg.time,
            release,
            closed: self.closed(last, seg.time).filter(|_| self.is_stopped(seg)),
            recovering: self.recovery != Recovery::None,
            ack_late: if prompt { since.late } else { Nanos::ZERO },
            sent: self.sent_max,
            in_flight: self.flight_at_send,
            room: self.least_room(),
            before_len: self.last_len,
            ran_dry: self.ran_dry,
            with_payload: prompt && since.any_payload,
            heard: since.payload_at.map(|at| at.max(last).min(seg.time)),
            tail: again.is_some_and(|again| again.tail),
            lost_copy: again.is_some_and(|again| again.lost_copy),
            resent: again.is_some(),
            idle: self.una >= self.sent_max,
            unseen,
            // A hole before this segment is what the program sent after its pause, or what a probe with new bytes tells of.
            missing: self.missing().filter(|&packets| packets > 0 || !unseen),
            sent_apart: self.sent_apart(seg),
            last_ack: since.emptied,
            after_len: u64::from(seg.len),
            frames: (last_place.frame(), seg.frame()),
            ack_frame: since.at.map(|_| since.place.frame()),
        })
    }
}

impl Half {
    /// From when on, and for how long, the window was closed in a pause.
    fn closed(&self, start: Nanos, end: Nanos) -> Option<(Nanos, Nanos)> {
        let from = self.since.closed_at?.max(start);
        let still = self.zero_since.map_or(Nanos::ZERO, |since| (end - since.max(start)).or_zero());
        let length = (self.since.closed_for + still).min((end - from).or_zero());
        (length > Nanos::ZERO).then_some((from, length))
    }
}

/// Pauses in which something of either side was not captured: what ended them may have been that.
pub(super) fn note_unseen(halves: &mut [HalfFacts; 2]) {
    let mut noticed: Vec<Nanos> = halves.iter().flat_map(|half| &half.missing).map(|&(_, time)| time).collect();
    if noticed.is_empty() {
        return;
    }
    noticed.sort_unstable();
    for gap in halves.iter_mut().flat_map(|half| &mut half.transfers).flat_map(|transfer| &mut transfer.gaps) {
        let next = noticed.partition_point(|&time| time <= gap.start);
        gap.unseen |= noticed.get(next).is_some_and(|&time| time <= gap.end);
    }
}
