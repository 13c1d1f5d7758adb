//! What the tests over whole captures share: where these are, and what must hold for every explanation.
#![allow(dead_code, clippy::print_stdout, clippy::unwrap_used, reason = "each test file uses its own part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of real captures with known answers, beside the repository or where WHYSLOW_CAPTURES says. It is not part
/// of the project: where it is not there, a line says that the test was skipped.
pub fn captures() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let folder = std::env::var_os("WHYSLOW_CAPTURES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no captures with known answers at {}", folder.display());
    None
}

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
/// What is wrong, and where.
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
    let known = Known { frames: &frames, packets: seen };
    for (index, connection) in list(analysis, "connections")?.iter().enumerate() {
        known.connection(connection).map_err(|wrong| format!("connection {}: {wrong}", index + 1))?;
    }
    known.findings(analysis)
}

/// What the captures hold, for what is said of their connections.
struct Known<'a> {
    /// The highest frame number that each may have.
    frames: &'a [u64],
    packets: u64,
}

impl Known<'_> {
    fn connection(&self, connection: &Value) -> Result<(), String> {
        // A start may be before the capture's first packet: packets are not always stored in the order of their times.
        number(connection, "start_s")?;
        positive(connection, &["duration_s"])?;
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
            ensure(again <= whole(half, "packets")?, || format!("{again} segments sent again of {half}"))?;
            ensure(whole(kinds, "unseen_original")? <= again, || format!("more unseen than sent again: {half}"))?;
        }
        ensure(all <= packets, || format!("{all} segments in {packets} packets"))?;
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
        self.findings(connection)
    }

    fn transfer(&self, transfer: &Value) -> Result<(), String> {
        number(transfer, "start_s")?;
        positive(transfer, &["duration_s"])?;
        let took = number(transfer, "duration_s")?;
        let limits = list(transfer, "limits")?;
        let (mut share, mut seconds) = (0.0, 0.0);
        for limit in limits.iter().chain(list(transfer, "before")?) {
            positive(limit, &["seconds", "share"])?;
        }
        for limit in limits {
            share += number(limit, "share")?;
            seconds += number(limit, "seconds")?;
        }
        ensure((seconds - took).abs() < 1e-6, || format!("limits of {seconds} s in {took} s"))?;
        ensure(limits.is_empty() || (share - 1.0).abs() < 1e-3, || format!("shares sum to {share}"))?;
        let held: f64 = seconds
            - limits.iter().filter(|l| l["limit"] == "round-trip").map(|l| l["seconds"].as_f64().unwrap()).sum::<f64>();
        let healthy = transfer["verdict"] == "nothing held it back beyond what the path needs";
        ensure(!healthy || held < 0.01 || held * 2.0 < took, || {
            format!("held for {held} of {took} s, and called healthy")
        })?;
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
            let seconds = number(finding, "seconds")?;
            // These may be of the wait before it.
            let before = ["server-think", "proxy-split"].iter().any(|cause| finding["cause"] == *cause);
            ensure(seconds <= took + 1e-6 || before, || format!("{} takes {seconds} s of {took} s", finding["cause"]))?;
        }
        self.findings(transfer)
    }

    fn findings(&self, holder: &Value) -> Result<(), String> {
        let mut before = f64::INFINITY;
        for finding in list(holder, "findings")? {
            positive(finding, &["seconds", "confidence"])?;
            let (seconds, confidence) = (number(finding, "seconds")?, number(finding, "confidence")?);
            ensure(seconds <= before, || "findings are not ordered by seconds lost".to_owned())?;
            ensure(confidence <= 1.0, || format!("a confidence of {confidence}"))?;
            before = seconds;
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
