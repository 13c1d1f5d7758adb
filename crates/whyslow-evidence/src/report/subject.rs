//! [`Subject`]: what an output is about, and the conclusion.

use super::account::Account;
use super::figure::Figure;
use super::finding::Finding;
use super::limitation::Limitation;
use super::source::Source;
use serde::Serialize;
use whyslow_analysis::Unit;

/// A connection, a host, a test, a request or a path.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// Index in [`Report::inputs`](super::Report::inputs).
    pub input: usize,
    /// The tool that printed it.
    pub source: Source,
    /// Its name as the text has it; empty if it has none.
    pub name: String,
    /// Seconds between two looks, if there were two with times.
    pub over_s: Option<f64>,
    /// The conclusion.
    pub verdict: Verdict,
    /// Its main figures, by the names that the tool gives them.
    pub figures: Vec<Figure>,
    /// Findings, the most important first.
    pub findings: Vec<Finding>,
    /// What this output cannot show.
    pub gaps: Vec<Limitation>,
    /// The kernel's account of a connection, for questions of a capture.
    #[serde(skip)]
    pub account: Option<Box<Account>>,
}

/// The conclusion about a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The first finding.
    Cause,
    /// Nothing slow, as far as this output shows.
    Healthy,
    /// The output does not show it.
    Unknown,
}

impl Subject {
    /// A subject of which nothing is known yet.
    pub(crate) fn new(source: Source, name: impl Into<String>) -> Self {
        Self {
            input: 0,
            source,
            name: name.into(),
            over_s: None,
            verdict: Verdict::Healthy,
            figures: Vec::new(),
            findings: Vec::new(),
            gaps: Vec::new(),
            account: None,
        }
    }

    /// Adds a figure if it is known.
    pub(crate) fn figure(&mut self, name: &str, value: Option<f64>, unit: Unit) {
        self.figures.extend(value.map(|value| Figure::new(name, value, unit)));
    }

    /// Orders the findings, and takes the verdict from them. Without one, what such an output never
    /// shows is added.
    pub(crate) fn conclude(&mut self, never: &[Limitation]) {
        self.findings.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        if self.findings.is_empty() {
            let new: Vec<Limitation> = never.iter().copied().filter(|gap| !self.gaps.contains(gap)).collect();
            self.gaps.extend(new);
        } else {
            self.verdict = Verdict::Cause;
        }
    }

    /// How much it matters.
    pub(crate) fn weight(&self) -> f64 {
        match self.verdict {
            Verdict::Cause => self.findings.first().map_or(0.0, Finding::weight),
            Verdict::Unknown => -1.0,
            Verdict::Healthy => -2.0,
        }
    }
}
