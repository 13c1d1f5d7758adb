//! Captures that were scanned one by one, and stitched.

use crate::common;
use crate::pcap;
use crate::{Folder, complaint, whyslow};
use serde_json::Value;
use std::path::{Path, PathBuf};

const START: u64 = 1_700_000_000_000_000;

/// Scans each capture by a run of its own, into a folder.
fn scan(files: &[PathBuf], out: &Path) {
    for file in files {
        whyslow().arg("condense").arg(file).arg("--out").arg(out).assert().code(0).stdout("").stderr("");
    }
}

fn stdout(arguments: &[&str], files: &[PathBuf]) -> String {
    let output = whyslow().args(arguments).args(files).assert().code(0).stderr("");
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

/// Six downloads that overlap, in files that were cut anywhere.
fn rotated(folder: &Folder, cuts: &[usize]) -> Vec<PathBuf> {
    let packets = pcap::merged((0..6).map(|n| pcap::slow_on(40_000 + n, START + 700_000 * u64::from(n))));
    let ends = cuts.iter().copied().chain([packets.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let part = |(number, (start, end))| folder.put(format!("day-{number:03}.pcap"), &pcap::file(&packets[start..end]));
    starts.zip(ends).enumerate().map(part).collect()
}

#[test]
fn what_is_scanned_in_parts_is_printed_as_the_captures_are() {
    let folder = Folder::new();
    for (round, cuts) in [vec![], vec![1], vec![40, 41, 300], vec![100, 200, 300, 400, 500]].iter().enumerate() {
        let files = rotated(&folder, cuts);
        let out = [folder.put(format!("in{round}"), b""), folder.put(format!("other{round}"), b"")];
        let out = out.map(|path| path.with_extension("d"));
        // In any grouping: some here, some there.
        let (some, others) = files.split_at(files.len() / 2);
        scan(some, &out[0]);
        scan(others, &out[1]);
        let folders: Vec<_> = out.iter().rev().filter(|path| path.exists()).cloned().collect();
        for shape in [&["--json"][..], &["--tsv"], &[]] {
            let expected = stdout(shape, &files);
            assert_eq!(stdout(&[&["merge"], shape].concat(), &folders), expected, "cut before {cuts:?}");
        }
    }
}

#[test]
fn both_ends_are_compared() {
    let folder = Folder::new();
    for name in ["loss", "tls", "receive-window", "reordering"] {
        let files = ["client", "server"].map(|end| common::sample(&format!("{name}-{end}")));
        let out = folder.put(name, b"").with_extension("d");
        scan(&files, &out);
        let expected = stdout(&["--json"], &files);
        assert!(expected.contains("\"pairs_total\": 1"), "{name}");
        assert_eq!(stdout(&["merge", "--json"], &[out]), expected, "{name}");
    }
}

#[test]
fn what_is_missing_or_torn_costs_only_itself() {
    let folder = Folder::new();
    let files = rotated(&folder, &[200, 400]);
    let out = folder.put("out", b"").with_extension("d");
    scan(&files, &out);
    let missing = files[0].with_file_name("day-007.pcap");
    let scanned = whyslow().arg("condense").arg(&missing).arg("--out").arg(&out).assert().code(2).stdout("");
    assert!(String::from_utf8_lossy(&scanned.get_output().stderr).contains("day-007.pcap"));
    let torn = out.join("day-001.pcap.condensed.zst");
    let bytes = std::fs::read(&torn).unwrap();
    std::fs::write(&torn, &bytes[..10]).unwrap();
    let analysis: Value = serde_json::from_str(&stdout(&["merge", "--json"], &[out])).unwrap();
    let captures = analysis["captures"].as_array().unwrap();
    let unread: Vec<_> = captures
        .iter()
        .filter(|capture| capture["problems"].as_array().unwrap().iter().any(|problem| problem["slug"] == "unread"))
        .map(|capture| capture["path"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(unread, ["day-007.pcap", "day-001.pcap.condensed.zst"]);
    assert_eq!(captures.len(), 4);
    assert!(!analysis["connections"].as_array().unwrap().is_empty());
}

#[test]
fn inputs_that_cannot_be_stitched_are_reported() {
    let folder = Folder::new();
    let empty = folder.put("x", b"").with_extension("d");
    std::fs::create_dir(&empty).unwrap();
    assert!(complaint(whyslow().arg("merge").arg(&empty)).contains("holds no condensed capture"));
    assert!(complaint(whyslow().arg("merge")).contains("name the condensed captures"));
    let none = folder.put("none.condensed.zst", b"");
    assert!(complaint(whyslow().arg("merge").arg(&none)).contains("none of the condensed captures can be read"));
    let mut row = vec![0xd7, b'w', b'h', b'y', 99, 1];
    row.extend(12u32.to_le_bytes());
    row.extend([0; 12]);
    let other = folder.put("other.condensed", &row);
    let sample = common::sample("loss-client");
    let message = complaint(whyslow().arg("merge").arg(&other).arg(&sample));
    assert!(message.contains("version 99 of the format"), "{message}");
    let message = complaint(whyslow().arg("condense").arg(&sample).arg(&sample).arg("--out").arg(&empty));
    assert!(message.contains("two captures are named loss-client.pcap"), "{message}");
}
