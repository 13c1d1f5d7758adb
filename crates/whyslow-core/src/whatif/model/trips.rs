//! What the sender knows of round trips, and the timer that it sets by them (RFC 6298, with Linux' least values).

use super::LEAST_TIMER;
use crate::units::Nanos;

#[derive(Debug)]
pub(super) struct Trips {
    /// Smoothed, and how much they vary.
    smooth: Nanos,
    variation: Nanos,
    least: Nanos,
}

impl Trips {
    /// When the handshake took so long.
    pub(super) fn new(rtt: Nanos) -> Self {
        Self { smooth: rtt, variation: rtt.scale(0.5), least: rtt }
    }

    /// Another one: no longer than [`LATEST`](super::LATEST), so that what follows needs no care.
    #[inline]
    pub(super) fn measure(&mut self, rtt: Nanos) {
        self.least = self.least.min(rtt);
        let off = (rtt.0 - self.smooth.0).abs();
        self.variation = Nanos(eighths(self.variation.0, 6) + eighths(off, 2));
        self.smooth = Nanos(eighths(self.smooth.0, 7) + eighths(rtt.0, 1));
    }

    pub(super) fn smooth(&self) -> Nanos {
        self.smooth
    }

    /// For how long a segment that something sent later has overtaken may yet be on its way (RFC 8985 section 6.2).
    pub(super) fn patience(&self) -> Nanos {
        self.smooth + Nanos(eighths(self.least.0, 2))
    }

    /// The retransmission timer's length, with Linux' least variation.
    pub(super) fn timer(&self) -> Nanos {
        self.smooth + times(self.variation, 4).max(LEAST_TIMER)
    }
}

/// As [`Nanos::scale`], in whole numbers: these are reckoned for each packet.
pub(super) fn times(time: Nanos, factor: i64) -> Nanos {
    Nanos(time.0.saturating_mul(factor))
}

/// So many eighths, less than eight, rounded.
fn eighths(time: i64, number: i64) -> i64 {
    (time * number + 4) >> 3
}

#[cfg(test)]
mod tests;
