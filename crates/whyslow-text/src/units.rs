//! Numbers as text: thousands separators, and a unit that fits. Times are nanoseconds.

/// `562687` → `562,687`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `562,687 B`.
pub fn bytes(value: u64) -> String {
    format!("{} B", thousands(value))
}

/// A count with its noun: `1 packet`, `715 packets`.
pub fn count(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(value))
}

/// A duration in seconds, to the millisecond while that matters: `0.184 s`, `63.21 s`, `4,512 s`.
/// Below 10 ms and above 9,999 s it is as [`span`] prints it.
pub fn seconds(nanos: i64) -> String {
    let value = nanos as f64 / 1e9;
    match value.abs() {
        below if below < 0.01 => span(nanos),
        below if below < 9.9995 => format!("{value:.3} s"),
        below if below < 99.995 => format!("{value:.2} s"),
        below if below < 999.95 => format!("{value:.1} s"),
        below if below < 9_999.5 => format!("{} s", signed_thousands(value)),
        _ => span(nanos),
    }
}

/// A duration to three digits, in a unit that fits: `340 µs`, `25.8 ms`, `1.02 s`, `4 min 12 s`,
/// `3 h 05 min`, `12 days`.
pub fn span(nanos: i64) -> String {
    let value = nanos as f64 / 1e9;
    match value.abs() {
        0.0 => "0 ms".to_owned(),
        below if below < 0.999_5e-6 => format!("{nanos} ns"),
        below if below < 0.999_5e-3 => format!("{} µs", three_digits(value * 1e6)),
        below if below < 0.999_5 => format!("{} ms", three_digits(value * 1e3)),
        below if below < 99.95 => format!("{} s", three_digits(value)),
        below if below < 3_599.5 => {
            let whole = value.round() as i64;
            format!("{} min {:02} s", whole / 60, (whole % 60).abs())
        }
        below if below < 100.0 * 3_600.0 => {
            let minutes = (value / 60.0).round() as i64;
            format!("{} h {:02} min", signed_thousands((minutes / 60) as f64), (minutes % 60).abs())
        }
        _ => format!("{} days", signed_thousands((value / 86_400.0).round())),
    }
}

/// A duration where room is short: whole milliseconds from 10 ms on.
pub fn short(nanos: i64) -> String {
    let millis = nanos as f64 / 1e6;
    match millis.abs() {
        below if below < 1.0 => span(nanos),
        below if below < 9.95 => format!("{millis:.1} ms"),
        below if below < 999.5 => format!("{millis:.0} ms"),
        _ => span(nanos),
    }
}

/// Milliseconds, to three digits.
pub fn millis(value: f64) -> String {
    span(rounded(value * 1e6))
}

/// Bits per second: `24.4 Mbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, "bit/s")
}

/// A share: `0.614` → `61 %`; below 10 % with one decimal.
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if percent != 0.0 && percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A figure of the evidence, in its own unit.
pub fn figure(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    match unit {
        "s" => span(rounded(value * 1e9)),
        "ms" => millis(value),
        "bit/s" | "B/s" => scaled(value, unit),
        "" => plain_figure(value),
        unit => format!("{} {unit}", plain_figure(value)),
    }
}

/// Whole figures with separators, others to three digits.
fn plain_figure(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 999.5 { signed_thousands(value.round()) } else { three_digits(value) }
}

fn scaled(value: f64, unit: &str) -> String {
    let mut value = value;
    let mut prefixes = ["", "k", "M", "G"].into_iter();
    let mut prefix = prefixes.next().unwrap_or_default();
    while value.abs() >= 999.5 {
        let Some(next) = prefixes.next() else { break };
        prefix = next;
        value /= 1_000.0;
    }
    let digits = if value.abs() >= 999.5 { signed_thousands(value) } else { three_digits(value) };
    format!("{digits} {prefix}{unit}")
}

/// To a whole number of nanoseconds; `as` saturates.
fn rounded(nanos: f64) -> i64 {
    nanos.round() as i64
}

/// Three significant digits of a value below 1,000: `158`, `25.8`, `1.02`.
fn three_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        below if below < 9.995 => format!("{value:.2}"),
        below if below < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn signed_thousands(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    // `as` saturates: a figure beyond 64 bits becomes the largest one.
    format!("{sign}{}", thousands(value.abs().round() as u64))
}
