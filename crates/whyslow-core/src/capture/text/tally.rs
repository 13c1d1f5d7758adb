//! Counters of a text.

/// Number of occurrences, and the line of the first one.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) first_line: u64,
}

impl Tally {
    pub(super) fn add(&mut self, count: u64, line: u64) {
        if count > 0 && self.count == 0 {
            self.first_line = line;
        }
        self.count = self.count.saturating_add(count);
    }
}
