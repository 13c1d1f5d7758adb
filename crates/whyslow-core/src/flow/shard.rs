//! One shard of the table: a hash table whose slots hold everything that a sweep needs. A sweep
//! touches a connection itself only when it evicts it.

use super::entry::{ConnectionId, Evicted, FlowEntry, FlowTimeouts, HashedKey};
use crate::wire::HashSeed;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use whyslow_units::Time;
use whyslow_units::steps;

/// The connections of one shard.
#[derive(Debug)]
pub struct Shard<T> {
    slots: HashTable<Slot<T>>,
    /// The seed affects only the position of the slots.
    seed: HashSeed,
    /// Connections started since the last search for single-segment ones.
    started_since_sweep: usize,
}

/// A slot of the hash table.
#[derive(Debug)]
pub(super) struct Slot<T> {
    /// Hash with the shard's seed.
    hash: u64,
    pub(super) last: LastSeen,
    pub(super) entry: Box<FlowEntry<T>>,
}

/// The slot of a segment's connection.
pub(super) struct Inserted<'a, T> {
    pub(super) slot: &'a mut Slot<T>,
    /// The connection is new.
    pub(super) new: bool,
    /// The connection that this one replaced.
    pub(super) replaced: Option<Box<FlowEntry<T>>>,
}

/// Time of the newest segment in even nanoseconds; an odd value marks that it is the only one so
/// far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastSeen(i64);

impl LastSeen {
    fn first(time: Time) -> Self {
        Self(time.0 | 1)
    }

    /// Records another segment.
    #[inline(always)]
    pub(super) fn on_segment(&mut self, time: Time) {
        self.0 = self.0.max(time.0) & !1;
    }

    fn time(self) -> Time {
        Time(self.0 & !1)
    }

    fn is_single(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Not inlined: most segments belong to known connections.
#[cold]
#[inline(never)]
fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

#[inline(always)]
fn is_of<T>(ends: &HashedKey, hash: u64) -> impl Fn(&Slot<T>) -> bool {
    move |slot| {
        steps::count(1);
        slot.hash == hash && slot.entry.key.same_connection(&ends.key)
    }
}

impl<T> Shard<T> {
    /// Creates an empty shard.
    pub(super) fn new(seed: HashSeed) -> Self {
        Self { slots: HashTable::new(), seed, started_since_sweep: 0 }
    }

    /// Creates an empty shard with the same seed.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.seed)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the slot with this key, if any.
    #[inline(always)]
    pub(super) fn find(&mut self, ends: &HashedKey) -> Option<&mut Slot<T>> {
        let hash = ends.key.keyed_hash(&self.seed);
        self.slots.find_mut(hash, is_of(ends, hash))
    }

    /// Like [`find`](Self::find), but returns the slot's index, which may be reused after the
    /// connection is evicted.
    #[inline]
    pub(super) fn find_place(&mut self, ends: &HashedKey) -> Option<(usize, &mut Slot<T>)> {
        let hash = ends.key.keyed_hash(&self.seed);
        let place = self.slots.find_bucket_index(hash, is_of(ends, hash))?;
        Some((place, self.slots.get_bucket_mut(place)?))
    }

    /// Returns the slot at an index, if any.
    #[inline(always)]
    pub(super) fn slot_at(&mut self, place: u32) -> Option<&mut Slot<T>> {
        self.slots.get_bucket_mut(place as usize)
    }

    /// Returns the slot with this key. Replaces an old connection for which `is_over` returns true.
    pub(super) fn find_or_insert(
        &mut self,
        ends: &HashedKey,
        time: Time,
        fresh: impl FnOnce() -> FlowEntry<T>,
        is_over: impl FnOnce(&FlowEntry<T>) -> bool,
    ) -> Inserted<'_, T> {
        let hash = ends.key.keyed_hash(&self.seed);
        match self.slots.entry(hash, is_of(ends, hash), |slot| slot.hash) {
            Entry::Occupied(slot) => {
                let slot = slot.into_mut();
                let new = is_over(&slot.entry);
                let replaced = new.then(|| {
                    slot.last = LastSeen::first(time);
                    std::mem::replace(&mut slot.entry, boxed(fresh))
                });
                Inserted { slot, new, replaced }
            }
            Entry::Vacant(place) => {
                self.started_since_sweep += 1;
                let slot = Slot { hash, last: LastSeen::first(time), entry: boxed(fresh) };
                Inserted { slot: place.insert(slot).into_mut(), new: true, replaced: None }
            }
        }
    }

    /// Evicts idle connections.
    pub(super) fn sweep(&mut self, time: Time, expiry: &FlowTimeouts, evicted: &mut Evicted<T>) {
        // No connection expires sooner than this, so most need no closer look.
        let least = expiry.closed.min(expiry.opening).min(expiry.open);
        let silent = |slot: &mut Slot<T>| {
            let silence = time - slot.last.time();
            silence >= least && silence >= slot.entry.idle_timeout(expiry)
        };
        evicted.extend(self.slots.extract_if(silent).map(|slot| slot.entry));
    }

    /// Visits the connections with a segment at `since` or later.
    pub(super) fn for_each_since(&self, since: Time, visit: &mut impl FnMut(HashedKey, &FlowEntry<T>)) {
        steps::count(self.slots.len());
        for slot in self.slots.iter().filter(|slot| slot.last.time() >= since) {
            visit(slot.entry.key.into(), &slot.entry);
        }
    }

    /// All connections, in any order.
    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut FlowEntry<T>> {
        self.slots.iter_mut().map(|slot| &mut *slot.entry)
    }

    /// Returns whether to call [`make_room`](Self::make_room) before inserting.
    pub(super) fn may_have_no_room(&self, most: usize) -> bool {
        self.len() >= most || self.started_since_sweep > most / 16
    }

    /// Evicts the longest idle connections if the shard is full, or has too many single-segment
    /// ones: at least a sixteenth, so that a flood of new connections rarely pays for a scan.
    /// Returns the number.
    pub(super) fn make_room(&mut self, most: usize, evicted: &mut Evicted<T>) -> u64 {
        let singles = self.evict_singles(most, evicted);
        if self.len() < most {
            return singles;
        }
        let ages = self.ages(|_| true);
        singles + self.evict((most / 16).max(1), ages, |_| true, evicted)
    }

    /// Evicts the longest idle single-segment connections beyond half of `most` plus a sixteenth:
    /// unanswered SYNs, or flows whose other packets take another route. They can be analysed
    /// without more packets. Returns the number.
    fn evict_singles(&mut self, most: usize, evicted: &mut Evicted<T>) -> u64 {
        if std::mem::take(&mut self.started_since_sweep) <= most / 16 || self.len() <= most / 2 {
            return 0;
        }
        let ages = self.ages(|slot| slot.last.is_single());
        match ages.len().saturating_sub(most / 2) {
            0 => 0,
            spare => self.evict(spare, ages, |slot| slot.last.is_single(), evicted),
        }
    }

    /// The times of the last segments of the connections that may leave, in any order.
    fn ages(&self, may_leave: impl Fn(&Slot<T>) -> bool) -> Vec<Time> {
        self.slots.iter().filter(|slot| may_leave(slot)).map(|slot| slot.last.time()).collect()
    }

    /// Evicts the longest idle `share` of the connections that may leave, which have these
    /// [ages](Self::ages). Connections are scattered in memory, so this touches only those that it
    /// evicts and those with the same idle time as the last of them.
    fn evict(
        &mut self,
        share: usize,
        mut ages: Vec<Time>,
        may_leave: impl Fn(&Slot<T>) -> bool,
        evicted: &mut Evicted<T>,
    ) -> u64 {
        let (older, &mut newest, younger) = ages.select_nth_unstable(share - 1);
        // Another pass over the slots waits for memory in a flood, where most times are unique.
        let last_id = if younger.contains(&newest) {
            let as_idle = share - older.iter().filter(|time| **time < newest).count();
            self.nth_id_at(newest, as_idle, &may_leave)
        } else {
            ConnectionId(u64::MAX)
        };
        let leaves = |slot: &mut Slot<T>| {
            let time = slot.last.time();
            time <= newest && may_leave(slot) && (time < newest || slot.entry.id <= last_id)
        };
        let first = evicted.len();
        evicted.extend(self.slots.extract_if(leaves).map(|slot| slot.entry));
        if let Some(evicted) = evicted.get_mut(first..) {
            evicted.sort_by_cached_key(|entry| entry.id);
        }
        share as u64
    }

    /// The `nth` id, from 1, of the connections that may leave and whose last segment has this
    /// time.
    fn nth_id_at(&self, time: Time, nth: usize, may_leave: impl Fn(&Slot<T>) -> bool) -> ConnectionId {
        let those = self.slots.iter().filter(|slot| slot.last.time() == time && may_leave(slot));
        let mut ids: Vec<_> = those.map(|slot| slot.entry.id).collect();
        *ids.select_nth_unstable(nth - 1).1
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<FlowEntry<T>>> {
        self.slots.drain().map(|slot| slot.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::FlowKey;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn longest_idle_and_then_oldest_connections_are_evicted(
            // Few distinct times, so that many are equal.
            times in prop::collection::vec((0i64..6, any::<bool>()), 1..80),
            share in any::<prop::sample::Index>(),
        ) {
            let mut shard = Shard::new(HashSeed::default());
            for (number, &(time, is_single)) in (0u16..).zip(&times) {
                let key = FlowKey::v4(&[192, 0, 2, 1, 192, 0, 2, 2], &[number as u8, (number >> 8) as u8, 9, 9]);
                let ends = HashedKey::from(key);
                let id = ConnectionId(u64::from(number));
                let slot = shard.find_or_insert(&ends, Time(2 * time), || FlowEntry::new(id, key, ()), |_| false).slot;
                if !is_single {
                    slot.last.on_segment(Time(2 * time));
                }
            }
            let mut singles: Vec<_> =
                (0u64..).zip(&times).filter(|(_, (_, is_single))| *is_single).map(|(id, (time, _))| (*time, id)).collect();
            singles.sort_unstable();
            prop_assume!(!singles.is_empty());
            let share = share.index(singles.len()) + 1;
            let mut expected: Vec<_> = singles[..share].iter().map(|(_, id)| *id).collect();
            expected.sort_unstable();
            let mut evicted = Evicted::new();
            let ages = shard.ages(|slot| slot.last.is_single());
            shard.evict(share, ages, |slot| slot.last.is_single(), &mut evicted);
            prop_assert_eq!(evicted.iter().map(|entry| entry.id.0).collect::<Vec<_>>(), expected);
            prop_assert_eq!(shard.len(), times.len() - share);
        }
    }
}
