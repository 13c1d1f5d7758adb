//! `whyslow export`: what it writes, where, and what it refuses.

use crate::{Folder, complaint, whyslow};
use serde_json::Value;
use std::fs;

fn sample(name: &str) -> String {
    format!("{}/../../samples/{name}.pcap", env!("CARGO_MANIFEST_DIR"))
}

fn exported(args: &[&str]) -> Vec<u8> {
    whyslow().arg("export").args(args).assert().code(0).stderr("").get_output().stdout.clone()
}

fn text(args: &[&str]) -> String {
    String::from_utf8(exported(args)).unwrap()
}

#[test]
fn packets_with_what_the_analysis_says_of_them() {
    let file = sample("loss-server");
    let csv = text(&[&file, "--csv"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name| rows[0].iter().position(|title| *title == name).unwrap();
    assert_eq!(rows.len() - 1, 1_465, "each packet of the capture has a row");
    assert_eq!(rows.iter().filter(|row| row[column("kind")] == "fast-retransmission").count(), 7);
    assert_eq!(rows.iter().filter(|row| row[column("notes")].contains("duplicate-ack")).count(), 286);
    // Wireshark's frame 5 and 6: the first two segments of the answer.
    assert_eq!([rows[6][column("seq")], rows[6][column("len")]], ["1", "1448"]);
    let lines = text(&[&file, "--jsonl"]);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["schema"], &first["flags"]), (&"whyslow-packets/1".into(), &"S".into()));
    assert_eq!(lines.lines().count(), rows.len() - 1);
}

#[test]
fn a_picture_of_every_track() {
    let file = sample("timeout-server");
    for track in ["time-sequence", "in-flight", "rtt", "throughput", "window"] {
        let svg = text(&[&file, "--svg", "--track", track]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{track}");
    }
    assert!(text(&[&file, "--svg"]).contains(">T</text>"), "the timer's copies have their letter");
    let folder = Folder::new();
    let path = folder.put("a.png", b"");
    let name = path.to_str().unwrap();
    whyslow().args(["export", &file, "--png", "--size", "400x300", "-o", name]).assert().code(0).stdout("").stderr("");
    let png = fs::read(path).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    // IHDR: width and height.
    assert_eq!((&png[16..20], &png[20..24]), (&400_u32.to_be_bytes()[..], &300_u32.to_be_bytes()[..]));
}

#[test]
fn a_shorter_time_shows_only_what_is_in_it() {
    let file = sample("loss-server");
    let whole = text(&[&file, "--svg"]);
    let early = text(&[&file, "--svg", "--to", "0.1"]);
    assert!(whole.contains(">F</text>") && !early.contains(">F</text>"));
}

#[test]
fn graphs_for_xplot_are_eight_files() {
    let folder = Folder::new();
    let inside = folder.put("x", b"").with_file_name("graphs");
    let file = format!("{}#1", sample("loss-server"));
    let output = whyslow().args(["export", &file, "--xplot", "-o"]).arg(&inside).assert().code(0).stdout("");
    let told = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    let names: Vec<_> = told.lines().map(|path| path.rsplit_once("loss-server.pcap.1.").unwrap().1).collect();
    let expected = ["c2s_tsg", "c2s_tput", "c2s_rtt", "c2s_owin", "s2c_tsg", "s2c_tput", "s2c_rtt", "s2c_owin"];
    assert_eq!(names, expected.map(|name| format!("{name}.xpl")));
    let graph = fs::read_to_string(inside.join("loss-server.pcap.1.s2c_tsg.xpl")).unwrap();
    assert_eq!(graph.matches("\nF\n").count(), 7);
    assert!(graph.ends_with("go\n"));
}

#[test]
fn a_summary_for_a_ticket() {
    let summary = text(&[&sample("receive-window-client"), "--markdown"]);
    assert!(summary.starts_with("### 10.77.0.1:50536 → 10.77.0.2:5001\n"), "{summary}");
    assert!(summary.contains("**receive-window** (2.21 s): the receiver's window of 18,824 B was full"), "{summary}");
    assert!(summary.contains("<details><summary>23 rounds</summary>"), "{summary}");
}

#[test]
fn what_cannot_be_exported_is_refused_with_a_reason() {
    let file = sample("loss-server");
    let refused = |args: &[&str]| complaint(whyslow().arg("export").args(args));
    assert!(refused(&[&file]).contains("--csv"));
    assert!(refused(&[&file, "--csv", "--svg"]).contains("cannot be used with"));
    assert!(refused(&[&format!("{file}#2"), "--csv"]).contains("there is no connection 2"));
    assert!(refused(&[&format!("{file}#1.2"), "--csv"]).contains("connections are exported whole"));
    assert!(refused(&["-", "--csv"]).contains("read twice, which a pipe cannot be"));
    assert!(refused(&[&file, "--svg", "--size", "9x9"]).contains("out of range"));
    assert!(refused(&[&file, "--svg", "--from", "1e9"]).contains("there is nothing from"));
    assert!(refused(&["missing.pcap", "--csv"]).contains("missing.pcap"));
}
