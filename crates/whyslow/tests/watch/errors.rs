//! Inputs that cannot be watched.

use crate::{piped, sample, watch};
use std::process::Output;

/// The message of a run that must fail, with no other output.
#[track_caller]
fn fails(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    message
}

#[test]
fn an_invalid_capture_is_reported() {
    let message = fails(&piped(b"\x7fELF\x02\x01\x01\x00 and more that is no packet", 10, &["--jsonl"]));
    assert!(message.contains("standard input"), "{message}");
    let message = fails(&piped(b"", 10, &[]));
    assert!(message.contains("standard input"), "{message}");
}

#[test]
fn a_truncated_capture_is_reported_up_to_its_end() {
    let bytes = std::fs::read(sample("loss-client")).unwrap();
    let output = piped(&bytes[..bytes.len() / 2], 1_000, &["--slower-than", "1ms"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains(" B down in ") && text.contains("torn-record"), "{text}");
}

#[test]
fn a_capture_has_no_programs_to_select_by() {
    let capture = sample("loss-client").display().to_string();
    for option in ["--node", "--process=curl", "--container=web", "--pod=shop/web-*", "--namespace=shop"] {
        let message = fails(&watch(&[&capture, option]).output().unwrap());
        assert!(message.contains("need interfaces"), "{option}: {message}");
    }
    let message = fails(&watch(&["--pod", "shop/["]).output().unwrap());
    assert!(message.contains("is not the name of a pod"), "{message}");
    let message = fails(&watch(&["--otlp", "https://collector"]).output().unwrap());
    assert!(message.contains("is not the address of a collector"), "{message}");
}

#[test]
fn missing_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.pcap").display().to_string();
    assert!(fails(&watch(&[&missing]).output().unwrap()).contains("none.pcap"));
    let message = fails(&watch(&[&format!("{}/", folder.path().display())]).output().unwrap());
    assert!(message.contains("this is a folder"), "{message}");
    let message = fails(&watch(&[&format!("{}/[.pcap", folder.path().display())]).output().unwrap());
    assert!(message.contains("no pattern"), "{message}");
    let output = watch(&[&format!("{}/*.pcap", folder.path().display()), "--for", "1s"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.contains("waiting for one"), "{message}");
}

#[test]
fn impossible_options_are_reported() {
    for (arguments, what) in [
        (&["-", "--metrics", "nowhere"][..], "--metrics"),
        (&["-", "--metrics", "192.0.2.1:9464"], "192.0.2.1:9464"),
        (&["-", "--closed"], "--closed needs interfaces"),
        (&["-", "--for", "soon"], "is not a time"),
        (&["-", "--slower-than", "2"], "has no unit"),
        (&["-", "--cause", "moon-phase"], "moon-phase"),
        (&["-", "--keep", "/no/such/folder/a.pcapng"], "/no/such/folder"),
        (&["-", "--keep", "/dev/null", "--memory", "1kB"], "--memory"),
        (&["-i", "no-such-device"], "no-such-device"),
        (&["-i", "lo", "port", "moon"], "port moon"),
        (&["-i", "lo", "--snaplen", "1B"], "snaplen"),
    ] {
        let message = fails(&watch(arguments).output().unwrap());
        let may_not = message.contains("CAP_NET_RAW") || message.contains("needs tcpdump");
        assert!(message.contains(what) || may_not, "{arguments:?}: {message}");
    }
}
