//! Quantities as people write them: a number and its unit, never a bare number.

use whyslow_core::units::Nanos;

/// A unit's name, and how many of the base unit it is.
type Unit = (&'static str, f64);

const TIME: &[Unit] = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("min", 60.0)];
const SIZE: &[Unit] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const RATE: &[Unit] = &[
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
    ("MB/s", 8e6),
];
const SHARE: &[Unit] = &[("%", 0.01)];

/// A length of time, above zero and up to an hour.
pub(crate) fn time(text: &str) -> Result<Nanos, String> {
    let seconds = quantity(text, TIME, "time", "100ms")?;
    within(text, seconds, ((1e-6, "1 µs"), (3600.0, "60 min"))).map(Nanos::from_secs_f64)
}

/// The same, or none at all.
pub(crate) fn pause(text: &str) -> Result<Nanos, String> {
    let seconds = quantity(text, TIME, "time", "10s")?;
    within(text, seconds, ((0.0, "0 s"), (86_400.0, "one day"))).map(Nanos::from_secs_f64)
}

/// One quantity, or all from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range<T> {
    pub least: T,
    pub most: T,
}

/// Reads `1MB`, or `10kB..10MB`.
///
/// # Errors
/// Those of the quantity, and when the range is none.
pub(crate) fn range<T: Copy + PartialOrd>(
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Range<T>, String> {
    let Some((least, most)) = text.split_once("..") else {
        return read(text).map(|one| Range { least: one, most: one });
    };
    let (least, most) = (read(least.trim())?, read(most.trim())?);
    if least < most { Ok(Range { least, most }) } else { Err(format!("`{text}` goes from the larger to the smaller")) }
}

impl<T: Copy + PartialOrd> Range<T> {
    /// Its steps: 1, 3, 10, 30 and so on, between its ends, which belong to it.
    pub(crate) fn steps(&self, to_number: impl Fn(T) -> f64, to_value: impl Fn(f64) -> T) -> Vec<T> {
        let (least, most) = (to_number(self.least), to_number(self.most));
        let mut steps = vec![self.least];
        let mut decade = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
        while decade < most {
            // Nothing that hardly differs from an end.
            let inner = [decade, 3.0 * decade].into_iter().filter(|step| *step > 1.2 * least && *step < most / 1.2);
            steps.extend(inner.map(&to_value));
            decade *= 10.0;
        }
        if self.most > self.least {
            steps.push(self.most);
        }
        steps
    }
}

/// A time in a capture: seconds from its first packet.
pub(crate) fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok(Nanos::from_secs_f64(seconds)),
        _ => Err(format!("`{text}` is not a number of seconds, as `1.25`")),
    }
}

/// A number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let bytes = quantity(text, SIZE, "size", "1MB")?;
    within(text, bytes, ((1.0, "1 B"), (1e15, "1,000,000 GB"))).map(|bytes| bytes.round() as u64)
}

/// Bits per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let rate = quantity(text, RATE, "rate", "100mbit")?;
    within(text, rate, ((1e3, "1 kbit/s"), (1e13, "10,000 Gbit/s")))
}

/// A share of packets.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = quantity(text, SHARE, "share", "1%")?;
    within(text, share, ((0.0, "0 %"), (0.5, "50 %")))
}

fn quantity(text: &str, units: &[Unit], what: &str, example: &str) -> Result<f64, String> {
    let known = || units.iter().map(|unit| unit.0).collect::<Vec<_>>().join(", ");
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start();
    let value: f64 = number
        .replace('_', "")
        .parse()
        .map_err(|_| format!("`{text}` is not a {what}: it begins with a number, as in `{example}`"))?;
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit, as in `{example}` (units: {})", known()));
    }
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => Ok(value * factor),
        None => Err(format!("unknown {what} unit `{unit}` (units: {})", known())),
    }
}

/// The least and the greatest value, as figures and in words.
type Bounds<'a> = ((f64, &'a str), (f64, &'a str));

fn within(text: &str, value: f64, (least, most): Bounds<'_>) -> Result<f64, String> {
    if value < least.0 || value > most.0 {
        return Err(format!("`{text}` is out of range: from {} to {}", least.1, most.1));
    }
    Ok(value)
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
    fn a_range_has_steps_between_its_ends() {
        let sizes = |text: &str| range(text, size).unwrap().steps(|size| size as f64, |size| size.round() as u64);
        assert_eq!(sizes("1MB"), [1_000_000]);
        assert_eq!(sizes("10kB..1MB"), [10_000, 30_000, 100_000, 300_000, 1_000_000]);
        assert_eq!(sizes("2kB..40kB"), [2_000, 3_000, 10_000, 30_000, 40_000]);
        assert_eq!(sizes("1B..2B"), [1, 2]);
        for wrong in ["1MB..1kB", "1MB..1MB", "1MB..", "..1MB", "1..2"] {
            assert!(range(wrong, size).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(time("200").unwrap_err().contains("has no unit"));
        assert!(time("fast").unwrap_err().contains("begins with a number"));
        assert!(size("1MBit").unwrap_err().contains("unknown size unit `MBit`"));
        assert!(rate("0mbit").unwrap_err().contains("out of range"));
        assert!(share("90%").unwrap_err().contains("out of range"));
    }
}
