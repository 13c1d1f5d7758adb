//! Where connections began, of all that there ever were: so little is kept of each that a flood of
//! them cannot fill the memory.

use borsh::{BorshDeserialize, BorshSerialize};
use std::iter::Peekable;
use whyslow_core::flow::ConnectionId;

/// The places of connections' first packets among all packets. They are kept as differences of
/// seven bits a byte (LEB128), which is a byte or two each where connections are many.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct OpeningPositions {
    differences: Vec<u8>,
    last: u64,
}

impl OpeningPositions {
    /// The next connection; they come in the order of their first packets.
    pub(super) fn push(&mut self, id: ConnectionId) {
        let mut difference = id.0.saturating_sub(self.last);
        self.last = self.last.max(id.0);
        while difference >= 0x80 {
            self.differences.push(difference as u8 | 0x80);
            difference >>= 7;
        }
        self.differences.push(difference as u8);
    }

    /// Iterates over all connections in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ConnectionId> {
        Decoded { bytes: self.differences.iter().copied(), place: 0 }
    }
}

/// Places that are read off their differences.
#[derive(Debug)]
struct Decoded<B> {
    bytes: B,
    place: u64,
}

impl<B: Iterator<Item = u8>> Iterator for Decoded<B> {
    type Item = ConnectionId;

    fn next(&mut self) -> Option<ConnectionId> {
        let mut shift = 0;
        loop {
            let byte = self.bytes.next()?;
            let part = u64::from(byte & 0x7f).checked_shl(shift).unwrap_or_default();
            self.place = self.place.wrapping_add(part);
            shift += 7;
            if byte < 0x80 {
                return Some(ConnectionId(self.place));
            }
        }
    }
}

/// Numbers connections that come in the order of their first packets.
#[derive(Debug, Default)]
pub(super) struct ConnectionNumbers {
    all: Vec<Peekable<Decoded<std::vec::IntoIter<u8>>>>,
    /// Connections that were opened up to the last packet.
    opened: u64,
}

impl ConnectionNumbers {
    pub(super) fn new(openings: Vec<OpeningPositions>) -> Self {
        let all = openings.into_iter().map(|one| Decoded { bytes: one.differences.into_iter(), place: 0 }.peekable());
        Self { all: all.collect(), opened: 0 }
    }

    /// The place of this one among all, from 1.
    pub(super) fn number(&mut self, id: ConnectionId) -> u64 {
        for openings in &mut self.all {
            while openings.next_if(|other| *other <= id).is_some() {
                self.opened += 1;
            }
        }
        self.opened
    }
}

/// The place of each of `ids`, which are in order, among all connections: 1 for the one that was
/// opened first.
pub(super) fn ranks(openings: &[OpeningPositions], ids: &[ConnectionId]) -> Vec<u64> {
    let mut places = vec![0; ids.len()];
    for openings in openings {
        let mut all = openings.iter().peekable();
        let mut before = 0;
        for (place, id) in places.iter_mut().zip(ids) {
            while all.next_if(|other| other <= id).is_some() {
                before += 1;
            }
            *place += before;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_a_sorted_list(
            gaps in prop::collection::vec((1u64..1 << 40, 0usize..3), 1..200),
            chosen in any::<u64>(),
        ) {
            let mut openings = [const { OpeningPositions { differences: Vec::new(), last: 0 } }; 3];
            let (mut id, mut all) = (0, Vec::new());
            for (gap, owner) in gaps {
                id += gap;
                all.push(ConnectionId(id));
                openings[owner].push(ConnectionId(id));
            }
            let mut back: Vec<_> = openings.iter().flat_map(OpeningPositions::iter).collect();
            back.sort_unstable();
            prop_assert_eq!(&back, &all);
            let ids: Vec<_> = all.iter().copied().enumerate().filter(|(n, _)| chosen >> (n % 64) & 1 != 0).collect();
            let expected: Vec<_> = ids.iter().map(|(n, _)| *n as u64 + 1).collect();
            let ids: Vec<_> = ids.into_iter().map(|(_, id)| id).collect();
            prop_assert_eq!(&ranks(&openings, &ids), &expected);
            let mut numbers = ConnectionNumbers::new(openings.into());
            prop_assert_eq!(ids.into_iter().map(|id| numbers.number(id)).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn each_of_many_takes_a_byte() {
        let mut openings = OpeningPositions::default();
        (1..=100_000).for_each(|n| openings.push(ConnectionId(n * 9)));
        assert_eq!(openings.differences.len(), 100_000);
    }
}
