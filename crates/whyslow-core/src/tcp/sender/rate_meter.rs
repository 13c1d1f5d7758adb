//! Rates of a transfer, as quantiles over bins with equal amounts of bytes.

use super::rtt::Quantiles;
use crate::tcp::facts::RateSpread;
use whyslow_units::{Nanos, Time};

/// Rates over successive equal amounts of bytes: they are similar if one rate limits the transfer,
/// regardless of the rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct RateMeter {
    /// Time and byte count at the start of the first bin.
    pub first: Option<(Time, u64)>,
    /// Start of the current bin.
    pub since: Option<Time>,
    /// Byte count at its start.
    pub from: u64,
    /// Byte count at its end.
    pub due: u64,
    /// Nanoseconds per mebibyte, because [`Quantiles`] are of times.
    pub paces: Quantiles,
}

impl RateMeter {
    /// Adds bytes up to `total`. The first ones open the first bin and do not count in it, because
    /// their transmission time precedes it.
    #[inline]
    pub fn advance(&mut self, total: u64, time: Time, bin: u64) {
        if total >= self.due {
            self.end_bin(total, time, bin);
        }
    }

    #[inline(never)]
    fn end_bin(&mut self, total: u64, time: Time, bin: u64) {
        if let Some(since) = self.since {
            if time <= since {
                return;
            }
            if !self.paces.skips() {
                let bytes = total - self.from;
                self.paces.push(pace(bytes, time - since));
            }
        } else {
            self.first = Some((time, total));
        }
        (self.since, self.from, self.due) = (Some(time), total, total + bin);
    }

    /// Adds the bins of a meter that continues this one and has counted `less` bytes less, modulo
    /// 2^64: uncaptured bytes may make it negative. The time between the two is a separate bin.
    pub fn absorb(&mut self, more: Self, less: u64) {
        let Some((time, bytes)) = more.first else { return };
        let bytes = bytes.wrapping_add(less);
        match self.since {
            Some(since) if time > since && bytes > self.from => {
                self.paces.push(pace(bytes - self.from, time - since));
            }
            Some(_) => {}
            None => self.first = Some((time, bytes)),
        }
        self.paces.absorb(&more.paces);
        (self.since, self.from, self.due) = (more.since, more.from.wrapping_add(less), more.due.wrapping_add(less));
    }

    pub fn finish(&self) -> RateSpread {
        let rate = |pace: Nanos| 8.0 * 1_048_576.0 / pace.as_secs_f64();
        let [p90, p50, p10] = self.paces.at([0.1, 0.5, 0.9]).map_or([0.0; 3], |paces| paces.map(rate));
        RateSpread { p10, p50, p90, bins: self.paces.count() }
    }
}

/// Converts bytes and time to a time per mebibyte.
fn pace(bytes: u64, time: Nanos) -> Nanos {
    Nanos(time.scale(1_048_576.0 / bytes as f64).0.max(1))
}
