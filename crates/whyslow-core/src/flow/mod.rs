//! `flow`: segments → connections.
//!
//! Knows four-tuples and SYNs, nothing else of TCP, and keeps for each connection what the stage
//! behind it wants kept. It promises that a four-tuple used again is a new connection, and that
//! memory stays bounded (closed and idle connections leave the table, and so do the idlest ones
//! when the table is full, counted).
//!
//! The table is cut into [`SHARDS`] by the four-tuple's hash, each with its own share of the room.
//! What becomes of a connection depends on its own part and on the time alone, so that parts can be
//! looked after by several tables, each given the segments of its own parts and told the time of
//! all, and the outcome is that of one.

mod cache;
mod entry;
mod shard;

use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, FlowKey, RawFlowKey, Segment};
use cache::{CacheEntry, FlowCache};
pub use entry::{ConnectionId, Evicted, FlowEntry, FlowTimeouts, Side};
pub use shard::Shard;
use shard::Slot;

#[cfg(test)]
mod tests;

/// Parts of a table.
pub const SHARDS: usize = 64;

/// The part that a four-tuple of this hash belongs to.
#[inline(always)]
pub fn shard_of(hash: u64) -> usize {
    // The lowest bits and the highest are the hash table's own.
    (hash >> 40) as usize % SHARDS
}

/// Where a segment belongs.
#[derive(Debug)]
pub struct Routed<'a, T> {
    /// Its connection.
    pub id: ConnectionId,
    /// What is kept for it.
    pub value: &'a mut T,
    /// Who sent it.
    pub from: Side,
    /// It is the connection's first.
    pub new: bool,
}

/// A connection that is in the table, and the end of it that was asked for.
#[derive(Debug)]
pub struct FoundFlow<'a, T> {
    slot: &'a mut Slot<T>,
    /// Who sends from that end.
    pub from: Side,
}

impl<'a, T> FoundFlow<'a, T> {
    #[inline(always)]
    fn new(slot: &'a mut Slot<T>, from: Side) -> Self {
        Self { slot, from }
    }

    /// Which connection it is.
    pub fn id(&self) -> ConnectionId {
        self.slot.entry.id
    }

    /// What is kept for the connection, of which no segment came.
    pub fn value(self) -> &'a mut T {
        &mut self.slot.entry.value
    }

    /// What is kept for the connection, of which a [plain](crate::wire::PlainSegment) segment was
    /// captured at `time`: that neither opens nor ends one, so that nothing else need be done about
    /// it.
    #[inline(always)]
    pub fn on_plain_segment(self, time: Nanos) -> &'a mut T {
        self.slot.last.on_segment(time);
        self.slot.entry.answered = true;
        &mut self.slot.entry.value
    }

    /// As [`on_plain_segment`](Self::on_plain_segment), of a segment that is plain but that its
    /// side [ends](crate::wire::FastPacket::closing) with it.
    pub fn on_closing_segment(self, time: Nanos) -> &'a mut T {
        self.slot.entry.fin[self.from] = true;
        self.on_plain_segment(time)
    }
}

/// What is known of a segment's connection by its heading alone.
#[derive(Debug)]
pub enum CacheLookup<'a, T> {
    /// It is in this part of the table.
    Here(usize, FoundFlow<'a, T>),
    /// It is another table's, which this part is in the care of.
    OtherTable(usize),
    /// Nothing: it must be looked for.
    Unknown,
}

/// The connections that are open now.
#[derive(Debug)]
pub struct FlowTable<T> {
    shards: Box<[Shard<T>; SHARDS]>,
    cache: FlowCache,
    timeouts: FlowTimeouts,
    /// Up to this time nobody looks for silent connections.
    next_sweep: Nanos,
    /// Connections that were let go while still open, because they were idle or the table was full.
    pub evicted: u64,
}

impl<T> Default for FlowTable<T> {
    fn default() -> Self {
        Self::new(FlowTimeouts::default())
    }
}

/// The table is looked over for silent connections this often, in the capture's time.
const SWEEP_INTERVAL: Nanos = Nanos::from_millis(10_000);
/// From the first segment on.
const NEVER_SWEPT: Nanos = Nanos(i64::MIN);

impl<T> FlowTable<T> {
    /// An empty table.
    pub fn new(timeouts: FlowTimeouts) -> Self {
        let shards = Box::new(std::array::from_fn(|_| Shard::default()));
        Self { shards, cache: FlowCache::default(), timeouts, next_sweep: NEVER_SWEPT, evicted: 0 }
    }

    /// How many connections are in the table.
    pub fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A segment was captured at `time`, whether or not it is this table's. Connections that have
    /// been silent for too long go to `gone`, oldest first. Says whether it was time to look for
    /// them.
    #[inline(always)]
    pub fn advance_time(&mut self, time: Nanos, evicted: &mut Evicted<T>) -> bool {
        let due = time > self.next_sweep;
        if due {
            self.sweep(time, evicted);
        }
        due
    }

    /// The connection between these ends, if there is one. The time of a segment must have been
    /// told with [`advance_time`](Self::advance_time).
    #[inline(always)]
    pub fn find(&mut self, ends: &FlowKey, hash: u64) -> Option<FoundFlow<'_, T>> {
        let slot = self.shards[shard_of(hash)].find(ends, hash)?;
        let from = slot.entry.side(ends);
        Some(FoundFlow::new(slot, from))
    }

    /// The connection of a segment with this heading, if that was [found](Self::find_and_cache) not
    /// long ago. The time must have been told with [`advance_time`](Self::advance_time).
    #[inline(always)]
    pub fn lookup_cached(&mut self, raw_key: &RawFlowKey) -> CacheLookup<'_, T> {
        let Some(noted) = self.cache.get(raw_key) else { return CacheLookup::Unknown };
        let shard = usize::from(noted.shard) % SHARDS;
        if noted.other_table {
            return CacheLookup::OtherTable(shard);
        }
        match self.shards[shard].slot_at(noted.place) {
            Some(slot) if slot.entry.id == noted.id => CacheLookup::Here(shard, FoundFlow::new(slot, noted.from())),
            _ => CacheLookup::Unknown,
        }
    }

    /// As [`find`](Self::find), and the connection will be [recalled](Self::lookup_cached) by this
    /// heading, which is that of the segment.
    #[inline]
    pub fn find_and_cache(&mut self, raw_key: &RawFlowKey, ends: &FlowKey, hash: u64) -> Option<FoundFlow<'_, T>> {
        let shard = shard_of(hash);
        let (place, slot) = self.shards[shard].find_place(ends, hash)?;
        let from = slot.entry.side(ends);
        if let Ok(place) = u32::try_from(place) {
            let (id, shard, from_one) = (slot.entry.id, shard as u8, from == 1);
            self.cache.insert(CacheEntry { key: *raw_key, id, place, shard, from_one, other_table: false });
        }
        Some(FoundFlow::new(slot, from))
    }

    /// Segments with this heading are another table's, and will be recalled as that.
    pub fn cache_as_other_tables(&mut self, raw_key: &RawFlowKey, hash: u64) {
        self.cache.insert(CacheEntry::other_table(raw_key, shard_of(hash) as u8));
    }

    /// Finds the segment's connection, or opens it, with this number and with what `make` gives. A
    /// connection that it ends by using its four-tuple again goes to `gone`. The time must have
    /// been told with [`advance_time`](Self::advance_time).
    #[inline]
    pub fn route<'a>(
        &'a mut self,
        segment: &Segment<'_>,
        (ends, hash): (&FlowKey, u64),
        time: Nanos,
        id: ConnectionId,
        evicted: &mut Evicted<T>,
        make: impl FnOnce() -> T,
    ) -> Routed<'a, T> {
        let most = (self.timeouts.connections / SHARDS).max(1);
        let shard = &mut self.shards[shard_of(hash)];
        if shard.may_have_no_room(most) && !shard.holds(ends, hash) {
            self.evicted += shard.make_room(most, evicted);
        }
        let fresh = || FlowEntry {
            id,
            value: make(),
            key: *ends,
            isn: [SeqNumber(0); 2],
            syn: [false; 2],
            fin: [false; 2],
            reset: false,
            answered: false,
        };
        let (slot, new) = shard.find_or_insert(
            ends,
            hash,
            time,
            fresh,
            |entry| {
                let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
                opens && entry.is_reuse(entry.side(ends), segment)
            },
            evicted,
        );
        let Slot { last, entry, .. } = slot;
        if !new {
            last.on_segment(time);
        }
        let from = entry.side(ends);
        entry.on_segment(from, segment);
        Routed { id: entry.id, value: &mut entry.value, from, new }
    }

    /// The connections of a part, which are this table's no more.
    pub fn take_shard(&mut self, shard: usize) -> Shard<T> {
        self.cache = FlowCache::default();
        self.shards.get_mut(shard).map(std::mem::take).unwrap_or_default()
    }

    /// The connections of a part of which this table has none, from one that was told the same
    /// times.
    pub fn put_shard(&mut self, shard: usize, connections: Shard<T>) {
        if let Some(place) = self.shards.get_mut(shard) {
            debug_assert_eq!(place.len(), 0, "nobody else took up connections of part {shard}");
            *place = connections;
            self.cache = FlowCache::default();
        }
    }

    /// Everything that is still open, in order.
    pub fn drain(&mut self) -> Evicted<T> {
        let mut all: Evicted<T> = self.shards.iter_mut().flat_map(Shard::drain).collect();
        // They lie all over the memory: each is looked at once.
        all.sort_by_cached_key(|entry| entry.id);
        all
    }

    #[cold]
    fn sweep(&mut self, time: Nanos, evicted: &mut Evicted<T>) {
        if std::mem::replace(&mut self.next_sweep, time + (SWEEP_INTERVAL - Nanos(1))) == NEVER_SWEPT {
            return;
        }
        let first = evicted.len();
        for shard in self.shards.iter_mut() {
            shard.sweep(time, &self.timeouts, evicted);
        }
        if let Some(evicted) = evicted.get_mut(first..) {
            self.evicted += evicted.iter().filter(|entry| !entry.is_closed()).count() as u64;
            evicted.sort_by_cached_key(|entry| entry.id);
        }
    }
}
