//! Effects of ACKs on the send window.

use super::SenderState;
use super::pending_acks::AckFields;
use crate::wire::Flags;
use whyslow_units::Time;

impl SenderState {
    /// Updates the send window. Returns whether the right edge advanced.
    #[inline(always)]
    pub(super) fn update_snd_wnd(&mut self, fields: &AckFields, at: Time) -> bool {
        let Some(window) = fields.window() else {
            return self.update_unscaled_window(fields, at);
        };
        // RFC 9293 section 3.10.7.4: an older ACK must not update the window.
        if fields.ack < self.snd_una {
            return false;
        }
        if self.facts.assumed_shift.is_some()
            && self.window.right_edge.is_some_and(|edge| edge < self.snd_max)
            && !self.is_window_probe()
        {
            self.reject_assumed_shift();
            return false;
        }
        let edge = fields.ack + window;
        let opened = self.window.right_edge.is_none_or(|before| edge > before);
        self.facts.window_full += u64::from(opened && self.window.right_edge == Some(self.snd_max));
        self.window.wnd = Some(window);
        self.window.right_edge = Some(edge);
        if self.window.scale.is_some() && self.facts.max_window.is_none_or(|most| window > most) {
            self.facts.max_window = Some(window);
        }
        if self.window.low_since.is_some() || self.facts.max_window.is_some_and(|most| window < most / 2) {
            self.note_low_window(window, at);
        }
        let is_closure = window == 0 || self.window.closed_since.is_some();
        if is_closure && fields.flags.0 & (Flags::RST | Flags::SYN).0 == 0 {
            self.note_zero_window(window, at);
        }
        opened
    }

    /// Returns whether at most one byte was sent beyond the window, as in a window probe.
    fn is_window_probe(&self) -> bool {
        self.window.right_edge.is_some_and(|edge| self.snd_max <= edge + 1)
    }

    /// Assumes this window scale shift, if it is valid and no SYN has one.
    pub(in crate::tcp) fn assume_shift(&mut self, shift: Option<u8>) {
        if let Some(shift) = shift.filter(|_| self.window.scale.is_none()) {
            (self.window.scale, self.facts.assumed_shift) = (Some(shift), Some(shift));
            self.window.inferred.assume(shift);
            self.repeatable_ack = None;
        }
    }

    /// Bytes in flight exceed the assumed scale: the scale is unknown again.
    #[inline(never)]
    fn reject_assumed_shift(&mut self) {
        self.window.scale = None;
        self.facts.assumed_shift = None;
        self.window.forget_offer();
        self.facts.max_window = None;
        self.window.inferred.reject_assumed();
        self.repeatable_ack = None;
    }

    /// Handles an open window of unknown scale. Returns whether the window was closed before.
    #[inline(never)]
    fn update_unscaled_window(&mut self, fields: &AckFields, at: Time) -> bool {
        let shift = self.window.inferred.infer(fields, (self.snd_max, self.mss()), self.last_send.app_limited);
        self.assume_shift(shift);
        if self.window.closed_since.is_none() || fields.ack < self.snd_una {
            return false;
        }
        self.window.forget_offer();
        if fields.flags.0 & (Flags::RST | Flags::SYN).0 == 0 {
            self.note_zero_window(1, at);
        }
        true
    }

    /// Adds the time since the last ACK, if that offered less than half of the largest window.
    #[inline(never)]
    fn note_low_window(&mut self, window: u64, at: Time) {
        if let (Some(since), Some(transfer)) = (self.window.low_since, &mut self.transfer) {
            let facts = transfer.facts();
            facts.window_low += (at - since.max(facts.start)).or_zero();
        }
        let is_low = self.facts.max_window.is_some_and(|most| window < most / 2);
        self.window.low_since = is_low.then_some(at);
    }

    /// Records that the window has closed or opened again.
    #[inline(never)]
    fn note_zero_window(&mut self, window: u64, at: Time) {
        self.facts.zero_windows += u64::from(window == 0);
        match (window == 0, self.window.closed_since) {
            (true, None) => {
                self.window.closed_since = Some(at);
                self.facts.closings += 1;
                self.since_send.closed_at.get_or_insert(at);
            }
            (false, Some(since)) => {
                self.facts.zero_window += (at - since).or_zero();
                let paused = self.last_send.at.map_or(since, |(last, _)| last.max(since));
                self.since_send.closed_for += (at - paused).or_zero();
                self.window.closed_since = None;
            }
            _ => {}
        }
    }
}
