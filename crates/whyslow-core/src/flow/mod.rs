//! `flow`: assigns segments to connections.
//!
//! Uses only four-tuples and SYNs, and stores one value per connection for the next stage. A reused
//! four-tuple is a new connection. Memory stays bounded: closed and idle connections are evicted,
//! and when the table is full also the longest idle ones, which are counted.
//!
//! The table has [`SHARDS`] shards, chosen by the hash of the four-tuple, each with its own part of
//! the capacity. Eviction of a connection depends only on its own shard and on time. Shards can
//! therefore be distributed over several tables: the result is the same if each table gets the
//! segments of its own shards and the time of all.

mod cache;
mod entry;
mod shard;
mod sweep;

use crate::wire::{Flags, FlowKey, HashSeed, RawFlowKey, Segment};
use cache::{CacheEntry, FlowCache};
pub use entry::{ConnectionId, Evicted, FlowEntry, FlowTimeouts, HashedKey};
pub use shard::Shard;
use shard::{Inserted, Slot};
pub use sweep::SweepClock;
use whyslow_analysis::types::{ConnectionShard, Side};
use whyslow_units::Time;

#[cfg(test)]
mod tests;

/// Number of shards.
pub const SHARDS: usize = ConnectionShard::MOST;

/// Returns the shard of a four-tuple with this hash.
#[inline(always)]
pub fn shard_of(hash: u64) -> usize {
    (hash >> SHARD_SHIFT) as usize % SHARDS
}

impl HashedKey {
    /// A key in the first shard whatever its ends are, for connections that one reader must see
    /// completely.
    pub fn in_first_shard(key: FlowKey) -> Self {
        Self { key, hash: key.hash() & !((SHARDS as u64 - 1) << SHARD_SHIFT) }
    }
}

/// Bit position of the shard's number in a hash: the hash table itself uses the lowest and the
/// highest bits.
const SHARD_SHIFT: u32 = 40;

/// Returns the share of a four-tuple with this hash, if there are `of` shares.
pub fn share_of(hash: u64, of: usize) -> usize {
    shard_of(hash) % of.max(1)
}

/// A segment's connection.
#[derive(Debug)]
pub struct Routed<'a, T> {
    /// Its connection.
    pub id: ConnectionId,
    /// The value stored for this connection.
    pub value: &'a mut T,
    /// The side that sent it.
    pub from: Side,
    /// The segment is the first of the connection.
    pub new: bool,
}

/// A connection in the table, and the side that the lookup key belongs to.
#[derive(Debug)]
pub struct FoundFlow<'a, T> {
    slot: &'a mut Slot<T>,
    /// Side of the sender in the lookup key.
    pub from: Side,
}

impl<'a, T> FoundFlow<'a, T> {
    #[inline(always)]
    fn new(slot: &'a mut Slot<T>, from: Side) -> Self {
        Self { slot, from }
    }

    /// Returns the connection's id.
    pub fn id(&self) -> ConnectionId {
        self.slot.entry.id
    }

    /// Returns the value without recording a segment.
    pub fn value(self) -> &'a mut T {
        &mut self.slot.entry.value
    }

    /// Returns the value for a [plain](crate::wire::PlainSegment) segment captured at `time`, which
    /// neither opens nor closes the connection.
    #[inline(always)]
    pub fn on_plain_segment(self, time: Time) -> &'a mut T {
        self.slot.last.on_segment(time);
        self.slot.entry.answered = true;
        &mut self.slot.entry.value
    }
}

/// Result of a cache lookup.
#[derive(Debug)]
pub enum CacheLookup<'a, T> {
    /// The connection is in this shard.
    Here(usize, FoundFlow<'a, T>),
    /// Another table has the connection; it is in this shard.
    OtherTable(usize),
    /// Not cached: look it up in the table.
    Unknown,
}

/// The table of open connections.
#[derive(Debug)]
pub struct FlowTable<T> {
    shards: Box<[Shard<T>; SHARDS]>,
    cache: FlowCache,
    timeouts: FlowTimeouts,
    /// Time of the newest segment of this or another table.
    now: Time,
    /// Evicted connections that were not [taken](Self::take_evicted) yet.
    left: Evicted<T>,
    sweeps: SweepClock,
    /// Number of connections evicted while open, because they were idle or the table was full.
    pub evicted: u64,
}

impl<T> Default for FlowTable<T> {
    fn default() -> Self {
        Self::new(FlowTimeouts::default(), HashSeed::default())
    }
}

impl<T> FlowTable<T> {
    /// Creates an empty table.
    pub fn new(timeouts: FlowTimeouts, seed: HashSeed) -> Self {
        let shards = Box::new(std::array::from_fn(|_| Shard::new(seed)));
        Self {
            shards,
            cache: FlowCache::default(),
            timeouts,
            now: Time::MIN,
            left: Evicted::new(),
            sweeps: SweepClock::default(),
            evicted: 0,
        }
    }

    /// Creates an empty table with this seed.
    pub fn seeded(seed: HashSeed) -> Self {
        Self::new(FlowTimeouts::default(), seed)
    }

    /// Returns the number of connections.
    pub fn count(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// Advances time to a segment captured at `time`, in this table or another. Evicts idle
    /// connections, oldest first.
    #[inline]
    pub fn advance_time(&mut self, time: Time) {
        self.now = time;
        if self.sweeps.is_due(time) {
            self.sweep();
        }
    }

    /// Like [`advance_time`](Self::advance_time), but evicts nothing: other tables do not see this
    /// packet, and all tables must sweep at the same packets.
    pub fn note_time(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Returns whether connections were evicted since [`take_evicted`](Self::take_evicted) was
    /// called.
    #[inline]
    pub fn has_evicted(&self) -> bool {
        !self.left.is_empty()
    }

    /// Takes the evicted connections.
    pub fn take_evicted(&mut self) -> Evicted<T> {
        std::mem::take(&mut self.left)
    }

    /// Returns the connection with this key, if any. Call [`advance_time`](Self::advance_time)
    /// first.
    #[inline(always)]
    pub fn find(&mut self, ends: &HashedKey) -> Option<FoundFlow<'_, T>> {
        let slot = self.shards[shard_of(ends.hash)].find(ends)?;
        let from = slot.entry.side(&ends.key);
        Some(FoundFlow::new(slot, from))
    }

    /// Returns the connection with this raw key, if it was [cached](Self::find_and_cache) recently.
    /// Call [`advance_time`](Self::advance_time) first.
    #[inline(always)]
    pub fn lookup_cached(&mut self, raw_key: &RawFlowKey) -> CacheLookup<'_, T> {
        let Some(entry) = self.cache.get(raw_key) else { return CacheLookup::Unknown };
        let shard = usize::from(entry.shard) % SHARDS;
        if entry.other_table {
            return CacheLookup::OtherTable(shard);
        }
        match self.shards[shard].slot_at(entry.place) {
            Some(slot) if slot.entry.id == entry.id => CacheLookup::Here(shard, FoundFlow::new(slot, entry.from)),
            _ => CacheLookup::Unknown,
        }
    }

    /// Like [`find`](Self::find), and [caches](Self::lookup_cached) the connection under the
    /// segment's raw key.
    #[inline]
    pub fn find_and_cache(&mut self, raw_key: &RawFlowKey, ends: &HashedKey) -> Option<FoundFlow<'_, T>> {
        let shard = shard_of(ends.hash);
        let (place, slot) = self.shards[shard].find_place(ends)?;
        let from = slot.entry.side(&ends.key);
        if let Ok(place) = u32::try_from(place) {
            let (id, shard) = (slot.entry.id, shard as u8);
            self.cache.insert(CacheEntry { key: *raw_key, id, place, shard, from, other_table: false });
        }
        Some(FoundFlow::new(slot, from))
    }

    /// Visits the connections with a segment at `since` or later, in any order.
    pub fn for_each_since(&self, since: Time, mut visit: impl FnMut(HashedKey, &FlowEntry<T>)) {
        for shard in self.shards.iter() {
            shard.for_each_since(since, &mut visit);
        }
    }

    /// All connections, in any order.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = &mut FlowEntry<T>> {
        self.shards.iter_mut().flat_map(Shard::entries_mut)
    }

    /// Caches that the segments with this raw key belong to another table.
    pub fn cache_as_other_tables(&mut self, raw_key: &RawFlowKey, hash: u64) {
        self.cache.insert(CacheEntry::other_table(raw_key, shard_of(hash) as u8));
    }

    /// Finds the segment's connection, or inserts it with this id and the value of `make`. The new
    /// connection may replace another one with the same four-tuple or in a full shard, which is
    /// evicted. Call [`advance_time`](Self::advance_time) first.
    pub fn route(
        &mut self,
        segment: &Segment<'_>,
        ends: &HashedKey,
        id: ConnectionId,
        make: impl FnOnce() -> T,
    ) -> Routed<'_, T> {
        let most = (self.timeouts.connections / SHARDS).max(1);
        let shard = &mut self.shards[shard_of(ends.hash)];
        if shard.may_have_no_room(most) && shard.find(ends).is_none() {
            self.evicted += shard.make_room(most, &mut self.left);
        }
        let is_over = |entry: &FlowEntry<T>| {
            let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
            opens && entry.is_reuse(entry.side(&ends.key), segment)
        };
        let Inserted { slot, new, replaced } =
            shard.find_or_insert(ends, self.now, || FlowEntry::new(id, ends.key, make()), is_over);
        self.left.extend(replaced);
        let Slot { last, entry, .. } = slot;
        if !new {
            last.on_segment(self.now);
        }
        // Reading a new entry would wait for its memory.
        let from = if new { Side::A } else { entry.side(&ends.key) };
        entry.on_segment(from, segment);
        Routed { id: entry.id, value: &mut entry.value, from, new }
    }

    /// Removes a shard and returns its connections.
    pub fn take_shard(&mut self, shard: usize) -> Shard<T> {
        self.cache = FlowCache::default();
        let place = &mut self.shards[shard % SHARDS];
        let empty = place.emptied();
        std::mem::replace(place, empty)
    }

    /// Inserts a shard from a table that was advanced to the same times.
    pub fn put_shard(&mut self, shard: usize, connections: Shard<T>) {
        if let Some(place) = self.shards.get_mut(shard) {
            debug_assert_eq!(place.len(), 0, "no connection of shard {shard} was added meanwhile");
            *place = connections;
            self.cache = FlowCache::default();
        }
    }

    /// Removes all open connections, in order.
    pub fn drain(&mut self) -> Evicted<T> {
        let mut all: Evicted<T> = self.shards.iter_mut().flat_map(Shard::drain).collect();
        // The entries are scattered in memory, so the keys are cached: each entry is visited once.
        all.sort_by_cached_key(|entry| entry.id);
        all
    }

    #[cold]
    fn sweep(&mut self) {
        let time = self.now;
        let first = self.left.len();
        for shard in self.shards.iter_mut() {
            shard.sweep(time, &self.timeouts, &mut self.left);
        }
        if let Some(left) = self.left.get_mut(first..) {
            self.evicted += left.iter().filter(|entry| !entry.is_closed()).count() as u64;
            left.sort_by_cached_key(|entry| entry.id);
        }
    }
}
