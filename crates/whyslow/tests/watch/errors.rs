//! What cannot be watched.

use crate::{piped, sample, watch};
use std::process::Output;

/// The message of a run that must fail, with no other output.
#[track_caller]
fn fails(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

#[test]
fn what_is_no_capture_is_said() {
    let said = fails(&piped(b"\x7fELF\x02\x01\x01\x00 and more that is no packet", 10, &["--jsonl"]));
    assert!(said.contains("standard input"), "{said}");
    let said = fails(&piped(b"", 10, &[]));
    assert!(said.contains("standard input"), "{said}");
}

#[test]
fn a_capture_that_breaks_off_is_told_as_far_as_it_came() {
    let bytes = std::fs::read(sample("loss-client")).unwrap();
    let output = piped(&bytes[..bytes.len() / 2], 1_000, &["--slower-than", "1ms"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains(" B down in ") && text.contains("torn-record"), "{text}");
}

#[test]
fn files_that_are_not_there_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.pcap").display().to_string();
    assert!(fails(&watch(&[&missing]).output().unwrap()).contains("none.pcap"));
    let said = fails(&watch(&[&format!("{}/", folder.path().display())]).output().unwrap());
    assert!(said.contains("this is a folder"), "{said}");
    let said = fails(&watch(&[&format!("{}/[.pcap", folder.path().display())]).output().unwrap());
    assert!(said.contains("no pattern"), "{said}");
    let output = watch(&[&format!("{}/*.pcap", folder.path().display()), "--for", "1s"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("waiting for one"), "{said}");
}

#[test]
fn options_that_cannot_be_are_said() {
    for (arguments, what) in [
        (&["-", "--metrics", "nowhere"][..], "--metrics"),
        (&["-", "--metrics", "192.0.2.1:9464"], "192.0.2.1:9464"),
        (&["-", "--for", "soon"], "is not a time"),
        (&["-", "--slower-than", "2"], "has no unit"),
        (&["-", "--cause", "moon-phase"], "moon-phase"),
        (&["-", "--keep", "/no/such/folder/a.pcapng"], "/no/such/folder"),
        (&["-", "--keep", "/dev/null", "--memory", "1kB"], "--memory"),
        (&["-i", "no-such-device"], "no-such-device"),
        (&["-i", "lo", "port", "moon"], "port moon"),
        (&["-i", "lo", "--snaplen", "1B"], "snaplen"),
    ] {
        let said = fails(&watch(arguments).output().unwrap());
        let may_not = said.contains("CAP_NET_RAW") || said.contains("needs tcpdump");
        assert!(said.contains(what) || may_not, "{arguments:?}: {said}");
    }
}
