//! Reno (RFC 5681): one segment more a round, half of the window after a loss.

use super::{Acked, Control, SlowStart};
use crate::units::Nanos;

#[derive(Debug)]
pub(super) struct Reno(SlowStart);

impl Reno {
    pub(super) fn new(slow: SlowStart) -> Self {
        Self(slow)
    }
}

impl Control for Reno {
    fn on_ack(&mut self, acked: &Acked) {
        if acked.recovering || !acked.limited {
            return;
        }
        let mut segments = acked.segments;
        if self.0.is_on() {
            segments = self.0.grow(segments);
        }
        if segments > 0.0 {
            self.0.avoid(self.0.window.floor(), segments);
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
