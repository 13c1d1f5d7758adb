//! [`DeliveryTrace`]: when a link may deliver, as mahimahi records it from a real link.
//!
//! A line is a millisecond since the start at which [`OPPORTUNITY`] bytes may leave the link; a
//! line that is repeated allows as many times that. After the last line the trace begins anew. What
//! a packet leaves of an opportunity is for packets that wait at that instant, and else is lost
//! (mahimahi, mm-link(1)).

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes of an opportunity: a packet of 1,500 bytes and the 4 bytes of its TUN header.
pub const OPPORTUNITY: u64 = 1_504;
/// Bytes that a packet takes beyond its IP packet.
const HEADER: u64 = 4;
/// The most lines of a trace: 80 minutes at 10 Mbit/s.
const MOST: usize = 4_000_000;
const MS: u64 = 1_000_000;

/// The opportunities of a period, in milliseconds, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct DeliveryTrace(Arc<[u32]>);

/// How far a link is in its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// The first opportunity that was not used.
    next: u64,
    /// Bytes left of the one before it.
    left: u64,
    /// When that one was.
    at_ns: u64,
}

impl TryFrom<Vec<u32>> for DeliveryTrace {
    type Error = &'static str;
    fn try_from(lines: Vec<u32>) -> Result<Self, Self::Error> {
        if lines.len() > MOST {
            return Err("a trace has at most 4,000,000 lines");
        }
        if !lines.is_sorted() {
            return Err("the times of a trace are in order");
        }
        if lines.last().is_none_or(|last| *last == 0) {
            return Err("a trace ends after 0 ms");
        }
        Ok(Self(lines.into()))
    }
}

impl From<DeliveryTrace> for Vec<u32> {
    fn from(trace: DeliveryTrace) -> Self {
        trace.0.to_vec()
    }
}

impl DeliveryTrace {
    /// Reads a file of mahimahi.
    ///
    /// # Errors
    /// The error, and its line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let number = |(line, number): (&str, usize)| {
            line.trim().parse::<u32>().map_err(|_| format!("line {number} is not a number of milliseconds"))
        };
        let lines: Vec<u32> = lines.take(MOST + 1).map(number).collect::<Result<_, _>>()?;
        Self::try_from(lines).map_err(str::to_owned)
    }

    fn period_ms(&self) -> u64 {
        u64::from(*self.0.last().unwrap_or(&1)).max(1)
    }

    /// Bits per second in the long run, IP packets and 4 bytes each.
    pub fn mean_rate(&self) -> u64 {
        (self.0.len() as u64 * OPPORTUNITY * 8 * 1_000 / self.period_ms()).max(1)
    }

    /// When an opportunity is.
    fn at_ns(&self, number: u64) -> u64 {
        let count = self.0.len() as u64;
        let (period, index) = (number / count, (number % count) as usize);
        let ms = period.saturating_mul(self.period_ms()).saturating_add(u64::from(self.0[index]));
        ms.saturating_mul(MS)
    }

    /// The first opportunity that is not before `ns`.
    fn first_from(&self, ns: u64) -> u64 {
        let (ms, count) = (ns.div_ceil(MS), self.0.len() as u64);
        // The end of a period is the beginning of the next one.
        let before = (ms / self.period_ms()).saturating_sub(1);
        let in_period = |period: u64| {
            let within = ms.saturating_sub(period * self.period_ms());
            let index = self.0.partition_point(|at| u64::from(*at) < within) as u64;
            (index < count).then_some(period * count + index)
        };
        (before..).find_map(in_period).unwrap_or(u64::MAX)
    }

    /// When an IP packet that is first in the queue from `start` on has left, and the position
    /// then.
    pub(super) fn deliver(&self, position: Position, start: u64, ip_bytes: u32) -> (u64, Position) {
        let bytes = u64::from(ip_bytes) + HEADER;
        // Nothing waited in between, or the rest would have been used.
        let left = if position.at_ns >= start { position.left } else { 0 };
        if bytes <= left {
            return (position.at_ns, Position { left: left - bytes, ..position });
        }
        let lacking = bytes - left;
        let count = lacking.div_ceil(OPPORTUNITY);
        let last = position.next.max(self.first_from(start)) + count - 1;
        let at_ns = self.at_ns(last);
        (at_ns, Position { next: last + 1, left: count * OPPORTUNITY - lacking, at_ns })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// When packets have left that all wait from the beginning, in milliseconds.
    fn left(trace: &str, sizes: &[u32]) -> Vec<u64> {
        let trace = DeliveryTrace::parse(trace).unwrap();
        let mut position = Position::default();
        let mut free = 0;
        let deliver = |size: &u32| {
            (free, position) = trace.deliver(position, free, *size);
            free / MS
        };
        sizes.iter().map(deliver).collect()
    }

    #[test]
    fn full_packets_take_an_opportunity_each() {
        assert_eq!(left("1\n2\n2\n10\n", &[1_500; 9]), [1, 2, 2, 10, 11, 12, 12, 20, 21]);
    }

    #[test]
    fn small_packets_share_one_and_large_ones_take_several() {
        assert_eq!(left("5\n9\n", &[496, 496, 496, 496]), [5, 5, 5, 9]);
        assert_eq!(left("5\n9\n", &[2_000, 500]), [9, 9]);
    }

    #[test]
    fn an_opportunity_that_nothing_waits_for_is_lost() {
        let trace = DeliveryTrace::parse("5\n9\n").unwrap();
        let (at, position) = trace.deliver(Position::default(), 0, 100);
        assert_eq!(at, 5 * MS);
        assert_eq!(trace.deliver(position, 6 * MS, 100).0, 9 * MS);
        assert_eq!(trace.deliver(position, 9 * MS + 1, 100).0, 14 * MS);
        // An hour later: found without counting.
        assert_eq!(trace.deliver(position, 3_600_000 * MS, 100).0, 3_600_000 * MS);
    }

    #[test]
    fn the_mean_rate_is_that_of_a_period() {
        let trace: String = (1..=1_000).map(|ms| format!("{ms}\n")).collect();
        assert_eq!(DeliveryTrace::parse(&trace).unwrap().mean_rate(), 12_032_000);
    }

    #[test]
    fn wrong_traces_are_refused() {
        for wrong in ["", "0\n", "2\n1\n", "1.5\n", "-1\n", "x\n", "99999999999\n"] {
            assert!(DeliveryTrace::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(DeliveryTrace::parse("1\nx\n").unwrap_err().contains("line 2"));
    }
}
