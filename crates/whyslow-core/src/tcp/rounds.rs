//! Rounds and transfers: what new data begins, where something has come to pass since the last send.

use super::half::{Half, View, is_newer};
use super::recorder::Recorder;
use super::segment::Seg;
use super::sent::Recovery;
use super::turns::Begins;

impl Half {
    /// New data is sent after something that may bear on it, an ACK as a rule: looks at all that it can begin or end.
    #[inline(never)]
    pub(super) fn take_stock(&mut self, seg: &Seg, start: u64, end: u64, view: &View) {
        match (&mut self.transfer, self.last_send) {
            // Neither a transfer nor a round begins, nothing is skipped, and no pause is over that is told of.
            (Some(transfer), Some((last, _)))
                if !self.round_due
                    && self.heard.is_none()
                    && start == self.sent_max
                    && seg.time.since(last) < transfer.brief()
                    && !is_newer(seg, self.newest_stamp) =>
            {
                transfer.reopen();
                self.end_brief_gap(seg, seg.time.after(last), None, view);
                self.stock_is_taken(end);
            }
            _ => self.take_all_stock(seg, start, end, view),
        }
    }

    #[inline(never)]
    fn take_all_stock(&mut self, seg: &Seg, start: u64, end: u64, view: &View) {
        self.begin_or_go_on(seg, start, view);
        if start != self.sent_max {
            self.note_step(seg, start);
        }
        let again = self.resent_unseen(seg, start, view);
        self.end_gap(seg, start > self.sent_max, again, view);
        self.stock_is_taken(end);
    }

    /// All that was sent up to `end` is in flight now.
    #[inline(always)]
    fn stock_is_taken(&mut self, end: u64) {
        self.sent_max = end;
        self.flight_at_send = self.in_flight();
        self.begin_pause();
        let window = self.edge.map(|edge| edge.saturating_sub(self.una));
        if let Some(transfer) = &mut self.transfer {
            transfer.has_window(window);
            // As long as this holds, what is in flight is what was sent less what was acknowledged, and nothing but an ACK can end
            // a pause.
            let is_plain = self.recovery == Recovery::None && self.sacked.is_empty() && self.zero_since.is_none();
            // A message that crossed this segment may yet be answered by the next one.
            self.calm = if is_plain && self.heard.is_none() { transfer.brief() } else { 0 };
        }
    }

    /// Opens a transfer, a round, or neither, for new data at `start`.
    fn begin_or_go_on(&mut self, seg: &Seg, start: u64, view: &View) {
        if let Begins::Transfer(request) = self.begins(seg, start, view) {
            let first = start.min(self.sent_max.max(1));
            let mut transfer = Recorder::new(first, seg.time, seg.frame(), view.epsilon, self.bin());
            transfer.facts().request = request;
            transfer.facts().missing_before = self.numbers.missing_before(seg, request.map(|asked| asked.last));
            self.transfer = Some(transfer);
            self.last_send = None;
            self.begin_round(seg, start + u64::from(seg.len));
            return;
        }
        // Where ACKs are missing from the capture, the echoed timestamp shows that one came.
        let unseen_ack = is_newer(seg, self.newest_stamp)
            && view.rtt.is_some_and(|rtt| seg.time - self.round_start > rtt.scale(0.75));
        if self.round_due || unseen_ack {
            let at_once = self.since.at.is_some_and(|at| seg.time - at <= view.epsilon);
            let flowing = self.last_send.is_some_and(|(last, _)| seg.time - last <= view.epsilon);
            let held = self.since.zero_window() || self.since.update;
            let calm = self.recovery == Recovery::None && !held;
            let measured = !seg.moved() && !self.round_start_moved;
            if (at_once || flowing) && calm && measured && view.toward_sender > view.epsilon {
                self.round_trips.push(seg.time - self.round_start);
            }
            self.begin_round(seg, start + u64::from(seg.len));
            if let Some(transfer) = &mut self.transfer {
                transfer.next_round(seg.time, seg.frame(), self.last_send);
            }
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.reopen();
        }
    }

    pub(super) fn begin_round(&mut self, seg: &Seg, end: u64) {
        self.round_mark = end;
        self.round_top = self.sent_max.max(end);
        self.round_due = false;
        self.round_start = seg.time;
        self.round_start_moved = seg.moved();
    }
}
