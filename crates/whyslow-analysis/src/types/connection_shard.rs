//! A share of all connections, for a consumer that processes only these.

/// One of several equal shares of all connections, chosen by the hash of the four-tuple: the same
/// on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionShard {
    number: usize,
    of: usize,
}

impl Default for ConnectionShard {
    fn default() -> Self {
        Self::ALL
    }
}

impl ConnectionShard {
    /// All connections.
    pub const ALL: Self = Self { number: 0, of: 1 };
    /// Largest number of shares.
    pub const MOST: usize = 64;

    /// Share `number`, from 0, of `of` shares; `None` if there is no such share.
    pub fn new(number: usize, of: usize) -> Option<Self> {
        (number < of && of <= Self::MOST).then_some(Self { number, of })
    }

    /// Its number, from 0.
    pub fn number(self) -> usize {
        self.number
    }

    /// Number of shares.
    pub fn of(self) -> usize {
        self.of
    }

    /// Whether this shard of the connection table belongs to the share. There are as many shards as
    /// there can be shares.
    pub fn has(self, shard: usize) -> bool {
        shard % self.of == self.number
    }
}
