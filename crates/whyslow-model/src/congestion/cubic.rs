//! CUBIC (RFC 9438), counted in whole segments as Linux does (`tcp_cubic.c`): after a loss the
//! window grows as a cubic function of time around the window at which it was lost. At small
//! windows the whole segments matter: Reno's share, which it follows, is a segment ahead of it.

use super::hystart::HyStart;
use super::{AckSample, CongestionController, RenoWindow, SenderSettings, whole};
use whyslow_units::{Nanos, Time};

/// RFC 9438 section 5: C, in segments per second cubed.
const C: f64 = 0.4;
/// Share of the window that remains after a loss (RFC 9438 section 4.6).
const BETA: f64 = 0.7;
/// Acknowledged windows for which Reno's share grows by a segment (RFC 9438 section 4.3).
const RENO_FRIENDLY: f64 = (1.0 + BETA) / (3.0 * (1.0 - BETA));
/// The window grows by at most one segment for this number of acknowledged ones, …
const FASTEST: f64 = 2.0;
/// … and, before the first loss, by at least one for this number (Linux `bictcp_update`).
const FIRST: f64 = 20.0;
/// Where it should not grow at all it still grows by a segment for this number of windows (Linux
/// `bictcp_update`).
const SLOWEST: f64 = 100.0;
/// Minimum number of segments for which looking ahead is faster than counting.
const LULL: f64 = 8.0;

#[derive(Debug)]
pub(in super::super) struct Cubic {
    reno: RenoWindow,
    hystart: Option<HyStart>,
    w_max: f64,
    /// Since when the window grows.
    epoch: Option<Time>,
    /// Time when the window reaches `origin` (again), seconds.
    k: f64,
    origin: f64,
    /// Reno's share, segments, and the segments acknowledged since it last grew.
    w_est: (f64, f64),
    min_rtt: Nanos,
    lull: Lull,
}

/// How long single acknowledged segments do not let the window grow: until then they are only
/// counted.
#[derive(Debug, Default)]
struct Lull {
    /// With this window, and up to this time, …
    cwnd: f64,
    until: Time,
    /// … while the segments acknowledged since the window grew, and since Reno's share did, are
    /// fewer than this.
    credit: f64,
    step: f64,
}

impl Cubic {
    #[inline]
    fn avoid_congestion(&mut self, now: Time, segments: f64) {
        let (credit, acked) = (self.reno.credit + segments, self.w_est.1 + segments);
        let Lull { cwnd: window, until, .. } = self.lull;
        if window == self.reno.cwnd && now <= until && credit < self.lull.credit && acked < self.lull.step {
            (self.reno.credit, self.w_est.1) = (credit, acked);
        } else {
            self.reckon(now, segments);
        }
    }

    #[inline(never)]
    fn reckon(&mut self, now: Time, segments: f64) {
        let window = whole(self.reno.cwnd);
        if self.epoch.is_none() {
            self.epoch = Some(now);
            self.k = if self.w_max > window { libm::cbrt((self.w_max - window) / C) } else { 0.0 };
            self.origin = self.w_max.max(window);
            self.w_est = (window, 0.0);
        }
        let (share, acked) = &mut self.w_est;
        *acked += segments;
        let step = RENO_FRIENDLY * window;
        if *acked >= step {
            let more = whole(*acked / step);
            *acked -= more * step;
            *share += more;
        }
        let per_segment = self.per_segment(now, window);
        let before = self.reno.cwnd;
        self.reno.avoid_congestion(per_segment, segments);
        // It grows ever faster, but from where it was when it was cut on.
        let until = now + self.min_rtt.scale((per_segment / window).min(1.0));
        let fastest = if per_segment < LULL || self.reno.cwnd != before {
            0.0
        } else {
            self.per_segment(until, window).min(SLOWEST * window)
        };
        self.lull = Lull { cwnd: before, until, credit: fastest, step };
    }

    /// Segments to be acknowledged at this time for each segment by which `window` grows.
    fn per_segment(&self, now: Time, window: f64) -> f64 {
        let since = self.epoch.unwrap_or(now);
        let time = (now - since + self.min_rtt).as_secs_f64();
        let from_plateau = time - self.k;
        let target = C * (from_plateau * from_plateau * from_plateau) + self.origin;
        let mut per_segment = if target > window { window / (target - window) } else { SLOWEST * window };
        if self.w_max == 0.0 {
            per_segment = per_segment.min(FIRST);
        }
        let share = self.w_est.0;
        if share > window {
            per_segment = per_segment.min(window / (share - window));
        }
        per_segment.max(FASTEST)
    }

    fn reset_epoch(&mut self) {
        self.epoch = None;
        self.lull = Lull::default();
    }
}

impl CongestionController for Cubic {
    fn new(sending: &SenderSettings, _rtt: Nanos) -> Self {
        Self {
            reno: RenoWindow::new(sending),
            hystart: sending.hystart.then(HyStart::default),
            w_max: 0.0,
            epoch: None,
            k: 0.0,
            origin: 0.0,
            w_est: (0.0, 0.0),
            min_rtt: Nanos::ZERO,
            lull: Lull::default(),
        }
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &AckSample) {
        if let Some(rtt) = acked.rtt {
            self.min_rtt = if self.min_rtt > Nanos::ZERO { self.min_rtt.min(rtt) } else { rtt };
        }
        if self.reno.in_slow_start()
            && let Some(hystart) = &mut self.hystart
            && hystart.should_exit(acked, self.reno.cwnd)
        {
            self.reno.ssthresh = self.reno.cwnd;
        }
        if acked.recovering || !acked.cwnd_limited {
            return;
        }
        let mut segments = acked.segments;
        if self.reno.in_slow_start() {
            segments = self.reno.grow(segments);
        }
        if segments > 0.0 {
            self.avoid_congestion(acked.now, segments);
        }
    }

    fn on_loss(&mut self, _now: Time) {
        let window = whole(self.reno.cwnd);
        // Fast convergence (RFC 9438 section 4.7).
        self.w_max = if window < self.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.reno.reduce(BETA);
        self.reset_epoch();
    }

    fn on_timeout(&mut self, now: Time) {
        self.on_loss(now);
        self.reno.cwnd = 1.0;
    }

    fn on_idle(&mut self, initial_window: f64) {
        self.reno.restart_after_idle(initial_window);
        self.reset_epoch();
    }

    fn on_recovered(&mut self) {
        self.reno.cwnd = self.reno.ssthresh;
    }

    fn cwnd(&self) -> f64 {
        self.reno.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh
    }
}
