//! Newtypes for the quantities that the analysis works with, so that a time is never added to a byte count.

use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Nanoseconds: an instant (since the Unix epoch, or since whatever the capture counts from) or a length of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub i64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The latest instant that can be told.
    pub const MAX: Self = Self(i64::MAX);

    /// From whole microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// From whole milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// From seconds; saturates, and what is not a number is zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as i64)
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
        Self((self.0 as f64 * factor).round() as i64)
    }

    /// Never below zero.
    pub fn or_zero(self) -> Self {
        Self(self.0.max(0))
    }
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
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
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
    fn times_saturate_instead_of_overflowing() {
        assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
        assert_eq!(Nanos::from_secs_f64(1e300), Nanos::MAX);
        assert_eq!(Nanos::from_secs_f64(f64::NAN), Nanos::ZERO);
    }
}
