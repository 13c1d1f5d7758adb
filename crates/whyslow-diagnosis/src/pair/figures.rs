//! Figures of delays.

use whyslow_units::Nanos;

/// Milliseconds, to the microsecond.
pub(super) fn millis(time: Nanos) -> f64 {
    (time.as_millis_f64() * 1000.0).round() / 1000.0
}

pub(super) fn percentile(sorted: &[Nanos], share: f64) -> Option<Nanos> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}
