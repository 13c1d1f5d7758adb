//! Thresholds of the kernel's account, shared by `whyslow host` and the readers of texts.

/// Share of the time with data that a window or a buffer must limit: as for captures.
pub const HELD_SHARE: f64 = 0.2;
/// A shorter hold is not reported, µs: as for captures.
pub const HELD_LEAST_US: u64 = 100_000;
/// Losses that hold a transfer: at 1 % and 100 ms no more than about 1.7 Mbit/s pass (Mathis et
/// al. 1997: MSS · √1.5 / (RTT · √p)). The threshold of `loss` in captures.
pub const LOSSY: f64 = 0.01;
/// Share that a host drops itself, although it need not drop anything: at 1 in 10,000 and 100 ms no
/// more than about 14 Mbit/s pass, by the same formula.
pub const DROPPED: f64 = 0.0001;
/// Minimum number for a share, as for captures.
pub const FEW: u64 = 10;
/// Segments since boot that a share of 1 % needs.
pub const ENOUGH: u64 = 1_000;
/// Segments per retransmission timeout: each is a silence of 200 ms or more.
pub const TIMEOUTS: f64 = 0.001;
/// Segments in flight that are in no delayed ACK.
pub const QUEUE_SEGMENTS: u32 = 4;
/// Growth of the round trip that is reported, seconds: as for captures.
pub const QUEUE_GROWTH_S: f64 = 0.03;

/// Whether data in flight is in a queue: the round trip is twice the least one and 10 ms
/// more, as for captures. Seconds.
pub fn in_queue(rtt: f64, least: f64) -> bool {
    rtt >= 2.0 * least + 0.01
}

/// Nominal rates of Ethernet, Mbit/s; payload is 94.1 % of it (1448 of 1538 bytes).
const NOMINAL: [f64; 9] = [10.0, 100.0, 1000.0, 2500.0, 5000.0, 10_000.0, 25_000.0, 40_000.0, 100_000.0];
/// A full link carries this share of its nominal rate as payload.
const FULL: std::ops::RangeInclusive<f64> = 0.90..=0.96;

/// The nominal rate of a full link of Ethernet, if this is the rate of one, bits per second.
pub(crate) fn line_rate(rate: f64) -> Option<f64> {
    NOMINAL.iter().map(|mega| mega * 1e6).find(|nominal| FULL.contains(&(rate / nominal)))
}
