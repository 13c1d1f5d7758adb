//! `whyslow lab score --real`: real programs over the lab's path, explained, and how often the
//! explanation is right.
//!
//! Knows: how a scenario's label is compared with an explanation of either end, and how that is
//! told. Promises: only runs whose label the kernels' counters and the emulator's log confirmed are
//! judged, and the others are counted; a wrong capture is named, where it lies. Ignores: what the
//! scenarios are, and how they are run ([`whyslow_lab::real`]).

use super::calibration::{self, Bin};
use super::{HIGH, name, right};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use whyslow_core::analysis::{Actor, Analysis, Connection, End, Finding, Transfer};
use whyslow_core::units::Nanos;
use whyslow_io::{Input, Stop};
use whyslow_lab::draws::drawn;
use whyslow_lab::net::config::Host;
use whyslow_lab::real::{Drawing, FIXED, Fix, Label};
use whyslow_lab::run::folder;
use whyslow_lab::truth::RunResult;

/// Version of what `--json` prints.
const SCHEMA: &str = "whyslow-real/1";
/// All that is known after a score.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    schema: &'static str,
    seed: u64,
    each: u32,
    captures: usize,
    right: usize,
    wrong_at_high_confidence: usize,
    calibration: Vec<Bin>,
    skipped: BTreeMap<String, Vec<&'static str>>,
    promises: Vec<Promise>,
    runs: Vec<Run>,
}

/// What was promised for a fix, and what it brought when it was applied as printed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Promise {
    label: String,
    end: &'static str,
    cause: &'static str,
    command: Option<String>,
    /// The fix in words.
    what: String,
    /// The time as it was, as was promised, and with the fix, seconds.
    before_s: f64,
    promised_s: f64,
    measured_s: Option<f64>,
    /// Why nothing was measured; empty where it was.
    problems: Vec<String>,
    #[serde(skip)]
    host: Option<Host>,
    #[serde(skip)]
    of: PromiseScope,
}

/// What a promise is of.
#[derive(Clone, Copy, Debug)]
enum PromiseScope {
    /// A transfer from this end: which of those of about its size. The end had sent `before` bytes.
    Transfer { from: End, nth: usize, bytes: u64, before: u64 },
    /// The connection that took longest.
    Connection,
    /// Connections one after the other.
    Series,
}

impl PromiseScope {
    /// How long it took, seconds.
    fn took(self, analysis: &Analysis) -> Option<f64> {
        let connections = || analysis.connections.iter();
        let took = match self {
            Self::Transfer { from, nth, bytes, before } => {
                let transfer = alike(analysis, from, bytes).nth(nth)?;
                (transfer.duration_s - lead(analysis, transfer, before)).or_zero()
            }
            Self::Connection => connections().map(|connection| connection.duration_s).max()?,
            // Their closing is nobody's wait.
            Self::Series => connections().map(used).sum(),
        };
        Some(took.as_secs_f64())
    }
}

/// Bytes that its end had sent on the connection when a transfer began.
fn sent_before(analysis: &Analysis, transfer: &Transfer) -> u64 {
    let connection = analysis.connections.iter().find(|it| it.transfers.iter().any(|it| std::ptr::eq(it, transfer)));
    let transfers = connection.into_iter().flat_map(|connection| &connection.transfers);
    let earlier = transfers.filter(|it| it.from == transfer.from && it.start_s < transfer.start_s);
    earlier.map(|earlier| earlier.bytes).sum()
}

/// How long a transfer took until its end had sent `before` bytes: a program that waits less may
/// join to a transfer what was one of its own before.
fn lead(analysis: &Analysis, transfer: &Transfer, before: u64) -> Nanos {
    let joined = before.saturating_sub(sent_before(analysis, transfer));
    // A greeting more or less is the programs'.
    if joined * 100 < transfer.bytes {
        return Nanos::ZERO;
    }
    let mut sent = 0;
    let rounds = transfer.rounds.iter().take_while(|round| {
        sent += round.bytes;
        sent <= joined
    });
    rounds.map(|round| round.duration_s).sum()
}

/// From a connection's first packet to the end of the last that it carried.
fn used(connection: &Connection) -> Nanos {
    let ends = connection.transfers.iter().map(|transfer| transfer.start_s + transfer.duration_s);
    (ends.max().unwrap_or(connection.start_s) - connection.start_s).or_zero()
}

/// One run.
#[derive(Debug, Serialize)]
struct Run {
    scenario: String,
    label: String,
    right: &'static [&'static str],
    never: &'static [&'static str],
    why: &'static str,
    confirmed: bool,
    problems: Vec<String>,
    unconfirmed: Vec<String>,
    ends: Vec<Judged>,
}

/// What was said of one capture.
#[derive(Debug, Serialize)]
struct Judged {
    end: &'static str,
    capture: PathBuf,
    said: Option<NamedCause>,
    wrong: Option<String>,
    /// What the configuration rules out and was said all the same; the cause that cost most is not
    /// among them.
    ruled_out: Vec<NamedCause>,
}

/// A cause that was said.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct NamedCause {
    cause: &'static str,
    confidence: f64,
    seconds: f64,
}

/// Explains both captures of every run.
///
/// # Errors
/// When a capture cannot be read.
pub(crate) fn report(
    drawing: &Drawing,
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

/// The promises that come with a fix, one at most for each run that is explained rightly: that of
/// the cause that cost most, at the end that sends.
///
/// # Errors
/// When a capture cannot be read.
pub(crate) fn promised(drawing: &Drawing, results: &[RunResult], out: &Path) -> anyhow::Result<Vec<Promise>> {
    let mut all = Vec::new();
    for run in &drawing.experiment.runs {
        let result = results.iter().find(|result| result.label == run.label && result.confirmed);
        let (Some(result), Some(label)) = (result, drawing.labels.get(drawn(&run.label))) else { continue };
        for (end, host) in [(End::Server, Host::Server), (End::Client, Host::Client)] {
            let capture =
                folder(out, &drawing.experiment.name, run, result.repetition).join(format!("{}.pcap", host.name()));
            let analysis = explain(&capture)?;
            let judged = judge(label, end, capture, &analysis);
            let Some(said) = judged.said.filter(|_| judged.wrong.is_none()) else { continue };
            let promise = of_transfers(&run.label, said.cause, end, &analysis)
                .max_by(|a, b| a.before_s.total_cmp(&b.before_s))
                .or_else(|| of_connections(&run.label, said.cause, end, &analysis));
            if let Some(promise) = promise {
                all.push(promise);
                break;
            }
        }
    }
    Ok(all)
}

fn of_transfers(label: &str, cause: &'static str, end: End, analysis: &Analysis) -> impl Iterator<Item = Promise> {
    transfers(analysis).filter(move |transfer| transfer.from == end).filter_map(move |transfer| {
        let finding = transfer.findings.iter().find(|finding| finding.cause.slug() == cause)?;
        let before = alike(analysis, end, transfer.bytes).take_while(|other| other.start_s < transfer.start_s);
        let of = PromiseScope::Transfer {
            from: end,
            nth: before.count(),
            bytes: transfer.bytes,
            before: sent_before(analysis, transfer),
        };
        Promise::new(label, end, finding, of, analysis)
    })
}

fn of_connections(label: &str, cause: &'static str, end: End, analysis: &Analysis) -> Option<Promise> {
    let connections = analysis.connections.iter();
    let findings =
        connections.flat_map(|connection| &connection.findings).map(|finding| (finding, PromiseScope::Connection));
    let across = analysis.findings.iter().map(|finding| (finding, PromiseScope::Series));
    let (finding, of) = findings.chain(across).find(|(finding, _)| finding.cause.slug() == cause)?;
    Promise::new(label, end, finding, of, analysis)
}

fn transfers(analysis: &Analysis) -> impl Iterator<Item = &Transfer> {
    analysis.connections.iter().flat_map(|connection| &connection.transfers)
}

/// The transfers from this end that carry about as much, in order.
fn alike(analysis: &Analysis, from: End, bytes: u64) -> impl Iterator<Item = &Transfer> {
    let mut all: Vec<&Transfer> = transfers(analysis)
        .filter(|transfer| transfer.from == from && (bytes * 9 / 10..=bytes * 11 / 10).contains(&transfer.bytes))
        .collect();
    all.sort_by_key(|transfer| transfer.start_s);
    all.into_iter()
}

fn explain(capture: &Path) -> anyhow::Result<Analysis> {
    Ok(whyslow_io::explain(&[Input::Path(capture.to_owned())], &Stop::default(), &mut |_| {})?)
}

impl Promise {
    /// What a finding promises as seen from this end; none where it promises nothing.
    fn new(label: &str, end: End, finding: &Finding, of: PromiseScope, analysis: &Analysis) -> Option<Self> {
        let fix = finding.fix.as_ref()?;
        let (sender, receiver) = match end {
            End::Client => (Host::Client, Host::Server),
            End::Server => (Host::Server, Host::Client),
        };
        let host = match fix.who {
            Actor::Sender => Some(sender),
            Actor::Receiver => Some(receiver),
            // The host whose SYN is meant.
            Actor::Network if fix.what.contains("where the client's SYN comes from") => Some(Host::Client),
            _ => None,
        };
        Some(Self {
            label: label.to_owned(),
            end: name(end),
            cause: finding.cause.slug(),
            command: fix.command.clone(),
            what: fix.what.clone(),
            before_s: of.took(analysis)?,
            promised_s: finding.predicted_s?.as_secs_f64(),
            measured_s: None,
            problems: Vec::new(),
            host,
            of,
        })
    }

    /// What must be done for it.
    pub(crate) fn fix(&self) -> Fix {
        // Words that are no command of a host's are a program's: they name what it must do.
        let words = [self.what.as_str(), self.command.as_deref().unwrap_or_default()].join(" ");
        Fix { label: self.label.clone(), command: self.host.zip(self.command.clone()), words }
    }

    /// How far it is from what was measured, as a share of that.
    fn error(&self) -> Option<f64> {
        Some((self.promised_s / self.measured_s?.max(1e-9) - 1.0).abs())
    }
}

impl Report {
    /// Adds what the fixes brought.
    ///
    /// # Errors
    /// When a capture cannot be read.
    pub(crate) fn measured(
        mut self,
        mut promises: Vec<Promise>,
        fixed: &Drawing,
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

    /// What was promised, and what came of it.
    fn fixes(&self) -> String {
        let mut text = "\n## Fixes applied as printed\n\n| cause | promised | applied and measured | error, median | 90 % | worst |\n\
                        |---|---|---|---|---|---|\n"
            .to_owned();
        let mut causes: Vec<&str> = self.promises.iter().map(|promise| promise.cause).collect();
        causes.sort_unstable();
        causes.dedup();
        let row = |name: &str, of: &[&Promise]| {
            let mut errors: Vec<f64> = of.iter().filter_map(|promise| promise.error()).collect();
            errors.sort_by(f64::total_cmp);
            let at = |share: f64| {
                let last = errors.len().saturating_sub(1);
                let error = errors.get(((errors.len() as f64 * share) as usize).min(last));
                error.map_or("–".to_owned(), |error| format!("{:.1} %", 100.0 * error))
            };
            format!("| {name} | {} | {} | {} | {} | {} |\n", of.len(), errors.len(), at(0.5), at(0.9), at(1.0))
        };
        for cause in causes {
            let of: Vec<&Promise> = self.promises.iter().filter(|promise| promise.cause == cause).collect();
            text += &row(&format!("`{cause}`"), &of);
        }
        text += &row("all", &self.promises.iter().collect::<Vec<_>>());
        text += "\n";
        for promise in &self.promises {
            let came = match promise.measured_s {
                Some(measured) => format!("measured {measured:.3} s"),
                None => format!("not measured: {}", promise.problems.join("; ")),
            };
            let Promise { label, end, cause, before_s, promised_s, command, what, .. } = promise;
            let done = command.as_ref().map_or_else(|| what.clone(), |command| format!("`{command}`"));
            let _ = writeln!(
                text,
                "- {label} at the {end}: `{cause}`, {before_s:.3} s, promised {promised_s:.3} s, {came}: {done}"
            );
        }
        text
    }
}

fn judge(label: &Label, end: End, capture: PathBuf, analysis: &Analysis) -> Judged {
    let findings = right::findings(analysis, false);
    let seconds = |cause| findings.iter().filter(|f| f.cause.slug() == cause).map(|f| f.seconds.as_secs_f64()).sum();
    let confidence = |cause| {
        let all = findings.iter().filter(|f| f.cause.slug() == cause).map(|f| f.confidence);
        all.fold(0.0, f64::max)
    };
    let say = |cause| NamedCause { cause, confidence: confidence(cause), seconds: seconds(cause) };
    let said = right::top(&findings).map(|(cause, _)| say(cause));
    let mut ruled_out: Vec<&'static str> =
        findings.iter().map(|f| f.cause.slug()).filter(|c| label.never.contains(c)).collect();
    ruled_out.sort_unstable();
    ruled_out.dedup();
    ruled_out.retain(|cause| said.as_ref().is_none_or(|said| said.cause != *cause));
    let ruled_out: Vec<NamedCause> = ruled_out.into_iter().map(say).collect();
    let wrong = wrong(label, said.as_ref(), &findings, &ruled_out);
    Judged { end: name(end), capture, said, wrong, ruled_out }
}

/// What is wrong, in a table's words.
fn wrong(label: &Label, said: Option<&NamedCause>, findings: &[&Finding], ruled_out: &[NamedCause]) -> Option<String> {
    let top = said.map(|said| said.cause);
    let main = label.right.first().copied().unwrap_or(right::HEALTHY);
    // A special case said by the same words as in the other score: a deep queue, if it is said too.
    let deep = main == "bufferbloat" && right::is_right(main, top, findings);
    let enough = label.enough && findings.iter().any(|finding| finding.cause.slug() == main);
    if !(label.right.contains(&top.unwrap_or(right::HEALTHY)) || deep || enough) {
        return Some(top.map_or("nothing".to_owned(), |cause| format!("`{cause}`")));
    }
    let most = ruled_out.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    Some(format!("`{}` beside it", most.cause))
}

impl Judged {
    /// What was wrong and was said with the greatest confidence.
    fn wrongly_said(&self) -> Option<&NamedCause> {
        let wrong = self.wrong.as_ref()?;
        let top = self.said.iter().filter(|_| !wrong.ends_with("beside it"));
        top.chain(&self.ruled_out).max_by(|a, b| a.confidence.total_cmp(&b.confidence))
    }

    fn is_bold(&self) -> bool {
        self.wrongly_said().is_some_and(|said| said.confidence >= HIGH)
    }
}

/// For each bin of confidence the causes that cost most, and those that the configuration rules
/// out: how many there were, and were right.
fn calibration(judged: &[&Judged]) -> Vec<Bin> {
    let top = judged.iter().filter_map(|j| {
        let is_right = j.wrong.as_ref().is_none_or(|wrong| wrong.ends_with("beside it"));
        Some((j.said.as_ref()?.confidence, is_right))
    });
    let ruled_out = judged.iter().flat_map(|j| &j.ruled_out).map(|said| (said.confidence, false));
    let all: Vec<(f64, bool)> = top.chain(ruled_out).collect();
    calibration::bins(&all)
}

impl Report {
    /// For a person, in Markdown.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        let void = self.runs.iter().filter(|run| !run.problems.is_empty()).count();
        let unconfirmed = self.runs.iter().filter(|run| run.problems.is_empty() && !run.confirmed).count();
        let _ = writeln!(
            page,
            "Real programs, {} of every scenario, seed {}: {} runs, {void} without a result, {unconfirmed} whose label the counters do not \
             confirm; {} captures judged.\n",
            self.each,
            self.seed,
            self.runs.len(),
            self.captures
        );
        for (lack, scenarios) in &self.skipped {
            let _ = writeln!(
                page,
                "Skipped for want of {lack}: {} scenarios ({}).\n",
                scenarios.len(),
                scenarios.join(", ")
            );
        }
        let _ = writeln!(page, "## Right: {} of {}\n", self.right, self.captures);
        page += &self.table();
        let bold = self
            .runs
            .iter()
            .flat_map(|run| run.ends.iter().map(move |end| (run, end)))
            .filter(|(_, end)| end.is_bold());
        let _ = writeln!(
            page,
            "\n## Wrong at a confidence of {HIGH} or more: {} of {}\n",
            self.wrong_at_high_confidence, self.captures
        );
        for (run, end) in bold {
            if let Some(said) = end.wrongly_said() {
                let _ = writeln!(page, "- {} at the {}: `{}` ({:.2})", run.label, end.end, said.cause, said.confidence);
            }
        }
        page += "\n";
        page += &calibration::table(&self.calibration);
        if !self.promises.is_empty() {
            page += &self.fixes();
        }
        page += &self.mistakes();
        page
    }

    fn table(&self) -> String {
        let mut table =
            "| scenario | right is | at the client | at the server | said instead |\n|---|---|---|---|---|\n"
                .to_owned();
        let mut names: Vec<&str> = self.runs.iter().map(|run| run.scenario.as_str()).collect();
        names.dedup();
        for scenario in names {
            let runs: Vec<&Run> = self.runs.iter().filter(|run| run.scenario == scenario).collect();
            let at = |end: &str| {
                let of: Vec<_> = runs.iter().flat_map(|run| &run.ends).filter(|judged| judged.end == end).collect();
                let right = of.iter().filter(|judged| judged.wrong.is_none()).count();
                if of.is_empty() { "–".to_owned() } else { format!("{right}/{}", of.len()) }
            };
            let mut instead: BTreeMap<&str, usize> = BTreeMap::new();
            for wrong in runs.iter().flat_map(|run| &run.ends).filter_map(|judged| judged.wrong.as_deref()) {
                *instead.entry(wrong).or_default() += 1;
            }
            let instead: Vec<String> = instead.iter().map(|(said, n)| format!("{said} {n}")).collect();
            let right = runs.first().map_or(String::new(), |run| run.right.join(", "));
            let row = [at("client"), at("server"), instead.join(", ")];
            let _ = writeln!(table, "| {scenario} | {right} | {} |", row.join(" | "));
        }
        table
    }

    fn mistakes(&self) -> String {
        let mut text = "\n## What is wrong, and where it lies\n\n".to_owned();
        for run in &self.runs {
            for judged in &run.ends {
                let Some(wrong) = &judged.wrong else { continue };
                let is_top = !wrong.ends_with("beside it");
                let most = || judged.ruled_out.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
                let said = if is_top { judged.said.as_ref() } else { most() };
                let sure = said.map_or(String::new(), |s| format!(" ({:.2}, {:.3} s)", s.confidence, s.seconds));
                let capture = judged.capture.display();
                let _ = writeln!(
                    text,
                    "- {} at the {}: {wrong}{sure}, right is `{}`: {capture}",
                    run.label,
                    judged.end,
                    run.right.join("` or `")
                );
            }
            for problem in &run.problems {
                let _ = writeln!(text, "- {}: no result: {problem}", run.label);
            }
            if run.problems.is_empty() && !run.confirmed {
                let _ = writeln!(
                    text,
                    "- {}: not judged, the label does not hold: {}",
                    run.label,
                    run.unconfirmed.join("; ")
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LABEL: Label =
        Label { right: &["loss", "random-loss"], never: &["policer"], why: "it loses", unseen: &[], enough: false };

    fn named(cause: &'static str, confidence: f64) -> NamedCause {
        NamedCause { cause, confidence, seconds: 1.0 }
    }

    fn judged(top: Option<NamedCause>, ruled_out: Vec<NamedCause>) -> Judged {
        let wrong = wrong(&LABEL, top.as_ref(), &[], &ruled_out);
        Judged { end: "client", capture: "x/client.pcap".into(), said: top, wrong, ruled_out }
    }

    #[test]
    fn the_label_and_its_other_words_are_right_and_what_is_ruled_out_is_not() {
        assert_eq!(judged(Some(named("random-loss", 0.9)), Vec::new()).wrong, None);
        assert_eq!(judged(Some(named("timeout", 0.9)), Vec::new()).wrong.unwrap(), "`timeout`");
        assert_eq!(judged(None, Vec::new()).wrong.unwrap(), "nothing");
        let beside = judged(Some(named("loss", 0.9)), vec![named("policer", 0.65)]);
        assert_eq!(beside.wrong.as_deref(), Some("`policer` beside it"));
        assert_eq!(beside.wrongly_said().unwrap().cause, "policer");
        assert!(!beside.is_bold(), "what is right was bold, and not what is wrong");
        let nothing = Label { right: &["none"], ..LABEL };
        assert_eq!(wrong(&nothing, None, &[], &[]), None);
        assert_eq!(wrong(&nothing, Some(&named("loss", 0.9)), &[], &[]).unwrap(), "`loss`");
    }

    #[test]
    fn a_page_and_its_json_count_the_same() {
        let ends = vec![
            judged(Some(named("loss", 0.95)), Vec::new()),
            judged(Some(named("timeout", 0.85)), Vec::new()),
            judged(Some(named("loss", 0.95)), vec![named("policer", 0.65)]),
            judged(None, Vec::new()),
        ];
        let bins = calibration(&ends.iter().collect::<Vec<_>>());
        let count: Vec<_> = bins.iter().map(|bin| (bin.said, bin.right)).collect();
        assert_eq!(count, [(0, 0), (1, 0), (0, 0), (1, 0), (2, 2)]);
        let run = Run {
            scenario: "nginx-loss".to_owned(),
            label: "nginx-loss-1".to_owned(),
            right: LABEL.right,
            never: LABEL.never,
            why: LABEL.why,
            confirmed: true,
            problems: Vec::new(),
            unconfirmed: Vec::new(),
            ends,
        };
        let kept = Promise {
            label: "nginx-loss-1".to_owned(),
            end: "server",
            cause: "loss",
            command: Some("sysctl -w net.ipv4.tcp_sack=1".to_owned()),
            what: "let the receiver say what it has".to_owned(),
            before_s: 4.0,
            promised_s: 1.2,
            measured_s: Some(1.0),
            problems: Vec::new(),
            host: Some(Host::Server),
            of: PromiseScope::Transfer { from: End::Server, nth: 0, bytes: 1000, before: 0 },
        };
        let report = Report {
            schema: SCHEMA,
            seed: 1,
            each: 1,
            captures: 4,
            right: 1,
            wrong_at_high_confidence: 1,
            calibration: bins,
            promises: vec![kept.clone(), Promise { measured_s: None, problems: vec!["refused".to_owned()], ..kept }],
            skipped: BTreeMap::from([("git".to_owned(), vec!["git-clone-narrow"])]),
            runs: vec![run],
        };
        let page = report.page();
        assert!(
            page.contains(
                "| nginx-loss | loss, random-loss | 1/4 | – | `policer` beside it 1, `timeout` 1, nothing 1 |"
            ),
            "{page}"
        );
        assert!(page.contains("- nginx-loss-1 at the client: `timeout` (0.85)"), "{page}");
        assert!(page.contains("| 0.9–1.0 | 2 | 2 | 1.00, said 0.95 |"), "{page}");
        assert!(page.contains("Skipped for want of git: 1 scenarios (git-clone-narrow)."), "{page}");
        assert!(page.contains("x/client.pcap"), "{page}");
        assert!(page.contains("| `loss` | 2 | 1 | 20.0 % | 20.0 % | 20.0 % |"), "{page}");
        assert!(page.contains("not measured: refused"), "{page}");
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../../../docs/schema/whyslow-real-1.schema.json")).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
    }
}
