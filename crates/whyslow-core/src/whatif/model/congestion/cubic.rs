//! CUBIC (RFC 9438): after a loss the window grows as a cubic function of time around the window at which it was lost.

use super::hystart::HyStart;
use super::{Acked, Control, SlowStart};
use crate::units::Nanos;

/// RFC 9438 section 5: C, in segments per second cubed.
const C: f64 = 0.4;
/// What is left of the window after a loss.
const BETA: f64 = 0.7;
/// A window that follows Reno's share grows by so many segments a round (RFC 9438 section 4.3).
const FRIENDLY: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Debug)]
pub(super) struct Cubic {
    slow: SlowStart,
    hystart: Option<HyStart>,
    most: f64,
    /// Since when the window grows, with which window it began, and when it reaches `most` again, seconds.
    epoch: Option<(Nanos, f64)>,
    k: f64,
    friendly: f64,
    rtt: Nanos,
}

impl Cubic {
    pub(super) fn new(slow: SlowStart, hystart: Option<HyStart>) -> Self {
        Self { slow, hystart, most: 0.0, epoch: None, k: 0.0, friendly: 0.0, rtt: Nanos::ZERO }
    }

    fn avoid(&mut self, now: Nanos, segments: f64) {
        let window = self.slow.window;
        let (since, _) = *self.epoch.get_or_insert_with(|| {
            self.k = if self.most > window { ((self.most - window) / C).cbrt() } else { 0.0 };
            self.most = self.most.max(window);
            self.friendly = window;
            (now, window)
        });
        let time = (now - since + self.rtt).as_secs_f64();
        let target = (C * (time - self.k).powi(3) + self.most).min(1.5 * window);
        // RFC 9438 section 4.4 and 4.5: (target − cwnd) / cwnd for each ACK, at least a little.
        let step = if target > window { (target - window) / window } else { 0.01 / window };
        self.friendly += FRIENDLY * segments / window;
        self.slow.window = (window + step.min(0.5) * segments).max(self.friendly);
    }
}

impl Control for Cubic {
    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.rtt = rtt;
        }
        if self.slow.is_on()
            && let Some(hystart) = &mut self.hystart
            && hystart.ends(acked, self.slow.window)
        {
            self.slow.threshold = self.slow.window;
        }
        if acked.recovering || !acked.limited {
            return;
        }
        let mut segments = acked.segments;
        if self.slow.is_on() {
            segments = self.slow.grow(segments);
        }
        if segments > 0.0 {
            self.avoid(acked.now, segments);
        }
    }

    fn on_loss(&mut self, _now: Nanos) {
        let window = self.slow.window;
        // Fast convergence (RFC 9438 section 4.7).
        self.most = if window < self.most { window * (1.0 + BETA) / 2.0 } else { window };
        self.slow.threshold = (window * BETA).max(2.0);
        self.epoch = None;
    }

    fn on_timeout(&mut self, now: Nanos) {
        self.on_loss(now);
        self.slow.window = 1.0;
    }

    fn on_idle(&mut self, initial_window: f64) {
        self.slow.start_anew(initial_window);
        self.epoch = None;
    }

    fn on_recovered(&mut self) {
        self.slow.window = self.slow.threshold;
    }

    fn window(&self) -> f64 {
        self.slow.window
    }

    fn threshold(&self) -> f64 {
        self.slow.threshold
    }
}
