//! One part of the table: a hash table whose slots hold what a look over all of them needs, so that
//! the connections themselves are touched only when a segment is theirs or they leave.

use super::entry::{Evicted, FlowEntry, FlowTimeouts};
use crate::units::Nanos;
use crate::wire::FlowKey;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The connections of one part.
#[derive(Debug)]
pub struct Shard<T> {
    slots: HashTable<Slot<T>>,
    /// Connections that began since it was looked for those of a single segment.
    started_since_sweep: usize,
}

/// A connection's place.
#[derive(Debug)]
pub(super) struct Slot<T> {
    hash: u64,
    pub(super) last: LastSeen,
    pub(super) entry: Box<FlowEntry<T>>,
}

/// When a connection's newest segment came, in even nanoseconds; the odd bit says that it is the
/// only one so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastSeen(i64);

impl LastSeen {
    fn first(time: Nanos) -> Self {
        Self(time.0 | 1)
    }

    /// Another one came.
    #[inline(always)]
    pub(super) fn on_segment(&mut self, time: Nanos) {
        self.0 = self.0.max(time.0) & !1;
    }

    fn time(self) -> Nanos {
        Nanos(self.0 & !1)
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

/// Kept out of the way of segments whose connection is there already.
#[cold]
#[inline(never)]
fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

#[inline(always)]
fn is_of<T>(ends: &FlowKey, hash: u64) -> impl Fn(&Slot<T>) -> bool {
    move |slot| slot.hash == hash && slot.entry.key.same_connection(ends)
}

impl<T> Shard<T> {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn holds(&self, ends: &FlowKey, hash: u64) -> bool {
        self.slots.find(hash, is_of(ends, hash)).is_some()
    }

    /// The slot of these ends, if there is one.
    #[inline(always)]
    pub(super) fn find(&mut self, ends: &FlowKey, hash: u64) -> Option<&mut Slot<T>> {
        self.slots.find_mut(hash, is_of(ends, hash))
    }

    /// As [`find`](Self::find), and its place, which another may have once it has left.
    #[inline]
    pub(super) fn find_place(&mut self, ends: &FlowKey, hash: u64) -> Option<(usize, &mut Slot<T>)> {
        let place = self.slots.find_bucket_index(hash, is_of(ends, hash))?;
        Some((place, self.slots.get_bucket_mut(place)?))
    }

    /// The slot at a place, if there is one.
    #[inline(always)]
    pub(super) fn slot_at(&mut self, place: u32) -> Option<&mut Slot<T>> {
        self.slots.get_bucket_mut(place as usize)
    }

    /// The slot of these ends, and whether it is new: it is when there was none, or when the one
    /// that was there is `over`.
    #[inline(always)]
    pub(super) fn find_or_insert(
        &mut self,
        ends: &FlowKey,
        hash: u64,
        time: Nanos,
        fresh: impl FnOnce() -> FlowEntry<T>,
        over: impl FnOnce(&FlowEntry<T>) -> bool,
        evicted: &mut Evicted<T>,
    ) -> (&mut Slot<T>, bool) {
        match self.slots.entry(hash, is_of(ends, hash), |slot| slot.hash) {
            Entry::Occupied(slot) => {
                let slot = slot.into_mut();
                let new = over(&slot.entry);
                if new {
                    evicted.push(std::mem::replace(&mut slot.entry, boxed(fresh)));
                    slot.last = LastSeen::first(time);
                }
                (slot, new)
            }
            Entry::Vacant(place) => {
                self.started_since_sweep += 1;
                let slot = Slot { hash, last: LastSeen::first(time), entry: boxed(fresh) };
                (place.insert(slot).into_mut(), true)
            }
        }
    }

    /// Those that have been silent for too long leave.
    pub(super) fn sweep(&mut self, time: Nanos, expiry: &FlowTimeouts, evicted: &mut Evicted<T>) {
        // No connection is told to leave sooner than this, so that most need not be looked at
        // closely.
        let least = expiry.closed.min(expiry.opening).min(expiry.open);
        let silent = |slot: &mut Slot<T>| {
            let silence = time - slot.last.time();
            silence >= least && silence >= slot.entry.idle_timeout(expiry)
        };
        evicted.extend(self.slots.extract_if(silent).map(|slot| slot.entry));
    }

    /// Whether room must be [made](Self::make_room) before one more connection comes, or looked
    /// for.
    pub(super) fn may_have_no_room(&self, most: usize) -> bool {
        self.len() >= most || self.started_since_sweep > most / 16
    }

    /// Lets the idlest go if there are so many connections, or too many of a single segment: a
    /// sixteenth at least, so that a flood of new ones pays for one look over the part in many.
    /// Says how many those are.
    pub(super) fn make_room(&mut self, most: usize, evicted: &mut Evicted<T>) -> u64 {
        let singles = self.evict_singles(most, evicted);
        if self.len() < most { singles } else { singles + self.evict((most / 16).max(1), |_| true, evicted) }
    }

    /// Of connections of a single segment no more than half of `most` are held, and a sixteenth:
    /// SYNs that nobody answers, flows of which nothing else passes here. What they are can be told
    /// without waiting for more. Says how many leave, the idlest first.
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

    /// The idlest `share` of those that may leave do.
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
