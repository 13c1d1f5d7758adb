//! A share of all connections, for whoever follows no others.

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
    pub const MOST: usize = 64;

    /// The share of this number, from 0, of so many; none where there is no such share.
    pub fn new(number: usize, of: usize) -> Option<Self> {
        (number < of && of <= Self::MOST).then_some(Self { number, of })
    }

    /// Its number, from 0.
    pub fn number(self) -> usize {
        self.number
    }

    /// How many there are.
    pub fn of(self) -> usize {
        self.of
    }

    /// Whether this shard of the table of connections belongs to it, of which there are as many as
    /// there can be shares.
    pub(crate) fn has(self, shard: usize) -> bool {
        shard % self.of == self.number
    }
}
