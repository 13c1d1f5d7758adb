//! The verdict on one capture, and whether it is right.

use super::super::calibration::{self, Bin, ReportedCause};
use super::super::{HIGH, name, right};
use serde::Serialize;
use std::path::{Path, PathBuf};
use whyslow_analysis::{Analysis, End, Finding};
use whyslow_io::{Input, Stop};
use whyslow_lab::real::Label;

/// The verdict on one capture.
#[derive(Debug, Serialize)]
pub(super) struct ScoredRun {
    pub(super) end: &'static str,
    pub(super) capture: PathBuf,
    #[serde(rename = "said")]
    pub(super) reported: Option<NamedCause>,
    pub(super) wrong: Option<String>,
    /// Reported causes that the configuration rules out, except the cause that cost most.
    pub(super) ruled_out: Vec<NamedCause>,
}

/// A reported cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct NamedCause {
    pub(super) cause: &'static str,
    pub(super) confidence: f64,
    pub(super) seconds: f64,
    /// The surest finding of the cause.
    #[serde(skip)]
    pub(super) surest: ReportedCause,
}

/// Explains one capture.
pub(super) fn explain(capture: &Path) -> anyhow::Result<Analysis> {
    Ok(whyslow_io::explain(&[Input::Path(capture.to_owned())], &Stop::default(), &mut |_| {})?)
}

/// Judges the analysis of a capture.
pub(super) fn judge(label: &Label, end: End, capture: PathBuf, analysis: &Analysis) -> ScoredRun {
    let findings = right::findings(analysis, false);
    let seconds = |cause| findings.iter().filter(|f| f.cause.slug() == cause).map(|f| f.cost_s.as_secs_f64()).sum();
    let named = |surest: ReportedCause| NamedCause {
        cause: surest.cause,
        confidence: surest.confidence,
        seconds: seconds(surest.cause),
        surest,
    };
    let reported = right::top(&findings).map(named);
    let mut ruled_out: Vec<ReportedCause> = findings.iter().map(|finding| ReportedCause::of(finding)).collect();
    ruled_out.retain(|one| {
        label.never.contains(&one.cause) && reported.as_ref().is_none_or(|reported| reported.cause != one.cause)
    });
    ruled_out.sort_by(|a, b| a.cause.cmp(b.cause).then(b.confidence.total_cmp(&a.confidence)));
    ruled_out.dedup_by_key(|one| one.cause);
    let ruled_out: Vec<NamedCause> = ruled_out.into_iter().map(named).collect();
    let wrong = wrong(label, reported.as_ref(), &findings, &ruled_out);
    ScoredRun { end: name(end), capture, reported, wrong, ruled_out }
}

/// The error, in a table's words.
pub(super) fn wrong(
    label: &Label,
    reported: Option<&NamedCause>,
    findings: &[&Finding],
    ruled_out: &[NamedCause],
) -> Option<String> {
    let top = reported.map(|reported| reported.cause);
    let main = label.right.first().copied().unwrap_or(right::HEALTHY);
    // The same special case as in the other score: a deep queue, if it is reported too.
    let deep = main == "bufferbloat" && right::is_right(main, top, findings);
    let enough = label.enough && findings.iter().any(|finding| finding.cause.slug() == main);
    if !(label.right.contains(&top.unwrap_or(right::HEALTHY)) || deep || enough) {
        return Some(top.map_or("nothing".to_owned(), |cause| format!("`{cause}`")));
    }
    let most = ruled_out.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    Some(format!("`{}` beside it", most.cause))
}

impl ScoredRun {
    /// The wrong cause with the greatest confidence.
    pub(super) fn most_confident_error(&self) -> Option<&NamedCause> {
        let wrong = self.wrong.as_ref()?;
        let top = self.reported.iter().filter(|_| !wrong.ends_with("beside it"));
        top.chain(&self.ruled_out).max_by(|a, b| a.confidence.total_cmp(&b.confidence))
    }

    pub(super) fn is_bold(&self) -> bool {
        self.most_confident_error().is_some_and(|reported| reported.confidence >= HIGH)
    }
}

/// The causes that cost most, and those that the configuration rules out, and whether they are
/// right.
pub(super) fn checked(judged: &[&ScoredRun]) -> Vec<(ReportedCause, bool)> {
    let top = judged.iter().filter_map(|j| {
        let is_right = j.wrong.as_ref().is_none_or(|wrong| wrong.ends_with("beside it"));
        Some((j.reported.as_ref()?.surest, is_right))
    });
    let ruled_out = judged.iter().flat_map(|j| &j.ruled_out).map(|reported| (reported.surest, false));
    top.chain(ruled_out).collect()
}

/// How many of these there were for each bin of confidence, and were right.
pub(super) fn calibration(judged: &[&ScoredRun]) -> Vec<Bin> {
    calibration::bins(&checked(judged))
}
