//! `mtr` and `traceroute`: what begins at a hop and stays to the end.

use super::ping::{ENOUGH, lost, varies};
use crate::limits::{LOSSY, QUEUE_GROWTH_S};
use crate::report::{Advice, Finding, Limitation, Source, Statement, Subject, Verdict};
use crate::text::{Text, number, whole};
use whyslow_analysis::{Actor, Unit};

/// `mtr`, WinMTR.
pub(crate) const MTR: Source = Source::new("mtr");
/// `traceroute`, `tracert`.
pub(crate) const TRACEROUTE: Source = Source::new("traceroute");

/// Maximum number of hops: TTL has eight bits.
const HOPS: usize = 256;
/// Share of the round trip to the end that a hop must add to be named.
const JUMP: f64 = 0.4;

#[derive(Clone, Debug, Default)]
struct Hop {
    name: String,
    /// 0–1.
    loss: f64,
    sent: f64,
    least: Option<f64>,
    mean: Option<f64>,
    most: Option<f64>,
}

/// `  1.|-- 192.0.2.1   0.0%    10    0.5   0.6   0.4   0.9   0.1`, and mtr's screen without marks.
pub(super) fn mtr(text: &Text<'_>) -> Option<Subject> {
    let all = text.all();
    if !(all.contains("Loss%") && all.contains("Snt") || all.contains("Loss %") && all.contains("Sent")) {
        return None;
    }
    let winmtr = all.contains("WinMTR");
    let hops: Vec<Hop> =
        text.lines().filter_map(|line| if winmtr { win_row(line) } else { row(line) }).take(HOPS).collect();
    (!hops.is_empty()).then(|| judge(MTR, &hops))
}

fn row(line: &str) -> Option<Hop> {
    let line = line.trim();
    let (_, rest) = number(line)?;
    let rest = rest.trim_start_matches('.').trim_start().trim_start_matches("|--").trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    // The share with or without its sign, then six figures.
    let at = words.iter().position(|word| word.ends_with('%') && number(word).is_some());
    let at = at.or_else(|| (words.len() == 8).then_some(1))?;
    let figures: Vec<f64> = words[at..].iter().map_while(|word| number(word).map(|(value, _)| value)).collect();
    let [loss, sent, _, mean, least, most, ..] = figures[..] else { return None };
    Some(hop(words[..at].join(" "), [loss, sent, mean, least, most]))
}

/// `|    192.0.2.1 -    0 |   10 |   10 |    0 |    1 |    3 |    1 |`.
fn win_row(line: &str) -> Option<Hop> {
    let (name, rest) = line.trim().trim_start_matches('|').rsplit_once(" - ")?;
    let figures: Vec<f64> = rest.split('|').filter_map(|cell| number(cell.trim()).map(|(value, _)| value)).collect();
    let [loss, sent, _, least, mean, most, ..] = figures[..] else { return None };
    Some(hop(name.trim().to_owned(), [loss, sent, mean, least, most]))
}

fn hop(name: String, [loss, sent, mean, least, most]: [f64; 5]) -> Hop {
    let answers = loss < 100.0;
    let time = |ms: f64| Some(ms / 1e3).filter(|_| answers);
    Hop { name, loss: (loss / 100.0).min(1.0), sent, least: time(least), mean: time(mean), most: time(most) }
}

/// ` 3  router (192.0.2.1)  1.2 ms  1.3 ms  1.1 ms`, `  3    12 ms    11 ms    *     192.0.2.1`.
pub(super) fn traceroute(text: &Text<'_>) -> Option<Subject> {
    let all = text.all();
    if !(all.contains("traceroute to") || all.contains("Tracing route to") || all.contains("traceroute6 to")) {
        return None;
    }
    let mut hops: Vec<Hop> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(number_of) = words.first().and_then(|word| whole(word)) else { continue };
        if number_of as usize != hops.len() + 1 || hops.len() >= HOPS {
            continue;
        }
        let times: Vec<f64> = words
            .windows(2)
            .filter(|pair| pair[1] == "ms")
            .filter_map(|pair| number(pair[0].trim_start_matches('<')).map(|(value, _)| value / 1e3))
            .collect();
        let is_silent = words.contains(&"*") || line.contains("timed out");
        if times.is_empty() && !is_silent {
            continue;
        }
        let name = words[1..].iter().find(|word| {
            word.contains(['.', ':']) && !word.starts_with('(') && number(word).is_none_or(|(_, rest)| !rest.is_empty())
        });
        let silent = words.iter().filter(|word| **word == "*").count() as f64;
        let sent = (times.len() as f64 + silent).max(1.0);
        hops.push(Hop {
            name: name.unwrap_or(&"*").to_string(),
            loss: 1.0 - times.len() as f64 / sent,
            sent,
            least: times.iter().copied().reduce(f64::min),
            mean: (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64),
            most: times.iter().copied().reduce(f64::max),
        });
    }
    (!hops.is_empty()).then(|| judge(TRACEROUTE, &hops))
}

fn judge(source: Source, hops: &[Hop]) -> Subject {
    let end = &hops[hops.len() - 1];
    let mut out = Subject::new(source, end.name.clone());
    out.figure("hops", Some(hops.len() as f64), Unit::Hops);
    out.figure("min", end.least, Unit::Seconds);
    out.figure("avg", end.mean, Unit::Seconds);
    out.figure("sent", Some(end.sent), Unit::Probes);
    out.figure("Loss%", Some(end.loss * 100.0).filter(|_| source == MTR), Unit::Percent);
    let is_mtr = source == MTR;
    let between = hops[..hops.len() - 1].iter().any(|hop| hop.loss > end.loss + LOSSY && hop.loss < 1.0);
    if is_mtr && end.loss < 1.0 {
        let gone = (end.loss * end.sent).round();
        out.findings.extend(lost(end.sent, gone, begin_of_loss(hops)));
        if let (Some(least), Some(mean), Some(most)) = (end.least, end.mean, end.most) {
            out.findings.extend(varies(least, mean, most));
        }
        if between {
            out.gaps.push(Limitation::HopsLimitReplies);
        }
        if end.sent < ENOUGH {
            out.gaps.push(Limitation::FewProbes);
        }
    }
    if end.loss >= 1.0 {
        out.verdict = Verdict::Unknown;
        out.figures.retain(|figure| figure.name != "Loss%");
    } else {
        out.findings.extend(jump(hops));
    }
    out.gaps.push(Limitation::ProbesOnly);
    out
}

/// The first hop from which on every one that answers loses about as much as the end.
fn begin_of_loss(hops: &[Hop]) -> Option<String> {
    let end = hops.last()?.loss;
    let lossy = |hop: &&Hop| hop.loss >= 1.0 || hop.loss >= end / 2.0;
    let tail = hops.iter().rev().take_while(lossy).count();
    let first = hops[hops.len() - tail..].iter().find(|hop| hop.loss < 1.0)?;
    Some(first.name.clone())
}

/// A hop that adds much of the round trip, and every later one has it too.
fn jump(hops: &[Hop]) -> Option<Finding> {
    let answering: Vec<(&Hop, f64)> = hops.iter().filter_map(|hop| Some((hop, hop.least?))).collect();
    let rtt_s = answering.last()?.1;
    let mut best: Option<(&Hop, f64)> = None;
    for (index, (hop, least)) in answering.iter().enumerate() {
        let later = answering[index..].iter().map(|(_, least)| *least).fold(f64::MAX, f64::min);
        let before = answering[..index].iter().map(|(_, least)| *least).fold(0.0, f64::max);
        let by = later.min(*least) - before;
        if by > best.map_or(0.0, |(_, by)| by) {
            best = Some((hop, by));
        }
    }
    let (hop, by_s) = best?;
    (by_s >= QUEUE_GROWTH_S && by_s >= JUMP * rtt_s).then(|| {
        Finding::unnamed(0.5, Statement::Jump { hop: hop.name.clone(), by_s, rtt_s })
            .shown("min", rtt_s, Unit::Seconds)
            .advised(Actor::Network, Advice::LookAtHop { hop: hop.name.clone() })
            .open(Limitation::ProbesOnly)
    })
}
