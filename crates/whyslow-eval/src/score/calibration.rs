//! How often findings with a given confidence were right.
//!
//! Knows: the bins, and their table. Promises: a finding counts once. Ignores: what is right, and
//! why.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use whyslow_analysis::{Finding, Grade};

/// A cause that was reported for a capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReportedCause {
    pub cause: &'static str,
    pub confidence: f64,
    pub grade: Grade,
    /// Confidence of the rule.
    pub weight: f64,
}

impl ReportedCause {
    pub fn of(finding: &Finding) -> Self {
        let Finding { cause, confidence, grade, weight, .. } = *finding;
        Self { cause: cause.slug(), confidence, grade, weight }
    }
}

/// Of how many findings the cause is known, and how many were right: by grade, and by weight in
/// twentieths. The analysis is built with such a table (`conclude/confidence.tsv` of the core).
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Counts(BTreeMap<(Grade, u8), (u64, u64)>);

impl Counts {
    /// Twentieths of a weight of 1.
    const STEPS: f64 = 20.0;

    pub(super) fn add(&mut self, all: &[(ReportedCause, bool)]) {
        for (reported, is_right) in all {
            let step = (reported.weight * Self::STEPS).round().clamp(0.0, Self::STEPS) as u8;
            let (findings, right) = self.0.entry((reported.grade, step)).or_default();
            *findings += 1;
            *right += u64::from(*is_right);
        }
    }

    /// Adds what [`Self::text`] wrote.
    ///
    /// # Errors
    /// The number of a line in another form, from 1.
    pub(crate) fn add_text(&mut self, text: &str) -> Result<(), usize> {
        for (number, line) in (1usize..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
            let (key, (findings, right)) = counted(line).ok_or(number)?;
            let sum = self.0.entry(key).or_default();
            (sum.0, sum.1) = (sum.0.saturating_add(findings), sum.1.saturating_add(right));
        }
        Ok(())
    }

    /// The file that the analysis is built with.
    pub(crate) fn text(&self) -> String {
        let mut text = "# How often findings were right whose cause is known. `make calibrate` writes this file.\n\
            # grade\tweight\tfindings\tright\n"
            .to_owned();
        for ((grade, step), (findings, right)) in &self.0 {
            // Writing to a string cannot fail.
            let weight = f64::from(*step) / Self::STEPS;
            let _ = writeln!(text, "{}\t{weight:.2}\t{findings}\t{right}", grade.slug());
        }
        text
    }
}

fn counted(line: &str) -> Option<((Grade, u8), (u64, u64))> {
    let [grade, weight, findings, right] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let grade = Grade::ALL.into_iter().find(|known| known.slug() == grade)?;
    let weight: f64 = weight.parse().ok().filter(|weight| (0.0..=1.0).contains(weight))?;
    let (findings, right) = (findings.parse().ok()?, right.parse().ok()?);
    (right <= findings).then_some(((grade, (weight * Counts::STEPS).round() as u8), (findings, right)))
}

/// Bins of confidence: from, and to.
const BINS: [(f64, f64); 5] = [(0.0, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)];

/// How often findings in a range of confidence were right.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Bin {
    from: f64,
    to: f64,
    #[serde(rename = "said")]
    pub reported: usize,
    pub right: usize,
    mean_confidence: Option<f64>,
}

/// Groups reported causes, each with whether it is right.
pub(super) fn bins(all: &[(ReportedCause, bool)]) -> Vec<Bin> {
    let bin = |(from, to): (f64, f64)| {
        let of: Vec<_> = all.iter().filter(|(reported, _)| (from..to).contains(&reported.confidence)).collect();
        let mean = of.iter().map(|(reported, _)| reported.confidence).sum::<f64>() / of.len() as f64;
        Bin {
            from,
            to: to.min(1.0),
            reported: of.len(),
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
            Some(mean) => format!("{:.2}, said {mean:.2}", bin.right as f64 / bin.reported as f64),
            None => "–".to_owned(),
        };
        let _ = writeln!(table, "| {:.1}–{:.1} | {} | {} | {share} |", bin.from, bin.to, bin.reported, bin.right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(confidence: f64) -> ReportedCause {
        ReportedCause { cause: "loss", confidence, grade: Grade::Shown, weight: confidence }
    }

    #[test]
    fn counts_survive_their_file_and_add_up() {
        let mut counts = Counts::default();
        counts.add(&[(reported(0.9), true), (reported(0.88), false), (reported(0.7), true)]);
        let text = counts.text();
        assert!(text.ends_with("shown\t0.70\t1\t1\nshown\t0.90\t2\t1\n"), "{text}");
        let mut again = Counts::default();
        assert_eq!(again.add_text(&text), Ok(()));
        assert_eq!(again, counts);
        assert_eq!(again.add_text(&text), Ok(()));
        assert!(again.text().ends_with("shown\t0.90\t4\t2\n"), "{again:?}");
    }

    #[test]
    fn invalid_line_is_refused_with_its_number() {
        for line in ["shown\t0.5\t1", "sure\t0.5\t1\t1", "shown\t2\t1\t1", "shown\t0.5\t1\t2", ""] {
            let text = format!("# a comment\n{line}\n");
            assert_eq!(Counts::default().add_text(&text), Err(2), "{line:?}");
        }
    }

    #[test]
    fn each_finding_counts_in_its_bin() {
        let all = [(0.5, false), (0.6, true), (0.65, false), (1.0, true)];
        let table = table(&bins(&all.map(|(confidence, right)| (reported(confidence), right))));
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
