//! Numbers with their units, as people write them: `100ms`, `64KiB`, `8mbit`, `1%`.
//!
//! A bare number is refused. The caller knows the range, and words the message.
//!
//! ```
//! use whyslow_text::quantity::{ParseError, SIZE, parse};
//!
//! assert_eq!(parse("64KiB", SIZE), Ok(65_536.0));
//! assert_eq!(parse("64", SIZE), Err(ParseError::NoUnit));
//! ```

/// A unit's name, and how many of the base unit it is.
pub type Unit = (&'static str, f64);

/// Times, in nanoseconds.
pub const TIME: &[Unit] = &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)];

/// Sizes, in bytes.
pub const SIZE: &[Unit] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Rates, in bits per second.
pub const RATE: &[Unit] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("B/s", 8.0),
    ("kB/s", 8e3),
    ("KB/s", 8e3),
    ("MB/s", 8e6),
];

/// Shares, from 0 to 1.
pub const SHARE: &[Unit] = &[("%", 0.01)];

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError<'t> {
    /// It does not begin with a number.
    NoNumber,
    /// It is a bare number.
    NoUnit,
    /// This unit is none of those given.
    UnknownUnit(&'t str),
}

/// Reads a number and its unit, and returns how many base units that is.
///
/// # Errors
/// When the number or the unit is missing, or the unit is not one of `units`.
pub fn parse<'t>(text: &'t str, units: &[Unit]) -> Result<f64, ParseError<'t>> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start();
    let number: f64 = number.replace('_', "").parse().map_err(|_| ParseError::NoNumber)?;
    if unit.is_empty() {
        return Err(ParseError::NoUnit);
    }
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or(ParseError::UnknownUnit(unit))?;
    Ok(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_with_units() {
        for (text, units, value) in [
            ("200ms", TIME, 200e6),
            ("0.3 ms", TIME, 300e3),
            ("1.5min", TIME, 90e9),
            ("1.5 MiB", SIZE, 1_572_864.0),
            (" 1_000 kB ", SIZE, 1e6),
            ("8Mbit", RATE, 8e6),
            ("1MB/s", RATE, 8e6),
            ("1%", SHARE, 0.01),
        ] {
            assert_eq!(parse(text, units), Ok(value), "{text}");
        }
    }

    #[test]
    fn names_what_is_wrong() {
        for (text, error) in [
            ("", ParseError::NoNumber),
            ("fast", ParseError::NoNumber),
            ("-1ms", ParseError::NoNumber),
            ("..ms", ParseError::NoNumber),
            ("100", ParseError::NoUnit),
            ("100 mbit", ParseError::UnknownUnit("mbit")),
            ("1e3ms", ParseError::UnknownUnit("e3ms")),
        ] {
            assert_eq!(parse(text, TIME), Err(error), "{text}");
        }
    }
}
