//! Helpers of the tests over whole captures: their folder, and rules that hold for every
//! explanation.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its own part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bundled capture.
pub fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"))
}

/// What the program prints with `--json`, with what must hold for every explanation checked.
#[track_caller]
pub fn explain(path: &Path) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(path).arg("--json").output().unwrap();
    assert!(out.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&out.stderr));
    let analysis = serde_json::from_slice(&out.stdout).unwrap();
    if let Err(wrong) = consistent(&analysis) {
        panic!("{}: {wrong}", path.display());
    }
    analysis
}

/// Checks that an explanation does not contradict itself, whatever was in the capture.
///
/// # Errors
/// The error, and its place.
pub fn consistent(analysis: &Value) -> Result<(), String> {
    let captures = list(analysis, "captures")?;
    let (mut frames, mut seen) = (Vec::new(), 0);
    for capture in captures {
        let (packets, tcp) = (whole(capture, "packets")?, whole(capture, "tcp_packets")?);
        ensure(tcp <= packets, || format!("{tcp} TCP packets of {packets}"))?;
        // Text may bring its own numbers (`tcpdump -#`), of a capture of which it shows a part.
        frames.push(if capture["format"] == "tcpdump text" { u64::MAX } else { packets });
        seen += packets;
    }
    let steps = captures.iter().flat_map(|capture| capture["problems"].as_array().into_iter().flatten());
    let clock_steps = steps.filter(|problem| problem["slug"] == "clock-step").count() > 0;
    // With several captures the place of each in time is not given in seconds.
    let until = captures[0]["duration_s"].as_f64().filter(|_| captures.len() == 1).unwrap_or(f64::INFINITY);
    let known = Known { frames: &frames, packets: seen, until, clock_steps };
    for (index, connection) in list(analysis, "connections")?.iter().enumerate() {
        known.connection(connection).map_err(|wrong| format!("connection {}: {wrong}", index + 1))?;
    }
    for finding in list(analysis, "findings")? {
        let seconds = number(finding, "cost_s")?;
        ensure(seconds <= until + ROUNDED, || format!("{} takes {seconds} of {until} s", finding["cause"]))?;
    }
    known.findings(analysis)
}

/// Times are printed in nanoseconds, and their sums are rounded.
const ROUNDED: f64 = 2e-9;

/// Sums of findings, each of which may be off by a microsecond where a time was scaled.
const SUM_ROUNDED: f64 = 1e-4;
/// Shares of a span are rounded to nanoseconds, and what a finding may be off is a microsecond.
const SPANS_ROUNDED: f64 = 3e-6;
/// Round trips are printed in microseconds, and those on one host may be shorter.
const RTT_ROUNDED: f64 = 1e-6;
/// No path of these captures is slower; an ACK that comes later came with something else.
const LONGEST_RTT_MS: f64 = 5_000.0;
/// Causes that are inferred from flights and rates.
const INFERRED: &[&str] = &[
    "bandwidth",
    "early-slow-start-exit",
    "no-window-scaling",
    "pacing",
    "protocol-window",
    "receive-window",
    "restart-after-idle",
    "sender-cap",
    "slow-start",
];

/// Data of the captures, to compare with that of their connections.
struct Known<'a> {
    /// The highest frame number that each may have.
    frames: &'a [u64],
    packets: u64,
    /// When the capture ends, seconds from its first packet.
    until: f64,
    /// The capture reports that its clock was set, or that its packets are out of order.
    clock_steps: bool,
}

impl Known<'_> {
    fn connection(&self, connection: &Value) -> Result<(), String> {
        let took = self.within(connection)?;
        let packets = self.packets;
        let sent = list(connection, "directions")?;
        ensure(sent.len() == 2, || "not two directions".to_owned())?;
        let mut all = 0;
        for half in sent {
            positive(half, &["zero_window_s"])?;
            all += whole(half, "packets")?;
            let kinds = &half["retransmitted"];
            let again = ["fast", "timeout", "tail_probe", "spurious"]
                .iter()
                .map(|kind| whole(kinds, kind))
                .sum::<Result<u64, _>>()?;
            ensure(again <= whole(half, "packets")?, || format!("{again} segments retransmitted of {half}"))?;
            ensure(whole(kinds, "unseen_original")? <= again, || format!("more unseen than retransmitted: {half}"))?;
        }
        // A datagram of QUIC may stand for an ACK and for data.
        let each = if connection["quic"].is_null() { 1 } else { 2 };
        ensure(all <= each * packets, || format!("{all} segments in {packets} packets"))?;
        let rtt = &connection["rtt_ms"];
        ensure((whole(rtt, "samples")? == 0) == rtt["p95"].is_null(), || format!("samples of nothing: {rtt}"))?;
        let known = ["min", "p50", "p95"].iter().filter_map(|field| rtt[field].as_f64()).collect::<Vec<_>>();
        ensure(known.is_sorted() && known.iter().all(|&trip| trip >= 0.0), || {
            format!("round trips out of order: {rtt}")
        })?;
        let transfers = list(connection, "transfers")?;
        ensure(transfers.len() as u64 <= whole(connection, "transfers_total")?, || {
            "more transfers than all".to_owned()
        })?;
        for (index, transfer) in transfers.iter().enumerate() {
            self.transfer(transfer).map_err(|wrong| format!("transfer {}: {wrong}", index + 1))?;
        }
        ensure(known.first().is_none_or(|least| least / 1e3 <= took + RTT_ROUNDED), || {
            format!("a round trip of {rtt} in {took} s")
        })?;
        ensure(known.first().is_none_or(|&least| least <= LONGEST_RTT_MS), || format!("a round trip of {rtt}"))?;
        list(connection, "exchanges")?.iter().try_for_each(spans_of_exchange)?;
        for finding in list(connection, "findings")? {
            let seconds = number(finding, "cost_s")?;
            ensure(seconds <= took + ROUNDED, || format!("{} takes {seconds} of {took} s", finding["cause"]))?;
        }
        self.findings(connection)
    }

    /// How long it took, all of it while the capture ran.
    fn within(&self, holder: &Value) -> Result<f64, String> {
        positive(holder, &["duration_s"])?;
        let (start, took) = (number(holder, "start_s")?, number(holder, "duration_s")?);
        // Packets are not always stored in the order of their times: then something began before
        // the first of them.
        ensure(start >= 0.0 || self.clock_steps, || format!("it begins at {start} s"))?;
        let rounded = ROUNDED + start.abs() * f64::EPSILON;
        ensure(start + took <= self.until + rounded, || format!("{took} s from {start} s on, in {} s", self.until))?;
        Ok(took)
    }

    fn transfer(&self, transfer: &Value) -> Result<(), String> {
        let took = self.within(transfer)?;
        let limits = list(transfer, "limits")?;
        let (mut share, mut seconds, mut before) = (0.0, 0.0, 0.0);
        for limit in limits.iter().chain(list(transfer, "before")?) {
            positive(limit, &["seconds", "share"])?;
        }
        for limit in list(transfer, "before")? {
            before += number(limit, "seconds")?;
        }
        for limit in limits {
            share += number(limit, "share")?;
            seconds += number(limit, "seconds")?;
        }
        ensure((seconds - took).abs() < 1e-6, || format!("limits of {seconds} s in {took} s"))?;
        ensure(limits.is_empty() || (share - 1.0).abs() < 1e-3, || format!("shares sum to {share}"))?;
        let under = |limit: &str| -> f64 {
            limits.iter().filter(|l| l["limit"] == limit).map(|l| l["seconds"].as_f64().unwrap()).sum()
        };
        // Idle time is not waiting time.
        let took_waited = took - under("idle");
        let held = seconds - under("round-trip") - under("idle");
        let healthy = transfer["verdict"] == "healthy";
        ensure(!healthy || held < 0.01 || held * 2.0 < took_waited, || {
            format!("held for {held} of {took} s, and called healthy")
        })?;
        self.arithmetic(transfer, took, before)?;
        let rounds = list(transfer, "rounds")?;
        ensure(rounds.len() as u64 <= whole(transfer, "rounds_total")?, || "more rounds than all".to_owned())?;
        for round in rounds {
            number(round, "start_s")?;
            positive(round, &["duration_s"])?;
            whole(round, "bytes")?;
            whole(round, "in_flight")?;
            self.frame(&round["first_frame"])?;
            self.frame(&round["last_frame"])?;
        }
        for span in list(transfer, "timeline")? {
            number(span, "start_s")?;
            positive(span, &["seconds"])?;
        }
        for finding in list(transfer, "findings")? {
            let seconds = number(finding, "cost_s")?;
            // These are of the wait before it.
            let waits = ["server-think", "proxy-split", "timeout", "mtu-black-hole"];
            let is_wait = waits.iter().any(|cause| finding["cause"] == *cause);
            let most = if is_wait { before + took } else { took };
            ensure(seconds <= most + ROUNDED, || format!("{} takes {seconds} s of {most} s", finding["cause"]))?;
        }
        spans_of_findings(transfer)?;
        self.findings(transfer)
    }

    /// That the figures of a transfer fit each other: its rate, the sum of its costs, and what its
    /// model and certain findings.
    fn arithmetic(&self, transfer: &Value, took: f64, before: f64) -> Result<(), String> {
        if let Some(rate) = transfer["rate_bps"].as_f64() {
            let by_time = 8.0 * number(transfer, "bytes")? / took;
            ensure((rate - by_time).abs() <= 0.5 + 1e-6 * by_time, || format!("{rate} bit/s, and {by_time} by time"))?;
        }
        let findings = list(transfer, "findings")?;
        // That one delays the first byte, and no transfer as a whole.
        let of_transfer = findings.iter().filter(|finding| finding["cause"] != "tls-record-buffering");
        let costs: f64 = of_transfer.map(|finding| finding["cost_s"].as_f64().unwrap()).sum();
        ensure(costs <= before + took + SUM_ROUNDED, || format!("costs of {costs} s in {took} s after {before} s"))?;
        let model = transfer["model_s"].as_f64();
        let is_off = model.is_some_and(|model| (model - took).abs() > 0.3 * took);
        let is_certain = |finding: &&Value| {
            let cause = finding["cause"].as_str().unwrap();
            INFERRED.contains(&cause) && finding["confidence"].as_f64().unwrap() >= 0.9
        };
        let wrong = findings.iter().find(is_certain).filter(|_| is_off);
        ensure(wrong.is_none(), || {
            format!("{} is certain, and the model takes {model:?} of {took} s", wrong.unwrap()["cause"])
        })
    }

    fn findings(&self, holder: &Value) -> Result<(), String> {
        let mut before = f64::INFINITY;
        for finding in list(holder, "findings")? {
            positive(finding, &["cost_s", "confidence"])?;
            let (seconds, confidence) = (number(finding, "cost_s")?, number(finding, "confidence")?);
            // The time of the client's own application comes after all other costs.
            let lost = if finding["cause"] == "client-think" { 0.0 } else { seconds };
            ensure(lost <= before, || "findings are not ordered by seconds lost".to_owned())?;
            ensure(confidence <= 1.0, || format!("a confidence of {confidence}"))?;
            before = lost;
            for evidence in list(finding, "evidence")? {
                number(evidence, "value")?;
                list(evidence, "frames")?.iter().try_for_each(|frame| self.frame(frame))?;
            }
        }
        Ok(())
    }

    /// A frame is one of its capture's.
    fn frame(&self, frame: &Value) -> Result<(), String> {
        let (file, number) = match frame {
            Value::String(text) => {
                let (file, number) = text.split_once(':').ok_or_else(|| format!("a frame {text:?}"))?;
                (file.parse::<usize>().map_err(|_| format!("a frame {text:?}"))? - 1, number.parse().ok())
            }
            frame => (0, frame.as_u64()),
        };
        let packets = self.frames.get(file).copied().unwrap_or(0);
        ensure(number.is_some_and(|number: u64| (1..=packets).contains(&number)), || {
            format!("frame {frame} of {packets} packets")
        })
    }
}

/// Each finding of a transfer costs its spans, and no two have the same moment.
fn spans_of_findings(transfer: &Value) -> Result<(), String> {
    let mut all: Vec<(f64, f64, &Value)> = Vec::new();
    // That one delays the first byte, and no transfer as a whole.
    for finding in list(transfer, "findings")?.iter().filter(|one| one["cause"] != "tls-record-buffering") {
        let (cost, mut sum) = (number(finding, "cost_s")?, 0.0);
        for span in finding["spans"].as_array().into_iter().flatten() {
            positive(span, &["seconds"])?;
            let (start, seconds) = (number(span, "start_s")?, number(span, "seconds")?);
            sum += seconds;
            all.push((start, start + seconds, &finding["cause"]));
        }
        let is_whole = finding["spans_total"].is_null();
        ensure(!is_whole || (cost - sum).abs() <= SPANS_ROUNDED, || {
            format!("{} costs {cost} s in spans of {sum} s", finding["cause"])
        })?;
    }
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let shared = all.windows(2).find(|pair| pair[1].0 < pair[0].1 - SPANS_ROUNDED);
    ensure(shared.is_none(), || format!("two findings have the same moment: {shared:?}"))
}

/// The limits of an exchange are known for all of it, and add up to its wait.
fn spans_of_exchange(exchange: &Value) -> Result<(), String> {
    let Some(spans) = exchange["spans"].as_array() else { return Ok(()) };
    let (mut at, mut waited) = (number(exchange, "start_s")?, 0.0);
    for span in spans {
        positive(span, &["seconds"])?;
        let (start, seconds) = (number(span, "start_s")?, number(span, "seconds")?);
        ensure((start - at).abs() <= SPANS_ROUNDED, || format!("nothing from {at} s to {start} s: {spans:?}"))?;
        at = start + seconds;
        waited += if span["party"] == "nobody" { 0.0 } else { seconds };
    }
    let wait = number(exchange, "wait_s")?;
    // If there are very many spans, the shortest ones are added to others.
    let is_whole = exchange["spans_total"].is_null();
    ensure(!is_whole || (waited - wait).abs() <= SPANS_ROUNDED, || format!("waited {wait} s in spans of {waited} s"))
}

fn ensure(holds: bool, wrong: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong()) }
}

fn list<'a>(holder: &'a Value, field: &str) -> Result<&'a Vec<Value>, String> {
    holder[field].as_array().ok_or_else(|| format!("{field} is no list"))
}

/// A number: one that is not finite is printed as null.
fn number(holder: &Value, field: &str) -> Result<f64, String> {
    holder[field].as_f64().ok_or_else(|| format!("{field} is {}", holder[field]))
}

fn whole(holder: &Value, field: &str) -> Result<u64, String> {
    holder[field].as_u64().ok_or_else(|| format!("{field} is {}", holder[field]))
}

fn positive(holder: &Value, fields: &[&str]) -> Result<(), String> {
    for field in fields {
        let value = number(holder, field)?;
        ensure(value >= 0.0, || format!("{field} is {value}"))?;
    }
    Ok(())
}

/// The connection that carried most.
pub fn main_connection(analysis: &Value) -> &Value {
    let bytes = |connection: &Value| -> u64 {
        connection["directions"].as_array().unwrap().iter().map(|half| half["bytes"].as_u64().unwrap()).sum()
    };
    analysis["connections"].as_array().unwrap().iter().max_by_key(|connection| bytes(connection)).unwrap()
}

/// The connection's largest transfer.
pub fn bulk(connection: &Value) -> &Value {
    let transfers = connection["transfers"].as_array().unwrap();
    transfers.iter().max_by_key(|transfer| transfer["bytes"].as_u64()).unwrap()
}

/// The causes found in a transfer, most seconds first.
pub fn causes(transfer: &Value) -> Vec<&str> {
    transfer["findings"].as_array().unwrap().iter().map(|finding| finding["cause"].as_str().unwrap()).collect()
}
