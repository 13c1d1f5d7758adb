//! Reno (RFC 5681): one segment more a round, half of the window after a loss.

use super::{AckSample, CongestionController, RenoWindow, SenderSettings, whole};
use whyslow_units::{Nanos, Time};

#[derive(Debug)]
pub(in super::super) struct Reno(RenoWindow);

impl CongestionController for Reno {
    fn new(sending: &SenderSettings, _rtt: Nanos) -> Self {
        Self(RenoWindow::new(sending))
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &AckSample) {
        if acked.recovering || !acked.cwnd_limited {
            return;
        }
        let mut segments = acked.segments;
        if self.0.in_slow_start() {
            segments = self.0.grow(segments);
        }
        if segments > 0.0 {
            self.0.avoid_congestion(whole(self.0.cwnd), segments);
        }
    }

    fn on_loss(&mut self, _now: Time) {
        self.0.reduce(0.5);
    }

    fn on_timeout(&mut self, now: Time) {
        self.on_loss(now);
        self.0.cwnd = 1.0;
    }

    fn on_idle(&mut self, initial_window: f64) {
        self.0.restart_after_idle(initial_window);
    }

    fn on_recovered(&mut self) {
        self.0.cwnd = self.0.ssthresh;
    }

    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }
}
