//! Counters of a text.

/// How often something was met, and in which line first.
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
