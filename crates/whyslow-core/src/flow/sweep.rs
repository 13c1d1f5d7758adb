//! When to look for idle connections.

use whyslow_units::{Nanos, Time};

/// Interval of sweeps for idle connections, in the capture's time.
const INTERVAL: Nanos = Nanos::from_millis(10_000);

/// Idle connections are removed at the first segment of every ten seconds of clock time, so that
/// the result does not depend on the first file or segment. A clock that starts later sweeps at all
/// times at which an earlier one does, and perhaps once more.
#[derive(Clone, Copy, Debug)]
pub struct SweepClock(Time);

impl Default for SweepClock {
    fn default() -> Self {
        Self(Time::MIN)
    }
}

impl SweepClock {
    /// Returns whether a sweep is due at a segment of this time.
    #[inline]
    pub fn is_due(&mut self, time: Time) -> bool {
        if time < self.0 {
            return false;
        }
        self.0 = Time(time.0.saturating_sub(time.0.rem_euclid(INTERVAL.0)).saturating_add(INTERVAL.0));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn later_clock_has_all_sweeps(times in prop::collection::vec(-40_000i64..40_000, 1..60), begun in any::<prop::sample::Index>()) {
            let times: Vec<_> = times.into_iter().map(|millis| Time(millis * 1_000_000)).collect();
            let (mut one, mut other) = (SweepClock::default(), SweepClock::default());
            let begun = begun.index(times.len());
            for (place, &time) in times.iter().enumerate() {
                let is_due = one.is_due(time);
                if place >= begun {
                    prop_assert!(other.is_due(time) || !is_due);
                }
            }
        }
    }
}
