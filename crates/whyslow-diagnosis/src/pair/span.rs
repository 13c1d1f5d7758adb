//! From a first packet to a last.

use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_units::Time;

/// The times of a first packet and of a last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct TimeSpan {
    /// The first packet's.
    pub first: Time,
    /// The last packet's.
    pub last: Time,
}

impl TimeSpan {
    /// Whether both run at some instant.
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Converts both ends to another clock.
    pub(super) fn map(self, to: impl Fn(Time) -> Time) -> Self {
        Self { first: to(self.first), last: to(self.last) }
    }

    /// Extends the span so that it contains this instant.
    pub(super) fn with(self, time: Time) -> Self {
        Self { first: self.first.min(time), last: self.last.max(time) }
    }
}
