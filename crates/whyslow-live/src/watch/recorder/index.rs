//! Finds a connection's entry: a hash table of entry numbers, of constant size.

/// No entry.
const EMPTY: u32 = u32::MAX;

/// Numbers of entries by their hashes, with linear probing. The hashes are the caller's to keep:
/// the table asks for them.
#[derive(Debug)]
pub(super) struct Index {
    slots: Box<[u32]>,
}

impl Index {
    /// For this many entries; at most half of the slots are used.
    pub(super) fn new(entries: usize) -> Self {
        Self { slots: vec![EMPTY; slots(entries)].into() }
    }

    /// Bytes of memory for this many entries.
    pub(super) fn bytes(entries: usize) -> usize {
        slots(entries) * size_of::<u32>()
    }

    /// The entry with this hash for which `is` returns true.
    pub(super) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mut slot = self.home(hash);
        while self.slots[slot] != EMPTY {
            if is(self.slots[slot]) {
                return Some(self.slots[slot]);
            }
            slot = self.after(slot);
        }
        None
    }

    pub(super) fn insert(&mut self, hash: u64, entry: u32) {
        let mut slot = self.home(hash);
        while self.slots[slot] != EMPTY {
            slot = self.after(slot);
        }
        self.slots[slot] = entry;
    }

    /// Removes an entry that is there, and closes the gap.
    pub(super) fn remove(&mut self, hash: u64, entry: u32, hash_of: impl Fn(u32) -> u64) {
        let mut gap = self.home(hash);
        while self.slots[gap] != entry {
            if self.slots[gap] == EMPTY {
                return;
            }
            gap = self.after(gap);
        }
        let mut slot = self.after(gap);
        while self.slots[slot] != EMPTY {
            let home = self.home(hash_of(self.slots[slot]));
            // It may move to the gap if that is not before its home.
            if self.distance(home, slot) >= self.distance(gap, slot) {
                self.slots[gap] = self.slots[slot];
                gap = slot;
            }
            slot = self.after(slot);
        }
        self.slots[gap] = EMPTY;
    }

    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.slots.len() - 1)
    }
}

fn slots(entries: usize) -> usize {
    (entries * 2).max(2).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        // Few hashes, so that they meet.
        #[test]
        fn it_finds_what_a_map_finds(steps in prop::collection::vec((0_u32..16, 0_u64..8, any::<bool>()), 0..200)) {
            let mut index = Index::new(16);
            let mut hashes = [0_u64; 16];
            let mut expected: HashMap<u32, u64> = HashMap::new();
            for (entry, hash, add) in steps {
                if add && !expected.contains_key(&entry) {
                    hashes[entry as usize] = hash * 5;
                    index.insert(hash * 5, entry);
                    expected.insert(entry, hash * 5);
                } else if let Some(hash) = expected.remove(&entry) {
                    index.remove(hash, entry, |entry| hashes[entry as usize]);
                }
                for entry in 0..16 {
                    let hash = hashes[entry as usize];
                    let found = index.find(hash, |found| found == entry);
                    prop_assert_eq!(found, expected.contains_key(&entry).then_some(entry));
                }
            }
        }
    }
}
