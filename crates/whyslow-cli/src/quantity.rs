//! Quantities of the command line: a number and its unit, within the range of the option.

mod range;

pub use range::{Range, range};

use std::ops::RangeInclusive;
use std::str::FromStr;
use whyslow_text::quantity::{ParseError, RATE, SHARE, SIZE, TIME, Unit, parse};
use whyslow_units::Nanos;

/// The kind of quantity of an option.
struct Kind {
    noun: &'static str,
    example: &'static str,
    units: &'static [Unit],
    range: RangeInclusive<f64>,
    /// The range as its message has it.
    range_text: &'static str,
}

/// A length of time, above zero and up to an hour.
pub fn time(text: &str) -> Result<Nanos, String> {
    let kind =
        Kind { noun: "time", example: "100ms", units: TIME, range: 1e3..=3600e9, range_text: "from 1 µs to 60 min" };
    kind.read(text).map(nanos)
}

/// A pause: a length of time, or zero.
pub fn pause(text: &str) -> Result<Nanos, String> {
    let kind =
        Kind { noun: "time", example: "10s", units: TIME, range: 0.0..=86_400e9, range_text: "from 0 s to one day" };
    kind.read(text).map(nanos)
}

/// A time in a capture: seconds from its first packet.
pub fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok(Nanos::from_secs_f64(seconds)),
        _ => Err(format!("`{text}` is not a number of seconds, as `1.25`")),
    }
}

/// A number of bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let kind =
        Kind { noun: "size", example: "1MB", units: SIZE, range: 1.0..=1e15, range_text: "from 1 B to 1,000,000 GB" };
    kind.read(text).map(|bytes| bytes.round() as u64)
}

/// Bits per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let range_text = "from 1 kbit/s to 10,000 Gbit/s";
    Kind { noun: "rate", example: "100mbit", units: RATE, range: 1e3..=1e13, range_text }.read(text)
}

/// A share of packets.
pub fn share(text: &str) -> Result<f64, String> {
    let range_text = "from 0 % to 50 %";
    Kind { noun: "share", example: "1%", units: SHARE, range: 0.0..=0.5, range_text }.read(text)
}

/// Checks a quantity with its unit, and leaves it as it was written.
///
/// # Errors
/// Errors of the quantity.
pub fn as_written<T: FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.to_owned())
}

/// Takes `KEY=VALUE` apart.
///
/// # Errors
/// When there is no `=`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, as path.rtt=50ms")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

fn nanos(value: f64) -> Nanos {
    Nanos(value.round() as i64)
}

impl Kind {
    fn read(&self, text: &str) -> Result<f64, String> {
        let Self { noun, example, range_text, .. } = self;
        let known = || self.units.iter().map(|unit| unit.0).collect::<Vec<_>>().join(", ");
        let value = parse(text, self.units).map_err(|error| match error {
            ParseError::NoNumber => format!("`{text}` is not a {noun}: it begins with a number, as in `{example}`"),
            ParseError::NoUnit => format!("`{text}` has no unit, as in `{example}` (units: {})", known()),
            ParseError::UnknownUnit(unit) => format!("unknown {noun} unit `{unit}` (units: {})", known()),
        })?;
        if !self.range.contains(&value) {
            return Err(format!("`{text}` is out of range: {range_text}"));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!(time("200ms"), Ok(Nanos::from_millis(200)));
        assert_eq!(size("1MB"), Ok(1_000_000));
        assert_eq!(size("1.5 MiB"), Ok(1_572_864));
        assert_eq!(rate("1gbit"), Ok(1e9));
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(pause("0s"), Ok(Nanos::ZERO));
    }

    #[test]
    fn errors_name_the_wrong_part() {
        assert!(time("200").unwrap_err().contains("has no unit"));
        assert!(time("fast").unwrap_err().contains("begins with a number"));
        assert!(size("1MBit").unwrap_err().contains("unknown size unit `MBit`"));
        assert!(rate("0mbit").unwrap_err().contains("out of range"));
        assert!(share("90%").unwrap_err().contains("out of range"));
    }
}
