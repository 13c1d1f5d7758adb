//! Captures that come through a pipe.

use crate::{explained, json_lines, piped, sample, transfers, watch};
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn every_transfer_of_a_capture_is_reported_once() {
    for name in ["loss-client", "turn-taking-server", "shared-bottleneck-client", "tls-client", "no-answer-server"] {
        let path = sample(name);
        let bytes = std::fs::read(&path).unwrap();
        for piece in [777, 65_536] {
            let lines = json_lines(&piped(&bytes, piece, &["--jsonl"]));
            assert_eq!(transfers(&lines), explained(&path), "{name} in pieces of {piece}");
            let last = lines.last().unwrap();
            assert_eq!(last["type"], "summary");
            assert!(last["packets"].as_u64().unwrap() > 2);
        }
    }
}

#[test]
fn lines_are_for_slow_transfers_and_a_summary_ends_them() {
    let bytes = std::fs::read(sample("loss-client")).unwrap();
    let output = piped(&bytes, 4_096, &["--slower-than", "10ms"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let first: Vec<_> = text.lines().take(2).collect();
    assert!(first[0].contains(" B up in ") && first[1].contains(" B down in "), "{text}");
    assert!(text.contains("loss") && text.contains("lost by cause") && text.contains("lost by server"), "{text}");
    let quiet = piped(&bytes, 4_096, &["--slower-than", "10min"]);
    let text = String::from_utf8(quiet.stdout).unwrap();
    assert!(!text.contains(" B down in ") && text.contains("lost by cause"), "{text}");
}

#[test]
fn selected_transfers_are_reported() {
    let bytes = std::fs::read(sample("loss-client")).unwrap();
    let count = |arguments: &[&str]| transfers(&json_lines(&piped(&bytes, 9_999, arguments))).len();
    let all = count(&["--jsonl"]);
    assert!(all > 0);
    assert_eq!(count(&["--jsonl", "--cause", "loss"]), 1);
    assert_eq!(count(&["--jsonl", "--cause", "nagle-delayed-ack"]), 0);
    assert_eq!(count(&["--jsonl", "--server", "10.77.0.2"]), all);
    assert_eq!(count(&["--jsonl", "--server", "192.0.2.1"]), 0);
    assert_eq!(count(&["--jsonl", "-Y", "net 10.77.0.0/24"]), all);
    assert_eq!(count(&["--jsonl", "-Y", "not tcp"]), 0);
    assert_eq!(count(&["--jsonl", "--slower-than", "10min"]), 0);
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    let bytes = std::fs::read(sample("turn-taking-server")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture");
    std::fs::write(&path, bytes).unwrap();
    let mut child = watch(&["-", "--jsonl"])
        .stdin(std::fs::File::open(&path).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!((child.wait().unwrap().code(), message.as_str()), (Some(0), ""));
}

#[test]
fn tcpdump_writes_to_the_pipe_as_packets_pass() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let command = format!(
        "tcpdump -r {} -U -w - 2>/dev/null | {} watch - --jsonl",
        sample("loss-client").display(),
        env!("CARGO_BIN_EXE_whyslow")
    );
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    // It writes microseconds.
    let plain = |all: Vec<(u64, String, u64, String)>| -> Vec<_> {
        all.into_iter().map(|(port, from, bytes, _)| (port, from, bytes)).collect()
    };
    assert_eq!(plain(transfers(&json_lines(&output))), plain(explained(&sample("loss-client"))));
}
