//! netperf: streams and transactions, classic tables and omni's names.

use crate::evidence::Evidence;
use crate::report::{Advice, Finding, Limitation, Source, Statement, Subject, Verdict};
use crate::text::{Text, number, scaled};
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, LossAction, Unit};

/// netperf's classic output, and that of omni (`-k`, `-o`, `-O`).
pub(crate) struct Netperf;

/// The tool.
pub(crate) const SOURCE: Source = Source::new("netperf");

/// A transaction takes this long where an ACK is delayed: 40 ms (Linux' TCP_DELACK_MIN), or 200 ms
/// (BSD, Windows). A tenth more for the path.
const DELAYED_S: [f64; 2] = [0.04, 0.2];
/// A transaction that takes less is a fast one, seconds: a path of a metropolitan network.
const FAST_S: f64 = 0.005;
/// A processor that is so busy limits the test, percent.
const BUSY: f64 = 95.0;
/// Maximum number of tests of a text.
const TESTS: usize = 1_000;

/// A test.
#[derive(Debug, Default)]
struct Test {
    to: String,
    is_rr: bool,
    is_udp: bool,
    bps: Option<f64>,
    per_s: Option<f64>,
    seconds: Option<f64>,
    /// omni's quantities under their names in capitals.
    values: BTreeMap<String, String>,
}

impl Evidence for Netperf {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::TestOnly]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        tests(text).iter().filter(|test| test.bps.or(test.per_s).is_some()).map(subject).collect()
    }
}

fn tests(text: &Text<'_>) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    // Mail programs wrap the first line and the titles, so their lines are joined up to the values.
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if is_head(trimmed) && tests.len() < TESTS {
            let head = [trimmed, lines.get(index + 1).map_or("", |next| next.trim())].join(" ");
            let to = head.split(" to ").nth(1).and_then(|rest| rest.split_whitespace().next());
            tests.push(Test {
                to: to.unwrap_or_default().to_owned(),
                is_rr: head.contains("REQUEST/RESPONSE") || head.contains("TCP_RR") || head.contains("TCP_CRR"),
                is_udp: head.contains("UDP"),
                ..Test::default()
            });
            continue;
        }
        let Some(test) = tests.last_mut() else { continue };
        if let Some((name, value)) = trimmed.split_once('=').filter(|(name, _)| is_name(name)) {
            if test.values.len() < 200 {
                test.values.insert(name.to_owned(), value.trim().to_owned());
            }
            continue;
        }
        row(test, trimmed, &lines[..index]);
    }
    tests.iter_mut().for_each(omni);
    tests
}

fn is_head(line: &str) -> bool {
    (line.contains(" TEST from ") || line.ends_with(" TEST from") || line.ends_with(" TEST"))
        && ["STREAM", "MAERTS", "REQUEST/RESPONSE", "OMNI", "_RR", "CRR", "SENDFILE"]
            .iter()
            .any(|kind| line.contains(kind))
}

fn is_name(name: &str) -> bool {
    name.len() > 2 && name.len() < 60 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The values of the classic table: sizes, seconds, and the result. What the last column is, the
/// titles show.
fn row(test: &mut Test, line: &str, before: &[&str]) {
    let values: Option<Vec<f64>> = line
        .split_whitespace()
        .map(|word| number(word).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value))
        .collect();
    let Some(values) = values.filter(|values| values.len() >= 5) else { return };
    if test.bps.or(test.per_s).is_some() {
        return;
    }
    let titles = before.iter().rev().take(8).copied().collect::<Vec<_>>().join(" ");
    let is_rr = test.is_rr || titles.contains("Trans.") || titles.contains("per sec");
    if is_rr {
        // Send, receive, request and response sizes, seconds, transactions a second.
        test.is_rr = true;
        test.seconds = values.get(4).copied();
        test.per_s = values.get(5).copied();
    } else {
        // Receive, send and message sizes, seconds, throughput.
        let unit =
            titles.rsplit(' ').find(|word| word.contains("bits/s") || word.contains("Bytes/s")).unwrap_or("10^6bits/s");
        test.seconds = values.get(3).copied();
        test.bps = values.get(4).map(|value| rate(*value, unit));
    }
}

fn rate(value: f64, unit: &str) -> f64 {
    let bits = if unit.contains("ytes") { 8.0 } else { 1.0 };
    let factor = match unit.trim_start_matches("10^").chars().next() {
        Some('3') => 1e3,
        Some('6') => 1e6,
        Some('9') => 1e9,
        _ => scaled(1.0, unit, if bits == 8.0 { 1024.0 } else { 1e3 }),
    };
    value * factor * bits
}

/// The quantities that omni names.
fn omni(test: &mut Test) {
    let get = |name: &str| test.values.get(name).and_then(|text| number(text)).map(|(value, _)| value);
    let units = test.values.get("THROUGHPUT_UNITS").map_or("10^6bits/s", String::as_str).to_owned();
    let is_rr = test.is_rr || units.to_ascii_lowercase().starts_with("trans");
    let (throughput, transactions, seconds) = (get("THROUGHPUT"), get("TRANSACTION_RATE"), get("ELAPSED_TIME"));
    test.is_udp |= test.values.get("PROTOCOL").is_some_and(|name| name == "UDP");
    if test.values.is_empty() {
        return;
    }
    test.is_rr = is_rr;
    test.seconds = test.seconds.or(seconds);
    if is_rr {
        test.per_s = test.per_s.or(transactions).or(throughput);
    } else {
        test.bps = test.bps.or(throughput.map(|value| rate(value, &units)));
    }
}

fn subject(test: &Test) -> Subject {
    let mut out = Subject::new(SOURCE, test.to.clone());
    let get = |name: &str| test.values.get(name).and_then(|text| number(text)).map(|(value, _)| value);
    out.over_s = test.seconds;
    out.figure("throughput", test.bps, Unit::BitsPerSecond);
    out.figure("transactions a second", test.per_s, Unit::Times);
    let each_s =
        get("MEAN_LATENCY").map(|us| us / 1e6).or_else(|| test.per_s.filter(|per_s| *per_s > 0.0).map(f64::recip));
    out.figure("mean latency", each_s.filter(|_| test.is_rr), Unit::Seconds);
    out.figure("P99_LATENCY", get("P99_LATENCY").map(|us| us / 1e6), Unit::Seconds);
    let again =
        get("LOCAL_TRANSPORT_RETRANS").or_else(|| get("REMOTE_TRANSPORT_RETRANS")).filter(|count| *count >= 0.0);
    out.figure("retransmissions", again, Unit::Segments);
    for (name, at_peer) in [("LOCAL_CPU_UTIL", false), ("REMOTE_CPU_UTIL", true)] {
        let percent = get(name).filter(|percent| *percent >= BUSY);
        out.findings.extend(percent.map(|percent| {
            Finding::unnamed(0.6, Statement::Processor { percent, at_peer }).shown(name, percent, Unit::Percent)
        }));
    }
    match (test.is_rr, each_s, test.bps) {
        (true, Some(each_s), _) => out.findings.extend(transactions(each_s, get("P99_LATENCY"))),
        (false, _, Some(bps)) => stream(test, bps, again, &mut out),
        _ => out.verdict = Verdict::Unknown,
    }
    out
}

fn transactions(each_s: f64, p99_us: Option<f64>) -> Option<Finding> {
    let per_s = each_s.recip();
    if DELAYED_S.iter().any(|wait| (*wait..1.1 * wait).contains(&each_s)) {
        return Some(
            Finding::new(Cause::NagleDelayedAck, 0.6, Statement::DelayedTransactions { each_s })
                .shown("transactions a second", per_s, Unit::Times)
                .advised(Actor::Application, Advice::NoDelay)
                .open(Limitation::NoRoundTrip),
        );
    }
    let varies = p99_us.map(|us| us / 1e6).filter(|p99| *p99 >= 10.0 * each_s && *p99 >= 0.1);
    if let Some(most_s) = varies {
        let statement = Statement::Varies { least_s: each_s, mean_s: each_s, most_s };
        return Some(
            Finding::unnamed(0.5, statement).shown("P99_LATENCY", most_s, Unit::Seconds).open(Limitation::WhereLost),
        );
    }
    (each_s >= FAST_S).then(|| {
        Finding::new(Cause::PathLatency, 0.5, Statement::Transactions { per_s, each_s })
            .shown("transactions a second", per_s, Unit::Times)
            .open(Limitation::NoRoundTrip)
    })
}

fn stream(test: &Test, bps: f64, again: Option<f64>, out: &mut Subject) {
    if let Some(nominal) = crate::limits::line_rate(bps) {
        out.figure("line rate", Some(nominal), Unit::BitsPerSecond);
        return;
    }
    // Segments of 1448 bytes in the time of the test.
    let sent = test.seconds.map(|seconds| bps * seconds / 8.0 / 1448.0).filter(|sent| *sent >= 1.0);
    let lossy = again
        .zip(sent)
        .filter(|(again, sent)| *again >= crate::limits::FEW as f64 && *again >= crate::limits::LOSSY * sent);
    if let Some((segments, sent)) = lossy {
        out.findings.push(
            Finding::new(Cause::Loss, 0.7, Statement::Lost { segments, of: Some(sent.round()) })
                .shown("retransmissions", segments, Unit::Segments)
                .remedied(Actor::Network, LossAction::FindLoss { share: Some((segments / sent).min(1.0)) })
                .open(Limitation::WhereLost),
        );
    }
    if test.is_udp {
        out.gaps.push(Limitation::UdpRate);
        return;
    }
    if out.findings.is_empty() {
        out.verdict = Verdict::Unknown;
        out.gaps.push(Limitation::WhichLimit);
        out.gaps.push(Limitation::NoRoundTrip);
    }
}
