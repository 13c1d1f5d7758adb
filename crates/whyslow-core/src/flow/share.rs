//! A share of all connections, for whoever follows no others.

use super::{SHARDS, shard_of};

/// One of several equal shares of all connections, by the hash of the four-tuple: the same on every
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    number: usize,
    of: usize,
}

impl Default for Share {
    fn default() -> Self {
        Self::ALL
    }
}

impl Share {
    /// All connections.
    pub const ALL: Self = Self { number: 0, of: 1 };
    /// Most shares.
    pub const MOST: usize = SHARDS;

    /// The share of this number, from 0, of so many; none where there is no such share.
    pub fn new(number: usize, of: usize) -> Option<Self> {
        (number < of && of <= Self::MOST).then_some(Self { number, of })
    }

    /// The share, of so many (1 to [`MOST`](Self::MOST)), of a four-tuple with this hash.
    pub(crate) fn number_of(hash: u64, of: usize) -> usize {
        shard_of(hash) % of.max(1)
    }

    /// Its number, from 0.
    pub fn number(self) -> usize {
        self.number
    }

    /// How many there are.
    pub fn of(self) -> usize {
        self.of
    }

    /// Whether this shard of the table belongs to it.
    pub(crate) fn has(self, shard: usize) -> bool {
        shard % self.of == self.number
    }
}
