//! CUBIC (RFC 9438), counted in whole segments as Linux does (`tcp_cubic.c`): after a loss the window grows as a cubic function of time
//! around the window at which it was lost. At small windows the whole segments matter: Reno's share, which it follows, is a
//! segment ahead of it.

use super::hystart::HyStart;
use super::{Acked, Control, Sending, SlowStart};
use crate::units::Nanos;

/// RFC 9438 section 5: C, in segments per second cubed.
const C: f64 = 0.4;
/// What is left of the window after a loss.
const BETA: f64 = 0.7;
/// Reno's share is a segment more for so many windows that are acknowledged (RFC 9438 section 4.3).
const FRIENDLY: f64 = (1.0 + BETA) / (3.0 * (1.0 - BETA));
/// The window never grows by more than a segment for so many that are acknowledged, …
const FASTEST: f64 = 2.0;
/// … and, before the first loss, never by less than one for so many.
const FIRST: f64 = 20.0;

#[derive(Debug)]
pub(in super::super) struct Cubic {
    slow: SlowStart,
    hystart: Option<HyStart>,
    most: f64,
    /// Since when the window grows.
    epoch: Option<Nanos>,
    /// When it reaches `origin` (again), seconds.
    k: f64,
    origin: f64,
    /// Reno's share, segments, and what was acknowledged since it last grew.
    friendly: (f64, f64),
    least: Nanos,
}

impl Cubic {
    fn avoid(&mut self, now: Nanos, segments: f64) {
        let window = self.slow.window.floor();
        let since = *self.epoch.get_or_insert_with(|| {
            self.k = if self.most > window { ((self.most - window) / C).cbrt() } else { 0.0 };
            self.origin = self.most.max(window);
            self.friendly = (window, 0.0);
            now
        });
        let time = (now - since + self.least).as_secs_f64();
        let target = C * (time - self.k).powi(3) + self.origin;
        let mut per_segment = if target > window { window / (target - window) } else { 100.0 * window };
        if self.most == 0.0 {
            per_segment = per_segment.min(FIRST);
        }
        let (share, acked) = &mut self.friendly;
        *acked += segments;
        let step = FRIENDLY * window;
        let more = (*acked / step).floor();
        *acked -= more * step;
        *share += more;
        if *share > window {
            per_segment = per_segment.min(window / (*share - window));
        }
        self.slow.avoid(per_segment.max(FASTEST), segments);
    }
}

impl Control for Cubic {
    fn new(sending: &Sending, _rtt: Nanos) -> Self {
        Self {
            slow: SlowStart::new(sending),
            hystart: sending.hystart.then(HyStart::default),
            most: 0.0,
            epoch: None,
            k: 0.0,
            origin: 0.0,
            friendly: (0.0, 0.0),
            least: Nanos::ZERO,
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.least = if self.least > Nanos::ZERO { self.least.min(rtt) } else { rtt };
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
        let window = self.slow.window.floor();
        // Fast convergence (RFC 9438 section 4.7).
        self.most = if window < self.most { window * (1.0 + BETA) / 2.0 } else { window };
        self.slow.cut(BETA);
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
