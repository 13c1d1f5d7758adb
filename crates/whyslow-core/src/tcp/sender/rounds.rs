//! Decides whether new data begins a transfer, a round, or neither.

use super::scoreboard::Recovery;
use super::sends::is_newer;
use super::transfer_recorder::TransferRecorder;
use super::turns::NewDataBegins;
use super::{PathEstimate, SenderState};
use crate::tcp::payload::PayloadKind;
use crate::tcp::segment::Seg;

impl SenderState {
    /// Processes new data sent after an event since the last send, usually an ACK: it may begin a
    /// round or a transfer, and end a pause.
    #[inline(never)]
    pub(super) fn update_on_send(&mut self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) {
        match (&mut self.transfer, self.last_send.at) {
            // No transfer or round begins, no byte is skipped, and the pause is too short to
            // record.
            (Some(transfer), Some((last, _)))
                if !self.round.due
                    && self.peer_payload.is_none()
                    && start == self.snd_max
                    && seg.time.since(last) < transfer.short_gap_limit()
                    && !is_newer(seg, self.newest_peer_tsval) =>
            {
                transfer.reopen();
                self.end_short_gap(seg, seg.time.after(last), None, path);
                self.record_flight(end);
            }
            _ => self.update_on_any_send(seg, start, end, path),
        }
    }

    #[inline(never)]
    fn update_on_any_send(&mut self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) {
        self.begin_transfer_or_round(seg, start, path);
        if start != self.snd_max {
            self.note_sequence_jump(seg, start);
        }
        let again = self.as_unseen_retransmit(seg, start, path);
        self.end_gap(seg, start > self.snd_max, again, path);
        self.record_flight(end);
    }

    /// Records that everything up to `end` is in flight now.
    #[inline]
    fn record_flight(&mut self, end: u64) {
        self.snd_max = end;
        self.last_send.flight = self.in_flight();
        self.reset_since_send();
        let window = self.window.right_edge.map(|edge| edge.saturating_sub(self.snd_una));
        if let Some(transfer) = &mut self.transfer {
            transfer.note_window(window);
            // In this state, bytes in flight are those sent minus those acknowledged, and only an
            // ACK can end a pause.
            let is_plain = self.scoreboard.is_plain() && self.window.closed_since.is_none();
            // The next segment may answer a message that crossed this one.
            self.short_gap_limit = if is_plain && self.peer_payload.is_none() { transfer.short_gap_limit() } else { 0 };
        }
    }

    /// Begins a round with this segment. Captured before it is cut (TSO), it is several segments,
    /// and the ACK of the first of them ends the round.
    pub(super) fn begin_round(&mut self, seg: &Seg, start: u64) {
        let first_end = start + u64::from(seg.len).min(self.mss());
        self.round.begin(seg, first_end, self.snd_max.max(start + u64::from(seg.len)));
    }

    /// Begins a transfer, a round, or neither, for new data at `start`.
    fn begin_transfer_or_round(&mut self, seg: &Seg, start: u64, path: &PathEstimate) {
        if let NewDataBegins::Transfer(request) = self.classify_new_data(seg, start, path) {
            let first = start.min(self.snd_max.max(1));
            let mut transfer = TransferRecorder::new(first, seg.time, seg.frame(), path.epsilon, self.rate_bin());
            transfer.facts().answered = request;
            transfer.facts().is_housekeeping = seg.kind == PayloadKind::Credit;
            transfer.facts().loop_at_start = path.loop_to_sender;
            transfer.facts().missing_before = self.ip_ids.missing_before(seg, request.map(|asked| asked.last));
            self.transfer = Some(transfer);
            self.last_send.at = None;
            self.begin_round(seg, start);
            return;
        }
        // If the capture lacks ACKs, an echoed timestamp shows that one arrived.
        let unseen_ack = is_newer(seg, self.newest_peer_tsval)
            && path.rtt.is_some_and(|rtt| self.round.age(seg.time) > rtt.scale(0.75));
        if self.round.due || unseen_ack {
            let at_once = self.since_send.released_at.is_some_and(|at| seg.time - at <= path.epsilon);
            let flowing = self.last_send.at.is_some_and(|(last, _)| seg.time - last <= path.epsilon);
            let held = self.since_send.met_zero_window() || self.since_send.window_update;
            let unrestricted = self.scoreboard.recovery == Recovery::None && !held;
            // A sender that waits for an ACK for longer than its timer retransmits.
            let measured = self.round.is_measured(seg) && self.round.age(seg.time) <= self.srtt.longest_rto();
            if (at_once || flowing) && unrestricted && measured && path.loop_to_sender > path.epsilon {
                self.round_lengths.push(self.round.age(seg.time));
            }
            self.begin_round(seg, start);
            if let Some(transfer) = &mut self.transfer {
                transfer.next_round(seg.time, seg.frame(), self.last_send.at);
            }
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.reopen();
        }
    }
}
