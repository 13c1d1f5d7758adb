//! Time that several connections lost, some of them at the same time: it passed but once.

use super::parts::time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use whyslow_analysis::SpreadCost;
use whyslow_units::Nanos;

/// Stretches of time, each with the time that was lost in it.
#[derive(Clone, Debug, Default)]
pub struct CostOverTime {
    /// Start, end, cost.
    spans: Vec<(Nanos, Nanos, Nanos)>,
    cost: Nanos,
}

impl CostOverTime {
    /// Adds a cost of `lost` from `start` to `end`.
    pub fn add(&mut self, start: Nanos, end: Nanos, lost: Nanos) {
        self.spans.push((start, end.max(start), lost));
        self.cost += lost;
    }

    /// Returns the time that passed while something was lost, with no instant counted twice.
    ///
    /// A cost in a stretch is spread evenly over it; of concurrent stretches the costliest counts.
    /// So the sum is never more than the time that the stretches cover, nor less than without one
    /// of them.
    pub fn elapsed(&self) -> Nanos {
        let mut spans = self.spans.clone();
        spans.retain(|&(start, end, lost)| end > start && lost > Nanos::ZERO);
        spans.sort_unstable();
        // The densest of the stretches that have begun comes first.
        let mut begun: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
        let (mut next, mut at, mut sum) = (0, Nanos(i64::MIN), 0.0);
        loop {
            while let Some(&(.., Reverse(index))) = begun.peek()
                && spans[index].1 <= at
            {
                begun.pop();
            }
            let upcoming = spans.get(next).map(|span| span.0);
            match (begun.peek(), upcoming) {
                (None, None) => break,
                (None, Some(start)) => at = start,
                (Some(&(.., Reverse(index))), upcoming) => {
                    let until = upcoming.map_or(spans[index].1, |start| start.min(spans[index].1));
                    sum += density(spans[index]) * (until - at).0 as f64;
                    at = until;
                }
            }
            while let Some(&span) = spans.get(next)
                && span.0 <= at
            {
                begun.push((density(span).to_bits(), Reverse(next)));
                next += 1;
            }
        }
        Nanos(sum.round() as i64)
    }

    /// Returns the sum: concurrent costs count each.
    pub fn total(&self) -> Nanos {
        self.cost
    }

    /// Elapsed time, and the sum.
    pub(crate) fn spread(&self) -> SpreadCost {
        SpreadCost { elapsed_s: self.elapsed(), summed_s: self.cost }
    }

    /// The costs in words: elapsed time first.
    pub fn describe(&self) -> String {
        let (elapsed, total) = (self.elapsed(), self.cost);
        if elapsed < total {
            format!("{} ({} summed, as some of it passed at the same time)", time(elapsed), time(total))
        } else {
            format!("{} in all", time(total))
        }
    }
}

/// The share of a stretch that was lost, at most all of it. Never negative, so that its bits are in
/// its order.
fn density((start, end, lost): (Nanos, Nanos, Nanos)) -> f64 {
    (lost.0 as f64 / (end - start).0.max(1) as f64).clamp(0.0, 1.0)
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
    fn sequential_costs_add_up() {
        assert_eq!(lost(&[(0, 10, 4), (10, 30, 20), (50, 60, 1)]), (25, 25));
        assert_eq!(lost(&[]), (0, 0));
    }

    #[test]
    fn concurrent_costs_count_once() {
        assert_eq!(lost(&[(0, 10, 4), (0, 10, 6)]), (6, 10), "not less than of the one alone");
        assert_eq!(lost(&[(0, 10, 5), (0, 10, 5)]), (5, 10));
        assert_eq!(lost(&[(0, 10, 10), (0, 10, 10), (2, 8, 6)]), (10, 26));
        // Half of the second one.
        assert_eq!(lost(&[(0, 10, 10), (5, 15, 10)]), (15, 20));
    }

    #[test]
    fn further_concurrent_cost_never_lowers_the_total() {
        let rows = [(0, 10, 10), (10, 20, 10)];
        assert_eq!(lost(&rows), (20, 20));
        assert_eq!(lost(&[rows[0], rows[1], (0, 10, 1), (10, 20, 1), (0, 20, 1)]), (20, 23));
    }

    #[test]
    fn cost_is_at_most_the_elapsed_time() {
        assert_eq!(lost(&[(0, 10, 70)]), (10, 70));
        assert_eq!(lost(&[(5, 5, 7)]), (0, 7));
        assert_eq!(lost(&[(5, 4, 7)]), (0, 7));
    }
}
