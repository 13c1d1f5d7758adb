//! Which connections are explained, and how the page of them is laid out.

use super::{Folder, complaint, json, pcap, whyslow};
use crate::common::sample;
use serde_json::Value;
use std::path::PathBuf;

/// Three connections: ports 40000 and 40001, and ten minutes later 40002.
fn three(folder: &Folder) -> PathBuf {
    let start = 1_700_000_000_000_000;
    let packets = [(40_000, 0), (40_001, 1_000), (40_002, 600_000_000)];
    let three = pcap::merged(packets.map(|(port, later)| pcap::slow_on(port, start + later)));
    folder.put("three.pcap", &pcap::file(&three))
}

fn stdout(arguments: &[&str], file: &PathBuf) -> String {
    let output = whyslow().args(arguments).arg(file).assert().code(0).get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

fn selected(arguments: &[&str], file: &PathBuf) -> (Vec<u64>, Value) {
    let mut all = arguments.to_vec();
    all.push("--json");
    let printed: Value = serde_json::from_str(&stdout(&all, file)).unwrap();
    let ids = printed["connections"].as_array().unwrap().iter().map(|one| one["id"].as_u64().unwrap()).collect();
    (ids, printed)
}

#[test]
fn connections_are_selected_and_the_others_counted() {
    let folder = Folder::new();
    let file = three(&folder);
    for (arguments, ids) in [
        (&["-Y", "port 40001"][..], &[2][..]),
        (&["--filter", "not tcp.port == 40001"], &[1, 3]),
        (&["-Y", "tcp.stream == 0 or tcp.srcport > 40001"], &[1, 3]),
        (&["--from", "300"], &[3]),
        (&["--to", "300"], &[1, 2]),
        (&["--cause", "slow-start"], &[1, 2, 3]),
        (&["--cause", "zero-window"], &[]),
        (&["--slower-than", "30min"], &[]),
        (&["--server", "nobody.example"], &[]),
        (&["--to", "300", "-Y", "client port 40000"], &[1]),
    ] {
        let (found, printed) = selected(arguments, &file);
        assert_eq!(found, ids, "{arguments:?}");
        let problems = printed["captures"][0]["problems"].as_array().unwrap();
        let note = problems.iter().find(|problem| problem["slug"] == "selection").unwrap();
        assert_eq!(note["count"], 3 - ids.len(), "{arguments:?}");
        let page = stdout(arguments, &file);
        assert!(page.contains(&format!("{} of 3 connections left out by --", 3 - ids.len())), "{page}");
        assert!(!ids.is_empty() || page.starts_with("No connection matches"), "{page}");
    }
    let server = json(std::slice::from_ref(&file))["connections"][0]["server"].clone();
    let name = format!("{}:{}", server["address"].as_str().unwrap(), server["port"]);
    assert_eq!(selected(&["--server", &name], &file).0, [1, 2, 3]);
}

#[test]
fn a_filter_that_makes_no_sense_is_refused_with_its_place() {
    let complaint = complaint(whyslow().args(["-Y", "port 443 adn host a", "f.pcap"]));
    assert!(complaint.contains("unknown test `adn`\n  |\n  | port 443 adn host a\n"), "{complaint}");
    assert!(complaint.contains("did you mean `and`?"), "{complaint}");
    assert!(complaint.contains("\n  |          ^^^\n"), "{complaint}");
}

/// The page's own test reads the same table: `web/test/filters.test.mjs`.
#[test]
fn filters_of_the_table_match_as_on_the_page() {
    let table: Value =
        serde_json::from_str(include_str!("../../../../whyslow-cli/src/select/filter/cases.json")).unwrap();
    let strings = |list: &Value| -> Vec<String> { serde_json::from_value(list.clone()).unwrap() };
    let files: Vec<_> = strings(&table["captures"]).iter().map(|name| sample(name)).collect();
    for case in table["filters"].as_array().unwrap() {
        let filter = format!("--filter={}", case[0].as_str().unwrap());
        let out = whyslow().args(["--json", &filter]).args(&files).output().unwrap();
        assert!(out.status.success(), "{filter}: {}", String::from_utf8_lossy(&out.stderr));
        let printed: Value = serde_json::from_slice(&out.stdout).unwrap();
        let ids: Vec<_> = printed["connections"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, case[1].as_array().unwrap().iter().collect::<Vec<_>>(), "{filter}");
    }
    for case in table["errors"].as_array().unwrap() {
        let words = strings(case);
        let complaint = complaint(whyslow().arg(format!("--filter={}", words[0])).args(&files));
        for word in &words[1..] {
            assert!(complaint.contains(word.as_str()), "{}: {complaint}", words[0]);
        }
    }
}

#[test]
fn summary_of_files_has_three_lines_with_the_time_of_day() {
    let folder = Folder::new();
    let file = three(&folder);
    let text = stdout(&["--summary", "--lang", "en"], &file);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.starts_with("When: 2023-11-14 22:13:2") && text.contains(" UTC, connection "), "{text}");
    let other = folder.put("other.pcap", &pcap::file(&pcap::slow_on(50_000, 1_700_000_900_000_000)));
    let both = whyslow().args(["--summary", "--lang", "en"]).args([&file, &other]).output().unwrap();
    assert_eq!(String::from_utf8(both.stdout).unwrap().lines().count(), 3);
}

#[test]
fn a_name_of_a_transfer_shows_it_alone() {
    let file = sample("new-connection-each-time-server");
    let name = |which: &str| PathBuf::from(format!("{}#{which}", file.display()));
    let shown = |which: &str| stdout(&["--lang", "en"], &name(which));
    assert!(shown("3").contains("transfer 1 of 2") && shown("3").contains("transfer 2 of 2"));
    assert!(!shown("3.2").contains("transfer 1 of 2") && shown("3.2").contains("transfer 2 of 2"));
    for arguments in [&[][..], &["report", "-o", "page.html"]] {
        let complaint = complaint(whyslow().args(arguments).arg(name("3.7")));
        assert!(complaint.contains("there is no transfer 7: connection 3 has 1 to 2"), "{complaint}");
    }
}

#[test]
fn a_time_decides_what_fails() {
    let folder = Folder::new();
    let file = three(&folder);
    for (wish, code) in [("slow-start>1us", 1), ("slow-start>30min", 0), ("any", 1), ("any>30min", 0)] {
        whyslow().args(["--fail-on", wish]).arg(&file).assert().code(code);
    }
    // Connections that are not selected do not fail the run.
    whyslow().args(["--fail-on", "any", "-Y", "port 1"]).arg(&file).assert().code(0);
}

#[test]
fn a_line_a_transfer() {
    let folder = Folder::new();
    let file = three(&folder);
    let transfers: usize = json(std::slice::from_ref(&file))["connections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["transfers"].as_array().unwrap().len())
        .sum();
    let brief = stdout(&["--brief"], &file);
    assert_eq!(brief.lines().count(), 1 + transfers, "{brief}");
    let tsv = stdout(&["--tsv"], &file);
    assert!(tsv.starts_with("connection\ttransfer\tclient\tserver\tfrom\tstart_s\t"), "{tsv}");
    assert_eq!(tsv.lines().count(), 1 + transfers, "{tsv}");
    assert!(tsv.lines().all(|line| line.split('\t').count() == 14), "{tsv}");
    complaint(whyslow().args(["--brief", "--json"]).arg(&file));
}

#[test]
fn a_line_a_file() {
    let folder = Folder::new();
    let (three, junk) = (three(&folder), folder.put("junk.pcap", &[7; 200]));
    let output = whyslow().arg("--table").args([&three, &junk, &three]).assert().code(1);
    let table = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("file") && lines[0].contains("min RTT"), "{table}");
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[1].contains("three.pcap") && lines[1].contains("slow-start"), "{table}");
    assert!(lines[2].contains("junk.pcap: ") && lines[3] == lines[1], "{table}");
}

#[test]
fn the_page_is_as_wide_as_it_is_asked_to_be() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let widest = |columns: &str| {
        let output = whyslow().env("COLUMNS", columns).arg(&file).assert().code(0).get_output().stdout.clone();
        // The row of limits fills the page.
        let page = String::from_utf8(output).unwrap();
        page.lines().filter(|line| line.starts_with("  0 ")).map(|line| line.chars().count()).max().unwrap()
    };
    assert_eq!(["60", "80", "200", "1", "1000"].map(widest), [60, 80, 200, 60, 200]);
    assert_eq!(["", "wide", "0"].map(widest), [100; 3]);
}

#[test]
fn a_misspelt_command_is_not_a_file() {
    let complaint = complaint(whyslow().args(["explian", "slow.pcap"]));
    assert!(complaint.contains("did you mean the command `explain`?"), "{complaint}");
    let other = super::complaint(whyslow().arg("nothing.pcap"));
    assert!(!other.contains("did you mean"), "{other}");
}

#[test]
fn every_command_has_a_manual_page() {
    let page = whyslow().arg("man").assert().code(0).get_output().stdout.clone();
    let page = String::from_utf8(page).unwrap();
    let folder = Folder::new();
    whyslow().args(["man", "-o"]).arg(folder.0.path().join("man1")).assert().code(0).stdout("");
    for name in ["whyslow", "whyslow-explain", "whyslow-compare", "whyslow-export", "whyslow-predict"] {
        assert!(page.contains(&format!(".TH {name} 1")), "{name}");
        assert!(folder.0.path().join(format!("man1/{name}.1")).is_file(), "{name}");
    }
}
