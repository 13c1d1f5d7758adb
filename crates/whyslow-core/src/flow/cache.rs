//! Where the connections of the newest segments stand in the table, by what their headers say as it
//! stands there: most segments follow one of the same connection and direction, and need not be put
//! in order, hashed and looked for.
//!
//! It knows places, and promises nothing: what is noted may long have left the table, or have been
//! written over by another direction. Who asks must see for himself that the connection at the
//! place is still the one that was noted, by its number, which no other has.

use super::entry::{ConnectionId, Side};
use crate::wire::RawFlowKey;

/// Directions that are kept in mind at most.
const CAPACITY: usize = 1 << CAPACITY_BITS;
const CAPACITY_BITS: u32 = 10;

/// The newest directions, each at the only place that its heading has.
#[derive(Debug)]
pub(super) struct FlowCache {
    noted: Box<[CacheEntry; CAPACITY]>,
}

/// What is known of a heading.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct CacheEntry {
    pub key: RawFlowKey,
    /// Its connection, the part of the table that it is in, and its place in that.
    pub id: ConnectionId,
    pub place: u32,
    pub shard: u8,
    /// Side 1 sends.
    pub from_one: bool,
    /// It is another table's: there is no place.
    pub other_table: bool,
}

const _: () = assert!(size_of::<CacheEntry>() == 64, "one line of the processor's cache");

impl CacheEntry {
    /// Whose segments are another table's.
    pub fn other_table(raw_key: &RawFlowKey, shard: u8) -> Self {
        Self { key: *raw_key, shard, other_table: true, ..Self::default() }
    }

    /// Who sends.
    #[inline(always)]
    pub fn from(&self) -> Side {
        usize::from(self.from_one)
    }
}

impl Default for FlowCache {
    fn default() -> Self {
        Self { noted: Box::new([CacheEntry::default(); CAPACITY]) }
    }
}

impl FlowCache {
    #[inline(always)]
    fn place(raw_key: &RawFlowKey) -> usize {
        (raw_key.cache_hash() >> (u64::BITS - CAPACITY_BITS)) as usize % CAPACITY
    }

    /// What was noted of this heading.
    #[inline(always)]
    pub fn get(&self, raw_key: &RawFlowKey) -> Option<&CacheEntry> {
        let noted = &self.noted[Self::place(raw_key)];
        noted.key.is_same(raw_key).then_some(noted)
    }

    pub fn insert(&mut self, noted: CacheEntry) {
        self.noted[Self::place(&noted.key)] = noted;
    }
}
