//! The sender's RTT estimate and RTO (RFC 6298, with Linux' minimums).

use super::RTO_MIN;
use whyslow_units::Nanos;

#[derive(Debug)]
pub(super) struct RttEstimator {
    /// SRTT and RTTVAR.
    srtt: Nanos,
    rttvar: Nanos,
    min_rtt: Nanos,
}

impl RttEstimator {
    /// Starts with the RTT of the handshake.
    pub(super) fn new(rtt: Nanos) -> Self {
        Self { srtt: rtt, rttvar: rtt.scale(0.5), min_rtt: rtt }
    }

    /// Adds a sample, at most [`MAX_LENGTH`](super::MAX_LENGTH), so that later sums cannot
    /// overflow.
    #[inline]
    pub(super) fn on_sample(&mut self, rtt: Nanos) {
        self.min_rtt = self.min_rtt.min(rtt);
        let off = (rtt.0 - self.srtt.0).abs();
        self.rttvar = Nanos(eighths(self.rttvar.0, 6) + eighths(off, 2));
        self.srtt = Nanos(eighths(self.srtt.0, 7) + eighths(rtt.0, 1));
    }

    pub(super) fn srtt(&self) -> Nanos {
        self.srtt
    }

    /// Returns how long an overtaken segment may still arrive (RFC 8985 section 6.2).
    pub(super) fn reordering_window(&self) -> Nanos {
        self.srtt + Nanos(eighths(self.min_rtt.0, 2))
    }

    /// Returns the RTO, with Linux' minimum variation.
    pub(super) fn rto(&self) -> Nanos {
        self.srtt + times(self.rttvar, 4).max(RTO_MIN)
    }
}

/// Like [`Nanos::scale`], in whole numbers: called for each packet.
pub(super) fn times(time: Nanos, factor: i64) -> Nanos {
    Nanos(time.0.saturating_mul(factor))
}

/// A number of eighths, less than eight, rounded.
fn eighths(time: i64, number: i64) -> i64 {
    (time * number + 4) >> 3
}

#[cfg(test)]
mod tests;
