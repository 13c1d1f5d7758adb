//! Reads iperf's lines of intervals.

use super::measured::{Interval, Test};
use crate::text::{Text, number, scaled, whole};
use std::collections::BTreeMap;

/// Maximum number of tests and intervals of a text.
const TESTS: usize = 1_000;
const INTERVALS: usize = 100_000;

/// A line of an interval, or of a whole test.
struct Row {
    id: String,
    from: f64,
    interval: Interval,
    lost: Option<(f64, f64)>,
    sender: bool,
    receiver: bool,
    omitted: bool,
    is_datagrams: bool,
}

pub(super) fn tests(text: &Text<'_>) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut name = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let begins = trimmed.starts_with("Connecting to host")
            || trimmed.starts_with("Client connecting to")
            || trimmed.starts_with("Accepted connection from")
            || trimmed.starts_with("Server listening on");
        if begins {
            finish(&mut tests, &mut rows, &name);
            trimmed.clone_into(&mut name);
        }
        if let Some(row) = row(trimmed).filter(|_| rows.len() < INTERVALS) {
            // Times that start again after the totals are the next test.
            let ended = rows.last().is_some_and(|last| last.sender || last.receiver);
            if ended && row.from == 0.0 && !row.sender && !row.receiver {
                finish(&mut tests, &mut rows, &name);
            }
            rows.push(row);
        }
    }
    finish(&mut tests, &mut rows, &name);
    tests
}

/// `[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    420 KBytes`.
fn row(line: &str) -> Option<Row> {
    let start = line.find('[')?;
    let (id, rest) = line[start + 1..].split_once(']')?;
    let id = id.trim().to_owned();
    if id != "SUM" && whole(&id).is_none() {
        return None;
    }
    // `[  5][TX-C]` of --bidir.
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')).map_or(rest, |(_, rest)| rest);
    // `0.0- 1.0` of iperf 2.
    let rest = rest.replacen("- ", "-", 1);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (from, to) = words.first()?.split_once('-')?;
    let (from, to) = (number(from)?.0, number(to)?.0);
    if !words.get(1)?.starts_with("sec") || to <= from {
        return None;
    }
    let bytes = scaled(number(words.get(2)?)?.0, words.get(3).filter(|unit| unit.contains("yte"))?, 1024.0);
    let unit = words.get(5).filter(|unit| unit.contains("/sec"))?;
    let kilo = 1000.0;
    let bps = scaled(number(words.get(4)?)?.0, unit, kilo) * if unit.contains("ytes") { 8.0 } else { 1.0 };
    let tail = &words[6..];
    let seconds = to - from;
    let mut row = Row {
        id,
        from,
        interval: Interval { seconds, bytes, bps, ..Interval::default() },
        lost: None,
        sender: tail.contains(&"sender"),
        receiver: tail.contains(&"receiver"),
        omitted: tail.iter().any(|word| word.contains("omitted")),
        is_datagrams: false,
    };
    let datagrams =
        tail.iter().find_map(|word| word.split_once('/')).and_then(|(lost, all)| Some((whole(lost)?, whole(all)?)));
    if let Some((lost, all)) = datagrams {
        row.lost = Some((lost as f64, all as f64));
    }
    row.is_datagrams = datagrams.is_some() || tail.get(1) == Some(&"ms");
    if row.lost.is_none() && !row.is_datagrams {
        row.interval.retransmits = tail.first().and_then(|word| whole(word)).map(|again| again as f64);
        row.interval.cwnd = match tail {
            [_, value, unit, ..] if unit.contains("yte") => number(value).map(|(value, _)| scaled(value, unit, 1024.0)),
            _ => None,
        };
    }
    Some(row)
}

fn finish(tests: &mut Vec<Test>, rows: &mut Vec<Row>, name: &str) {
    let rows = std::mem::take(rows);
    if rows.is_empty() || tests.len() >= TESTS {
        return;
    }
    let mut by_id: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        by_id.entry(&row.id).or_default().push(row);
    }
    let streams = by_id.keys().filter(|id| **id != "SUM").count();
    let main = by_id.get("SUM").or_else(|| by_id.values().next());
    let first = by_id.iter().find(|(id, _)| **id != "SUM").map_or(&[][..], |(_, rows)| rows.as_slice());
    let main: &[&Row] = main.map_or(&[][..], Vec::as_slice);
    let is_whole = |row: &&&Row| row.sender || row.receiver;
    let mut whole_rows = main.iter().filter(is_whole);
    let sent = whole_rows.clone().find(|row| row.sender).map(|row| row.interval);
    let received = whole_rows.find(|row| row.receiver).map(|row| row.interval);
    let longest = first.iter().filter(|row| !row.omitted).map(|row| row.interval.seconds).fold(0.0, f64::max);
    // iperf 2 names no end: the last line that spans the test is the whole.
    let spans = |row: &&&Row| row.from == 0.0 && first.len() > 2 && row.interval.seconds >= longest && longest > 1.5;
    let intervals: Vec<Interval> =
        first.iter().filter(|row| !is_whole(row) && !row.omitted && !spans(row)).map(|row| row.interval).collect();
    let lost = main.iter().rev().find_map(|row| row.lost);
    let whole =
        if sent.is_none() && received.is_none() { main.iter().rev().find(spans).map(|row| row.interval) } else { sent };
    tests.push(Test {
        name: name.to_owned(),
        udp: rows.iter().any(|row| row.is_datagrams),
        streams,
        intervals,
        sent: whole,
        received,
        lost,
        ..Test::default()
    });
}
