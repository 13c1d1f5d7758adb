//! RTT: the sender's smoothed estimate, and quantiles of many samples in bounded memory.

use whyslow_analysis::types::RTO_MIN;
use whyslow_units::Nanos;

/// RTO without an RTT sample (RFC 6298 section 2.1).
pub(in crate::tcp) const FIRST_RTO: Nanos = Nanos::from_millis(1_000);
/// Initial RTO of older systems (RFC 1122 section 4.2.3.1).
pub(in crate::tcp) const OLD_FIRST_RTO: Nanos = Nanos::from_millis(3_000);

/// SRTT and RTTVAR (RFC 6298 section 2).
#[derive(Clone, Copy, Debug, Default)]
pub struct SmoothedRtt {
    /// Both in nanoseconds, unsigned so that a shift divides them.
    srtt: Option<u64>,
    rttvar: u64,
}

impl SmoothedRtt {
    /// Adds a sample, which is never negative.
    #[inline]
    pub fn on_sample(&mut self, rtt: Nanos) {
        let rtt = rtt.or_zero().0.cast_unsigned();
        (self.srtt, self.rttvar) = match self.srtt {
            None => (Some(rtt), rtt / 2),
            // The sum of these fractions cannot overflow.
            Some(srtt) => (Some(7 * (srtt / 8) + rtt / 8), 3 * (self.rttvar / 4) + srtt.abs_diff(rtt) / 4),
        };
    }

    /// Returns SRTT.
    pub fn srtt(&self) -> Option<Nanos> {
        self.srtt.map(|srtt| Nanos(srtt.cast_signed()))
    }

    /// Returns the RTO of a Linux sender; 1 s without a sample (RFC 6298 section 2.1).
    pub fn rto(&self) -> Nanos {
        let variation = Nanos(self.rttvar.cast_signed().saturating_mul(4));
        self.srtt().map_or(FIRST_RTO, |srtt| srtt + variation.max(RTO_MIN))
    }

    /// Returns the longest RTO of any sender: RFC 6298 section 2.4 has a minimum of 1 s, and older
    /// systems begin with 3 s (RFC 1122 section 4.2.3.1).
    pub fn longest_rto(&self) -> Nanos {
        self.rto().max(OLD_FIRST_RTO)
    }
}

/// Maximum number of stored samples; beyond it, every second one is dropped, and only every second
/// new one is added.
const MAX_SAMPLES: usize = 1024;

/// Quantiles of any number of samples, from an evenly thinned subset. The minimum is exact.
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    samples: Vec<Nanos>,
    count: u64,
    /// Number of samples skipped between two stored ones: a power of two minus one.
    skipped: u64,
    least: Option<Nanos>,
}

impl Quantiles {
    /// Adds a sample.
    #[inline]
    pub fn push(&mut self, sample: Nanos) {
        update_min(&mut self.least, sample);
        if !self.skips() {
            self.keep(sample);
        }
    }

    #[inline(never)]
    fn keep(&mut self, sample: Nanos) {
        if self.samples.len() == MAX_SAMPLES {
            let mut index = 0;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.skipped = 2 * self.skipped + 1;
        }
        if !self.skips() {
            self.samples.push(sample);
            self.count += 1;
        }
    }

    /// Counts the next sample if it would be skipped; then its value is needed only for the
    /// minimum. Otherwise does nothing, and the caller must pass the sample to
    /// [`push`](Self::push).
    #[inline]
    pub fn skips(&mut self) -> bool {
        // Not `seen += u64::from(skips)`: before a branch on `skips`, rustc 1.95 drops it
        // (rust-lang/rust#158206, fixed in 1.96.1).
        if self.count & self.skipped == 0 {
            return false;
        }
        self.count += 1;
        true
    }

    /// Adds the samples of another.
    pub fn absorb(&mut self, other: &Self) {
        for &sample in &other.samples {
            for _ in 0..=other.skipped {
                self.push(sample);
            }
        }
        self.least = self.least.into_iter().chain(other.least).min();
    }

    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the minimum.
    pub fn least(&self) -> Option<Nanos> {
        self.least
    }

    /// Returns the samples at these quantiles (0–1, ascending) by nearest rank, so that each was
    /// measured; `None` without samples.
    pub fn at<const N: usize>(&self, shares: [f64; N]) -> Option<[Nanos; N]> {
        let mut samples = self.samples.clone();
        let count = samples.len();
        if count == 0 {
            return None;
        }
        // The next rank needs only the samples above this one, so a complete sort is not needed.
        let mut behind = 0;
        Some(shares.map(|share| {
            let rank = ((share * count as f64).ceil() as usize).clamp(1, count) - 1;
            let from = behind.min(rank);
            behind = rank;
            *samples[from..].select_nth_unstable(rank - from).1
        }))
    }
}

/// Updates the minimum.
#[inline]
pub(super) fn update_min(least: &mut Option<Nanos>, value: Nanos) -> Nanos {
    match *least {
        Some(least) if least <= value => least,
        _ => {
            *least = Some(value);
            value
        }
    }
}

/// Shortest timer or probe of any sender (Linux: two ticks, 8 ms at 250 Hz).
pub(in crate::tcp) const MIN_PROBE_TIMER: Nanos = Nanos::from_millis(8);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rto_follows_rfc_6298() {
        let mut smoothed = SmoothedRtt::default();
        assert_eq!(smoothed.rto(), Nanos::from_millis(1000));
        smoothed.on_sample(Nanos::from_millis(100));
        assert_eq!(smoothed.rto(), Nanos::from_millis(300));
        smoothed.on_sample(Nanos::from_millis(100));
        assert_eq!(smoothed.srtt(), Some(Nanos::from_millis(100)));
    }

    proptest! {
        #[test]
        fn smoothing_agrees_with_division(samples in prop::collection::vec(prop_oneof![0..2_000_000_000i64, 0..=i64::MAX], 1..40)) {
            let mut smoothed = SmoothedRtt::default();
            let mut expected: Option<(i64, i64)> = None;
            for rtt in samples {
                smoothed.on_sample(Nanos(rtt));
                let (srtt, variation) = expected
                    .map_or((rtt, rtt / 2), |(srtt, variation)| {
                        (7 * (srtt / 8) + rtt / 8, 3 * (variation / 4) + (srtt - rtt).abs() / 4)
                    });
                expected = Some((srtt, variation));
                prop_assert_eq!(smoothed.srtt(), Some(Nanos(srtt)));
                prop_assert_eq!(smoothed.rto(), Nanos(srtt) + Nanos(variation.saturating_mul(4)).max(RTO_MIN));
            }
        }
    }

    #[test]
    fn quantiles_of_many_samples_stay_accurate_and_small() {
        let mut quantiles = Quantiles::default();
        for n in 0..100_000 {
            quantiles.push(Nanos((n * 7919) % 100_000));
        }
        assert_eq!(quantiles.count(), 100_000);
        assert_eq!(quantiles.least(), Some(Nanos(0)));
        assert!(quantiles.samples.len() <= MAX_SAMPLES);
        let [median, high] = quantiles.at([0.5, 0.95]).map_or([0, 0], |found| found.map(|n| n.0));
        assert!((48_000..52_000).contains(&median), "{median}");
        assert!((93_000..97_000).contains(&high), "{high}");
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_sorted_samples(
            samples in prop::collection::vec(0i64..50, 0..300),
            mut shares in any::<[u8; 3]>(),
        ) {
            shares.sort_unstable();
            let shares = shares.map(|share| f64::from(share) / 255.0);
            let mut quantiles = Quantiles::default();
            samples.iter().for_each(|&sample| quantiles.push(Nanos(sample)));
            let mut sorted = samples;
            sorted.sort_unstable();
            let nearest = |share: f64| {
                let rank = (share * sorted.len() as f64).ceil() as usize;
                Nanos(sorted[rank.saturating_sub(1)])
            };
            let expected = (!sorted.is_empty()).then(|| shares.map(nearest));
            prop_assert_eq!(quantiles.at(shares), expected);
        }
    }
}
