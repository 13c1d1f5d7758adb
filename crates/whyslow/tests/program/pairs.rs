//! Two captures of one transfer: the samples that were recorded at both ends, as they are and with
//! their clocks, addresses and numbers changed, and real captures of both ends.

use crate::common;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_io::{Input, Stop};
use whyslow_report::render::terminal::{self, View};

fn explain(paths: &[PathBuf]) -> Value {
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::Path).collect();
    let analysis = whyslow_io::explain(&inputs, &Stop::default(), &mut |_| ()).unwrap();
    let value = serde_json::to_value(&analysis).unwrap();
    common::consistent(&value).unwrap();
    value
}

fn ends(name: &str) -> [PathBuf; 2] {
    ["client", "server"].map(|end| common::sample(&format!("{name}-{end}")))
}

/// The one pair of two captures.
#[track_caller]
fn pair(paths: &[PathBuf]) -> Value {
    let analysis = explain(paths);
    let pairs = analysis["pairs"].as_array().unwrap();
    assert_eq!((pairs.len(), analysis["pairs_total"].as_u64()), (1, Some(1)), "{paths:?}");
    pairs[0].clone()
}

/// Returns an integer field of a direction; direction 0 is the client's.
#[track_caller]
fn count(pair: &Value, way: usize, field: &str) -> u64 {
    pair["directions"][way][field].as_u64().unwrap()
}

#[track_caller]
fn close(value: &Value, wanted: f64, within: f64) {
    assert!((value.as_f64().unwrap() - wanted).abs() <= within, "{value} is not {wanted}");
}

/// The samples' README and recipes give for each run: losses towards the client, and the delay of
/// each direction in milliseconds.
#[test]
fn the_samples_of_both_ends_show_the_recipes_figures() {
    for (name, lost, delay) in [
        ("bufferbloat", 0, 10.0),
        ("loss", 7, 20.0),
        ("nagle-delayed-ack", 0, 5.0),
        ("receive-window", 0, 50.0),
        ("reordering", 0, 20.0),
        ("restart-after-idle", 0, 25.0),
        ("sender-cap", 0, 50.0),
        ("slow-start", 0, 50.0),
        ("syn-loss", 0, 20.0),
        ("tls", 0, 13.0),
        ("zero-window", 0, 10.0),
    ] {
        let pair = pair(&ends(name));
        assert_eq!((count(&pair, 0, "lost"), count(&pair, 1, "lost")), (0, lost), "{name}");
        assert_eq!(count(&pair, 1, "lost"), count(&pair, 1, "lost_with_payload"), "{name}");
        for way in 0..2 {
            // Half of it is the emulator's: on a path of 20 ms a packet takes up to 0.15 ms more.
            close(&pair["directions"][way]["delay_ms"]["min"], delay, 0.2);
            close(&pair["directions"][way]["uncorrected_ms"], delay, 0.2);
            assert_eq!((count(&pair, way, "uncaptured"), count(&pair, way, "unseen_before")), (0, 0), "{name}");
        }
        // Both captures have one machine's clock.
        close(&pair["clock"]["offset_s"], 0.0, 0.000_1);
        assert_eq!(pair["changes"].as_array().unwrap().len(), 0, "{name}: {}", pair["changes"]);
        assert_eq!(pair["matched_by"], "addresses");
        assert_eq!(pair["connections"], serde_json::json!([1, 2]), "{name}");
        let sender = if name == "nagle-delayed-ack" { 1 } else { 2 };
        assert_eq!(pair["told"], sender, "{name}");
    }
}

#[test]
fn retransmissions_are_classified_by_need() {
    let loss = pair(&ends("loss"));
    assert_eq!((count(&loss, 1, "resent"), count(&loss, 1, "resent_for_loss")), (7, 7));
    let policer = pair(&ends("policer"));
    assert_eq!(count(&policer, 1, "lost"), count(&policer, 1, "resent_for_loss"));
    assert_eq!(count(&policer, 1, "lost_bytes"), 108 * 1_448);
    let reordering = pair(&ends("reordering"));
    assert_eq!((count(&reordering, 1, "resent"), count(&reordering, 1, "resent_for_loss")), (2, 0));
    assert_eq!(count(&reordering, 1, "reordered"), 18);
    close(&reordering["directions"][1]["reordered_s"], 0.006, 0.000_2);
    // The first SYN was sent before the server's capture has its first packet.
    assert_eq!(count(&pair(&ends("syn-loss")), 0, "unjudged"), 1);
}

#[test]
fn the_queue_is_found_on_the_way_that_has_it() {
    let pair = pair(&ends("bufferbloat"));
    let waited = |way: usize| pair["directions"][way]["queue_ms"]["p95"].as_f64().unwrap();
    assert!(waited(0) < 1.0 && waited(1) > 400.0, "{} and {} ms", waited(0), waited(1));
    let statements = pair["statements"].as_array().unwrap();
    let queued = statements.iter().find(|one| one["kind"] == "queued").unwrap();
    assert_eq!(queued["ways"].as_array().unwrap().len(), 1, "{queued}");
    assert_eq!(queued["ways"][0]["to"], "client");
}

#[test]
fn findings_get_evidence_from_the_other_end() {
    let analysis = explain(&ends("loss"));
    let connection =
        analysis["connections"].as_array().unwrap().iter().find(|connection| connection["id"] == 2).unwrap();
    let finding = &common::bulk(connection)["findings"][0];
    let evidence = finding["evidence"].as_array().unwrap().last().unwrap();
    assert_eq!(evidence["kind"], "retransmissions-of-lost");
    assert_eq!(evidence["value"], 7.0);
}

#[test]
fn each_of_several_connections_is_paired() {
    let analysis = explain(&ends("early-slow-start-exit"));
    let pairs: Vec<_> = analysis["pairs"].as_array().unwrap().iter().map(|pair| pair["connections"].clone()).collect();
    assert_eq!(pairs, [serde_json::json!([2, 4]), serde_json::json!([1, 3])]);
    let lost: Vec<_> = (0..2).map(|n| count(&analysis["pairs"][n], 1, "lost")).collect();
    assert_eq!(lost, [0, 4]);
}

/// A little-endian pcap with nanoseconds, rewritten record by record.
fn rewritten(path: &Path, folder: &TempDir, change: impl Fn(&mut i64, &mut [u8])) -> PathBuf {
    let mut bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes[..4], [0x4d, 0x3c, 0xb2, 0xa1]);
    let mut at = 24;
    while at < bytes.len() {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut time = i64::from(number(at)) * 1_000_000_000 + i64::from(number(at + 4));
        let end = at + 16 + number(at + 8) as usize;
        change(&mut time, &mut bytes[at + 16..end]);
        bytes[at..at + 4].copy_from_slice(&((time / 1_000_000_000) as u32).to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&((time % 1_000_000_000) as u32).to_le_bytes());
        at = end;
    }
    let new = folder.path().join(path.file_name().unwrap());
    std::fs::write(&new, bytes).unwrap();
    new
}

/// The common part of an unchanged pair and of one with another clock or address.
fn without_clocks(pair: &Value) -> Value {
    let mut directions = pair["directions"].clone();
    for direction in directions.as_array_mut().unwrap() {
        for field in ["uncorrected_ms", "delay_ms", "queue_ms", "reordered_s", "lost_frames"] {
            direction.as_object_mut().unwrap().remove(field);
        }
    }
    directions
}

#[test]
fn a_clock_that_is_off_or_drifts_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["loss", "policer", "bufferbloat", "zero-window"] {
        let [client, server] = ends(name);
        let plain = pair(&[client.clone(), server.clone()]);
        for shift in [-86_400_000_000_000_i64, -250_000_000, 1_500, 37_000_000_000] {
            let moved = rewritten(&server, &folder, |time, _| *time += shift);
            let off = pair(&[client.clone(), moved]);
            let offset = shift as f64 / 1e9 + plain["clock"]["offset_s"].as_f64().unwrap();
            close(&off["clock"]["offset_s"], offset, 1e-6);
            assert_eq!(without_clocks(&off), without_clocks(&plain), "{name} by {shift} ns");
            for way in 0..2 {
                let delay = |pair: &Value, figure: &str| pair["directions"][way]["delay_ms"][figure].as_f64().unwrap();
                for figure in ["min", "p50", "p95"] {
                    assert!((delay(&off, figure) - delay(&plain, figure)).abs() < 0.01, "{name}: {figure}");
                }
            }
        }
    }
    // The client's clock is fast by 300 millionths; 4 s are enough to see it.
    let [client, server] = ends("policer");
    let start = 1_600_000_000_000_000_000;
    let fast = rewritten(&client, &folder, |time, _| *time += ((*time - start) as f64 * 300e-6) as i64);
    let pair = pair(&[fast, server]);
    close(&pair["clock"]["drift_ppm"], -300.0, pair["clock"]["drift_error_ppm"].as_f64().unwrap() + 0.1);
    assert!(pair["clock"]["drift_error_ppm"].as_f64().unwrap() < 60.0);
    close(&pair["directions"][1]["delay_ms"]["p95"], 15.1, 0.2);
    assert_eq!(count(&pair, 1, "lost"), 108);
}

#[test]
fn address_translation_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [client, server] = ends("loss");
    let plain = pair(&[client.clone(), server.clone()]);
    // 10.77.0.1:P becomes 203.0.113.7:P+1 at the server, whose packets arrive over two hops, and
    // whose clock is an hour ahead: its capture follows the client's in time, without overlap.
    // Checksums are the network's.
    let translated = rewritten(&server, &folder, |time, packet| {
        *time += 3_600_000_000_000;
        let (ip, tcp) = (14, 34);
        let is_client = packet[ip + 12..ip + 16] == [10, 77, 0, 1];
        let (address, port) = if is_client { (ip + 12, tcp) } else { (ip + 16, tcp + 2) };
        packet[address..address + 4].copy_from_slice(&[203, 0, 113, 7]);
        packet[port + 1] = packet[port + 1].wrapping_add(1);
        packet[ip + 8] -= if is_client { 2 } else { 0 };
        packet[tcp + 16..tcp + 18].fill(0);
    });
    let nat = pair(&[client, translated]);
    assert_eq!(nat["matched_by"], "initial-numbers");
    assert_eq!(without_clocks(&nat), without_clocks(&plain));
    let changes: Vec<_> =
        nat["changes"].as_array().unwrap().iter().map(|c| (c["what"].clone(), c["count"].clone())).collect();
    assert_eq!(changes, [("addresses".into(), 1.into()), ("ttl".into(), 730.into())]);
    let ttl = &nat["changes"][1];
    assert_eq!(ttl["sent"].as_u64().unwrap() - ttl["arrived"].as_u64().unwrap(), 2, "two routers between: {ttl}");
}

/// The first bytes of a pcap and those of its records that are kept.
fn cut(path: &Path, to: PathBuf, keeps: impl Fn(usize) -> bool) -> PathBuf {
    let bytes = std::fs::read(path).unwrap();
    let (mut part, mut at, mut index) = (bytes[..24].to_vec(), 24, 0);
    while at < bytes.len() {
        let end = at + 16 + u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        if keeps(index) {
            part.extend(&bytes[at..end]);
        }
        (at, index) = (end, index + 1);
    }
    std::fs::write(&to, part).unwrap();
    to
}

#[test]
fn rotation_sets_of_both_ends_are_paired_as_wholes() {
    let folder = tempfile::tempdir().unwrap();
    let [client, server] = ends("loss");
    let plain = pair(&[client.clone(), server.clone()]);
    let part = |path: &Path, name: &str, records: std::ops::Range<usize>| {
        cut(path, folder.path().join(name), |index| records.contains(&index))
    };
    let files = [
        part(&server, "east2.pcap", 700..9_999),
        part(&client, "west2.pcap", 600..1_000),
        part(&client, "west1.pcap", 0..600),
        part(&server, "east1.pcap", 0..700),
        part(&client, "west3.pcap", 1_000..9_999),
    ];
    let whole = pair(&files);
    assert_eq!(without_clocks(&whole), without_clocks(&plain));
    assert_eq!(whole["connections"], serde_json::json!([1, 2]));
    // Frames are numbered within their files: the client's three come first, and the server's are
    // the fourth and the fifth.
    let frames = |pair: &Value| pair["directions"][1]["lost_frames"].clone();
    let moved: Vec<String> = frames(&plain)
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| {
            let number: u64 = frame.as_str().unwrap().strip_prefix("2:").unwrap().parse().unwrap();
            if number <= 700 { format!("4:{number}") } else { format!("5:{}", number - 700) }
        })
        .collect();
    assert_eq!(frames(&whole), serde_json::json!(moved));
}

/// The details of the bytes that were not captured of a connection.
#[track_caller]
fn capture_loss(analysis: &Value, connection: usize) -> Value {
    let problems = analysis["connections"][connection]["problems"].as_array().unwrap();
    let problem = problems.iter().find(|problem| problem["slug"] == "capture-loss").unwrap();
    problem["detail"].clone()
}

#[test]
fn a_problem_names_the_frame_of_its_own_capture() {
    let folder = tempfile::tempdir().unwrap();
    let [client, server] = ends("slow-start");
    let lacks = 46;
    let [client, torn] = [(client, usize::MAX), (server, lacks)].map(|(path, lacks)| {
        let to = folder.path().join(path.file_name().unwrap());
        cut(&path, to, |index| index != lacks)
    });
    let alone = capture_loss(&explain(std::slice::from_ref(&torn)), 0);
    let frame = alone["first"].as_u64().unwrap() as usize;
    assert!(frame > lacks, "{alone}");
    let named = |place: Value| {
        let mut detail = alone.clone();
        detail["first"] = place;
        detail
    };

    let both = explain(&[client.clone(), torn.clone()]);
    assert_eq!(capture_loss(&both, 1), named(format!("2:{frame}").into()));

    // Two rotation sets of two files each: the frame is in the second file of the second one.
    let part = |path: &Path, name: &str, records: std::ops::Range<usize>| {
        cut(path, folder.path().join(name), |index| records.contains(&index))
    };
    let sets = explain(&[
        part(&client, "west1.pcap", 0..20),
        part(&client, "west2.pcap", 20..9_999),
        part(&torn, "east1.pcap", 0..lacks),
        part(&torn, "east2.pcap", lacks..9_999),
    ]);
    assert_eq!(capture_loss(&sets, 1), named(format!("4:{}", frame - lacks).into()));
}

#[test]
fn the_page_prints_a_transfer_once() {
    let inputs = ["client", "server"].map(|end| Input::Path(format!("../../samples/loss-{end}.pcap").into()));
    let analysis = whyslow_io::explain(&inputs, &Stop::default(), &mut |_| ()).unwrap();
    let page = terminal::page(
        &analysis,
        View { width: 100, top: Some(3), full: false, transfer: None, lang: Default::default() },
    );
    let page = anstream::adapter::strip_str(&page).to_string();
    assert_eq!(page.matches("\n  loss   ").count(), 1, "{page}");
    insta::assert_snapshot!("loss-both-ends", page);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pair_through_a_pipe_is_reported_as_not_compared() {
    let [client, server] = ends("loss");
    let (mut input, output) = std::io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
    let bytes = std::fs::read(&client).unwrap();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &bytes));
    use std::os::fd::AsRawFd;
    let pipe = PathBuf::from(format!("/proc/self/fd/{}", output.as_raw_fd()));
    let analysis = explain(&[pipe, server]);
    writer.join().unwrap().unwrap();
    assert_eq!(analysis["pairs"].as_array().unwrap().len(), 0);
    assert_eq!(analysis["pairs_total"], 1);
    let problems = analysis["connections"][0]["problems"].to_string();
    assert!(problems.contains("not-compared") && problems.contains("read-once"), "{problems}");
}

/// The captures of both ends of downloads between two hosts, where netem stands between a host's
/// stack and its capture: what it drops or delays lies on that host's side of the capture, and not
/// between the two.
#[test]
fn real_captures_of_both_ends() {
    let Some(folder) = whyslow_testing::captures() else { return };
    // tshark -q -z conv,tcp: packets of each end in each capture; the clocks' offset is that of the
    // SYN's and SYN-ACK's times.
    for (name, sides, round_trips) in [
        ("bandwidth_1mbps", [3086, 61_533_532], [0.0, 0.24, 0.0]),
        ("loss_20pct", [3612, 43_559_931], [0.0, 0.24, 0.0]),
        ("rmem_4096_rtt_100ms", [631, 1_252_560], [100.0, 0.25, 0.0]),
        ("wmem_4096_rtt_100ms", [1373, 38_535_376], [100.0, 0.24, 0.0]),
    ] {
        let files = ["client", "server"].map(|end| folder.join("exp2").join(name).join(format!("{end}.pcap")));
        let pair = pair(&files);
        for way in 0..2 {
            assert_eq!(count(&pair, way, "lost"), 0, "{name}");
            assert_eq!((count(&pair, way, "uncaptured"), count(&pair, way, "unseen_before")), (0, 0), "{name}");
        }
        assert_eq!((count(&pair, 0, "sent"), count(&pair, 1, "sent_bytes")), (sides[0], sides[1]), "{name}");
        for (leg, wanted) in round_trips.into_iter().enumerate() {
            close(&pair["legs"][leg]["rtt_ms"]["min"], wanted, 0.1);
        }
        assert_eq!(pair["clock"]["drift_ppm"], 0.0, "{name}");
        let lost_before = count(&pair, 1, "lost_before");
        assert_eq!(lost_before > 700, name == "loss_20pct", "{name}: {lost_before}");
    }
}
