//! Quantities in sentences: a value with three figures, and its unit.

use crate::text::units;
pub use crate::text::units::{count, thousands};
use whyslow_units::Nanos;

/// A time with three figures, as in tables: `25.7 ms`, `1.02 s`, `4 min 12 s`.
pub fn time(time: Nanos) -> String {
    units::span(time)
}

/// A rate in bits per second with three figures, as in tables.
pub fn rate(bits: f64) -> String {
    units::rate(bits)
}

/// A share as `1.25 %`, and with two significant digits if it is small: `0.0042 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 || percent >= 0.1 {
        return format!("{percent:.2} %");
    }
    let digits = (1.0 - percent.log10().floor()).clamp(2.0, 9.0) as usize;
    format!("{percent:.digits$} %")
}

/// Bits per second of a window's worth of bytes a round trip.
pub fn window_rate(bytes: u64, rtt: Nanos) -> f64 {
    if rtt > Nanos::ZERO { bytes as f64 * 8.0 / rtt.as_secs_f64() } else { 0.0 }
}

/// A count that is kept as a float.
pub(super) fn number(value: f64) -> String {
    thousands(value.clamp(0.0, 1e15).round() as u64)
}

/// As [`time`], of seconds.
pub(super) fn seconds(value: f64) -> String {
    time(Nanos::from_secs_f64(value))
}

#[cfg(test)]
mod tests {
    #[test]
    fn small_share_keeps_two_digits() {
        let texts = [0.0, 0.0000416, 0.0009, 0.0125, 0.6].map(super::percent);
        assert_eq!(texts, ["0.00 %", "0.0042 %", "0.090 %", "1.25 %", "60.00 %"]);
    }
}
