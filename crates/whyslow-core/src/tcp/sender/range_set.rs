//! A small set of byte ranges, such as SACKed bytes.

use whyslow_units::steps;

/// Maximum number of stored ranges; beyond it the lowest is dropped (a receiver has far fewer
/// holes).
const MAX_RANGES: usize = 2048;

/// Disjoint half-open ranges in ascending order, never touching each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: Vec<(u64, u64)>,
    /// Total bytes.
    total: u64,
}

impl RangeSet {
    /// Adds `[start, end)`. Returns the number of new bytes.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // Usually the new range is at the top.
        let first = match self.ranges.last() {
            Some(&(top, _)) if start >= top => self.ranges.len() - 1,
            _ => self.ranges.partition_point(|&(_, e)| e < start),
        };
        let next = self.ranges.get(first + 1).map_or(u64::MAX, |&(s, _)| s);
        match self.ranges.get_mut(first) {
            Some(&mut (s, e)) if s <= start && end <= e => 0,
            Some((s, e)) if *s <= start && start <= *e && end < next => {
                let new = end - std::mem::replace(e, end);
                self.total += new;
                new
            }
            _ => self.merge(start, end),
        }
    }

    #[inline(never)]
    fn merge(&mut self, start: u64, end: u64) -> u64 {
        let first = self.ranges.partition_point(|&(_, e)| e < start);
        let last = self.ranges.partition_point(|&(s, _)| s <= end);
        if first == last {
            steps::count(1);
            self.ranges.insert(first, (start, end));
            self.total += end - start;
            if self.ranges.len() > MAX_RANGES {
                let (low, high) = self.ranges.remove(0);
                self.total -= high - low;
            }
            return end - start;
        }
        let new = end - start - self.covered(start, end);
        self.total += new;
        let merged = (start.min(self.ranges[first].0), end.max(self.ranges[last - 1].1));
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..last);
        new
    }

    /// Adds `[start, end)`. Beyond the limit, joins the two lowest ranges, so that the set covers
    /// too much and never too little.
    pub fn insert_merging(&mut self, start: u64, end: u64) {
        if self.ranges.len() == MAX_RANGES
            && let [(low, _), (next, _), ..] = self.ranges[..]
        {
            self.insert(low, next);
        }
        self.insert(start, end);
    }

    /// Removes `[start, end)`. Returns the number of bytes that were present.
    pub fn remove(&mut self, start: u64, end: u64) -> u64 {
        if start >= end || self.ranges.is_empty() {
            return 0;
        }
        let first = self.ranges.partition_point(|&(_, e)| e <= start);
        let last = self.ranges.partition_point(|&(s, _)| s < end);
        if first >= last {
            return 0;
        }
        let (low, high) = (self.ranges[first].0, self.ranges[last - 1].1);
        let taken = self.ranges[first..last].iter().map(|&(s, e)| e.min(end) - s.max(start)).sum();
        self.total -= taken;
        let mut rest = [(low, start), (end, high)].into_iter().filter(|(s, e)| s < e);
        match (rest.next(), rest.next()) {
            (None, _) => drop(self.ranges.drain(first..last)),
            (Some(one), None) => {
                self.ranges[first] = one;
                self.ranges.drain(first + 1..last);
            }
            (Some(one), Some(two)) => {
                self.ranges[first] = one;
                self.ranges.drain(first + 1..last);
                self.ranges.insert(first + 1, two);
            }
        }
        taken
    }

    /// Returns the number of bytes of `[start, end)` in the set.
    #[inline]
    pub fn covered(&self, start: u64, end: u64) -> u64 {
        match (self.ranges.first(), self.ranges.last()) {
            (Some(&(low, _)), Some(&(top, high))) if start <= low && top <= end => {
                self.total - high.saturating_sub(end)
            }
            (None, _) => 0,
            _ => self.covered_within(start, end),
        }
    }

    #[inline(never)]
    fn covered_within(&self, start: u64, end: u64) -> u64 {
        let first = self.ranges.partition_point(|&(_, e)| e <= start);
        self.ranges[first..]
            .iter()
            .take_while(|&&(s, _)| s < end)
            .inspect(|_| steps::count(1))
            .map(|&(s, e)| e.min(end).saturating_sub(s.max(start)))
            .sum()
    }

    /// Returns the end of the highest range.
    pub fn highest(&self) -> Option<u64> {
        self.ranges.last().map(|&(_, end)| end)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn touching_ranges_are_merged() {
        let mut set = RangeSet::default();
        set.insert(10, 20);
        set.insert(30, 40);
        set.insert(20, 30);
        assert_eq!(set.ranges, [(10, 40)]);
        assert_eq!(set.remove(15, 35), 20);
        assert_eq!(set.ranges, [(10, 15), (35, 40)]);
        assert_eq!(set.covered(0, 100), 10);
        assert_eq!(set.highest(), Some(40));
    }

    proptest! {
        #[test]
        fn agrees_with_a_bitmap(steps in prop::collection::vec((any::<bool>(), 0u64..64, 0u64..64), 0..60)) {
            let mut set = RangeSet::default();
            let mut bits = [false; 64];
            for (add, a, b) in steps {
                let (start, end) = (a.min(b), a.max(b));
                let there = bits[start as usize..end as usize].iter().filter(|bit| **bit).count() as u64;
                if add {
                    prop_assert_eq!(set.insert(start, end), end - start - there);
                } else {
                    prop_assert_eq!(set.remove(start, end), there);
                }
                bits[start as usize..end as usize].fill(add);
                prop_assert_eq!(set.covered(0, u64::MAX), bits.iter().filter(|bit| **bit).count() as u64);
                for edge in 0..64 {
                    let (below, above) = bits.split_at(edge);
                    prop_assert_eq!(set.covered(0, edge as u64), below.iter().filter(|bit| **bit).count() as u64);
                    prop_assert_eq!(set.covered(edge as u64, 64), above.iter().filter(|bit| **bit).count() as u64);
                }
                prop_assert!(set.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert!(set.ranges.iter().all(|(s, e)| s < e));
            }
        }
    }
}
