//! The definition of right: the cause that costs most is the intended one. If a run has several
//! exchanges or several connections, no cause is reported for time that cost nothing.
//!
//! Knows: which causes one capture cannot distinguish, and which causes a draw's configuration
//! rules out. Promises: a judgement reads only the scenario and the explanation. Ignores: whether
//! the cause was confirmed, which the run decides.

use super::calibration::ReportedCause;
use std::collections::BTreeMap;
use whyslow_analysis::{Analysis, End, Finding, Transfer};
use whyslow_lab::draws::drawn;
use whyslow_lab::figures::Figures;
use whyslow_lab::scenario::Variant;
use whyslow_lab::scenario::work::{Side, Transfers, Work};
use whyslow_prove::are_alike;

/// What cannot be seen from an end. What is lost on the way to it has never been there: of large
/// segments that never pass, only the waits for the timer are left. Behind a proxy a capture has
/// another connection.
const INVISIBLE: &[(&str, End)] =
    &[("syn-loss", End::Server), ("mtu-black-hole", End::Client), ("proxy-split", End::Server)];
/// Draws of which other causes are right too: a reader that is slower than the path closes its
/// window, or keeps it a few segments wide, as its buffer and its reads fall together; a server
/// answers when it has read the rest of what the kernel took for it; and a burst of losses that
/// takes a retransmission too leaves the timer alone.
const EITHER: &[(&str, &str)] = &[
    ("slow-reader", "receive-window"),
    ("slow-reading-server", "receive-window"),
    ("slow-reading-server", "server-think"),
    ("burst-losses", "timeout"),
];
/// Draws that are about the last transfer alone; the first one prepares it.
const ABOUT_THE_LAST: &[&str] = &["early-slow-start-exit", "restart-after-idle"];
/// Causes that never cost most, because they come with another one that costs more: right if they
/// are reported at all. A Linux sender that learns that its copies were needless takes its window
/// back, so that late packets cost repairs and no more.
const NEVER_FIRST: &[&str] =
    &["duplication", "reordering", "small-segments", "tls-record-buffering", "amplification-risk"];
/// A label for transfers with nothing to blame.
pub(super) const HEALTHY: &str = "none";

/// Causes to which a pause is charged if it is counted as delay.
const PAUSES: &[&str] = &[
    "application",
    "delayed-ack",
    "host-cpu",
    "no-answer",
    "protocol-window",
    "proxy-split",
    "server-think",
    "turn-taking",
    "zero-window",
];
/// Causes that are wrong for a draw, whatever they cost. A link that several senders fill is full
/// whatever each of them does, and only its queue loses packets. The pauses between requests and
/// pushes cost nothing, and the time before a late response is the server's alone.
const NEVER: &[(&str, &[&str])] = &[
    ("small-requests", PAUSES),
    ("pushes", PAUSES),
    ("slow-second-query", &["application", "client-think", "no-answer", "protocol-window"]),
    (
        "shared-bottleneck",
        &[
            "application",
            "host-cpu",
            "mtu-black-hole",
            "pacing",
            "policer",
            "random-loss",
            "receive-window",
            "sender-cap",
        ],
    ),
];

/// A cause that was reported wrongly, or wrongly as the first one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WrongFinding {
    /// In a table's words.
    pub reported: String,
    /// The reported cause; `None` if one is missing.
    pub cause: Option<ReportedCause>,
}

/// Whether the judgement is about the last large transfer alone.
pub(super) fn is_about_the_last(run: &Variant) -> bool {
    ABOUT_THE_LAST.contains(&drawn(&run.label))
}

/// Whether the intended cause never shows at this end.
pub(super) fn is_invisible(run: &Variant, figures: &Figures, end: End) -> bool {
    let figure = |name: &str| figures.get(name).copied().unwrap_or_default();
    INVISIBLE.contains(&(drawn(&run.label), end))
        || end == End::Server && figure("up.packets") > 0.0 && figure("up.lost") >= figure("up.packets")
}

/// The cause that costs most over these findings, as sure as its surest one. What the client's own
/// program took ranks behind all else, as on the page.
pub(super) fn top(findings: &[&Finding]) -> Option<ReportedCause> {
    let mut cost: BTreeMap<&'static str, (bool, f64, ReportedCause)> = BTreeMap::new();
    for finding in findings {
        let reported = ReportedCause::of(finding);
        let sum = cost.entry(reported.cause).or_insert((finding.is_waited_for(), 0.0, reported));
        sum.1 += finding.cost_s.as_secs_f64();
        sum.2 = if reported.confidence > sum.2.confidence { reported } else { sum.2 };
    }
    let most = cost.into_values().max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    most.map(|(_, _, reported)| reported)
}

/// All findings, or those about the last large transfer.
pub(super) fn findings(analysis: &Analysis, of_the_last: bool) -> Vec<&Finding> {
    if !of_the_last {
        let transfers = analysis.connections.iter().flat_map(|c| &c.transfers).flat_map(|t| &t.findings);
        let connections = analysis.connections.iter().flat_map(|c| &c.findings);
        let spanning = analysis.findings.iter().filter(|finding| !finding.shared);
        return transfers.chain(connections).chain(spanning).collect();
    }
    let large = |transfer: &&Transfer| transfer.from == End::Server && transfer.bytes > 100_000;
    let all = analysis.connections.iter().flat_map(|c| c.transfers.iter().filter(large).map(move |t| (c, t)));
    let Some((connection, transfer)) = all.max_by_key(|(_, t)| t.start_s) else { return Vec::new() };
    transfer.findings.iter().chain(&connection.findings).collect()
}

/// The error in an explanation of this run.
pub(super) fn wrong(run: &Variant, analysis: &Analysis) -> Option<WrongFinding> {
    let findings = findings(analysis, is_about_the_last(run));
    let top = top(&findings);
    let is_either = top.is_some_and(|reported| EITHER.contains(&(drawn(&run.label), reported.cause)));
    let is_right = is_either || is_right(&run.scenario.cause, top.map(|reported| reported.cause), &findings);
    if !(is_right || may_be_enough(run) && findings.iter().any(|finding| finding.cause.slug() == run.scenario.cause)) {
        let reported = top.map_or("nothing".to_owned(), |reported| format!("`{}`", reported.cause));
        return Some(WrongFinding { reported, cause: top });
    }
    if let Some(finding) = findings.iter().find(|finding| is_ruled_out(run, finding.cause.slug())) {
        let reported = ReportedCause::of(finding);
        return Some(WrongFinding { reported: format!("`{}` beside it", reported.cause), cause: Some(reported) });
    }
    let missing = |reported| WrongFinding { reported, cause: None };
    wrong_exchanges(run, analysis).or_else(|| wrong_shares(run, analysis)).map(missing)
}

pub(super) fn is_right(label: &str, top: Option<&str>, findings: &[&Finding]) -> bool {
    let Some(top) = top else { return label == HEALTHY };
    let alike = || are_alike(label, top);
    // A deep queue is full because the path's rate is reached: both are true, if both are reported.
    let deep =
        || label == "bufferbloat" && top == "bandwidth" && findings.iter().any(|f| f.cause.slug() == "bufferbloat");
    let fast = label == HEALTHY && top == "bandwidth";
    let beside = || NEVER_FIRST.contains(&label) && findings.iter().any(|finding| finding.cause.slug() == label);
    label == top || fast || alike() || deep() || beside()
}

/// A truncated response that no capture can distinguish from a whole one: the truncation must be
/// reported, and may have cost nothing.
fn may_be_enough(run: &Variant) -> bool {
    let Work::Download(work) = &run.scenario.work else { return false };
    work.closes == Side::Server && work.reset_after.is_some_and(|after| !after.is_empty())
}

/// Whether the run's configuration rules out a cause that was reported in addition to the right
/// one.
fn is_ruled_out(run: &Variant, cause: &str) -> bool {
    let drawn = drawn(&run.label);
    let never = || NEVER.iter().any(|(name, causes)| *name == drawn && causes.contains(&cause));
    // The kernel kept its window, or a pause was so long that no program's own series has it.
    let other = || match cause {
        "restart-after-idle" => run.scenario.cause == "slow-start",
        "client-think" => run.scenario.cause != cause,
        _ => false,
    };
    never() || matches!(drawn, "small-requests" | "pushes") && other()
}

/// How many exchanges a run has on its one connection, pushes among them, where that is known.
fn exchanges(run: &Variant) -> Option<u64> {
    let (Work::Download(work) | Work::Upload(work)) = &run.scenario.work else { return None };
    match drawn(&run.label) {
        "small-requests" | "slow-second-query" => Some(work.all_sizes().len() as u64),
        "pushes" => Some(work.size.0.div_ceil(work.write.chunk.0)),
        _ => None,
    }
}

fn wrong_exchanges(run: &Variant, analysis: &Analysis) -> Option<String> {
    let there = exchanges(run)?;
    let counted: u64 = analysis.connections.iter().map(|connection| connection.exchanges_total).sum();
    (counted != there).then(|| format!("{counted} exchanges for {there}"))
}

/// All connections that share a bottleneck are reported as one group.
fn wrong_shares(run: &Variant, analysis: &Analysis) -> Option<String> {
    let Work::Download(Transfers { parallel, .. }) = run.scenario.work else { return None };
    if drawn(&run.label) != "shared-bottleneck" {
        return None;
    }
    let shares = |finding: &&Finding| finding.shared && is_right(&run.scenario.cause, Some(finding.cause.slug()), &[]);
    let most = analysis.findings.iter().filter(shares).map(|finding| finding.connections.len()).max().unwrap_or(0);
    (most != parallel as usize).then(|| format!("shared by {most} of {parallel}"))
}

#[cfg(test)]
mod tests;
