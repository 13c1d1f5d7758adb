//! [`Plan`]: how a large object is cut into requests.

use crate::pool::IN_FLIGHT;
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// S3 takes no smaller part but the last.
const LEAST_PART: u64 = 5 * MIB;
/// What is held of a large object is a dozen of these.
const LARGEST_PART: u64 = 10 * MIB;
/// S3 takes no more in one request.
const MOST_AT_ONCE: u64 = 5 << 30;
/// The size of parts that only S3's limits bound.
const LARGE_PART: u64 = 32 * MIB;
/// S3 takes no more parts.
const MOST_PARTS: u64 = 10_000;
/// The assumed rate of a path until it is measured: 1 Gbit/s in bytes per second.
const PATH_RATE: f64 = 125e6;
/// Share of `tcp_wmem`'s third number that is in flight and waits behind it (measured on Linux
/// 6.18).
const IN_BUFFER: f64 = 0.94;

/// How an object is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of each part but the last.
    pub part_size: u64,
    /// Parts that are sent at once.
    pub parallel: usize,
    /// Parts that wait for their answers besides: all of them are held in memory, and each has a
    /// connection.
    pub waiting: usize,
    /// The time in which a socket sends its buffer: a part whose last byte was written makes room
    /// for the next one after that, and does not wait for its answer first.
    pub drain: Duration,
}

impl Plan {
    /// Cuts `size` bytes for a path with this round trip, on which a socket holds `send_buffer`
    /// bytes at most. `None` if one connection is as fast.
    pub fn of(size: u64, rtt: Duration, send_buffer: Option<u64>, max_connections: usize) -> Option<Self> {
        let buffer = send_buffer.unwrap_or(4 * MIB) as f64;
        let one = IN_FLIGHT * buffer / rtt.as_secs_f64().max(1e-6);
        if size < 2 * LEAST_PART || one >= PATH_RATE {
            return None;
        }
        let needed = (PATH_RATE / one).ceil() as usize;
        let parallel = needed.clamp(1, (max_connections / 2).max(1));
        // The last ones are to end together.
        let rounds = size.div_ceil(LARGEST_PART * parallel as u64);
        let part_size = size.div_ceil(rounds * parallel as u64).max(LEAST_PART).max(size.div_ceil(MOST_PARTS));
        let part_size = part_size.next_multiple_of(64 << 10);
        let drain = rtt.mul_f64((IN_BUFFER - IN_FLIGHT) / IN_FLIGHT);
        let waiting = (parallel * 2).div_ceil(5);
        (parallel > 1).then_some(Self { part_size, parallel, waiting, drain })
    }

    /// Cuts what S3 does not take in one request, 5 GiB, where the path asks for nothing else.
    pub fn of_huge(size: u64) -> Option<Self> {
        let part_size = LARGE_PART.max(size.div_ceil(MOST_PARTS).next_multiple_of(64 << 10));
        (size > MOST_AT_ONCE).then_some(Self { part_size, parallel: 2, ..Self::default() })
    }

    pub(super) fn parts(self, size: u64) -> impl Iterator<Item = (u64, u64)> {
        let count = size.div_ceil(self.part_size).max(1);
        (0..count).map(move |n| (n * self.part_size, ((n + 1) * self.part_size).min(size)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_long_path_takes_several_connections() {
        let rtt = Duration::from_millis(200);
        let plan = |size, rtt| Plan::of(size, rtt, Some(4 * MIB), 64);
        // 0.6 × 4 MiB in 200 ms is 101 Mbit/s: ten of them fill 1 Gbit/s.
        let large = plan(70_000_000, rtt).unwrap();
        assert_eq!(large.parallel, 10);
        assert!(large.part_size * 10 >= 70_000_000 && large.part_size < 8 * MIB, "{large:?}");
        let huge = plan(1_000_000_000_000, rtt).unwrap();
        assert!(huge.part_size * MOST_PARTS >= 1_000_000_000_000, "{huge:?}");
        assert_eq!(plan(5 * MIB, rtt), None);
        assert_eq!(plan(100_000_000, Duration::from_millis(5)), None);
        assert!(Plan::of(100_000_000, rtt, None, 4).is_some_and(|plan| plan.parallel == 2));
        assert_eq!(Plan::of_huge(5 << 30), None);
        assert!(Plan::of_huge(6 << 30).is_some_and(|plan| plan.part_size == LARGE_PART));
    }

    #[test]
    fn parts_meet_and_are_equal() {
        let plan = Plan { part_size: 10, parallel: 2, ..Plan::default() };
        assert_eq!(plan.parts(25).collect::<Vec<_>>(), [(0, 10), (10, 20), (20, 25)]);
        assert_eq!(plan.parts(0).collect::<Vec<_>>(), [(0, 0)]);
    }
}
