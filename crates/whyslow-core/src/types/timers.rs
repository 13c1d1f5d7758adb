//! Times that several stages compare with.

use crate::units::Nanos;

/// The least retransmission timer, beyond the round trip (Linux `TCP_RTO_MIN`; RFC 6298 section 2.4
/// asks for 1 s).
pub const RTO_MIN: Nanos = Nanos::from_millis(200);

/// The shortest silence that counts as such a timer's: kernels fire it at a clock tick, and
/// captures note times late.
pub const SHORTEST_RTO: Nanos = Nanos::from_millis(190);

/// A shorter delay is no finding: a person does not notice it, and timers and schedulers alone cost
/// it (a tick of 4 ms at 250 Hz, and a time slice of about as much).
pub const MIN_NOTICEABLE_DELAY: Nanos = Nanos::from_millis(10);
