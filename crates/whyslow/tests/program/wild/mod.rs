//! Captures by others, and their required verdicts. They are not part of the project: the tests
//! look for them next to the repository, or in WHYSLOW_CAPTURES, and report that they skip if they
//! are missing.
//!
//! The truths are in the `.toml` files next to this one, one file per class, each with the evidence
//! in its packets. They were written before the captures had been explained, by this criterion:
//!
//! - **Who waited?** Time counts as lost while a byte that was asked for, or that was sent, had not
//!   come. Pauses with all acknowledged and nothing asked for are `healthy`, however long; so is
//!   what took a round trip where it needed one.
//! - `expect` lists the causes of which one must cost most. It has more than one if this capture
//!   cannot distinguish them, or if the general cause is right for the special one. `healthy`: no
//!   cause is reported to have cost time.
//! - `may` lists further true causes, with the seconds that each can have cost at most. If only
//!   `healthy` is expected, all other reported causes are wrong.
//! - `forbid` lists causes that are wrong in addition to the right one.
//! - `at_most` is the upper bound of any cost, in seconds: the total waiting time.
//! - `problem` lists problems of the connection or of its capture, at least one of which must be
//!   reported: the reason why the verdict is incomplete.
//! - `port` selects the connection in a capture of several; without it all of them are judged
//!   together.
//!
//! What is still wrong stands in `misses.toml`, with its mechanism: any other mistake fails, and so
//! does a miss that is none any more. `MISSES=update` takes those off, and writes the table in
//! docs/accuracy.md.
//!
//! WHYSLOW_BINARY=PATH judges another build of the program.

use super::{common, misses};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A wrong cause with this confidence is a broken promise.
const HIGH: f64 = 0.8;
/// The name of a transfer without a delay.
const HEALTHY: &str = "healthy";
/// Times in the truths are rounded to milliseconds.
const ROUNDED: f64 = 0.002;
/// Classes as the table names them; a file each.
const CLASSES: &[(&str, &str, &str)] = &[
    ("idle", include_str!("idle.toml"), "idle"),
    ("interactive", include_str!("interactive.toml"), "interactive"),
    ("healthy", include_str!("healthy.toml"), "healthy"),
    ("server", include_str!("server.toml"), "servers, programs, turns"),
    ("slow-start", include_str!("slow-start.toml"), "slow start"),
    ("windows", include_str!("windows.toml"), "windows"),
    ("loss", include_str!("loss.toml"), "loss"),
    ("shaping", include_str!("shaping.toml"), "bandwidth, shaping"),
    ("policing", include_str!("policing.toml"), "policing"),
    ("no-answer", include_str!("no-answer.toml"), "no answer, reset"),
    ("no-handshake", include_str!("no-handshake.toml"), "no handshake"),
    ("text", include_str!("text.toml"), "text"),
];
struct Truth {
    class: &'static str,
    capture: String,
    port: Option<u64>,
    expect: Vec<String>,
    /// And how many seconds it can have cost.
    may: BTreeMap<String, f64>,
    forbid: Vec<String>,
    at_most: Option<f64>,
    problem: Vec<String>,
}

impl Truth {
    fn name(&self) -> String {
        self.port.map_or_else(|| self.capture.clone(), |port| format!("{}:{port}", self.capture))
    }
}

fn strings(table: &Value, field: &str) -> Vec<String> {
    let texts = table[field].as_array().map(Vec::as_slice).unwrap_or_default();
    texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A cause, and the seconds that it can have cost: "server-think 0.2".
fn bounded(may: &str) -> (String, f64) {
    let (cause, seconds) = may.split_once(' ').unwrap();
    (cause.to_owned(), seconds.parse().unwrap())
}

fn tables(text: &str, name: &str) -> Vec<Value> {
    let file: Value = toml::from_str(text).unwrap();
    file.get(name).map(|tables| tables.as_array().unwrap().clone()).unwrap_or_default()
}

fn truths() -> Vec<Truth> {
    let mut all = Vec::new();
    for (class, text, _) in CLASSES {
        for table in tables(text, "truth") {
            all.push(Truth {
                class,
                capture: table["capture"].as_str().unwrap().to_owned(),
                port: table["port"].as_u64(),
                expect: strings(&table, "expect"),
                may: strings(&table, "may").iter().map(|may| bounded(may)).collect(),
                forbid: strings(&table, "forbid"),
                at_most: table["at_most"].as_f64(),
                problem: strings(&table, "problem"),
            });
        }
    }
    all
}

/// What a cause cost.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) confidence: f64,
}

/// By cause.
pub(super) type Costs = BTreeMap<String, Cost>;

/// What each cause cost in some connections: in each of their transfers and exchanges, in
/// themselves, and over them.
pub(super) fn costs(connections: &[&Value], over: &[Value]) -> Costs {
    let mut costs = Costs::new();
    let mut add = |holder: &Value| {
        for finding in holder["findings"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let cost = costs.entry(finding["cause"].as_str().unwrap().to_owned()).or_default();
            cost.seconds += finding["cost_s"].as_f64().unwrap();
            cost.confidence = finding["confidence"].as_f64().unwrap().max(cost.confidence);
        }
    };
    for connection in connections {
        add(connection);
        for parts in ["transfers", "exchanges"] {
            connection[parts].as_array().map(Vec::as_slice).unwrap_or_default().iter().for_each(&mut add);
        }
    }
    // A shared finding is a finding of each connection, too.
    let spans: Vec<_> = over.iter().filter(|finding| finding["shared"] != true).cloned().collect();
    add(&serde_json::json!({ "findings": spans }));
    costs
}

/// The cause that costs most. What a program does before it asks ranks behind all that happens to a
/// question; where nothing costs time, an end without an answer is the verdict.
pub(super) fn top(costs: &Costs) -> Option<&str> {
    let rank = |(cause, cost): &(&String, &Cost)| (cause.as_str() != "client-think", cost.seconds);
    let costly = costs.iter().filter(|(_, cost)| cost.seconds > 0.0);
    let most = costly.max_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap());
    let ended = || costs.iter().find(|(cause, _)| ["reset", "no-answer"].contains(&cause.as_str()));
    most.or_else(ended).map(|(cause, _)| cause.as_str())
}

/// The error of the verdict, and its confidence.
fn judge(truth: &Truth, costs: &Costs, problems: &BTreeSet<&str>) -> Option<(String, f64)> {
    let expected = |cause: &str| truth.expect.iter().any(|expected| expected == cause);
    let first = top(costs);
    let mut wrong: Vec<(String, f64)> = Vec::new();
    let at_the_top = |cause: &str| expected(cause) || (expected(HEALTHY) && truth.may.contains_key(cause));
    if !first.map_or(expected(HEALTHY), at_the_top) {
        let words = first.map_or_else(|| "nothing".to_owned(), |cause| describe(cause, costs[cause]));
        wrong.push((words, first.map_or(0.0, |cause| costs[cause].confidence)));
    }
    for (cause, &Cost { seconds, confidence }) in costs {
        if seconds == 0.0 || (first == Some(cause) && !wrong.is_empty()) {
            continue;
        }
        let bound = truth.may.get(cause).copied().or(truth.at_most).unwrap_or(f64::INFINITY);
        let known = expected(cause) || truth.may.contains_key(cause);
        if truth.forbid.contains(cause) || (truth.expect == [HEALTHY] && !known) {
            wrong.push((format!("also {}", describe(cause, costs[cause])), confidence));
        } else if seconds > bound + ROUNDED {
            wrong.push((format!("at most {bound} s, not {}", describe(cause, costs[cause])), confidence));
        }
    }
    if !truth.problem.is_empty() && !truth.problem.iter().any(|problem| problems.contains(problem.as_str())) {
        wrong.push((format!("no {}", truth.problem.join(" or ")), 0.0));
    }
    let confidence = wrong.iter().map(|(_, confidence)| *confidence).fold(0.0, f64::max);
    let words: Vec<_> = wrong.into_iter().map(|(words, _)| words).collect();
    (!words.is_empty()).then(|| (words.join(", "), confidence))
}

fn describe(cause: &str, cost: Cost) -> String {
    let Cost { seconds, confidence } = cost;
    format!("{cause} {seconds:.3} s ({confidence:.2})")
}

/// The connections that a truth is about, and the findings over all of them if it is about all.
fn about<'a>(truth: &Truth, analysis: &'a Value) -> (Vec<&'a Value>, &'a [Value]) {
    let connections = analysis["connections"].as_array().unwrap().iter();
    match truth.port {
        Some(port) => {
            let at = |end: &Value| end["port"].as_u64() == Some(port);
            (connections.filter(|c| at(&c["client"]) || at(&c["server"])).collect(), &[])
        }
        None => (connections.collect(), analysis["findings"].as_array().unwrap()),
    }
}

fn problems<'a>(connections: &[&'a Value], analysis: &'a Value) -> BTreeSet<&'a str> {
    let captures = analysis["captures"].as_array().unwrap().iter();
    let holders = connections.iter().copied().chain(captures);
    holders.flat_map(|holder| holder["problems"].as_array().unwrap()).filter_map(|p| p["slug"].as_str()).collect()
}

/// The output of `--json`, after a check for contradictions.
///
/// # Errors
/// The error message if the program fails.
pub(super) fn explain(path: &Path) -> Result<Value, String> {
    let another = std::env::var_os(misses::ANOTHER);
    let program = another.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_whyslow").into());
    let out = Command::new(program).arg(path).arg("--json").output().map_err(|error| error.to_string())?;
    if !out.status.success() {
        return Err(format!("refused: {}", String::from_utf8_lossy(&out.stderr).trim()));
    }
    let analysis = serde_json::from_slice(&out.stdout).map_err(|error| error.to_string())?;
    // These rules may change with the program.
    if another.is_none() {
        common::consistent(&analysis)?;
    }
    Ok(analysis)
}

struct Verdict {
    truth: Truth,
    /// The cause that is reported to have cost most.
    top: Option<String>,
    wrong: Option<(String, f64)>,
}

fn verdicts(folder: &Path) -> Vec<Verdict> {
    let mut explained: BTreeMap<String, Result<Value, String>> = BTreeMap::new();
    let verdict = |truth: Truth| {
        let analysis = explained.entry(truth.capture.clone()).or_insert_with(|| explain(&folder.join(&truth.capture)));
        let (top, wrong) = match analysis {
            Err(error) => (None, Some((error.clone(), 0.0))),
            Ok(analysis) => {
                let (connections, over) = about(&truth, analysis);
                let costs = costs(&connections, over);
                if connections.is_empty() {
                    (None, Some(("no such connection".to_owned(), 0.0)))
                } else {
                    let wrong = judge(&truth, &costs, &problems(&connections, analysis));
                    (top(&costs).map(str::to_owned), wrong)
                }
            }
        };
        Verdict { truth, top, wrong }
    };
    truths().into_iter().map(verdict).collect()
}

/// Right and wrong by class, in Markdown.
fn table(verdicts: &[Verdict]) -> String {
    let mut out =
        String::from("| captures of | judged | right | wrong | wrong at 0.8 or more |\n|---|---|---|---|---|\n");
    let mut all = [0; 4];
    for (class, _, name) in CLASSES {
        let judged = verdicts.iter().filter(|verdict| verdict.truth.class == *class);
        let mut counts = [0; 4];
        for verdict in judged {
            counts[0] += 1;
            match &verdict.wrong {
                None => counts[1] += 1,
                Some((_, confidence)) => {
                    counts[2] += 1;
                    counts[3] += usize::from(*confidence >= HIGH);
                }
            }
        }
        let [judged, right, wrong, high] = counts;
        writeln!(out, "| {name} | {judged} | {right} | {wrong} | {high} |").unwrap();
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    let [judged, right, wrong, high] = all;
    let share = 100.0 * right as f64 / judged as f64;
    writeln!(out, "| all | {judged} | {right}, {share:.0} % | {wrong} | {high} |").unwrap();
    let policed = || verdicts.iter().filter(|verdict| verdict.truth.class == "policing");
    let named = policed().filter(|verdict| verdict.top.as_deref() == Some("policer")).count();
    writeln!(out, "\nOf the {} policed connections {named} are reported as `policer`.", policed().count()).unwrap();
    out
}

#[test]
fn captures_that_others_made() {
    let Some(folder) = whyslow_testing::captures() else { return };
    let verdicts = verdicts(&folder);
    let wrong = |Verdict { truth, wrong, .. }: &Verdict| {
        let (words, _) = wrong.as_ref()?;
        Some(format!("{words}; expected of {}: {}", truth.class, truth.expect.join(" or ")))
    };
    let judged = verdicts.iter().map(|verdict| (verdict.truth.name(), wrong(verdict))).collect();
    let table = table(&verdicts);
    println!("{table}");
    misses::settle("wild/misses.toml", &judged);
    misses::table("others", &table);
}

#[test]
fn the_truths_are_enough_and_each_stands_once() {
    let truths = truths();
    let names: BTreeSet<_> = truths.iter().map(Truth::name).collect();
    assert_eq!(names.len(), truths.len(), "a connection is judged twice");
    let calm = |truth: &&Truth| ["idle", "interactive", "healthy"].contains(&truth.class);
    let captures: BTreeSet<_> = truths.iter().map(|truth| &truth.capture).collect();
    let calm: BTreeSet<_> = truths.iter().filter(calm).map(|truth| &truth.capture).collect();
    assert!(captures.len() >= 80 && calm.len() >= 30, "{} captures, {} of them calm", captures.len(), calm.len());
    for truth in &truths {
        assert!(!truth.expect.is_empty(), "{} expects nothing", truth.capture);
        let both = truth.forbid.iter().find(|cause| truth.expect.contains(cause) || truth.may.contains_key(*cause));
        assert_eq!(both, None, "{} allows and forbids", truth.capture);
    }
}

#[test]
fn the_judge_sees_what_is_wrong() {
    let truth = |expect: &[&str], may: &[&str], forbid: &[&str], at_most| Truth {
        class: "idle",
        capture: String::new(),
        port: None,
        expect: expect.iter().map(|&cause| cause.to_owned()).collect(),
        may: may.iter().map(|may| bounded(may)).collect(),
        forbid: forbid.iter().map(|&cause| cause.to_owned()).collect(),
        at_most,
        problem: Vec::new(),
    };
    let finding =
        |cause: &str, seconds: f64| serde_json::json!({ "cause": cause, "cost_s": seconds, "confidence": 0.9 });
    let connection = |findings: &[(&str, f64)]| {
        let findings: Vec<_> = findings.iter().map(|(cause, seconds)| finding(cause, *seconds)).collect();
        serde_json::json!({ "findings": [], "transfers": [{ "findings": findings }] })
    };
    let judged = |truth: &Truth, findings: &[(&str, f64)]| {
        judge(truth, &costs(&[&connection(findings)], &[]), &BTreeSet::new()).map(|(words, _)| words)
    };
    let calm = truth(&["healthy"], &["server-think 0.2"], &[], None);
    assert_eq!(judged(&calm, &[]), None);
    assert_eq!(judged(&calm, &[("server-think", 0.1)]), None);
    assert_eq!(judged(&calm, &[("server-think", 0.3)]).unwrap(), "at most 0.2 s, not server-think 0.300 s (0.90)");
    assert_eq!(judged(&calm, &[("application", 0.1)]).unwrap(), "application 0.100 s (0.90)");
    // A risk costs no time.
    assert_eq!(judged(&calm, &[("amplification-risk", 0.0)]), None);
    let slow = truth(&["loss", "timeout"], &[], &["application"], Some(1.0));
    assert_eq!(judged(&slow, &[]).unwrap(), "nothing");
    assert_eq!(judged(&slow, &[("loss", 0.5), ("delayed-ack", 0.4)]), None);
    assert_eq!(judged(&slow, &[("loss", 0.5), ("delayed-ack", 0.6)]).unwrap(), "delayed-ack 0.600 s (0.90)");
    assert_eq!(judged(&slow, &[("loss", 0.5), ("application", 0.4)]).unwrap(), "also application 0.400 s (0.90)");
    assert_eq!(judged(&slow, &[("loss", 1.5)]).unwrap(), "at most 1 s, not loss 1.500 s (0.90)");
    // The same cause of several transfers is one.
    assert_eq!(judged(&slow, &[("loss", 0.3), ("loss", 0.3), ("delayed-ack", 0.4)]), None);
    let refused = truth(&["reset"], &[], &[], None);
    assert_eq!(judged(&refused, &[("reset", 0.0)]), None);
    assert_eq!(judged(&slow, &[("loss", 0.5), ("client-think", 0.9)]), None);
    let unknown = Truth { problem: vec!["no-handshake".to_owned()], ..calm };
    let nothing = costs(&[&connection(&[])], &[]);
    assert_eq!(judge(&unknown, &nothing, &BTreeSet::from(["no-handshake"])), None);
    assert_eq!(judge(&unknown, &nothing, &BTreeSet::new()).unwrap().0, "no no-handshake");
}
