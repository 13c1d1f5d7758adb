//! `whyslow lab score`: transfers whose cause is known, explained, and how often the explanation is
//! right.
//!
//! Knows: the compared figures, and how they are printed; for the definition of right see
//! [`right`]. Promises: only runs whose cause the kernel's own counters confirmed are judged, and
//! the others are counted. Ignores: how an explanation was made; it is read from its JSON contract,
//! as by any other program.

mod calibration;
pub(super) mod real;
mod right;

pub(crate) use calibration::Counts;
use calibration::ReportedCause;
use right::{HEALTHY, WrongFinding};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use whyslow_analysis::{
    Action, Analysis, Connection, End, Finding, LimitingFactor, Promise, Remedy, SendingAction, Transfer,
};
use whyslow_io::{Input, Stop};
use whyslow_lab::draws::{CURED, drawn};
use whyslow_lab::run::folder;
use whyslow_lab::scenario::work::Work;
use whyslow_lab::scenario::{Experiment, Variant};
use whyslow_lab::truth::{self, RunResult};

/// A wrong cause with this confidence is a broken promise.
const HIGH: f64 = 0.8;
/// The verdict on one capture.
struct ScoredRun {
    label: String,
    cause: String,
    end: End,
    /// It is the end of the host that sends the payload.
    sends: bool,
    /// The cause that cost most.
    top: Option<ReportedCause>,
    wrong: Option<WrongFinding>,
    /// Minimum round trip: reported, and from the sender's kernel, seconds.
    rtt: Option<(f64, f64)>,
    /// Maximum in flight: reported, and from the sender's kernel, segments.
    in_flight: Option<(f64, f64)>,
    /// Retransmitted segments: reported, and from the sender's kernel.
    resent: Option<(f64, f64)>,
    /// Shares of the transfers' time by limit: reported, and from the sender's kernel.
    shares: Option<([f64; 3], [f64; 3])>,
    /// The transfer's time without its cause, if promised; and measured with the cause fixed;
    /// seconds.
    fixed: Option<(Option<f64>, f64)>,
    /// Whether that measured time lies in the range of the promise.
    in_range: Option<bool>,
}

/// Limits of a transfer, as a kernel distinguishes them.
const HOLDERS: [&str; 3] = ["windows", "application", "congestion window and path"];

/// A table of right and wrong verdicts, in Markdown. Adds how often findings were right to
/// `counts`.
///
/// # Errors
/// When a capture cannot be read.
pub(super) fn report(
    experiment: &Experiment,
    results: &[RunResult],
    out: &Path,
    counts: &mut Counts,
) -> anyhow::Result<String> {
    let mut judged = Vec::new();
    for (run, result) in
        experiment.runs.iter().filter_map(|run| Some((run, results.iter().find(|r| r.label == run.label)?)))
    {
        if !result.confirmed || run.label.ends_with(CURED) {
            continue;
        }
        let cured = format!("{}{CURED}", run.label);
        let cured = experiment.runs.iter().find(|run| run.label == cured);
        let cured = cured.and_then(|run| Some((run, results.iter().find(|r| r.label == run.label && r.confirmed)?)));
        for end in [End::Client, End::Server] {
            if right::is_invisible(run, &result.figures, end) {
                continue;
            }
            let name = if end == End::Client { "client.pcap" } else { "server.pcap" };
            let explain = |run, result: &RunResult| {
                let capture = folder(out, &experiment.name, run, result.repetition).join(name);
                whyslow_io::explain(&[Input::Path(capture)], &Stop::default(), &mut |_| {})
            };
            let analysis = explain(run, result)?;
            let mut judgement = judge(run, result, end, &analysis);
            // A kernel counts segments; a capture with offload counts the larger packets given to
            // the card.
            if run.scenario.server.tso || run.scenario.client.gro {
                judgement.resent = None;
            }
            if let Some((cured, cured_result)) = cured {
                let last = right::is_about_the_last(run);
                let measured = main_transfer(&explain(cured, cured_result)?, last).map(|t| t.duration_s.as_secs_f64());
                let promise = promise(&analysis, &result.cause, last);
                judgement.fixed =
                    measured.map(|measured| (promise.map(|promise| promise.time_s.as_secs_f64()), measured));
                let range = promise.and_then(|promise| promise.range_s);
                judgement.in_range = measured
                    .zip(range)
                    .map(|(measured, [low, high])| (low.as_secs_f64()..=high.as_secs_f64()).contains(&measured));
            }
            judged.push(judgement);
        }
    }
    counts.add(&checked(&judged));
    Ok(page(experiment, results, &judged))
}

/// The server's largest transfer, or its last large one.
fn main_transfer(analysis: &Analysis, last: bool) -> Option<&Transfer> {
    let sent = |transfer: &&Transfer| transfer.from == End::Server;
    let all = analysis.connections.iter().flat_map(|connection| connection.transfers.iter().filter(sent));
    if last { all.filter(|t| t.bytes > 100_000).max_by_key(|t| t.start_s) } else { all.max_by_key(|t| t.bytes) }
}

/// The promise of what the lab changes for this cause: the recommended remedy, except that it
/// raises a server's initial window and does not keep a connection open.
fn promise(analysis: &Analysis, cause: &str, last: bool) -> Option<Promise> {
    let findings = &main_transfer(analysis, last)?.findings;
    let special = |finding: &&Finding| cause == "loss" && finding.cause.slug() == "random-loss";
    let finding = findings.iter().find(|finding| finding.cause.slug() == cause || special(finding))?;
    let is_window =
        |remedy: &&Remedy| matches!(remedy.action, Action::Sending(SendingAction::RaiseInitialWindow { .. }));
    let windows = finding.remedies.iter().filter(|_| cause == "slow-start").find(is_window);
    windows.or(finding.remedy())?.promise
}

/// Shares of the time of the server's transfers, reported and from its kernel. The kernel records
/// how long a window limited it while it had data outstanding; the rest of the transfers' time it
/// had nothing to send.
fn shares(analysis: &Analysis, sender: End, figure: impl Fn(&str) -> Option<f64>) -> Option<([f64; 3], [f64; 3])> {
    let sent = analysis.connections.iter().flat_map(|c| &c.transfers).filter(|t| t.from == sender);
    let (mut whole, mut windows, mut idle) = (0.0, 0.0, 0.0);
    for transfer in sent {
        whole += transfer.duration_s.as_secs_f64();
        for share in &transfer.limits {
            let seconds = share.seconds.as_secs_f64();
            match share.limit {
                LimitingFactor::ReceiveWindow | LimitingFactor::ZeroWindow => windows += seconds,
                LimitingFactor::Application => idle += seconds,
                _ => {}
            }
        }
    }
    if whole < 0.2 {
        return None;
    }
    let busy = figure("busy")?;
    let kernels_windows = (figure("rwnd_limited")? * busy / whole).min(1.0);
    let kernels_idle = (1.0 - busy / whole).clamp(0.0, 1.0);
    let rest = |windows: f64, idle: f64| (1.0 - windows - idle).max(0.0);
    let (windows, idle) = (windows / whole, idle / whole);
    Some(([windows, idle, rest(windows, idle)], [kernels_windows, kernels_idle, rest(kernels_windows, kernels_idle)]))
}

fn judge(run: &Variant, result: &RunResult, end: End, analysis: &Analysis) -> ScoredRun {
    let findings = right::findings(analysis, right::is_about_the_last(run));
    let figure = |name: &str| result.figures.get(name).copied();
    let host = truth::sender(&run.scenario.work);
    let sender = if host == "client" { End::Client } else { End::Server };
    let sends = sender == end;
    // For a truncated connection the kernel's counts include later data.
    let is_whole = !matches!(&run.scenario.work, Work::Download(work) if work.breaks());
    let kernels = |name: &str| figure(&format!("{host}.{name}")).filter(|_| is_whole);
    let direction = |connection: &Connection| connection.directions.iter().find(|d| d.from == sender).cloned();
    let directions: Vec<_> = analysis.connections.iter().filter_map(direction).collect();
    let needed =
        |d: &whyslow_analysis::Direction| d.retransmitted.fast + d.retransmitted.timeout + d.retransmitted.tail_probe;
    let rtt = analysis.connections.iter().filter_map(|c| c.rtt_ms.min).min_by(f64::total_cmp).map(|ms| ms / 1e3);
    let in_flight = directions.iter().map(|d| d.max_in_flight).max();
    let mss = analysis.connections.iter().filter_map(|c| c.handshake.as_ref()?.mss[0]).min().map_or(1460.0, f64::from);
    let resent = kernels("retransmitted").zip(kernels("dsack_dups")).map(|(all, needless)| all - needless);
    ScoredRun {
        label: result.label.clone(),
        cause: result.cause.clone(),
        end,
        sends,
        top: right::top(&findings),
        wrong: right::wrong(run, analysis),
        rtt: rtt.zip(figure("rtt_min")),
        in_flight: in_flight.map(|reported| reported as f64 / mss).zip(kernels("max_in_flight").map(|b| b / mss)),
        resent: Some(directions.iter().map(needed).sum::<u64>() as f64).zip(resent),
        shares: sends.then(|| shares(analysis, sender, kernels)).flatten(),
        fixed: None,
        in_range: None,
    }
}

fn page(experiment: &Experiment, results: &[RunResult], judged: &[ScoredRun]) -> String {
    let mut page = String::new();
    let void = results.iter().filter(|r| !r.problems.is_empty()).count();
    let unconfirmed = results.iter().filter(|r| r.problems.is_empty() && !r.confirmed).count();
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "{}: {} runs, {void} without a result, {unconfirmed} whose cause the kernel's counters do not confirm; {} captures judged.\n",
        experiment.title,
        results.len(),
        judged.len()
    );
    for (sends, name) in [(false, "receiver's"), (true, "sender's")] {
        let of: Vec<&ScoredRun> = judged.iter().filter(|j| j.sends == sends).collect();
        let right = of.iter().filter(|j| j.wrong.is_none()).count();
        let _ = writeln!(page, "## At the {name} end: {right} of {} right\n", of.len());
        page += &confusion(&of);
        page += "\n";
        let _ = writeln!(page, "{}", errors(&of));
    }
    let broken: Vec<String> = judged
        .iter()
        .filter_map(|j| Some((j, j.wrong.as_ref()?.cause?)))
        .filter(|(_, reported)| reported.confidence >= HIGH)
        .map(|(j, reported)| {
            format!("- {} at the {}: `{}` ({:.2})\n", j.label, name(j.end), reported.cause, reported.confidence)
        })
        .collect();
    let _ = writeln!(page, "## Wrong at a confidence of {HIGH} or more: {} of {}\n", broken.len(), judged.len());
    page += &broken.concat();
    page += "\n";
    page += &calibration::table(&calibration::bins(&checked(judged)));
    page += "\n";
    page += &attribution(judged);
    page += &promises(judged);
    page
}

/// The causes that cost most, the additional wrong ones, and whether each is right.
fn checked(judged: &[ScoredRun]) -> Vec<(ReportedCause, bool)> {
    let of = |judged: &ScoredRun| {
        let wrong = judged.wrong.as_ref().and_then(|wrong| wrong.cause);
        let top = judged.top.filter(|_| judged.wrong.as_ref().is_none_or(|wrong| wrong.cause.is_some()));
        let top = top.map(|reported| (reported, wrong.is_none_or(|wrong| wrong.cause != reported.cause)));
        let beside = wrong.filter(|wrong| judged.top.is_none_or(|reported| reported.cause != wrong.cause));
        top.into_iter().chain(beside.map(|reported| (reported, false)))
    };
    judged.iter().flat_map(of).collect()
}

/// Mean absolute errors of the shares, against the kernel's own counters.
fn attribution(judged: &[ScoredRun]) -> String {
    let pairs: Vec<_> = judged.iter().filter_map(|j| j.shares).collect();
    let mut table = format!(
        "## Where the time went, against the sender's kernel: {} captures at its end\n\n| limited by | mean absolute error, points |\n|---|---|\n",
        pairs.len()
    );
    for (index, holder) in HOLDERS.iter().enumerate() {
        let error: f64 = pairs.iter().map(|(reported, truth)| (reported[index] - truth[index]).abs()).sum();
        let mean =
            if pairs.is_empty() { "–".to_owned() } else { format!("{:.1}", 100.0 * error / pairs.len() as f64) };
        let _ = writeln!(table, "| {holder} | {mean} |");
    }
    table + "\n"
}

/// The promises for fixes, compared with the lab's measurement with the fix applied.
fn promises(judged: &[ScoredRun]) -> String {
    let mut table = "## What a fix would bring, against the same transfer fixed\n\n\
        | cause | promised | error, median | most |\n|---|---|---|---|\n"
        .to_owned();
    let error =
        |j: &&ScoredRun| j.fixed.and_then(|(reported, truth)| Some((reported? / truth.max(1e-9) - 1.0).abs() * 100.0));
    let spread = |mut errors: Vec<f64>, share: f64| {
        errors.sort_by(f64::total_cmp);
        let last = errors.len().saturating_sub(1);
        errors.get(((errors.len() as f64 * share) as usize).min(last)).map_or("–".to_owned(), |e| format!("{e:.1} %"))
    };
    let causes: BTreeSet<&str> = judged.iter().filter(|j| j.fixed.is_some()).map(|j| j.cause.as_str()).collect();
    for cause in causes {
        // Without a promise there is no error, and the page prints that too.
        let of: Vec<_> = judged.iter().filter(|j| j.cause == cause && j.fixed.is_some()).collect();
        let errors: Vec<f64> = of.iter().filter_map(&error).collect();
        let promised = format!("{} of {}", errors.len(), of.len());
        let _ =
            writeln!(table, "| `{cause}` | {promised} | {} | {} |", spread(errors.clone(), 0.5), spread(errors, 1.0));
    }
    let all: Vec<f64> = judged.iter().filter_map(|j| error(&j)).collect();
    let (number, median) = (all.len(), spread(all.clone(), 0.5));
    let fixed = judged.iter().filter(|j| j.fixed.is_some()).count();
    let ranged = judged.iter().filter(|j| j.in_range.is_some()).count();
    let inside = judged.iter().filter(|j| j.in_range == Some(true)).count();
    table
        + &format!(
            "\nOver all {number} promises, of {fixed} captures that could have had one: median error {median}, 90th percentile {}. Within the range of the promise: {inside} of {ranged}.\n",
            spread(all, 0.9)
        )
}

fn name(end: End) -> &'static str {
    if end == End::Client { "client" } else { "server" }
}

/// For each draw: how often its cause was found, and which were reported instead. For each cause:
/// how often it was reported correctly.
fn confusion(judged: &[&ScoredRun]) -> String {
    let mut table = "| drawn | found | precision | said instead |\n|---|---|---|---|\n".to_owned();
    let draws: BTreeSet<&str> = judged.iter().map(|j| drawn(&j.label)).collect();
    let right = |of: &[&&ScoredRun]| of.iter().filter(|j| j.wrong.is_none()).count();
    for draw in draws {
        let of: Vec<_> = judged.iter().filter(|j| drawn(&j.label) == draw).collect();
        let reported: Vec<_> =
            judged.iter().filter(|j| j.top.map_or(HEALTHY, |reported| reported.cause) == draw).collect();
        let precision =
            if reported.is_empty() { "–".to_owned() } else { format!("{}/{}", right(&reported), reported.len()) };
        let mut instead: BTreeMap<String, usize> = BTreeMap::new();
        for (judged, wrong) in of.iter().filter_map(|j| Some((j, j.wrong.as_ref()?))) {
            let meant = if judged.cause == draw { String::new() } else { format!(" for `{}`", judged.cause) };
            *instead.entry(wrong.reported.clone() + &meant).or_default() += 1;
        }
        let instead: Vec<String> = instead.iter().map(|(reported, n)| format!("{reported} {n}")).collect();
        let _ = writeln!(table, "| `{draw}` | {}/{} | {precision} | {} |", right(&of), of.len(), instead.join(", "));
    }
    table
}

/// How far the figures are from the kernel's.
fn errors(judged: &[&ScoredRun]) -> String {
    let spread = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| {
            errors.get(((errors.len() as f64 * share) as usize).min(errors.len().saturating_sub(1))).copied()
        };
        (at(0.5).unwrap_or(f64::NAN), at(0.95).unwrap_or(f64::NAN), errors.len())
    };
    let relative = |pair: &(f64, f64)| (pair.0 - pair.1).abs() / pair.1.max(1e-9) * 100.0;
    let absolute = |pair: &(f64, f64)| (pair.0 - pair.1).abs();
    let (rtt, rtt95, n) = spread(judged.iter().filter_map(|j| j.rtt.as_ref().map(relative)).collect());
    let (flight, flight95, _) = spread(judged.iter().filter_map(|j| j.in_flight.as_ref().map(absolute)).collect());
    let (resent, resent95, _) = spread(judged.iter().filter_map(|j| j.resent.as_ref().map(absolute)).collect());
    format!(
        "Against the sender's kernel, over {n} captures (median, 95th percentile): minimum RTT off by {rtt:.1} %, {rtt95:.1} %; \
         most in flight by {flight:.1}, {flight95:.1} segments (the kernel is asked every 2 ms only); \
         segments that had to be retransmitted by {resent:.0}, {resent95:.0}.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_analysis::Grade;

    #[test]
    fn a_confusion_table_counts_true_and_reported_causes() {
        let judged = |cause: &str, top: Option<&'static str>| ScoredRun {
            label: format!("{cause}-1"),
            cause: cause.to_owned(),
            end: End::Client,
            sends: false,
            top: top.map(|cause| ReportedCause { cause, confidence: 0.9, grade: Grade::Shown, weight: 0.9 }),
            wrong: (top.unwrap_or(HEALTHY) != cause)
                .then(|| WrongFinding { reported: format!("`{}`", top.unwrap_or_default()), cause: None }),
            rtt: Some((0.0101, 0.01)),
            in_flight: Some((10.0, 12.0)),
            resent: Some((4.0, 5.0)),
            shares: Some(([0.5, 0.25, 0.25], [0.6, 0.25, 0.15])),
            fixed: Some((top.map(|_| 1.1), 1.0)),
            in_range: top.map(|cause| cause == "loss"),
        };
        let all = [
            judged("loss", Some("loss")),
            judged("loss", Some("timeout")),
            judged("none", Some("loss")),
            judged("none", None),
        ];
        assert!(attribution(&all).contains("| windows | 10.0 |\n| application | 0.0 |"), "{}", attribution(&all));
        assert!(promises(&all).contains("| `loss` | 2 of 2 | 10.0 % | 10.0 % |"), "{}", promises(&all));
        assert!(promises(&all).contains("| `none` | 1 of 2 |"), "what has no promise counts: {}", promises(&all));
        let all: Vec<_> = all.iter().collect();
        let table = confusion(&all);
        assert!(table.contains("| `loss` | 1/2 | 1/2 | `timeout` 1 |"), "{table}");
        assert!(table.contains("| `none` | 1/2 | 1/1 | `loss` 1 |"), "{table}");
        assert!(
            errors(&all).contains("minimum RTT off by 1.0 %, 1.0 %; most in flight by 2.0, 2.0 segments"),
            "{}",
            errors(&all)
        );
    }
}
