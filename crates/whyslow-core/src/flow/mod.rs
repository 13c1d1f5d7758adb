//! `flow`: segments → connections.
//!
//! Knows four-tuples and SYNs, nothing else of TCP, and keeps for each connection what the stage behind it wants kept. It
//! promises that a four-tuple used again is a new connection, and that memory stays bounded (closed and idle connections
//! leave the table, and so do the idlest ones when the table is full, counted).
//!
//! The table is cut into [`PARTS`] by the four-tuple's hash, each with its own share of the room. What becomes of a connection
//! depends on its own part and on the time alone, so that parts can be looked after by several tables, each given the
//! segments of its own parts and told the time of all, and the outcome is that of one.

mod kept;
mod memory;
mod part;

use crate::units::{Nanos, SeqNumber};
use crate::wire::{Ends, Flags, Heading, Segment};
pub use kept::{ConnectionId, Expiry, Gone, Kept, Side};
use memory::{Memory, Noted};
pub use part::Part;
use part::Slot;

#[cfg(test)]
mod tests;

/// Parts of a table.
pub const PARTS: usize = 64;

/// The part that a four-tuple of this hash belongs to.
#[inline(always)]
pub fn part_of(hash: u64) -> usize {
    // The lowest bits and the highest are the hash table's own.
    (hash >> 40) as usize % PARTS
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
pub struct Found<'a, T> {
    slot: &'a mut Slot<T>,
    /// Who sends from that end.
    pub from: Side,
}

impl<'a, T> Found<'a, T> {
    #[inline(always)]
    fn new(slot: &'a mut Slot<T>, from: Side) -> Self {
        Self { slot, from }
    }

    /// Which connection it is.
    pub fn id(&self) -> ConnectionId {
        self.slot.kept.id
    }

    /// What is kept for the connection, of which no segment came.
    pub fn value(self) -> &'a mut T {
        &mut self.slot.kept.value
    }

    /// What is kept for the connection, of which a [plain](crate::wire::Plain) segment was captured at `time`: that neither opens
    /// nor ends one, so that nothing else need be done about it.
    #[inline(always)]
    pub fn plain(self, time: Nanos) -> &'a mut T {
        self.slot.last.renew(time);
        self.slot.kept.answered = true;
        &mut self.slot.kept.value
    }

    /// As [`plain`](Self::plain), of a segment that is plain but that its side [ends](crate::wire::Glance::closing) with it.
    pub fn closing(self, time: Nanos) -> &'a mut T {
        self.slot.kept.fin[self.from] = true;
        self.plain(time)
    }
}

/// What is known of a segment's connection by its heading alone.
#[derive(Debug)]
pub enum Recalled<'a, T> {
    /// It is in this part of the table.
    Here(usize, Found<'a, T>),
    /// It is another table's, which this part is in the care of.
    Elsewhere(usize),
    /// Nothing: it must be looked for.
    Unknown,
}

/// The connections that are open now.
#[derive(Debug)]
pub struct Table<T> {
    parts: Box<[Part<T>; PARTS]>,
    memory: Memory,
    expiry: Expiry,
    /// Up to this time nobody looks for silent connections.
    quiet: Nanos,
    /// Connections that were let go while still open, because they were idle or the table was full.
    pub evicted: u64,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self::new(Expiry::default())
    }
}

/// The table is looked over for silent connections this often, in the capture's time.
const SWEEP_EVERY: Nanos = Nanos::from_millis(10_000);
/// From the first segment on.
const NEVER_SWEPT: Nanos = Nanos(i64::MIN);

impl<T> Table<T> {
    /// An empty table.
    pub fn new(expiry: Expiry) -> Self {
        let parts = Box::new(std::array::from_fn(|_| Part::default()));
        Self { parts, memory: Memory::default(), expiry, quiet: NEVER_SWEPT, evicted: 0 }
    }

    /// How many connections are in the table.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A segment was captured at `time`, whether or not it is this table's. Connections that have been silent for too long go
    /// to `gone`, oldest first. Says whether it was time to look for them.
    #[inline(always)]
    pub fn tick(&mut self, time: Nanos, gone: &mut Gone<T>) -> bool {
        let due = time > self.quiet;
        if due {
            self.sweep(time, gone);
        }
        due
    }

    /// The connection between these ends, if there is one. The time of a segment must have been told with [`tick`](Self::tick).
    #[inline(always)]
    pub fn find(&mut self, ends: &Ends, hash: u64) -> Option<Found<'_, T>> {
        let slot = self.parts[part_of(hash)].find(ends, hash)?;
        let from = slot.kept.side(ends);
        Some(Found::new(slot, from))
    }

    /// The connection of a segment with this heading, if that was [found](Self::find_by) not long ago. The time must have been told with
    /// [`tick`](Self::tick).
    #[inline(always)]
    pub fn recall(&mut self, heading: &Heading) -> Recalled<'_, T> {
        let Some(noted) = self.memory.recall(heading) else { return Recalled::Unknown };
        let part = usize::from(noted.part) % PARTS;
        if noted.elsewhere {
            return Recalled::Elsewhere(part);
        }
        match self.parts[part].at(noted.place) {
            Some(slot) if slot.kept.id == noted.id => Recalled::Here(part, Found::new(slot, noted.from())),
            _ => Recalled::Unknown,
        }
    }

    /// As [`find`](Self::find), and the connection will be [recalled](Self::recall) by this heading, which is that of the segment.
    #[inline]
    pub fn find_by(&mut self, heading: &Heading, ends: &Ends, hash: u64) -> Option<Found<'_, T>> {
        let part = part_of(hash);
        let (place, slot) = self.parts[part].find_place(ends, hash)?;
        let from = slot.kept.side(ends);
        if let Ok(place) = u32::try_from(place) {
            let (id, part, from_one) = (slot.kept.id, part as u8, from == 1);
            self.memory.note(Noted { heading: *heading, id, place, part, from_one, elsewhere: false });
        }
        Some(Found::new(slot, from))
    }

    /// Segments with this heading are another table's, and will be recalled as that.
    pub fn leave(&mut self, heading: &Heading, hash: u64) {
        self.memory.note(Noted::elsewhere(heading, part_of(hash) as u8));
    }

    /// Finds the segment's connection, or opens it, with this number and with what `make` gives. A connection that it ends by
    /// using its four-tuple again goes to `gone`. The time must have been told with [`tick`](Self::tick).
    #[inline]
    pub fn route<'a>(
        &'a mut self,
        segment: &Segment<'_>,
        (ends, hash): (&Ends, u64),
        time: Nanos,
        id: ConnectionId,
        gone: &mut Gone<T>,
        make: impl FnOnce() -> T,
    ) -> Routed<'a, T> {
        let most = (self.expiry.connections / PARTS).max(1);
        let part = &mut self.parts[part_of(hash)];
        if part.may_have_no_room(most) && !part.holds(ends, hash) {
            self.evicted += part.make_room(most, gone);
        }
        let fresh = || Kept {
            id,
            value: make(),
            ends: *ends,
            isn: [SeqNumber(0); 2],
            syn: [false; 2],
            fin: [false; 2],
            reset: false,
            answered: false,
        };
        let (slot, new) = part.find_or_insert(
            ends,
            hash,
            time,
            fresh,
            |kept| {
                let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
                opens && kept.is_reuse(kept.side(ends), segment)
            },
            gone,
        );
        let Slot { last, kept, .. } = slot;
        if !new {
            last.renew(time);
        }
        let from = kept.side(ends);
        kept.note(from, segment);
        Routed { id: kept.id, value: &mut kept.value, from, new }
    }

    /// The connections of a part, which are this table's no more.
    pub fn take_part(&mut self, part: usize) -> Part<T> {
        self.memory = Memory::default();
        self.parts.get_mut(part).map(std::mem::take).unwrap_or_default()
    }

    /// The connections of a part of which this table has none, from one that was told the same times.
    pub fn put_part(&mut self, part: usize, connections: Part<T>) {
        if let Some(place) = self.parts.get_mut(part) {
            debug_assert_eq!(place.len(), 0, "nobody else took up connections of part {part}");
            *place = connections;
            self.memory = Memory::default();
        }
    }

    /// Everything that is still open, in order.
    pub fn drain(&mut self) -> Gone<T> {
        let mut all: Gone<T> = self.parts.iter_mut().flat_map(Part::drain).collect();
        // They lie all over the memory: each is looked at once.
        all.sort_by_cached_key(|kept| kept.id);
        all
    }

    #[cold]
    fn sweep(&mut self, time: Nanos, gone: &mut Gone<T>) {
        if std::mem::replace(&mut self.quiet, time + (SWEEP_EVERY - Nanos(1))) == NEVER_SWEPT {
            return;
        }
        let first = gone.len();
        for part in self.parts.iter_mut() {
            part.sweep(time, &self.expiry, gone);
        }
        if let Some(gone) = gone.get_mut(first..) {
            self.evicted += gone.iter().filter(|kept| !kept.is_closed()).count() as u64;
            gone.sort_by_cached_key(|kept| kept.id);
        }
    }
}
