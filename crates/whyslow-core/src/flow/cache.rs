//! Caches the table position of recent connections by their raw header fields. Most segments belong
//! to the same connection and direction as a recent one, and then need no normalised key, hash or
//! lookup.
//!
//! An entry may be stale: the connection may have left, or another direction may have overwritten
//! the entry. The caller must check by the unique id that the slot still holds the connection.

use super::entry::ConnectionId;
use crate::wire::RawFlowKey;
use whyslow_analysis::types::Side;

/// Capacity: cached directions.
const CAPACITY: usize = 1 << CAPACITY_BITS;
const CAPACITY_BITS: u32 = 10;

/// Recent directions, each at the one index that its key allows.
#[derive(Debug)]
pub(super) struct FlowCache {
    entries: Box<[CacheEntry; CAPACITY]>,
}

/// One cached direction.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct CacheEntry {
    pub key: RawFlowKey,
    /// Connection, shard, and slot index.
    pub id: ConnectionId,
    pub place: u32,
    pub shard: u8,
    /// The sending side.
    pub from: Side,
    /// Whether another table has the connection; then there is no slot.
    pub other_table: bool,
}

const _: () = assert!(size_of::<CacheEntry>() == 64, "one line of the processor's cache");

impl CacheEntry {
    /// An entry for segments of another table.
    pub fn other_table(raw_key: &RawFlowKey, shard: u8) -> Self {
        Self { key: *raw_key, shard, other_table: true, ..Self::default() }
    }
}

impl Default for FlowCache {
    fn default() -> Self {
        Self { entries: Box::new([CacheEntry::default(); CAPACITY]) }
    }
}

impl FlowCache {
    #[inline(always)]
    fn place(raw_key: &RawFlowKey) -> usize {
        (raw_key.cache_hash() >> (u64::BITS - CAPACITY_BITS)) as usize % CAPACITY
    }

    /// Returns the entry of this key.
    #[inline(always)]
    pub fn get(&self, raw_key: &RawFlowKey) -> Option<&CacheEntry> {
        let entry = &self.entries[Self::place(raw_key)];
        entry.key.is_same(raw_key).then_some(entry)
    }

    pub fn insert(&mut self, entry: CacheEntry) {
        self.entries[Self::place(&entry.key)] = entry;
    }
}
