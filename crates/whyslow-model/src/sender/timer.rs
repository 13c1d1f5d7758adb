//! The end of a silence: a tail loss probe (RFC 8985 section 7), then the RTO (RFC 6298).

use super::{Packet, Sender};
use crate::congestion::CongestionController;
use crate::recovery::Recovery;
use crate::rtt::times;
use whyslow_analysis::types::RTO_MIN;
use whyslow_units::{Nanos, Time};

/// How much longer than two RTTs a tail loss probe waits with more than one segment in flight.
const MIN_PROBE_WAIT: Nanos = Nanos::from_millis(2);

impl<C: CongestionController> Sender<C> {
    /// A timer started now does not fire before this time.
    pub(crate) fn timer_after(&self, now: Time) -> Time {
        Time(now.0 + self.rtt.srtt().0 + MIN_PROBE_WAIT.0)
    }

    /// Returns when the timer fires.
    pub(crate) fn rto_timer(&mut self) -> Option<Time> {
        // Each packet and ACK restarts it, and only the last restart before another event matters.
        if let Some(now) = self.rearm_at.take() {
            self.rto_timer = self.timer_from(now);
        }
        self.rto_timer
    }

    fn timer_from(&self, now: Time) -> Option<Time> {
        if self.in_flight == 0 && self.lost.is_empty() {
            None
        } else if self.may_probe() {
            let alone = if self.in_flight == 1 { RTO_MIN } else { MIN_PROBE_WAIT };
            Some(now + (times(self.rtt.srtt(), 2) + alone).min(self.rto()))
        } else {
            Some(now + self.rto())
        }
    }

    fn may_probe(&self) -> bool {
        self.recovery.is_none() && self.sacked_out == 0 && !self.probed && self.backoff == 0
    }

    /// Handles the timer. Returns a probe to send, or `None` if everything outstanding counts as
    /// lost now.
    pub(crate) fn on_timer(&mut self, now: Time) -> Option<Packet> {
        self.rto_timer = None;
        if self.may_probe() && self.in_flight > 0 {
            self.probed = true;
            let size = self.next_size(false).unwrap_or(0);
            if size > 0 {
                return Some(self.send_new(now, size));
            }
            let last = (self.snd_una..self.count()).rev().find(|&segment| self.is_in_flight(segment))?;
            self.scanned += (self.count() - last) as u64;
            self.in_flight = self.in_flight.saturating_sub(1);
            return self.retransmit(now, last);
        }
        self.on_rto(now);
        self.backoff += 1;
        None
    }

    /// Handles an RTO: everything outstanding counts as lost, and cwnd is one segment.
    pub(crate) fn on_rto(&mut self, now: Time) {
        self.scanned += (self.count() - self.snd_una) as u64;
        for segment in self.snd_una..self.count() {
            if self.is_in_flight(segment) {
                self.mark_lost(segment);
            }
        }
        self.collapse_cwnd(now);
    }

    /// Reduces cwnd to one segment.
    fn collapse_cwnd(&mut self, now: Time) {
        self.control.on_timeout(now);
        self.recovery = (!self.lost.is_empty()).then(|| Recovery::after_timer(self.count()));
        self.round_end = self.count();
    }

    /// Restores the initial window after a long silence (RFC 5681 section 4.1).
    pub(crate) fn restart_after_idle(&mut self, initial_window: f64) {
        self.control.on_idle(initial_window);
    }
}
