//! All runs of a score, judged.

use super::super::calibration::{Bin, Counts};
use super::judge::{ScoredRun, calibration, checked, explain, judge};
use super::promise::Promise;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use whyslow_analysis::End;
use whyslow_lab::draws::drawn;
use whyslow_lab::net::config::Host;
use whyslow_lab::real::{FIXED, RealRuns};
use whyslow_lab::run::folder;
use whyslow_lab::truth::RunResult;

/// Version of what `--json` prints.
pub(super) const SCHEMA: &str = "whyslow-real/1";
/// The result of a score.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(super) schema: &'static str,
    pub(super) seed: u64,
    pub(super) each: u32,
    pub(super) captures: usize,
    pub(super) right: usize,
    pub(super) wrong_at_high_confidence: usize,
    pub(super) calibration: Vec<Bin>,
    pub(super) skipped: BTreeMap<String, Vec<&'static str>>,
    pub(super) promises: Vec<Promise>,
    pub(super) runs: Vec<Run>,
}

/// One run.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) scenario: String,
    pub(super) label: String,
    pub(super) right: &'static [&'static str],
    pub(super) never: &'static [&'static str],
    pub(super) why: &'static str,
    pub(super) confirmed: bool,
    pub(super) problems: Vec<String>,
    pub(super) unconfirmed: Vec<String>,
    pub(super) ends: Vec<ScoredRun>,
}

/// Explains both captures of every run.
///
/// # Errors
/// When a capture cannot be read.
pub(crate) fn report(
    drawing: &RealRuns,
    results: &[RunResult],
    out: &Path,
    seed: u64,
    each: u32,
) -> anyhow::Result<Report> {
    let mut runs = Vec::new();
    for run in &drawing.experiment.runs {
        let Some(result) = results.iter().find(|result| result.label == run.label) else { continue };
        let Some(label) = drawing.labels.get(drawn(&run.label)) else { continue };
        let mut ends = Vec::new();
        for (end, host) in [(End::Client, Host::Client), (End::Server, Host::Server)] {
            if result.confirmed && !label.unseen.contains(&host) {
                let folder = folder(out, &drawing.experiment.name, run, result.repetition);
                let capture = folder.join(format!("{}.pcap", host.name()));
                let analysis = explain(&capture)?;
                ends.push(judge(label, end, capture, &analysis));
            }
        }
        let failed = result.claims.iter().filter(|claim| !claim.holds);
        let measured = |value: Option<f64>| value.map_or("unknown".to_owned(), |value| format!("{value:.4}"));
        runs.push(Run {
            scenario: drawn(&run.label).to_owned(),
            label: run.label.clone(),
            right: label.right,
            never: label.never,
            why: label.why,
            confirmed: result.confirmed,
            problems: result.problems.clone(),
            unconfirmed: failed.map(|checked| format!("{}: {}", checked.claim, measured(checked.measured))).collect(),
            ends,
        });
    }
    let judged = || runs.iter().flat_map(|run| &run.ends);
    Ok(Report {
        schema: SCHEMA,
        seed,
        each,
        captures: judged().count(),
        right: judged().filter(|judged| judged.wrong.is_none()).count(),
        wrong_at_high_confidence: judged().filter(|judged| judged.is_bold()).count(),
        calibration: calibration(&judged().collect::<Vec<_>>()),
        skipped: drawing.missing.clone(),
        promises: Vec::new(),
        runs,
    })
}

impl Report {
    /// Returns how many of its findings were right.
    pub(crate) fn counts(&self) -> Counts {
        let judged: Vec<&ScoredRun> = self.runs.iter().flat_map(|run| &run.ends).collect();
        let mut counts = Counts::default();
        counts.add(&checked(&judged));
        counts
    }

    /// Adds what the fixes brought.
    ///
    /// # Errors
    /// When a capture cannot be read.
    pub(crate) fn measured(
        mut self,
        mut promises: Vec<Promise>,
        fixed: &RealRuns,
        results: &[RunResult],
        out: &Path,
    ) -> anyhow::Result<Self> {
        for promise in &mut promises {
            let label = format!("{}{FIXED}", promise.label);
            let run = fixed.experiment.runs.iter().find(|run| run.label == label);
            let Some((run, result)) = run.zip(results.iter().find(|result| result.label == label)) else {
                promise.problems.push("nothing that it says can be done here".to_owned());
                continue;
            };
            promise.problems.clone_from(&result.problems);
            if result.problems.is_empty() {
                let folder = folder(out, &fixed.experiment.name, run, result.repetition);
                let analysis = explain(&folder.join(format!("{}.pcap", promise.end)))?;
                promise.measured_s = promise.of.took(&analysis);
            }
        }
        self.promises = promises;
        Ok(self)
    }
}
