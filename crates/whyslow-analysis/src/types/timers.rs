//! Times that several stages use as thresholds.

use whyslow_units::Nanos;

/// Minimum retransmission timeout beyond the round trip (Linux `TCP_RTO_MIN`; RFC 6298 section 2.4
/// asks for 1 s).
pub const RTO_MIN: Nanos = Nanos::from_millis(200);

/// The shortest silence that counts as a retransmission timeout: kernels fire timers at a clock
/// tick, and capture timestamps may be late.
pub const SHORTEST_RTO: Nanos = Nanos::from_millis(190);

/// Shorter delays are not reported: a person does not notice them, and timers and schedulers alone
/// cause them (a tick of 4 ms at 250 Hz, and a time slice of about the same length).
pub const MIN_NOTICEABLE_DELAY: Nanos = Nanos::from_millis(10);
