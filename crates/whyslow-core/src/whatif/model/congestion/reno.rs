//! Reno (RFC 5681): one segment more a round, half of the window after a loss.

use super::{Acked, Control, Sending, SlowStart, whole};
use crate::units::Nanos;

#[derive(Debug)]
pub(in super::super) struct Reno(SlowStart);

impl Control for Reno {
    fn new(sending: &Sending, _rtt: Nanos) -> Self {
        Self(SlowStart::new(sending))
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &Acked) {
        if acked.recovering || !acked.limited {
            return;
        }
        let mut segments = acked.segments;
        if self.0.is_on() {
            segments = self.0.grow(segments);
        }
        if segments > 0.0 {
            self.0.avoid(whole(self.0.window), segments);
        }
    }

    fn on_loss(&mut self, _now: Nanos) {
        self.0.cut(0.5);
    }

    fn on_timeout(&mut self, now: Nanos) {
        self.on_loss(now);
        self.0.window = 1.0;
    }

    fn on_idle(&mut self, initial_window: f64) {
        self.0.start_anew(initial_window);
    }

    fn on_recovered(&mut self) {
        self.0.window = self.0.threshold;
    }

    fn window(&self) -> f64 {
        self.0.window
    }

    fn threshold(&self) -> f64 {
        self.0.threshold
    }
}
