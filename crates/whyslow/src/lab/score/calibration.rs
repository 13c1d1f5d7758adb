//! How often what was said with some confidence was right.
//!
//! Knows: the bins, and their table. Promises: a finding counts once. Ignores: what is right, and
//! why.

use serde::Serialize;
use std::fmt::Write;

/// Bins of confidence: from, and to.
const BINS: [(f64, f64); 5] = [(0.0, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)];

/// How often what was said with such a confidence was right.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Bin {
    from: f64,
    to: f64,
    pub said: usize,
    pub right: usize,
    mean_confidence: Option<f64>,
}

/// Of findings, each with its confidence and whether it is right.
pub(super) fn bins(all: &[(f64, bool)]) -> Vec<Bin> {
    let bin = |(from, to): (f64, f64)| {
        let of: Vec<_> = all.iter().filter(|(confidence, _)| (from..to).contains(confidence)).collect();
        let mean = of.iter().map(|(confidence, _)| confidence).sum::<f64>() / of.len() as f64;
        Bin {
            from,
            to: to.min(1.0),
            said: of.len(),
            right: of.iter().filter(|(_, is_right)| *is_right).count(),
            mean_confidence: (!of.is_empty()).then_some(mean),
        }
    };
    BINS.map(bin).into()
}

/// In Markdown.
pub(super) fn table(bins: &[Bin]) -> String {
    let mut table =
        "## Confidence, and how often it was right\n\n| said at | findings | right | share |\n|---|---|---|---|\n"
            .to_owned();
    for bin in bins {
        let share = match bin.mean_confidence {
            Some(mean) => format!("{:.2}, said {mean:.2}", bin.right as f64 / bin.said as f64),
            None => "–".to_owned(),
        };
        let _ = writeln!(table, "| {:.1}–{:.1} | {} | {} | {share} |", bin.from, bin.to, bin.said, bin.right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_counts_in_its_bin() {
        let table = table(&bins(&[(0.5, false), (0.6, true), (0.65, false), (1.0, true)]));
        assert!(
            table.contains("| 0.0–0.6 | 1 | 0 | 0.00, said 0.50 |\n| 0.6–0.7 | 2 | 1 | 0.50, said 0.62 |"),
            "{table}"
        );
        assert!(
            table.contains("| 0.7–0.8 | 0 | 0 | – |") && table.contains("| 0.9–1.0 | 1 | 1 | 1.00, said 1.00 |"),
            "{table}"
        );
    }
}
