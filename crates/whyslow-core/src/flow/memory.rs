//! Where the connections of the newest segments stand in the table, by what their headers say as it stands there: most segments
//! follow one of the same connection and direction, and need not be put in order, hashed and looked for.
//!
//! It knows places, and promises nothing: what is noted may long have left the table, or have been written over by another
//! direction. Who asks must see for himself that the connection at the place is still the one that was noted, by its number, which
//! no other has.

use super::kept::{ConnectionId, Side};
use crate::wire::Heading;

/// Directions that are kept in mind at most.
const ROOM: usize = 1 << ROOM_BITS;
const ROOM_BITS: u32 = 10;

/// The newest directions, each at the only place that its heading has.
#[derive(Debug)]
pub(super) struct Memory {
    noted: Box<[Noted; ROOM]>,
}

/// What is known of a heading.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Noted {
    pub heading: Heading,
    /// Its connection, the part of the table that it is in, and its place in that.
    pub id: ConnectionId,
    pub place: u32,
    pub part: u8,
    /// Side 1 sends.
    pub from_one: bool,
    /// It is another table's: there is no place.
    pub elsewhere: bool,
}

const _: () = assert!(size_of::<Noted>() == 64, "one line of the processor's cache");

impl Noted {
    /// Whose segments are another table's.
    pub fn elsewhere(heading: &Heading, part: u8) -> Self {
        Self { heading: *heading, part, elsewhere: true, ..Self::default() }
    }

    /// Who sends.
    #[inline(always)]
    pub fn from(&self) -> Side {
        usize::from(self.from_one)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self { noted: Box::new([Noted::default(); ROOM]) }
    }
}

impl Memory {
    #[inline(always)]
    fn place(heading: &Heading) -> usize {
        (heading.mixed() >> (u64::BITS - ROOM_BITS)) as usize % ROOM
    }

    /// What was noted of this heading.
    #[inline(always)]
    pub fn recall(&self, heading: &Heading) -> Option<&Noted> {
        let noted = &self.noted[Self::place(heading)];
        noted.heading.is(heading).then_some(noted)
    }

    pub fn note(&mut self, noted: Noted) {
        self.noted[Self::place(&noted.heading)] = noted;
    }
}
