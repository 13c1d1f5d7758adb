//! CUBIC (RFC 9438), counted in whole segments as Linux does (`tcp_cubic.c`): after a loss the window grows as a cubic function of time
//! around the window at which it was lost. At small windows the whole segments matter: Reno's share, which it follows, is a
//! segment ahead of it.

use super::hystart::HyStart;
use super::{Acked, Control, Sending, SlowStart, whole};
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
/// Where it should not grow at all it still does, by a segment for so many windows.
const SLOWEST: f64 = 100.0;
/// For less than so many segments it is not worth while to look ahead.
const LULL: f64 = 8.0;

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
    lull: Lull,
}

/// For how long single segments that are acknowledged do not let the window grow: what each then changes is counted, and no more.
#[derive(Debug, Default)]
struct Lull {
    /// With this window, and up to this time, …
    window: f64,
    until: Nanos,
    /// … while what was acknowledged since the window grew, and since Reno's share did, is less than this.
    credit: f64,
    step: f64,
}

impl Cubic {
    #[inline]
    fn avoid(&mut self, now: Nanos, segments: f64) {
        let (credit, acked) = (self.slow.credit + segments, self.friendly.1 + segments);
        let Lull { window, until, .. } = self.lull;
        if window == self.slow.window && now <= until && credit < self.lull.credit && acked < self.lull.step {
            (self.slow.credit, self.friendly.1) = (credit, acked);
        } else {
            self.reckon(now, segments);
        }
    }

    #[inline(never)]
    fn reckon(&mut self, now: Nanos, segments: f64) {
        let window = whole(self.slow.window);
        if self.epoch.is_none() {
            self.epoch = Some(now);
            self.k = if self.most > window { ((self.most - window) / C).cbrt() } else { 0.0 };
            self.origin = self.most.max(window);
            self.friendly = (window, 0.0);
        }
        let (share, acked) = &mut self.friendly;
        *acked += segments;
        let step = FRIENDLY * window;
        if *acked >= step {
            let more = whole(*acked / step);
            *acked -= more * step;
            *share += more;
        }
        let per_segment = self.per_segment(now, window);
        let before = self.slow.window;
        self.slow.avoid(per_segment, segments);
        // It grows ever faster, but from where it was when it was cut on.
        let until = now + self.least.scale((per_segment / window).min(1.0));
        let fastest = if per_segment < LULL || self.slow.window != before {
            0.0
        } else {
            self.per_segment(until, window).min(SLOWEST * window)
        };
        self.lull = Lull { window: before, until, credit: fastest, step };
    }

    /// Segments to be acknowledged at this time for each by which a window of so many whole ones grows.
    fn per_segment(&self, now: Nanos, window: f64) -> f64 {
        let since = self.epoch.unwrap_or(now);
        let time = (now - since + self.least).as_secs_f64();
        let target = C * (time - self.k).powi(3) + self.origin;
        let mut per_segment = if target > window { window / (target - window) } else { SLOWEST * window };
        if self.most == 0.0 {
            per_segment = per_segment.min(FIRST);
        }
        let share = self.friendly.0;
        if share > window {
            per_segment = per_segment.min(window / (share - window));
        }
        per_segment.max(FASTEST)
    }

    fn begin_anew(&mut self) {
        self.epoch = None;
        self.lull = Lull::default();
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
            lull: Lull::default(),
        }
    }

    #[inline(always)]
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
        let window = whole(self.slow.window);
        // Fast convergence (RFC 9438 section 4.7).
        self.most = if window < self.most { window * (1.0 + BETA) / 2.0 } else { window };
        self.slow.cut(BETA);
        self.begin_anew();
    }

    fn on_timeout(&mut self, now: Nanos) {
        self.on_loss(now);
        self.slow.window = 1.0;
    }

    fn on_idle(&mut self, initial_window: f64) {
        self.slow.start_anew(initial_window);
        self.begin_anew();
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
