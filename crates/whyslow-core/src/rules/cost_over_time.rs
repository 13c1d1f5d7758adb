//! Time that several connections lost, some of them at the same time: it passed but once.

use super::say::time;
use crate::analysis::SpreadCost;
use crate::units::Nanos;

/// Stretches of time during which something was lost, with what was lost in each.
#[derive(Clone, Debug, Default)]
pub struct CostOverTime {
    spans: Vec<(Nanos, Nanos)>,
    cost: Nanos,
    /// The most that was lost in one of them.
    max_cost: Nanos,
}

impl CostOverTime {
    /// So much was lost from `start` to `end`.
    pub fn add(&mut self, start: Nanos, end: Nanos, lost: Nanos) {
        self.spans.push((start, end.max(start)));
        self.cost += lost;
        self.max_cost = self.max_cost.max(lost);
    }

    /// What was lost with no instant counted twice, where it is spread evenly over the time in
    /// which it was lost; never more than that time, nor less than in one stretch of it.
    pub fn elapsed(&self) -> Nanos {
        let total: Nanos = self.spans.iter().map(|&(start, end)| end - start).sum();
        let union = self.union();
        let spread = if union >= total { self.cost } else { self.cost.scale(union.0 as f64 / total.0 as f64) };
        spread.max(self.max_cost).min(union)
    }

    /// What was lost in total: what passed at the same time counts as often as it was lost.
    pub fn total(&self) -> Nanos {
        self.cost
    }

    /// The same in words.
    pub fn describe(&self) -> String {
        let (elapsed, total) = (self.elapsed(), self.cost);
        if elapsed < total {
            format!("{}, or {} in total as some of it ran at the same time", time(elapsed), time(total))
        } else {
            format!("{} in all", time(total))
        }
    }

    /// Elapsed time, and the sum.
    pub(super) fn spread(&self) -> SpreadCost {
        SpreadCost { elapsed_s: self.elapsed(), summed_s: self.cost }
    }

    fn union(&self) -> Nanos {
        let mut spans = self.spans.clone();
        spans.sort_unstable();
        let (mut sum, mut until) = (Nanos::ZERO, Nanos(i64::MIN));
        for (start, end) in spans {
            let start = start.max(until);
            if end > start {
                sum += end - start;
            }
            until = until.max(end);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(spans: &[(i64, i64, i64)]) -> (i64, i64) {
        let mut together = CostOverTime::default();
        spans.iter().for_each(|&(start, end, lost)| together.add(Nanos(start), Nanos(end), Nanos(lost)));
        (together.elapsed().0, together.cost.0)
    }

    #[test]
    fn one_after_the_other_adds_up() {
        assert_eq!(lost(&[(0, 10, 4), (10, 30, 20), (50, 60, 1)]), (25, 25));
        assert_eq!(lost(&[]), (0, 0));
    }

    #[test]
    fn at_the_same_time_it_passes_once() {
        assert_eq!(lost(&[(0, 10, 4), (0, 10, 6)]), (6, 10), "not less than of the one alone");
        assert_eq!(lost(&[(0, 10, 5), (0, 10, 5)]), (5, 10));
        assert_eq!(lost(&[(0, 10, 10), (0, 10, 10), (2, 8, 6)]), (10, 26));
        // Half of the second one.
        assert_eq!(lost(&[(0, 10, 10), (5, 15, 10)]), (15, 20));
    }

    #[test]
    fn no_more_is_lost_than_passed() {
        assert_eq!(lost(&[(0, 10, 70)]), (10, 70));
        assert_eq!(lost(&[(5, 5, 7)]), (0, 7));
        assert_eq!(lost(&[(5, 4, 7)]), (0, 7));
    }
}
