//! The gateway's sizes and times: larger than those of packets.

use std::str::FromStr;
use std::time::Duration;
use whyslow_quantity::{SIZE, Unit, parse};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!("512MiB".parse(), Ok(Size(512 << 20)));
        assert_eq!("24h".parse(), Ok(Age(Duration::from_secs(86_400))));
        assert_eq!("0s".parse(), Ok(Age(Duration::ZERO)));
        for wrong in ["", "5", "5x", "-1s", "1e999d"] {
            assert!(wrong.parse::<Size>().is_err() && wrong.parse::<Age>().is_err(), "{wrong}");
        }
    }
}
