//! Newtypes for the quantities that the analysis works with, so that a time is never added to a
//! byte count.
#![forbid(unsafe_code)]
#![warn(clippy::disallowed_methods)]

pub mod stats;
pub mod steps;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An instant: nanoseconds since the Unix epoch, or since whatever the capture counts from.
///
/// Two instants differ by [`Nanos`], and cannot be added. All arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
pub struct Time(pub i64);

impl Time {
    /// The instant from which others are counted.
    pub const ZERO: Self = Self(0);
    /// Before every other.
    pub const MIN: Self = Self(i64::MIN);
    /// After every other.
    pub const MAX: Self = Self(i64::MAX);

    /// The instant `micros` microseconds after [`Self::ZERO`].
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// The instant `millis` milliseconds after [`Self::ZERO`].
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since `earlier`, however far apart the two are; where `earlier` is the later
    /// one, more than any length of time.
    #[inline(always)]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.wrapping_sub(earlier.0).cast_unsigned()
    }

    /// The time since `earlier`, which is not later.
    #[inline(always)]
    pub fn after(self, earlier: Self) -> Nanos {
        Nanos(i64::try_from(self.since(earlier)).unwrap_or(i64::MAX))
    }
}

impl Sub for Time {
    type Output = Nanos;
    fn sub(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for Time {
    type Output = Self;
    fn add(self, length: Nanos) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

impl Sub<Nanos> for Time {
    type Output = Self;
    fn sub(self, length: Nanos) -> Self {
        Self(self.0.saturating_sub(length.0))
    }
}

impl AddAssign<Nanos> for Time {
    fn add_assign(&mut self, length: Nanos) {
        *self = *self + length;
    }
}

/// A length of time in nanoseconds. All arithmetic saturates.
///
/// Times of an [`Analysis`](crate::analysis::Analysis) relative to its first packet (`start_s`) are
/// one too: the time since then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
pub struct Nanos(pub i64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest time.
    pub const MAX: Self = Self(i64::MAX);

    /// From whole microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// From whole milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// From seconds; saturates, and NaN becomes zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(rounded(seconds * 1e9))
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This much, times `factor`; saturates.
    pub fn scale(self, factor: f64) -> Self {
        Self(rounded(self.0 as f64 * factor))
    }

    /// Never below zero.
    pub fn or_zero(self) -> Self {
        Self(self.0.max(0))
    }
}

/// The nearest whole number, halves away from zero; saturates. As `f64::round`, without its call:
/// not every processor that this is built for has an instruction for it.
fn rounded(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - whole as f64;
    whole.saturating_add(i64::from(rest >= 0.5)).saturating_sub(i64::from(rest <= -0.5))
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// Written in seconds, as the JSON contract has it.
impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_secs_f64())
    }
}

/// A TCP sequence or acknowledgement number: 32 bits that wrap (RFC 9293 section 3.4).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// How far `self` lies after `other`, by the shorter way round: negative when it lies before.
    pub fn distance(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
}

impl fmt::Debug for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Add<u32> for SeqNumber {
    type Output = Self;
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

/// Reads an instant as [`iso_8601`] writes it; `None` for any other text. Dates to days as in
/// Hinnant's "chrono-compatible low-level date algorithms".
pub fn read_iso_8601(text: &str) -> Option<Time> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (time, nanos) = time.split_once('.')?;
    let number = |text: Option<&str>| text?.parse::<i64>().ok();
    let (mut date, mut time) = (date.splitn(3, '-'), time.splitn(3, ':'));
    let (year, month, day) = (number(date.next())?, number(date.next())?, number(date.next())?);
    let (hour, minute, second) = (number(time.next())?, number(time.next())?, number(time.next())?);
    let is_date = (0..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_date
        || nanos.len() != 9
        || !(0..24).contains(&hour)
        || !(0..60).contains(&minute)
        || !(0..=60).contains(&second)
    {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    seconds.checked_mul(1_000_000_000)?.checked_add(number(Some(nanos))?).map(Time)
}

/// An instant since the epoch as ISO 8601 in UTC with nanoseconds. Days to dates as in Hinnant's
/// "chrono-compatible low-level date algorithms" (proleptic Gregorian calendar).
pub fn iso_8601(time: Time) -> String {
    let (seconds, nanos) = (time.0.div_euclid(1_000_000_000), time.0.rem_euclid(1_000_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        assert_eq!(SeqNumber(5).distance(SeqNumber(u32::MAX - 4)), 10);
        assert_eq!(SeqNumber(u32::MAX - 4).distance(SeqNumber(5)), -10);
        assert_eq!(SeqNumber(u32::MAX) + 1, SeqNumber(0));
    }

    #[test]
    fn dates_match_the_calendar() {
        assert_eq!(iso_8601(Time(0)), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(iso_8601(Time(951_782_400_000_000_001)), "2000-02-29T00:00:00.000000001Z");
        assert_eq!(iso_8601(Time(1_591_894_023_123_456_789)), "2020-06-11T16:47:03.123456789Z");
        assert_eq!(iso_8601(Time(-1)), "1969-12-31T23:59:59.999999999Z");
        for time in [0, -1, 951_782_400_000_000_001, 1_591_894_023_123_456_789, 1_709_251_199_999_999_999] {
            assert_eq!(read_iso_8601(&iso_8601(Time(time))), Some(Time(time)));
        }
        for wrong in
            ["", "2020-06-11", "2020-13-11T16:47:03.123456789Z", "2020-06-11T16:47:03Z", "é-06-11T16:47:03.123456789Z"]
        {
            assert_eq!(read_iso_8601(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_saturate_instead_of_overflowing() {
        assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
        assert_eq!(Nanos::from_secs_f64(1e300), Nanos::MAX);
        assert_eq!(Nanos::from_secs_f64(f64::NAN), Nanos::ZERO);
    }
}
