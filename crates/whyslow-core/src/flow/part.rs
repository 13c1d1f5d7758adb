//! One part of the table: a hash table whose slots hold what a look over all of them needs, so that the connections
//! themselves are touched only when a segment is theirs or they leave.

use super::{Expiry, Gone, Kept};
use crate::units::Nanos;
use crate::wire::Ends;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The connections of one part.
#[derive(Debug)]
pub struct Part<T> {
    slots: HashTable<Slot<T>>,
}

/// A connection's place.
#[derive(Debug)]
pub(super) struct Slot<T> {
    hash: u64,
    /// Its newest segment.
    pub(super) last: Nanos,
    pub(super) kept: Box<Kept<T>>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { slots: HashTable::new() }
    }
}

/// Kept out of the way of segments whose connection is there already.
#[cold]
#[inline(never)]
fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

#[inline(always)]
fn is_of<T>(ends: &Ends, hash: u64) -> impl Fn(&Slot<T>) -> bool {
    move |slot| slot.hash == hash && slot.kept.ends.same_connection(ends)
}

impl<T> Part<T> {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn holds(&self, ends: &Ends, hash: u64) -> bool {
        self.slots.find(hash, is_of(ends, hash)).is_some()
    }

    /// The slot of these ends, if there is one.
    #[inline(always)]
    pub(super) fn find(&mut self, ends: &Ends, hash: u64) -> Option<&mut Slot<T>> {
        self.slots.find_mut(hash, is_of(ends, hash))
    }

    /// As [`find`](Self::find), and its place, which another may have once it has left.
    #[inline]
    pub(super) fn find_place(&mut self, ends: &Ends, hash: u64) -> Option<(usize, &mut Slot<T>)> {
        let place = self.slots.find_bucket_index(hash, is_of(ends, hash))?;
        Some((place, self.slots.get_bucket_mut(place)?))
    }

    /// The slot at a place, if there is one.
    #[inline(always)]
    pub(super) fn at(&mut self, place: u32) -> Option<&mut Slot<T>> {
        self.slots.get_bucket_mut(place as usize)
    }

    /// The slot of these ends, and whether it is new: it is when there was none, or when the one that was there is `over`.
    #[inline(always)]
    pub(super) fn find_or_insert(
        &mut self,
        ends: &Ends,
        hash: u64,
        time: Nanos,
        fresh: impl FnOnce() -> Kept<T>,
        over: impl FnOnce(&Kept<T>) -> bool,
        gone: &mut Gone<T>,
    ) -> (&mut Slot<T>, bool) {
        match self.slots.entry(hash, is_of(ends, hash), |slot| slot.hash) {
            Entry::Occupied(slot) => {
                let slot = slot.into_mut();
                let new = over(&slot.kept);
                if new {
                    gone.push(std::mem::replace(&mut slot.kept, boxed(fresh)));
                    slot.last = time;
                }
                (slot, new)
            }
            Entry::Vacant(place) => {
                let slot = Slot { hash, last: time, kept: boxed(fresh) };
                (place.insert(slot).into_mut(), true)
            }
        }
    }

    /// Those that have been silent for too long leave.
    pub(super) fn sweep(&mut self, time: Nanos, expiry: &Expiry, gone: &mut Gone<T>) {
        // No connection is told to leave sooner than this, so that most need not be looked at closely.
        let least = expiry.closed.min(expiry.opening).min(expiry.open);
        let silent = |slot: &mut Slot<T>| {
            let silence = time - slot.last;
            silence >= least && silence >= slot.kept.patience(expiry)
        };
        gone.extend(self.slots.extract_if(silent).map(|slot| slot.kept));
    }

    /// Lets go of the idlest sixteenth, so that a flood of new connections pays for one look over the part in many. Says how
    /// many those are.
    pub(super) fn evict_idlest(&mut self, gone: &mut Gone<T>) -> u64 {
        let mut by_age: Vec<_> = self.slots.iter().map(|slot| (slot.last, slot.kept.id)).collect();
        let share = (by_age.len() / 16).max(1);
        let (_, &mut newest, _) = by_age.select_nth_unstable(share - 1);
        let first = gone.len();
        gone.extend(self.slots.extract_if(|slot| (slot.last, slot.kept.id) <= newest).map(|slot| slot.kept));
        if let Some(gone) = gone.get_mut(first..) {
            gone.sort_by_cached_key(|kept| kept.id);
        }
        share as u64
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<Kept<T>>> {
        self.slots.drain().map(|slot| slot.kept)
    }
}
