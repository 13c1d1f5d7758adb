//! Losses are detected as in RACK (RFC 8985): a segment is lost once a later one has arrived, and
//! either three have or a quarter of an RTT has passed.

use super::{Segment, Sender, State};
use crate::congestion::CongestionController;
use crate::recovery::Recovery;
use whyslow_units::Time;

impl<C: CongestionController> Sender<C> {
    /// Looks for copies that a later one has overtaken.
    #[inline]
    pub(crate) fn detect_losses(&mut self, now: Time) {
        self.recheck = None;
        let patient = self.sacked_out < 3 && self.recovery.is_none();
        let mut found = false;
        while let Some((segment, sent)) = self.overtaken() {
            let due = sent + self.rtt.reordering_window();
            if patient && due > now {
                self.recheck = Some(due);
                break;
            }
            self.mark_lost(segment);
            found = true;
        }
        if found && self.recovery.is_none() {
            self.control.on_loss(now);
            self.recovery = Some(Recovery::after_loss(self.count(), self.in_flight, self.lost.len()));
        }
    }

    /// Returns the oldest copy in flight that was sent before the newest one that arrived: its
    /// segment, and when it was sent.
    #[inline]
    fn overtaken(&mut self) -> Option<(usize, Time)> {
        self.checked_until = self.checked_until.max(self.snd_una);
        let is_first_copy = |it: &Segment| it.state == State::InFlight && !it.retransmitted;
        while self.get(self.checked_until).is_some_and(|it| !is_first_copy(it)) {
            self.checked_until += 1;
        }
        let is_latest = |it: &Segment, order| it.state == State::InFlight && it.order == order;
        while let Some(&(segment, order)) = self.retransmit_queue.front() {
            if self.get(segment).is_some_and(|it| is_latest(it, order)) {
                break;
            }
            self.retransmit_queue.pop_front();
        }
        let copy = |segment: usize| self.get(segment).map(|it| (it.order, segment, it.sent));
        let again = self.retransmit_queue.front().and_then(|copy_again| copy(copy_again.0));
        let first = [copy(self.checked_until), again].into_iter().flatten().min_by_key(|copy| copy.0);
        first.filter(|copy| copy.0 < self.newest_delivered.0).map(|(_, segment, sent)| (segment, sent))
    }

    pub(super) fn mark_lost(&mut self, segment: usize) {
        if let Some(known) = self.segments.get_mut(segment) {
            known.state = State::Lost;
            self.in_flight = self.in_flight.saturating_sub(1);
            self.lost.insert(segment);
        }
    }
}
