//! Relation of two clocks, from the packets between them.
//!
//! A packet seen at time a by one clock and at time b by the other gives b − a = offset + delay one
//! way, and offset − delay the other way. Delays are never negative and their least values hardly
//! change, so the offset over time is a line below all of the one kind and above all of the other.
//! The line with the most room on both sides is taken: its slope is the drift (Moon, Skelly,
//! Towsley: "Estimation and removal of clock skew from network delay measurements", 1999, with both
//! directions at once), and it lies in the middle, as if the least delays were the same both ways.
//! No capture can show whether they are.

use whyslow_units::{Nanos, Time};

/// Minimum time over which a drift is measured.
const LONG_ENOUGH: Nanos = Nanos::from_millis(3_000);
/// Largest drift of a clock: twice the 500 millionths by which NTP slews at most.
const MAX_DRIFT: f64 = 1e-3;
/// The smallest delays repeat within this, nanoseconds: a slope that costs less room is as good as
/// the best.
const REPEATS: f64 = 100_000.0;
/// Stretches of time whose extreme samples are kept for the search.
const STRETCHES: usize = 1024;

/// A packet seen by both: by the first clock, and the difference to the second.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockSample {
    pub time: Time,
    pub later: Nanos,
}

/// How the second clock stands to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockOffset {
    /// When, by the first clock, the second is ahead by `offset`: the first sample's time.
    pub zero: Time,
    /// How far the second clock is ahead at `zero`.
    pub offset: Nanos,
    /// Growth of the offset with time.
    pub drift: f64,
    /// Its error; `None` if the samples span too short a time.
    pub drift_error: Option<f64>,
    /// The minimum RTT between the two.
    pub round_trip: Nanos,
    /// Whether the first capture is the one nearer to the client.
    pub first_is_nearer: bool,
}

impl ClockOffset {
    /// An instant by the clock of either capture, converted to the first clock.
    pub fn by_first(self, capture: usize, time: Time) -> Time {
        if capture == 0 { time } else { self.to_first(time) }
    }

    /// An instant by the second clock, converted to the first.
    pub fn to_first(self, time: Time) -> Time {
        let about = time - self.offset;
        let since = (about - self.zero).0 as f64;
        about - Nanos((since * self.drift / (1.0 + self.drift)).round() as i64)
    }
}

/// Solves offset and drift; `ways` are the client's packets and the server's. `None` if one way has
/// no sample, or if no line goes between the two kinds: a clock jumps.
pub(super) fn solve(ways: [&[ClockSample]; 2]) -> Option<ClockOffset> {
    let [first, last] = span(ways)?;
    let base = ways[0].first()?.later;
    let at = |sample: &ClockSample| ((sample.time - first).0 as f64, (sample.later - base).0 as f64);
    let room = |slope: f64, nearer: bool| {
        let (above, below) = if nearer { (ways[0], ways[1]) } else { (ways[1], ways[0]) };
        edges(above.iter().map(at), below.iter().map(at), slope)
    };
    let wide = |(low, high): (f64, f64)| low - high;
    let first_is_nearer = wide(room(0.0, true)) >= wide(room(0.0, false));
    let (above, below) = if first_is_nearer { (ways[0], ways[1]) } else { (ways[1], ways[0]) };
    let length = last - first;
    let mut drift = 0.0;
    let mut drift_error = None;
    if length >= LONG_ENOUGH {
        // Extremes along the slope found so far: the second time they are those along the drift
        // itself.
        for _ in 0..2 {
            let keep =
                |samples: &[ClockSample], sign: f64| extremes(samples.iter().map(at), length.0 as f64, drift, sign);
            let (low, high) = (keep(above, 1.0), keep(below, -1.0));
            let room = |slope: f64| wide(edges(low.iter().copied(), high.iter().copied(), slope));
            let (slope, error) = best(room);
            drift = slope;
            drift_error = Some(error);
        }
    }
    let (low, high) = room(drift, first_is_nearer);
    let round_trip = low - high;
    (round_trip >= -REPEATS).then(|| ClockOffset {
        zero: first,
        offset: base + Nanos(((low + high) / 2.0).round() as i64),
        drift,
        drift_error,
        round_trip: Nanos(round_trip.max(0.0).round() as i64),
        first_is_nearer,
    })
}

fn span(ways: [&[ClockSample]; 2]) -> Option<[Time; 2]> {
    if ways.iter().any(|way| way.is_empty()) {
        return None;
    }
    let times = || ways.iter().flat_map(|way| way.iter()).map(|sample| sample.time);
    Some([times().min()?, times().max()?])
}

/// The least of one kind and the greatest of the other, measured from a line of this slope.
fn edges(above: impl Iterator<Item = (f64, f64)>, below: impl Iterator<Item = (f64, f64)>, slope: f64) -> (f64, f64) {
    let from_line = |(time, later): (f64, f64)| later - slope * time;
    (above.map(from_line).fold(f64::INFINITY, f64::min), below.map(from_line).fold(f64::NEG_INFINITY, f64::max))
}

/// In each stretch of time the sample nearest to the line.
fn extremes(samples: impl Iterator<Item = (f64, f64)>, length: f64, slope: f64, sign: f64) -> Vec<(f64, f64)> {
    let mut kept: Vec<Option<(f64, f64)>> = vec![None; STRETCHES];
    for (time, later) in samples {
        let place = ((time / length * STRETCHES as f64) as usize).min(STRETCHES - 1);
        let from_line = |(time, later): (f64, f64)| sign * (later - slope * time);
        if kept[place].is_none_or(|best| from_line((time, later)) < from_line(best)) {
            kept[place] = Some((time, later));
        }
    }
    kept.into_iter().flatten().collect()
}

/// The slope with the most room, and its error. Room is concave over slopes: a minimum of lines
/// minus a maximum of lines. A slope of zero is taken if it is as good as any.
fn best(room: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut low, mut high) = (-MAX_DRIFT, MAX_DRIFT);
    for _ in 0..100 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if room(a) < room(b) { low = a } else { high = b }
    }
    let top = (low + high) / 2.0;
    let enough = room(top) - REPEATS;
    let edge = |mut good: f64, mut bad: f64| {
        for _ in 0..50 {
            let middle = (good + bad) / 2.0;
            if room(middle) >= enough { good = middle } else { bad = middle }
        }
        good
    };
    let (left, right) = (edge(top, -2.0 * MAX_DRIFT), edge(top, 2.0 * MAX_DRIFT));
    let error = (right - left) / 2.0;
    if left <= 0.0 && right >= 0.0 { (0.0, error) } else { ((left + right) / 2.0, error) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    /// Packets both ways, 10 ms apart, over a path of 15 ms each way with queues that come and go.
    fn samples(offset: i64, drift: f64, seconds: i64) -> [Vec<ClockSample>; 2] {
        let way = |sign: i64, phase: i64| -> Vec<ClockSample> {
            (0..seconds * 100)
                .map(|n| {
                    let time = n * 10 * MS + phase;
                    let queue = (n * 7919 % 50) * MS / 10;
                    let skew = (time as f64 * drift) as i64;
                    ClockSample { time: Time(time), later: Nanos(offset + skew + sign * (15 * MS + queue)) }
                })
                .collect()
        };
        [way(1, 0), way(-1, 3 * MS)]
    }

    fn solved(offset: i64, drift: f64, seconds: i64) -> ClockOffset {
        let [up, down] = samples(offset, drift, seconds);
        solve([&up, &down]).unwrap()
    }

    #[test]
    fn minimum_delays_both_ways_give_the_offset() {
        let clock = solved(123_456_789, 0.0, 2);
        assert!((clock.offset.0 - 123_456_789).abs() < 10_000, "{clock:?}");
        assert!((clock.round_trip.0 - 30 * MS).abs() < 10_000);
        assert!(clock.first_is_nearer && clock.drift_error.is_none());
        // Seen from the other end, the samples change their places and signs.
        let [up, down] = samples(123_456_789, 0.0, 2);
        let turned = |way: &[ClockSample]| -> Vec<ClockSample> {
            way.iter().map(|s| ClockSample { time: s.time + s.later, later: Nanos(-s.later.0) }).collect()
        };
        let other = solve([&turned(&up), &turned(&down)]).unwrap();
        assert!(!other.first_is_nearer && (other.offset + clock.offset).0.abs() < 10_000, "{other:?}");
    }

    #[test]
    fn one_way_delays_and_clock_steps_are_refused() {
        let [up, mut down] = samples(0, 0.0, 2);
        assert_eq!(solve([&up, &[]]), None);
        for sample in &mut down[100..] {
            sample.later += Nanos(200 * MS);
        }
        assert_eq!(solve([&up, &down]), None);
    }

    #[test]
    fn filling_queue_is_not_drift() {
        let [up, mut down] = samples(0, 0.0, 10);
        for (n, sample) in down.iter_mut().enumerate() {
            sample.later -= Nanos(n as i64 * MS / 10);
        }
        let clock = solve([&up, &down]).unwrap();
        assert_eq!(clock.drift, 0.0);
    }

    proptest! {
        #[test]
        fn offset_and_drift_are_recovered(offset in -10i64.pow(18)..10i64.pow(18), ppm in -400f64..400.0) {
            let clock = solved(offset, ppm * 1e-6, 20);
            let error = clock.drift_error.unwrap();
            prop_assert!((clock.drift - ppm * 1e-6).abs() <= error + 1e-6, "{ppm}: {clock:?}");
            prop_assert!(error < 10e-6);
            prop_assert!((clock.offset.0 - offset).abs() < 150_000, "{offset}: {clock:?}");
            // There and back.
            let later = Nanos::from_millis(5_000);
            let there = clock.zero + clock.offset + later + later.scale(clock.drift);
            prop_assert!((clock.to_first(there) - clock.zero - later).0.abs() < 1_000);
        }

        #[test]
        fn any_input_is_accepted(up in prop::collection::vec((any::<i64>(), any::<i64>()), 0..40),
                             down in prop::collection::vec((any::<i64>(), any::<i64>()), 0..40)) {
            let samples = |way: &[(i64, i64)]| -> Vec<ClockSample> {
                way.iter().map(|&(time, later)| ClockSample { time: Time(time), later: Nanos(later) }).collect()
            };
            if let Some(clock) = solve([&samples(&up), &samples(&down)]) {
                prop_assert!(clock.round_trip >= Nanos::ZERO);
                clock.to_first(Time::MIN);
            }
        }
    }
}
