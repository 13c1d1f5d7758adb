//! One part of the table: a hash table whose slots hold what a look over all of them needs, so that the connections
//! themselves are touched only when a segment is theirs or they leave.

use super::kept::{Expiry, Gone, Kept};
use crate::units::Nanos;
use crate::wire::Ends;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The connections of one part.
#[derive(Debug)]
pub struct Part<T> {
    slots: HashTable<Slot<T>>,
    /// Connections that began since it was looked for those of a single segment.
    begun: usize,
}

/// A connection's place.
#[derive(Debug)]
pub(super) struct Slot<T> {
    hash: u64,
    pub(super) last: Newest,
    pub(super) kept: Box<Kept<T>>,
}

/// When a connection's newest segment came, in even nanoseconds; the odd bit says that it is the only one so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Newest(i64);

impl Newest {
    fn first(time: Nanos) -> Self {
        Self(time.0 | 1)
    }

    /// Another one came.
    #[inline(always)]
    pub(super) fn renew(&mut self, time: Nanos) {
        self.0 = self.0.max(time.0) & !1;
    }

    fn time(self) -> Nanos {
        Nanos(self.0 & !1)
    }

    fn is_only(self) -> bool {
        self.0 & 1 != 0
    }
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { slots: HashTable::new(), begun: 0 }
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
                    slot.last = Newest::first(time);
                }
                (slot, new)
            }
            Entry::Vacant(place) => {
                self.begun += 1;
                let slot = Slot { hash, last: Newest::first(time), kept: boxed(fresh) };
                (place.insert(slot).into_mut(), true)
            }
        }
    }

    /// Those that have been silent for too long leave.
    pub(super) fn sweep(&mut self, time: Nanos, expiry: &Expiry, gone: &mut Gone<T>) {
        // No connection is told to leave sooner than this, so that most need not be looked at closely.
        let least = expiry.closed.min(expiry.opening).min(expiry.open);
        let silent = |slot: &mut Slot<T>| {
            let silence = time - slot.last.time();
            silence >= least && silence >= slot.kept.patience(expiry)
        };
        gone.extend(self.slots.extract_if(silent).map(|slot| slot.kept));
    }

    /// Whether room must be [made](Self::make_room) before one more connection comes, or looked for.
    pub(super) fn may_have_no_room(&self, most: usize) -> bool {
        self.len() >= most || self.begun > most / 16
    }

    /// Lets the idlest go if there are so many connections, or too many of a single segment: a sixteenth at least, so that a flood of new
    /// ones pays for one look over the part in many. Says how many those are.
    pub(super) fn make_room(&mut self, most: usize, gone: &mut Gone<T>) -> u64 {
        let singles = self.evict_singles(most, gone);
        if self.len() < most { singles } else { singles + self.evict((most / 16).max(1), |_| true, gone) }
    }

    /// Of connections of a single segment no more than half of `most` are held, and a sixteenth: SYNs that nobody answers, flows of which
    /// nothing else passes here. What they are can be told without waiting for more. Says how many leave, the idlest first.
    fn evict_singles(&mut self, most: usize, gone: &mut Gone<T>) -> u64 {
        if std::mem::take(&mut self.begun) <= most / 16 || self.len() <= most / 2 {
            return 0;
        }
        let singles = self.slots.iter().filter(|slot| slot.last.is_only()).count();
        match singles.saturating_sub(most / 2) {
            0 => 0,
            spare => self.evict(spare, |slot| slot.last.is_only(), gone),
        }
    }

    /// The idlest `share` of those that may leave do.
    fn evict(&mut self, share: usize, may_leave: impl Fn(&Slot<T>) -> bool, gone: &mut Gone<T>) -> u64 {
        let age = |slot: &Slot<T>| (slot.last.time(), slot.kept.id);
        let mut by_age: Vec<_> = self.slots.iter().filter(|slot| may_leave(slot)).map(age).collect();
        let (_, &mut newest, _) = by_age.select_nth_unstable(share - 1);
        let first = gone.len();
        gone.extend(self.slots.extract_if(|slot| may_leave(slot) && age(slot) <= newest).map(|slot| slot.kept));
        if let Some(gone) = gone.get_mut(first..) {
            gone.sort_by_cached_key(|kept| kept.id);
        }
        share as u64
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<Kept<T>>> {
        self.slots.drain().map(|slot| slot.kept)
    }
}
