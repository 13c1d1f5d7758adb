//! How often findings of a grade and a weight were right, as measured.
//!
//! `confidence.tsv` holds counts: the number of findings whose cause was known, and of those that
//! were right. `make calibrate` writes it. Each count is increased by some findings with the weight
//! itself as their share of right ones, so that few findings change little (m-estimate; Cestnik
//! 1990, "Estimating probabilities: a crucial task in machine learning"). The shares are then made
//! to rise with the weight (isotonic regression by pooling adjacent violators; Barlow et al. 1972).

use std::sync::LazyLock;
use whyslow_analysis::Grade;

const MEASURED: &str = include_str!("../confidence.tsv");

/// Findings that a rule's own weight counts as (m-estimate, Cestnik 1990). Follows from the scores:
/// one has about ten of a weight. Half and twice change none of 2,061 captures.
const PRIOR: f64 = 10.0;

/// A weight, and the share of findings of about that weight that is right.
type Knot = (f64, f64);

/// By grade. Always from (0, 0) to (1, at most 1), rising in both.
static SHARES: LazyLock<[Vec<Knot>; Grade::ALL.len()]> = LazyLock::new(|| {
    let counts = counts(MEASURED);
    Grade::ALL.map(|grade| knots(counts.iter().filter(|counted| counted.grade == grade)))
});

/// The share of findings of this grade and weight that is right, 0–1; linear between the measured
/// points.
pub(super) fn share_right(grade: Grade, weight: f64) -> f64 {
    let knots = &SHARES[grade as usize];
    let weight = weight.clamp(0.0, 1.0);
    let after = knots.partition_point(|&(from, _)| from < weight).clamp(1, knots.len() - 1);
    let ((from, low), (to, high)) = (knots[after - 1], knots[after]);
    low + (weight - from) / (to - from) * (high - low)
}

/// Findings of one grade and about one weight.
struct Counted {
    grade: Grade,
    weight: f64,
    findings: f64,
    right: f64,
}

/// Reads lines `grade, weight, findings, right` with tabs between; `#` begins a comment. A line
/// in another form is left out: a test reads the file that is built in.
fn counts(text: &str) -> Vec<Counted> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let counted = lines.filter_map(|line| {
        let mut fields = line.split('\t');
        let grade = fields.next()?;
        let grade = Grade::ALL.into_iter().find(|known| known.slug() == grade)?;
        let mut number = || fields.next()?.parse::<f64>().ok();
        Some(Counted { grade, weight: number()?, findings: number()?, right: number()? })
    });
    counted.collect()
}

/// The line through these counts. Weights without a measurement are on straight lines between the
/// others, the origin and (1, 1).
fn knots<'a>(counts: impl Iterator<Item = &'a Counted>) -> Vec<Knot> {
    let mut counts: Vec<_> = counts.filter(|counted| counted.weight > 0.0 && counted.weight < 1.0).collect();
    counts.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    let mut pools: Vec<Pool> = Vec::new();
    for counted in counts {
        pools.push(Pool {
            weights: vec![counted.weight],
            findings: counted.findings + PRIOR,
            right: counted.right + PRIOR * counted.weight,
        });
        while let [.., before, last] = &pools[..]
            && before.share() >= last.share()
        {
            let last = pools.pop().unwrap_or_default();
            if let Some(before) = pools.last_mut() {
                before.weights.extend(last.weights);
                before.findings += last.findings;
                before.right += last.right;
            }
        }
    }
    let inner = pools.iter().flat_map(|pool| pool.weights.iter().map(|&weight| (weight, pool.share())));
    [(0.0, 0.0)].into_iter().chain(inner).chain([(1.0, 1.0)]).collect()
}

/// Neighbouring weights that share one rate of right findings.
#[derive(Default)]
struct Pool {
    weights: Vec<f64>,
    findings: f64,
    right: f64,
}

impl Pool {
    fn share(&self) -> f64 {
        self.right / self.findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn built_in_table_parses_completely() {
        let lines = MEASURED.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let counts = counts(MEASURED);
        assert_eq!(counts.len(), lines.count(), "a line was not understood");
        assert!(counts.iter().all(|c| c.right <= c.findings && (0.0..=1.0).contains(&c.weight)));
        assert!(!counts.is_empty());
    }

    #[test]
    fn higher_weight_has_higher_confidence() {
        for grade in Grade::ALL {
            let all: Vec<f64> = (0..=100).map(|n| share_right(grade, f64::from(n) / 100.0)).collect();
            assert!(all.is_sorted() && all[0] == 0.0 && all[100] == 1.0, "{grade:?}: {all:?}");
        }
    }

    #[test]
    fn shares_follow_from_counts() {
        let counted = |weight, findings, right| Counted { grade: Grade::Shown, weight, findings, right };
        let line = knots([counted(0.8, 90.0, 90.0), counted(0.5, 10.0, 5.0)].iter());
        assert_eq!(line, [(0.0, 0.0), (0.5, 0.5), (0.8, 0.98), (1.0, 1.0)]);
        // Surer findings that were right less often: both get the share of all of them.
        let line = knots([counted(0.6, 10.0, 10.0), counted(0.9, 10.0, 5.0)].iter());
        assert_eq!(line, [(0.0, 0.0), (0.6, 0.75), (0.9, 0.75), (1.0, 1.0)]);
    }

    #[test]
    fn empty_table_keeps_weights() {
        assert_eq!(knots([].iter()), [(0.0, 0.0), (1.0, 1.0)]);
    }

    proptest! {
        #[test]
        fn any_table_text_gives_a_monotonic_line(text in "((shown|inferred|x)\t[0-9.]{0,4}\t[0-9]{0,3}\t[0-9]{0,3}\n){0,9}") {
            let counts = counts(&text);
            let line = knots(counts.iter());
            prop_assert!(line.is_sorted_by(|a, b| a.0 <= b.0));
        }
    }
}
