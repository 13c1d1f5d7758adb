//! Files that grow.

use crate::{Running, explained, sample, transfers};
use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A capture of whole packets, cut in two.
fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.len() / 2)
}

/// Reads lines until there are this many transfers.
fn until_transfers(running: &Running, count: usize) -> Vec<serde_json::Value> {
    let mut lines = Vec::new();
    while transfers(&lines).len() < count {
        match running.line() {
            Some(line) => lines.push(line),
            None => panic!("{} of {count} transfers", transfers(&lines).len()),
        }
    }
    lines
}

#[test]
fn a_file_is_read_as_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.pcap");
    let bytes = fs::read(sample("loss-client")).unwrap();
    let (first, second) = halves(&bytes);
    fs::write(&path, first).unwrap();
    let mut running = Running::start(&[path.to_str().unwrap(), "--jsonl"], Stdio::null());
    std::thread::sleep(Duration::from_millis(300));
    File::options().append(true).open(&path).unwrap().write_all(second).unwrap();
    let expected = explained(&sample("loss-client"));
    // The connection was closed, so that its report comes before the watch ends.
    let mut lines = until_transfers(&running, expected.len());
    lines.extend(running.end());
    assert_eq!(transfers(&lines), expected);
    assert_eq!(lines.last().unwrap()["type"], "summary");
}

#[test]
fn a_rewritten_file_is_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.pcap");
    fs::write(&path, fs::read(sample("turn-taking-server")).unwrap()).unwrap();
    let mut running = Running::start(&[path.to_str().unwrap(), "--jsonl"], Stdio::null());
    let first = explained(&sample("turn-taking-server")).len();
    let mut lines = until_transfers(&running, first);
    // It is shorter now.
    fs::write(&path, fs::read(sample("no-answer-server")).unwrap()).unwrap();
    let second = explained(&sample("no-answer-server")).len();
    assert!(second > 0);
    lines.extend(until_transfers(&running, second));
    lines.extend(running.end());
    assert_eq!(transfers(&lines).len(), first + second);
}

#[test]
fn files_of_a_ring_are_read_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: u32| folder.path().join(format!("ring_0000{number}_2026112308150{number}.pcap"));
    let pattern = folder.path().join("ring*.pcap").display().to_string();
    fs::write(name(1), fs::read(sample("loss-client")).unwrap()).unwrap();
    // One by its pattern, and one by the name of a file that is there: others are of the same ring.
    let mut by_pattern = Running::start(&[&pattern, "--jsonl"], Stdio::null());
    let mut by_name = Running::start(&[name(1).to_str().unwrap(), "--jsonl"], Stdio::null());
    let mut expected = explained(&sample("loss-client")).len();
    let mut lines: Vec<_> = [&by_pattern, &by_name].map(|running| until_transfers(running, expected)).into();
    fs::write(name(2), fs::read(sample("turn-taking-server")).unwrap()).unwrap();
    let more = explained(&sample("turn-taking-server")).len();
    expected += more;
    for (running, lines) in [&mut by_pattern, &mut by_name].into_iter().zip(&mut lines) {
        lines.extend(until_transfers(running, more));
        lines.extend(running.end());
        assert_eq!(transfers(lines).len(), expected);
    }
}

#[test]
fn the_ring_of_dumpcap_is_followed() {
    if !whyslow_testing::tools(&["dumpcap", "tcpdump"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join("ring*").display().to_string();
    let mut running = Running::start(&[&pattern, "--jsonl"], Stdio::null());
    // dumpcap reads from a pipe as it reads from a device, and begins another file every 20 kB.
    let ring = folder.path().join("ring.pcapng").display().to_string();
    let capture = sample("loss-client").display().to_string();
    let command = format!("tcpdump -r {capture} -U -w - 2>/dev/null | dumpcap -q -i - -b filesize:20 -w {ring}");
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_dir(folder.path()).unwrap().count() > 1, "one file is no ring");
    let expected = explained(&sample("loss-client"));
    let mut lines = until_transfers(&running, expected.len());
    lines.extend(running.end());
    let without_times = |all: &[(u64, String, u64, String)]| -> Vec<_> {
        all.iter().map(|(port, from, bytes, _)| (*port, from.clone(), *bytes)).collect()
    };
    assert_eq!(without_times(&transfers(&lines)), without_times(&expected));
}
