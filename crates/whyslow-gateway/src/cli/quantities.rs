//! The gateway's sizes and times: larger than those of packets.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;
use whyslow_text::quantity::{SIZE, TIME, Unit, parse};

/// Longer times than packets take, in seconds.
const AGES: &[Unit] = &[("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)];
const MOST_DAYS: f64 = 36_500.0;

/// Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub u64);

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age(pub Duration);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse(text, SIZE) {
            Ok(bytes) if (0.0..=1e16).contains(&bytes) => Ok(Self(bytes.round() as u64)),
            Ok(_) => Err(format!("`{text}` is more than 10,000,000 GB")),
            Err(_) => Err(format!("`{text}` is no size: write a number and its unit, as `512MiB` or `1GB`")),
        }
    }
}

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse(text, AGES) {
            Ok(seconds) if (0.0..=MOST_DAYS * 86_400.0).contains(&seconds) => {
                Ok(Self(Duration::from_secs_f64(seconds)))
            }
            Ok(_) => Err(format!("`{text}` is more than 36,500 days")),
            Err(_) => Err(format!("`{text}` is no time: write a number and its unit, as `30s`, `24h` or `7d`")),
        }
    }
}

/// A length of time as packets take.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let nanos = within(text, TIME, 1e3..=3600e9, "`100ms`, from 1 µs to 60 min")?;
    Ok(Duration::from_nanos(nanos.round() as u64))
}

/// Bytes, and not none.
pub(super) fn size(text: &str) -> Result<u64, String> {
    within(text, SIZE, 1.0..=1e15, "`8MiB`, from 1 B to 1,000,000 GB").map(|bytes| bytes.round() as u64)
}

fn within(text: &str, units: &[Unit], range: RangeInclusive<f64>, example: &str) -> Result<f64, String> {
    let value = parse(text, units).ok().filter(|value| range.contains(value));
    value.ok_or_else(|| format!("`{text}`: write a number and its unit, as {example}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!("512MiB".parse(), Ok(Size(512 << 20)));
        assert_eq!("24h".parse(), Ok(Age(Duration::from_secs(86_400))));
        assert_eq!((time("1us"), size("1B")), (Ok(Duration::from_micros(1)), Ok(1)));
        assert!(time("0s").is_err() && time("61min").is_err() && size("0B").is_err());
        assert_eq!("0s".parse(), Ok(Age(Duration::ZERO)));
        for wrong in ["", "5", "5x", "-1s", "1e999d"] {
            assert!(time(wrong).is_err() && size(wrong).is_err(), "{wrong}");
            assert!(wrong.parse::<Size>().is_err() && wrong.parse::<Age>().is_err(), "{wrong}");
        }
    }
}
