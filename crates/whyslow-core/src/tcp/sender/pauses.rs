//! Pauses between two sends of one direction, and what ended them.

use super::retransmits::RetransmitContext;
use super::scoreboard::Recovery;
use super::{PathEstimate, SenderState};
use crate::tcp::facts::{DirectionFacts, Release, SendPause};
use crate::tcp::payload::PayloadKind;
use crate::tcp::segment::Seg;
use whyslow_units::{Nanos, Time};

impl SenderState {
    /// Returns whether this distance to the right edge stops a sender. A full-sized segment must
    /// fit (RFC 9293 section 3.8.6.2.1); senders with segmentation offload wait for more, up to a
    /// third of the window (Linux tcp_tso_should_defer).
    pub(super) fn room_stops_sender(&self, room: u64) -> bool {
        let mss = self.mss();
        let window = self.window.wnd.unwrap_or(u64::MAX);
        // The right side never exceeds three segments.
        room < 3 * mss && room < mss.min(window.max(1)).max((3 * mss).min(window / 4))
    }

    /// Returns whether a sender with more data waits because the remaining room is too small,
    /// although the window itself is not larger (silly window avoidance). It waits for a full-sized
    /// segment, but at most for half of the largest window (RFC 9293 section 3.8.6.2.1, Linux
    /// tcp_bound_to_half_wnd). Then its timer sends the part that fits (section 3.8.6.1), or the
    /// window opens.
    fn is_silly_window(&self, room: u64) -> bool {
        room > 0 && room < self.mss().min(self.facts.max_window.unwrap_or(0) / 2)
    }

    /// Returns whether at some time since the last send the window had too little room for this
    /// segment. A segment smaller than the room had enough.
    fn is_window_limited(&self, seg: &Seg) -> bool {
        self.min_window_room().is_some_and(|room| self.room_stops_sender(room) || self.is_silly_window_for(room, seg))
    }

    fn is_silly_window_for(&self, room: u64, seg: &Seg) -> bool {
        u64::from(seg.len) >= room && self.is_silly_window(room)
    }

    /// Returns whether the window is closed, or nearly closed.
    pub(super) fn is_window_shut(&self, seg: &Seg) -> bool {
        let room = self.window.room(self.snd_max);
        self.window.closed_since.is_some() || room.is_some_and(|room| self.is_silly_window_for(room, seg))
    }

    /// Ends the pause before this send and records what ended it. `unseen`: bytes between the last
    /// send and this one were not captured. `again`: the circumstances of its retransmission, if it
    /// was retransmitted.
    pub(super) fn end_gap(&mut self, seg: &Seg, unseen: bool, again: Option<RetransmitContext>, path: &PathEstimate) {
        let Some(transfer) = &mut self.transfer else {
            return;
        };
        let Some((last, _)) = self.last_send.at else {
            transfer.start_at(seg.time);
            return;
        };
        if seg.time.since(last) > transfer.gap_floor().0.cast_unsigned() {
            self.record_gap(seg, unseen, again, path);
        } else {
            self.end_short_gap(seg, seg.time.after(last), again, path);
        }
    }

    /// The same for a pause of this length, which is too short to be recorded individually.
    #[inline]
    pub(super) fn end_short_gap(
        &mut self,
        seg: &Seg,
        length: Nanos,
        again: Option<RetransmitContext>,
        path: &PathEstimate,
    ) {
        if self.scoreboard.recovery != Recovery::None {
            if let Some(transfer) = &mut self.transfer {
                transfer.add_recovery_gap(length);
            }
        } else if self.was_window_full() {
            let (release, prompt) = self.release(seg, again, path);
            // The timer of a nearly closed window is longer than this.
            let by_window = prompt && matches!(release, Release::WindowAck | Release::WindowUpdate);
            let held = by_window || self.since_send.met_zero_window();
            if let Some(transfer) = self.transfer.as_mut().filter(|_| held) {
                transfer.add_window_full_gap(length);
            }
        }
    }

    /// Returns whether too little room stopped the sender since its last send.
    #[inline]
    pub(super) fn was_window_full(&self) -> bool {
        self.min_window_room().is_some_and(|room| self.room_stops_sender(room))
    }

    /// Returns what ended the pause before this send, and whether an ACK came immediately before
    /// it.
    #[inline]
    fn release(&self, seg: &Seg, again: Option<RetransmitContext>, path: &PathEstimate) -> (Release, bool) {
        let since = &self.since_send;
        // A queue filled by the sender delays ACKs; with nothing in flight there is no queue.
        let is_idle = self.snd_una >= self.snd_max;
        let queued =
            || if is_idle { Nanos::ZERO } else { (self.recent_loop_to_sender - path.loop_to_sender).or_zero() };
        let prompt = since.released_at.is_some_and(|at| {
            let later = seg.time - at;
            later <= path.epsilon || later <= path.epsilon + queued()
        });
        let full = self.is_window_limited(seg);
        let release = match again {
            Some(RetransmitContext { by_timer: true, .. }) => Release::Timer,
            _ if prompt && since.with_payload && self.snd_una == self.snd_max => Release::Peer,
            _ if prompt && full && since.window_update && !since.acked_new => Release::WindowUpdate,
            _ if prompt && full => Release::WindowAck,
            _ if prompt => Release::Ack,
            // A closed or nearly closed window stops the sender in any case.
            _ if self.is_window_shut(seg) => Release::WindowUpdate,
            _ => Release::Nothing,
        };
        (release, prompt)
    }

    /// Records an individual pause.
    #[inline(never)]
    fn record_gap(&mut self, seg: &Seg, unseen: bool, again: Option<RetransmitContext>, path: &PathEstimate) {
        let (Some(gap), Some(transfer)) = (self.gap_before(seg, unseen, again, path), &mut self.transfer) else {
            return;
        };
        let most = again.and_then(|again| again.max_timer_wait).unwrap_or(Nanos::MAX);
        // The last ACK of new data restarts the timer (RFC 6298 section 5.3).
        let rearmed = (self.all_acked_at.1 + path.loop_to_sender).max(gap.start);
        if gap.idle && gap.end - rearmed > most.scale(1.25) {
            // First the application was silent, then the timer ran.
            let (start, missing) = (gap.end - most, gap.missing.map(|_| 0));
            let release = Release::Nothing;
            transfer.add_gap(SendPause { end: start, release, tail: false, is_retransmit: false, missing, ..gap });
            transfer.add_gap(SendPause { start, ..gap });
        } else {
            transfer.add_gap(gap);
        }
    }

    /// Returns the pause before this send of new bytes, if it is long enough to be recorded.
    pub(super) fn pause_before(&self, seg: &Seg, path: &PathEstimate) -> Option<SendPause> {
        let (last, _) = self.last_send.at?;
        let floor = self.transfer.as_ref()?.gap_floor();
        if seg.time - last > floor { self.gap_before(seg, false, None, path) } else { None }
    }

    fn gap_before(
        &self,
        seg: &Seg,
        unseen: bool,
        again: Option<RetransmitContext>,
        path: &PathEstimate,
    ) -> Option<SendPause> {
        let (last, last_place) = self.last_send.at?;
        let (release, prompt) = self.release(seg, again, path);
        let since = self.since_send;
        let no_room = again.is_some_and(|again| again.no_room);
        Some(SendPause {
            start: last,
            end: seg.time,
            release,
            closed: self.zero_window_in(last, seg.time).filter(|_| no_room || self.is_window_limited(seg)),
            recovering: self.scoreboard.recovery != Recovery::None,
            ack_late: if prompt { since.ack_late } else { Nanos::ZERO },
            snd_max: self.snd_max,
            in_flight: self.last_send.flight,
            window_room: self.min_window_room(),
            before_len: self.last_send.len,
            app_limited: self.last_send.app_limited,
            with_peer_payload: prompt && since.any_payload,
            peer_payload_at: since.payload_at.map(|at| at.max(last).min(seg.time)),
            tail: again.is_some_and(|again| again.tail),
            lost_retransmit: again.is_some_and(|again| again.lost_retransmit),
            is_retransmit: again.is_some(),
            idle: self.snd_una >= self.snd_max,
            ends_in_credit: seg.kind == PayloadKind::Credit,
            unseen,
            // A hole before this segment is data that the application sent after the pause, or that
            // a probe with new bytes reveals.
            missing: self.missing_packets().filter(|&packets| packets > 0 || !unseen),
            missing_while_unproven: self.missing_while_unproven(),
            sent_apart: self.sender_time_since_last_send(seg),
            last_ack: since.emptied,
            after_len: u64::from(seg.len),
            frames: (last_place.frame(), seg.frame()),
            ack_frame: since.released_at.map(|_| since.release_frame.frame()),
        })
    }
}

impl SenderState {
    /// Returns when the window closed during a pause, and for how long in total.
    fn zero_window_in(&self, start: Time, end: Time) -> Option<(Time, Nanos)> {
        let from = self.since_send.closed_at?.max(start);
        let still = self.window.closed_since.map_or(Nanos::ZERO, |since| (end - since.max(start)).or_zero());
        let length = (self.since_send.closed_for + still).min((end - from).or_zero());
        (length > Nanos::ZERO).then_some((from, length))
    }
}

/// Marks pauses in which bytes of either side were not captured: these bytes may have ended them.
pub(in crate::tcp) fn mark_unseen_gaps(directions: &mut [DirectionFacts; 2]) {
    let mut times: Vec<Time> = directions.iter().flat_map(|sender| &sender.missing).map(|&(_, time)| time).collect();
    if times.is_empty() {
        return;
    }
    times.sort_unstable();
    for gap in directions.iter_mut().flat_map(|sender| &mut sender.transfers).flat_map(|transfer| &mut transfer.pauses)
    {
        let next = times.partition_point(|&time| time <= gap.start);
        gap.unseen |= times.get(next).is_some_and(|&time| time <= gap.end);
    }
}
