//! One shard of the table: a hash table whose slots hold everything that a sweep needs, so that a
//! connection itself is touched only for its own segments or when it leaves.

use super::entry::{Evicted, FlowEntry, FlowTimeouts, HashedKey};
use crate::units::Time;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The connections of one shard.
#[derive(Debug)]
pub struct Shard<T> {
    slots: HashTable<Slot<T>>,
    /// Connections begun since the last search for single-segment ones.
    started_since_sweep: usize,
}

/// A slot of the hash table.
#[derive(Debug)]
pub(super) struct Slot<T> {
    hash: u64,
    pub(super) last: LastSeen,
    pub(super) entry: Box<FlowEntry<T>>,
}

/// The slot of a segment's connection.
pub(super) struct Inserted<'a, T> {
    pub(super) slot: &'a mut Slot<T>,
    /// The connection is new.
    pub(super) new: bool,
    /// The connection that stood there before.
    pub(super) replaced: Option<Box<FlowEntry<T>>>,
}

/// Time of the newest segment in even nanoseconds; the odd bit says that it is the only one so far.
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

impl<T> Default for Shard<T> {
    fn default() -> Self {
        Self { slots: HashTable::new(), started_since_sweep: 0 }
    }
}

/// Not inlined: most segments belong to known connections.
#[cold]
#[inline(never)]
fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

#[inline(always)]
fn is_of<T>(ends: &HashedKey) -> impl Fn(&Slot<T>) -> bool {
    move |slot| slot.hash == ends.hash && slot.entry.key.same_connection(&ends.key)
}

impl<T> Shard<T> {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the slot with this key, if any.
    #[inline(always)]
    pub(super) fn find(&mut self, ends: &HashedKey) -> Option<&mut Slot<T>> {
        self.slots.find_mut(ends.hash, is_of(ends))
    }

    /// Like [`find`](Self::find), with the slot's index, which may be reused once the connection
    /// has left.
    #[inline]
    pub(super) fn find_place(&mut self, ends: &HashedKey) -> Option<(usize, &mut Slot<T>)> {
        let place = self.slots.find_bucket_index(ends.hash, is_of(ends))?;
        Some((place, self.slots.get_bucket_mut(place)?))
    }

    /// Returns the slot at an index, if any.
    #[inline(always)]
    pub(super) fn slot_at(&mut self, place: u32) -> Option<&mut Slot<T>> {
        self.slots.get_bucket_mut(place as usize)
    }

    /// Returns the slot with this key. It is new if there was none, or if the old one `is_over`.
    pub(super) fn find_or_insert(
        &mut self,
        ends: &HashedKey,
        time: Time,
        fresh: impl FnOnce() -> FlowEntry<T>,
        is_over: impl FnOnce(&FlowEntry<T>) -> bool,
    ) -> Inserted<'_, T> {
        match self.slots.entry(ends.hash, is_of(ends), |slot| slot.hash) {
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
                let slot = Slot { hash: ends.hash, last: LastSeen::first(time), entry: boxed(fresh) };
                Inserted { slot: place.insert(slot).into_mut(), new: true, replaced: None }
            }
        }
    }

    /// Evicts idle connections.
    pub(super) fn sweep(&mut self, time: Time, expiry: &FlowTimeouts, evicted: &mut Evicted<T>) {
        // No connection leaves sooner than this, so most need no closer look.
        let least = expiry.closed.min(expiry.opening).min(expiry.open);
        let silent = |slot: &mut Slot<T>| {
            let silence = time - slot.last.time();
            silence >= least && silence >= slot.entry.idle_timeout(expiry)
        };
        evicted.extend(self.slots.extract_if(silent).map(|slot| slot.entry));
    }

    /// Visits the connections with a segment at `since` or later.
    pub(super) fn for_each_since(&self, since: Time, visit: &mut impl FnMut(HashedKey, &FlowEntry<T>)) {
        for slot in self.slots.iter().filter(|slot| slot.last.time() >= since) {
            visit(HashedKey { key: slot.entry.key, hash: slot.hash }, &slot.entry);
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

    /// Evicts the idlest connections if the shard is full, or has too many single-segment ones: at
    /// least a sixteenth, so that a flood of new connections pays for a scan only rarely. Returns
    /// how many.
    pub(super) fn make_room(&mut self, most: usize, evicted: &mut Evicted<T>) -> u64 {
        let singles = self.evict_singles(most, evicted);
        if self.len() < most { singles } else { singles + self.evict((most / 16).max(1), |_| true, evicted) }
    }

    /// Evicts the idlest single-segment connections beyond half of `most` plus a sixteenth:
    /// unanswered SYNs, flows of which nothing else passes here. They can be judged without waiting
    /// for more. Returns how many.
    fn evict_singles(&mut self, most: usize, evicted: &mut Evicted<T>) -> u64 {
        if std::mem::take(&mut self.started_since_sweep) <= most / 16 || self.len() <= most / 2 {
            return 0;
        }
        let singles = self.slots.iter().filter(|slot| slot.last.is_single()).count();
        match singles.saturating_sub(most / 2) {
            0 => 0,
            spare => self.evict(spare, |slot| slot.last.is_single(), evicted),
        }
    }

    /// Evicts the idlest `share` of those that may leave.
    fn evict(&mut self, share: usize, may_leave: impl Fn(&Slot<T>) -> bool, evicted: &mut Evicted<T>) -> u64 {
        let age = |slot: &Slot<T>| (slot.last.time(), slot.entry.id);
        let mut by_age: Vec<_> = self.slots.iter().filter(|slot| may_leave(slot)).map(age).collect();
        let (_, &mut newest, _) = by_age.select_nth_unstable(share - 1);
        let first = evicted.len();
        evicted.extend(self.slots.extract_if(|slot| may_leave(slot) && age(slot) <= newest).map(|slot| slot.entry));
        if let Some(evicted) = evicted.get_mut(first..) {
            evicted.sort_by_cached_key(|entry| entry.id);
        }
        share as u64
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<FlowEntry<T>>> {
        self.slots.drain().map(|slot| slot.entry)
    }
}
