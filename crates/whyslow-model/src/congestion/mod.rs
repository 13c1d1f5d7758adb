//! Congestion control: how many segments may be in flight. One file a controller.

mod bbr;
mod cubic;
mod hystart;
mod reno;

pub(super) use bbr::Bbr;
pub(super) use cubic::Cubic;
pub(super) use reno::Reno;

use super::sender_settings::SenderSettings;
use whyslow_units::{Nanos, Time};

/// Data of an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSample {
    pub(super) now: Time,
    /// Segments that it newly acknowledges or selectively acknowledges.
    pub(super) segments: f64,
    /// Round trip of the newest of them, if it was sent once only.
    pub(super) rtt: Option<Nanos>,
    /// A new round began with it.
    pub(super) new_round: bool,
    /// The window, and nothing else, had held the sender back in this round.
    pub(super) cwnd_limited: bool,
    /// Lost segments are being retransmitted.
    pub(super) recovering: bool,
    /// Segments per nanosecond at which they were delivered; zero for controllers that do not ask.
    pub(super) delivery_rate: f64,
    /// Segments in flight after it.
    pub(super) in_flight: f64,
}

/// A congestion controller.
pub(super) trait CongestionController {
    /// Whether it needs the delivery rate.
    const NEEDS_DELIVERY_RATE: bool = false;
    /// Creates the controller of a sender with these settings. `rtt`: measured in the handshake.
    fn new(sending: &SenderSettings, rtt: Nanos) -> Self;
    /// An ACK arrived.
    fn on_ack(&mut self, acked: &AckSample);
    /// A loss was found, for the first time since the last recovery.
    fn on_loss(&mut self, now: Time);
    /// The retransmission timer fired.
    fn on_timeout(&mut self, now: Time);
    /// The sender was idle for longer than the timer.
    fn on_idle(&mut self, _initial_window: f64) {}
    /// Recovery is over.
    fn on_recovered(&mut self) {}
    /// Segments that may be in flight.
    fn cwnd(&self) -> f64;
    /// Slow start ends here, segments.
    fn ssthresh(&self) -> f64;
    /// Segments per nanosecond at which they may leave, when it paces.
    fn pacing(&self) -> Option<f64> {
        None
    }
    /// While lost segments are retransmitted the window goes down to the threshold (RFC 6937).
    fn uses_prr(&self) -> bool {
        true
    }
}

/// The whole part of a non-negative number: as `f64::floor`, without its call.
fn whole(value: f64) -> f64 {
    // Below this, numbers have a fraction.
    if value < (1u64 << 52) as f64 { value as i64 as f64 } else { value }
}

/// State that controllers with a window and a threshold share.
#[derive(Clone, Copy, Debug)]
struct RenoWindow {
    cwnd: f64,
    ssthresh: f64,
    /// Growth per acknowledged segment.
    gain: f64,
    /// Acknowledged in congestion avoidance since the window last grew.
    credit: f64,
}

impl RenoWindow {
    fn new(sending: &SenderSettings) -> Self {
        Self {
            cwnd: sending.initial_window.max(1.0),
            ssthresh: sending.ssthresh.max(2.0),
            gain: (sending.slow_start_growth - 1.0).clamp(0.1, 1.0),
            credit: 0.0,
        }
    }

    /// Congestion avoidance: one segment more for every so many that are acknowledged, and whole
    /// ones only (Linux' `tcp_cong_avoid_ai`).
    fn avoid_congestion(&mut self, per_segment: f64, segments: f64) {
        if self.credit >= per_segment {
            self.credit = 0.0;
            self.cwnd += 1.0;
        }
        self.credit += segments;
        if self.credit >= per_segment {
            let more = whole(self.credit / per_segment);
            self.credit -= more * per_segment;
            self.cwnd += more;
        }
    }

    /// A loss leaves this share of the window, in whole segments.
    fn reduce(&mut self, share: f64) {
        self.ssthresh = whole(whole(self.cwnd) * share).max(2.0);
        self.credit = 0.0;
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The reached window becomes the threshold (Linux keeps three quarters of it), and the window
    /// starts over.
    fn restart_after_idle(&mut self, initial_window: f64) {
        self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
        self.cwnd = self.cwnd.min(initial_window.max(1.0));
    }

    /// Grows, and returns the segments that are left for congestion avoidance.
    fn grow(&mut self, segments: f64) -> f64 {
        let room = self.ssthresh - self.cwnd;
        let used = (room / self.gain).min(segments);
        self.cwnd += used * self.gain;
        segments - used
    }
}
