//! Quantities as people write them: a number and its unit, never a bare number.
//!
//! Each type is read from text ("100ms", "8mbit", "64KiB", "1%") and written back as text, so that
//! a recorded scenario can be run again as it stands.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use whyslow_text::quantity::{RATE, SHARE, SIZE, TIME, Unit, parse};

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

/// A share from 0 to 1, written in per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// A whole number of base units; refuses numbers that are too large to count exactly.
fn whole(text: &str, units: &[Unit]) -> Option<u64> {
    let value = parse(text, units).ok()?.round();
    // 2^53: beyond it an f64 skips numbers, and no time, size or rate of an experiment is that
    // large.
    (value <= 9_007_199_254_740_992.0).then_some(value as u64)
}

/// The largest of the given units that divides the value.
fn written(value: u64, units: &[Unit]) -> String {
    let fits = |factor: f64| value > 0 && factor <= value as f64 && value.is_multiple_of(factor as u64);
    let (name, factor) = units.iter().rev().copied().find(|(_, f)| fits(*f)).unwrap_or(units[0]);
    format!("{}{name}", value / (factor as u64).max(1))
}

macro_rules! unit {
    ($type:ident, $noun:literal, $allowed:literal, $parse:expr, $write:expr) => {
        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let parse: fn(&str) -> Option<$type> = $parse;
                parse(text).ok_or_else(|| format!(concat!("`{}` is not a ", $noun, ": write ", $allowed), text))
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let write: fn(&$type) -> String = $write;
                f.pad(&write(self))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a ", $noun, " with its unit: ", $allowed))
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: Error>(self, number: i64) -> Result<$type, E> {
                        Err(E::custom(format!(concat!("`{}` has no unit: write a ", $noun, " as ", $allowed), number)))
                    }
                    fn visit_u64<E: Error>(self, number: u64) -> Result<$type, E> {
                        Err(E::custom(format!(concat!("`{}` has no unit: write a ", $noun, " as ", $allowed), number)))
                    }
                    fn visit_f64<E: Error>(self, number: f64) -> Result<$type, E> {
                        Err(E::custom(format!(concat!("`{}` has no unit: write a ", $noun, " as ", $allowed), number)))
                    }
                    fn visit_bool<E: Error>(self, value: bool) -> Result<$type, E> {
                        Err(E::invalid_type(Unexpected::Bool(value), &self))
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }
    };
}

unit!(Time, "time", r#""100ms" (ns, us, ms, s or min)"#, |text| whole(text, TIME).map(Time), |time| written(
    time.0,
    &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]
));
unit!(Size, "size", r#""64KiB" (B, kB, MB, GB, KiB, MiB or GiB)"#, |text| whole(text, SIZE).map(Size), |size| written(
    size.0,
    &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0)]
));
unit!(
    BitRate,
    "rate",
    r#""8mbit" (bit, kbit, mbit or gbit a second; or B/s, kB/s, MB/s)"#,
    |text| whole(text, RATE).map(BitRate),
    |rate| written(rate.0, &[("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)])
);
unit!(
    Share,
    "share",
    r#""1%" (0% to 100%)"#,
    |text| parse(text, SHARE).ok().filter(|share| (0.0..=1.0).contains(share)).map(Share),
    |share| format!("{}%", (share.0 * 1e8).round() / 1e6)
);

impl Time {
    /// As the standard library has it.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Size {
    /// As a length in memory.
    pub fn len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// Whether it is zero bytes.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reads_and_writes_quantities() {
        for (text, time, back) in [
            ("100ms", 100_000_000, "100ms"),
            ("0.3 ms", 300_000, "300us"),
            ("2s", 2_000_000_000, "2s"),
            ("1.5min", 90_000_000_000, "90s"),
            ("0s", 0, "0ns"),
        ] {
            let parsed: Time = text.parse().unwrap();
            assert_eq!((parsed, parsed.to_string().as_str()), (Time(time), back), "{text}");
        }
        assert_eq!("64KiB".parse::<Size>().unwrap(), Size(65_536));
        assert_eq!("64kB".parse::<Size>().unwrap(), Size(64_000));
        assert_eq!(Size(524_288).to_string(), "512KiB");
        assert_eq!(Size(1_000).to_string(), "1000B");
        assert_eq!("8mbit".parse::<BitRate>().unwrap(), BitRate(8_000_000));
        assert_eq!("1MB/s".parse::<BitRate>().unwrap(), BitRate(8_000_000));
        assert_eq!("1.5%".parse::<Share>().unwrap(), Share(0.015));
        assert_eq!(Share(0.015).to_string(), "1.5%");
    }

    #[test]
    fn every_value_survives_being_written() {
        for n in [1, 999, 1_000, 1_024, 65_535, 65_536, 1_000_001, 3_600_000_000_000] {
            assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
            assert_eq!(Size(n).to_string().parse(), Ok(Size(n)));
            assert_eq!(BitRate(n).to_string().parse(), Ok(BitRate(n)));
        }
    }

    #[test]
    fn refuses_bare_numbers_other_units_and_nonsense() {
        for bad in ["100", "", "ms", "-1ms", "100 mbit", "1e3ms", "..ms", "99999999999999999min"] {
            assert!(bad.parse::<Time>().is_err(), "{bad}");
        }
        for bad in ["101%", "1", "-1%"] {
            assert!(bad.parse::<Share>().is_err(), "{bad}");
        }
        let message = "100".parse::<Time>().unwrap_err();
        assert_eq!(message, r#"`100` is not a time: write "100ms" (ns, us, ms, s or min)"#);
    }
}
