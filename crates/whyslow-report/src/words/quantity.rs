//! Quantities in sentences: a value with three figures, and its unit.

use whyslow_units::Nanos;

/// `1234567` → `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time with three figures: `25.7 ms`, `1.02 s`.
pub fn time(time: Nanos) -> String {
    let ms = time.as_millis_f64();
    match ms.abs() {
        ms_abs if ms_abs < 10.0 => format!("{ms:.2} ms"),
        ms_abs if ms_abs < 100.0 => format!("{ms:.1} ms"),
        ms_abs if ms_abs < 1_000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1e3),
    }
}

/// A rate in bits per second, with three figures.
pub fn rate(bits: f64) -> String {
    match bits {
        bits if bits < 1e4 => format!("{bits:.0} bit/s"),
        bits if bits < 1e6 => format!("{:.0} kbit/s", bits / 1e3),
        bits if bits < 1e7 => format!("{:.2} Mbit/s", bits / 1e6),
        bits if bits < 1e9 => format!("{:.1} Mbit/s", bits / 1e6),
        bits => format!("{:.2} Gbit/s", bits / 1e9),
    }
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

/// `3 rounds`, `1 round`.
pub fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
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
