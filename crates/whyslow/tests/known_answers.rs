//! Real captures with known answers. They are not part of the project: the tests look for them beside the repository, or where
//! WHYSLOW_CAPTURES says, and say that they skip where they are not.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn captures() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let folder = std::env::var_os("WHYSLOW_CAPTURES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no captures with known answers at {}", folder.display());
    None
}

fn explain(path: &std::path::Path) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(path).arg("--json").output().unwrap();
    assert!(out.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The explanation of a capture, with what must hold for every one; none when the captures are not there.
fn known(name: &str) -> Option<Value> {
    let analysis = explain(&captures()?.join(name));
    for connection in analysis["connections"].as_array().unwrap() {
        for transfer in connection["transfers"].as_array().unwrap() {
            let limits = transfer["limits"].as_array().unwrap();
            let sum = |field: &str| limits.iter().map(|limit| limit[field].as_f64().unwrap()).sum::<f64>();
            assert!(limits.is_empty() || (sum("share") - 1.0).abs() < 0.001);
            assert!((sum("seconds") - transfer["duration_s"].as_f64().unwrap()).abs() < 1e-6);
        }
    }
    Some(analysis)
}

/// The connection that carried most.
fn main_connection(analysis: &Value) -> &Value {
    let bytes = |connection: &Value| -> u64 {
        connection["directions"].as_array().unwrap().iter().map(|half| half["bytes"].as_u64().unwrap()).sum()
    };
    analysis["connections"].as_array().unwrap().iter().max_by_key(|connection| bytes(connection)).unwrap()
}

/// The connection's largest transfer.
fn bulk(connection: &Value) -> &Value {
    let transfers = connection["transfers"].as_array().unwrap();
    transfers.iter().max_by_key(|transfer| transfer["bytes"].as_u64()).unwrap()
}

fn causes(transfer: &Value) -> Vec<&str> {
    transfer["findings"].as_array().unwrap().iter().map(|finding| finding["cause"].as_str().unwrap()).collect()
}

fn rounds(transfer: &Value) -> Vec<u64> {
    transfer["rounds"].as_array().unwrap().iter().map(|round| round["bytes"].as_u64().unwrap()).collect()
}

fn frames(transfer: &Value) -> Vec<(u64, u64)> {
    let frame = |round: &Value, field: &str| round[field].as_u64().unwrap();
    let rounds = transfer["rounds"].as_array().unwrap();
    rounds.iter().map(|round| (frame(round, "first_frame"), frame(round, "last_frame"))).collect()
}

fn starts(transfer: &Value) -> Vec<f64> {
    transfer["rounds"].as_array().unwrap().iter().map(|round| round["start_s"].as_f64().unwrap()).collect()
}

fn figure(finding: &Value, name: &str) -> f64 {
    let evidence = finding["evidence"].as_array().unwrap();
    let found = evidence.iter().find(|evidence| evidence["figure"].as_str().unwrap() == name);
    found.unwrap_or_else(|| panic!("no figure {name:?} in {finding:#}"))["value"].as_f64().unwrap()
}

fn resent(direction: &Value) -> u64 {
    let kinds = &direction["retransmitted"];
    ["fast", "timeout", "tail_probe", "spurious"].iter().map(|kind| kinds[kind].as_u64().unwrap()).sum()
}

fn near(value: f64, truth: f64, share: f64) -> bool {
    (value - truth).abs() <= truth * share
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn pku_a_server_that_never_has_more_than_64_kib_in_flight() {
    let Some(analysis) = known("pku.cap") else { return };
    let connection = main_connection(&analysis);
    let transfer = bulk(connection);
    assert_eq!(connection["near"], "client");
    assert!(near(seconds(&connection["rtt_ms"]["min"]), 25.7, 0.02));
    assert!(near(seconds(&connection["rtt_ms"]["p50"]), 25.7, 0.02));
    assert_eq!(transfer["bytes"], 532_255);
    assert_eq!(rounds(transfer), [65_535, 65_535, 65_535, 65_188, 65_535, 65_535, 65_535, 65_535, 8_322]);
    let truth =
        [(18, 91), (118, 196), (222, 303), (325, 425), (437, 499), (529, 603), (631, 713), (742, 842), (860, 875)];
    assert_eq!(frames(transfer), truth);
    let truth = [0.108201, 0.134567, 0.160474, 0.186271, 0.212371, 0.238520, 0.264673, 0.290735, 0.316496];
    assert!(starts(transfer).iter().zip(truth).all(|(start, truth)| (start - truth).abs() < 1e-6));
    assert_eq!(causes(transfer), ["sender-cap"]);
    let finding = &transfer["findings"][0];
    assert_eq!(figure(finding, "most in flight"), 65_535.0);
    assert!(figure(finding, "least window of the receiver meanwhile") >= 128_000.0);
    assert!(near(figure(finding, "cap / round trip"), 2.52e6 * 8.0, 0.02));
}

#[test]
fn thu_a_server_that_starts_at_ten_segments() {
    let Some(analysis) = known("thu.cap") else { return };
    let connection = main_connection(&analysis);
    let transfer = bulk(connection);
    assert_eq!(connection["near"], "client");
    assert_eq!(rounds(transfer), [14_280, 18_564, 34_272, 55_692, 85_680, 125_664, 161_130, 68_451]);
    let truth = [(13, 29), (30, 49), (53, 85), (97, 142), (165, 226), (273, 400), (430, 593), (629, 703)];
    assert_eq!(frames(transfer), truth);
    assert_eq!(causes(transfer)[0], "slow-start");
    // The first TLS record is whole with the second round: a TLS client sees its first byte a round trip late.
    let second_round = starts(transfer)[1] - seconds(&transfer["start_s"]);
    assert!((seconds(&transfer["first_byte_s"]) - second_round).abs() < 1e-9);
    assert!(near(seconds(&transfer["first_byte_s"]), 0.026, 0.02));
    let phases: Vec<_> = transfer["before"].as_array().unwrap().iter().map(|p| p["limit"].as_str().unwrap()).collect();
    assert_eq!(phases, ["handshake", "tls-handshake", "request-wait", "server-think"]);
}

#[test]
fn slow_start_of_512_kb_from_text() {
    let Some(analysis) = known("text/slow-start-512k-rtt7ms.txt") else { return };
    let connection = main_connection(&analysis);
    let transfer = bulk(connection);
    assert_eq!(connection["near"], "server", "TSO proves it, though its netem holds data back");
    assert_eq!(rounds(transfer), [14_480, 28_960, 46_080, 104_256, 78_720, 232_600, 19_487]);
    assert!(near(seconds(&connection["rtt_ms"]["p50"]), 7.0, 0.05));
    assert!(near(seconds(&connection["duration_s"]), 0.063, 0.02));
    assert_eq!(causes(transfer)[0], "slow-start");
}

#[test]
fn an_upload_of_1_kb_takes_three_round_trips() {
    let Some(analysis) = known("text/upload-1k-rtt200ms.txt") else { return };
    let connection = main_connection(&analysis);
    assert_eq!(connection["near"], "client");
    assert!(near(seconds(&connection["rtt_ms"]["p50"]), 200.4, 0.001));
    assert!(near(seconds(&connection["duration_s"]), 0.606, 0.001));
    assert_eq!(connection["closed_by"], "client");
    assert_eq!(connection["state"], "closed");
    let transfers = connection["transfers"].as_array().unwrap();
    assert_eq!(transfers.iter().map(|t| t["bytes"].as_u64().unwrap()).collect::<Vec<_>>(), [1_745, 214]);
    let think = transfers[1]["before"].as_array().unwrap().iter().find(|p| p["limit"] == "server-think").unwrap();
    assert!((seconds(&think["seconds"]) - 0.003).abs() < 0.0002);
    assert!(causes(&transfers[0]).is_empty() && causes(&transfers[1]).is_empty());
}

#[test]
fn five_uploads_on_one_connection_grow_faster() {
    let Some(analysis) = known("text/upload-100k-reused-connection.txt") else { return };
    assert_eq!(analysis["connections"].as_array().unwrap().len(), 1);
    let connection = main_connection(&analysis);
    let uploads: Vec<&Value> =
        connection["transfers"].as_array().unwrap().iter().filter(|t| t["from"] == "client").collect();
    let took: Vec<f64> = uploads.iter().map(|upload| seconds(&upload["duration_s"])).collect();
    let opened: f64 = uploads[0]["before"].as_array().unwrap().iter().map(|phase| seconds(&phase["seconds"])).sum();
    for (time, truth) in
        [took[0] + opened, took[1], took[2], took[3], took[4]].into_iter().zip([1.02, 0.439, 0.268, 0.253, 0.254])
    {
        assert!(near(time, truth, 0.02), "{time} s instead of {truth} s");
    }
    assert!(uploads.iter().all(|upload| near(seconds(&upload["bytes"]), 103_123.0, 0.001)));
    assert_eq!(causes(uploads[0]), ["slow-start"]);
    for upload in &uploads[2..] {
        assert!(causes(upload).is_empty());
        assert_eq!(upload["limits"][0]["limit"], "round-trip");
    }
    let problems: Vec<_> =
        connection["problems"].as_array().unwrap().iter().map(|p| p["slug"].as_str().unwrap()).collect();
    assert!(problems.contains(&"elided-text"));
}

#[test]
fn a_receive_buffer_of_4096_bytes() {
    for end in ["client", "server"] {
        let Some(analysis) = known(&format!("exp2/rmem_4096_rtt_100ms/{end}.pcap")) else { return };
        let connection = main_connection(&analysis);
        let transfer = bulk(connection);
        assert_eq!(connection["near"], "server", "both stand at the server's side in time");
        assert!(near(seconds(&connection["rtt_ms"]["p50"]), 100.4, 0.002));
        assert_eq!(causes(transfer), ["receive-window"]);
        assert!(rounds(transfer)[1..].iter().all(|&bytes| bytes == 2_048));
        assert_eq!(figure(&transfer["findings"][0], "receive window"), 2_048.0);
        assert!(near(figure(&transfer["findings"][0], "window / round trip"), 20_400.0 * 8.0, 0.01));
    }
}

#[test]
fn a_fifth_of_the_segments_lost_before_the_capture() {
    let mut both = Vec::new();
    for (end, late) in [("client", 795), ("server", 800)] {
        let Some(analysis) = known(&format!("exp2/loss_20pct/{end}.pcap")) else { return };
        let connection = main_connection(&analysis);
        let transfer = bulk(connection);
        let server = &connection["directions"][1];
        assert_eq!(server["bytes"], 43_559_931);
        assert_eq!((resent(server), server["out_of_order"].as_u64()), (late, Some(0)));
        assert_eq!(server["retransmitted"]["unseen_original"], late);
        assert!(["loss", "timeout"].contains(&causes(transfer)[0]));
        both.push(seconds(&transfer["findings"][0]["seconds"]));
    }
    assert!(near(both[0], both[1], 0.01), "{both:?}");
}

#[test]
fn a_ceiling_of_8_mbit() {
    for end in ["client", "server"] {
        let Some(analysis) = known(&format!("exp2/bandwidth_1mbps/{end}.pcap")) else { return };
        let transfer = bulk(main_connection(&analysis));
        assert_eq!(causes(transfer)[0], "bandwidth");
        assert!(near(figure(&transfer["findings"][0], "rate on the wire, with headers"), 8e6, 0.01));
    }
}

#[test]
fn a_send_buffer_of_4096_bytes() {
    for end in ["client", "server"] {
        let Some(analysis) = known(&format!("exp2/wmem_4096_rtt_100ms/{end}.pcap")) else { return };
        let connection = main_connection(&analysis);
        let transfer = bulk(connection);
        assert_eq!(causes(transfer), ["sender-cap", "delayed-ack"]);
        let cap = &transfer["findings"][0];
        assert_eq!(figure(cap, "bytes in two rounds"), 131_072.0);
        assert!(near(figure(cap, "least window of the receiver meanwhile"), 714_000.0, 0.03));
        assert!(near(figure(&transfer["findings"][1], "typical delay"), 45.0, 0.1));
        let usual = rounds(transfer).iter().filter(|bytes| [14_735, 116_337].contains(bytes)).count();
        assert!(usual >= 45, "{usual} of the first 64 rounds");
    }
}

#[test]
fn speed_tests_seen_from_the_server() {
    let Some(lossy) = known("mlab/ndt-4dh2l_1591894023_0000000000363A84.pcap.gz") else { return };
    let connection = main_connection(&lossy);
    assert_eq!(connection["near"], "server");
    assert_eq!(causes(bulk(connection))[0], "loss");

    let Some(slow_reader) = known("mlab/ndt-nnwk2_1611335823_00000000000C2DA9.pcap.gz") else { return };
    assert_eq!(slow_reader["captures"][0]["packets"], 5_180);
    assert!((seconds(&slow_reader["captures"][0]["duration_s"]) - 13.444117).abs() < 1e-6);
    let connection = main_connection(&slow_reader);
    let server = &connection["directions"][1];
    assert_eq!((server["bytes"].as_u64(), server["zero_windows"].as_u64()), (Some(81_240_087), Some(122)));
    assert_eq!(resent(server), 0);
    assert_eq!(causes(bulk(connection))[0], "zero-window");

    let Some(small) = known("mlab/ndt-nnwk2_1611335823_00000000000C2DFE.pcap.gz") else { return };
    assert_eq!(small["captures"][0]["packets"], 336);
    assert!((seconds(&small["captures"][0]["duration_s"]) - 15.409174).abs() < 1e-6);
    // tcptrace: 5 sent again and 8 "out of order" upwards, 12 sent again downwards. The 8 carry newer timestamps than what
    // overtook them: they are retransmissions whose first copies were lost before the capture.
    let halves = &main_connection(&small)["directions"];
    assert_eq!((resent(&halves[0]), resent(&halves[1])), (13, 12));
    assert_eq!(halves[0]["retransmitted"]["unseen_original"], 8);
}

#[test]
fn tcptraces_own_examples() {
    let Some(closed) = known("tcptrace/zwnd.dmp.gz") else { return };
    let connection = main_connection(&closed);
    let client = &connection["directions"][0];
    assert_eq!(
        (client["zero_windows"].as_u64(), client["window_probes"].as_u64(), resent(client)),
        (Some(7), Some(6), 0)
    );
    // tcptrace's 8.58 s is the longest silence; the window was shut from frame 18431 (9.53 s) to 18444 (31.61 s).
    assert!((seconds(&client["zero_window_s"]) - 22.08).abs() < 0.001);
    assert_eq!(causes(bulk(connection))[0], "zero-window");

    let Some(satellite) = known("tcptrace/dsack.dmp.gz") else { return };
    let connection = main_connection(&satellite);
    assert_eq!(bulk(connection)["bytes"], 16_777_216);
    assert!(near(seconds(&connection["rtt_ms"]["min"]), 560.0, 0.01));
    // 10,136 B resent = 7 segments of 1,448 B.
    assert_eq!(resent(&connection["directions"][0]), 7);
    assert_eq!(connection["directions"][0]["max_window"], 121_180);

    let Some(doubled) = known("tcptrace/hardware_dups.dmp.gz") else { return };
    let connection = main_connection(&doubled);
    let problems = connection["problems"].as_array().unwrap();
    assert_eq!(problems.iter().find(|problem| problem["slug"] == "duplicate-frames").unwrap()["count"], 486);
    assert_eq!(resent(&connection["directions"][1]), 0);
}
