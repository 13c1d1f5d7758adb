//! Arguments, help, exit status and colour.

use crate::{Folder, complaint, json, pcap, whyslow};
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn files_need_no_command() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let bare = whyslow().arg(&file).assert().code(0).get_output().stdout.clone();
    let explain = whyslow().arg("explain").arg(&file).assert().code(0).get_output().stdout.clone();
    assert!(!bare.is_empty());
    assert_eq!(bare, explain);
}

#[test]
fn a_file_named_like_a_command_is_read_by_its_path() {
    let folder = Folder::new();
    folder.put("man", &pcap::file(&pcap::slow()));
    let printed = whyslow().current_dir(folder.0.path()).arg("./man").assert().code(0).get_output().stdout.clone();
    assert!(String::from_utf8(printed).unwrap().contains("(./man, captured at the "));
    // Behind a file there are only files; in front of a command there is nothing that it would not
    // know.
    whyslow().current_dir(folder.0.path()).args(["./man", "man"]).assert().code(0);
    let complaint = complaint(whyslow().current_dir(folder.0.path()).args(["--json", "man"]));
    assert!(complaint.contains("./NAME"), "{complaint}");
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let coloured = |args: &[&str]| {
        let output = whyslow().args(args).arg(&file).assert().code(0).get_output().stdout.clone();
        output.contains(&0x1b)
    };
    assert!(!coloured(&[]));
    assert!(!coloured(&["--color", "never"]));
    assert!(coloured(&["--color", "always"]));
    assert!(coloured(&["--color=always", "explain"]));
    assert!(!coloured(&["--color=always", "--json"]));
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    let folder = Folder::new();
    // More than a pipe holds.
    let many = pcap::merged((0..300).map(|n| pcap::slow_on(20_000 + n, 1_700_000_000_000_000 + u64::from(n))));
    let file = folder.put("many.pcap", &pcap::file(&many));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("whyslow"))
        .arg("--json")
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn fail_on_sets_the_exit_status() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let plain = whyslow().arg(&file).assert().code(0).get_output().stdout.clone();
    let found = whyslow().args(["--fail-on", "slow-start"]).arg(&file).assert().code(1).get_output().stdout.clone();
    assert_eq!(plain, found);
    whyslow().args(["--fail-on", "zero-window"]).arg(&file).assert().code(0);
    whyslow().args(["--fail-on", "zero-window", "--fail-on", "slow-start"]).arg(&file).assert().code(1);
    let complaint = complaint(whyslow().args(["--fail-on", "slow-strat"]).arg(&file));
    assert!(complaint.contains("did you mean `slow-start`?"), "{complaint}");
}

#[test]
fn no_promise_exceeds_the_given_path_rate() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/receive-window-client.pcap");
    let found = |rate: &[&str]| {
        let output = whyslow().args(rate).args(["--json", sample]).assert().code(0).get_output().stdout.clone();
        let analysis: serde_json::Value = serde_json::from_slice(&output).unwrap();
        let mut transfers = analysis["connections"][0]["transfers"].as_array().unwrap().clone();
        transfers.sort_by_key(|transfer| transfer["bytes"].as_u64());
        let transfer = transfers.pop().unwrap();
        let finding = transfer["findings"][0].clone();
        assert_eq!(finding["cause"], "receive-window");
        let fix = finding["remedies"][0]["parameters"].to_string();
        (
            transfer["bytes"].as_f64().unwrap() * 8.0,
            finding["remedies"].as_array().unwrap().iter().find_map(|remedy| remedy["predicted_s"].as_f64()),
            fix,
        )
    };
    let (bits, as_seen, _) = found(&[]);
    let (_, promised, fix) = found(&["--path-rate", "2Mbit"]);
    assert!(as_seen.unwrap() < bits / 2e6, "{as_seen:?}");
    assert!(promised.unwrap() >= bits / 2e6 && promised.unwrap() < bits / 2e6 + 0.5, "{promised:?}");
    assert!(fix.contains(r#""rate":"given","rate_bps":2000000.0"#), "{fix}");
    let (_, promised, _) = found(&["--path-rate", "1mbit"]);
    assert_eq!(promised, None, "it carries less than was measured");
    let complaint = complaint(whyslow().args(["--path-rate", "100", sample]));
    assert!(complaint.contains("has no unit"), "{complaint}");
}

#[test]
fn causes_are_explained() {
    let list = whyslow().arg("causes").assert().code(0).get_output().stdout.clone();
    let list = String::from_utf8(list).unwrap();
    for cause in whyslow_analysis::cause::Cause::ALL {
        assert!(list.contains(&format!("- {}: ", cause.slug())), "{list}");
        let one = whyslow().args(["causes", cause.slug()]).assert().code(0).get_output().stdout.clone();
        assert!(String::from_utf8(one).unwrap().starts_with(&format!("{}\n", cause.slug())));
    }
    let complaint = complaint(whyslow().args(["causes", "receve-window"]));
    assert!(complaint.contains("did you mean `receive-window`?"), "{complaint}");
}

#[test]
fn one_connection_of_several_in_full() {
    let folder = Folder::new();
    let two = pcap::merged([40_000, 40_001].map(|port| pcap::slow_on(port, 1_700_000_000_000_000)));
    let file = folder.put("two.pcap", &pcap::file(&two));
    assert_eq!(json(std::slice::from_ref(&file))["connections"].as_array().unwrap().len(), 2);
    let output = whyslow().args(["--json", "--connection", "2"]).arg(&file).assert().code(0);
    let one: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(one["connections"].as_array().unwrap().len(), 1);
    assert_eq!(one["connections"][0]["id"], 2);
    whyslow().args(["--connection", "2"]).arg(&file).assert().code(0);
    let complaint = complaint(whyslow().args(["--connection", "3"]).arg(&file));
    assert!(complaint.contains("there is no connection 3: the input holds 1 to 2"), "{complaint}");
}

#[test]
fn jsonl_has_an_object_a_line() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let output = whyslow().arg("--jsonl").arg(&file).assert().code(0).get_output().stdout.clone();
    let lines: Vec<serde_json::Value> =
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let whole = json(&[file]);
    assert_eq!(lines[0]["capture"], whole["captures"][0]);
    assert_eq!(lines[1]["connection"], whole["connections"][0]);
    assert_eq!(lines.len(), 2);
}

#[test]
fn help_version_completions_and_manual_are_printed() {
    for args in
        [&["--help"][..], &["-V"], &["help", "explain"], &["completions", "bash"], &["completions", "fish"], &["man"]]
    {
        let output = whyslow().args(args).assert().code(0).stderr("").get_output().stdout.clone();
        assert!(String::from_utf8(output).unwrap().contains("whyslow"), "{args:?}");
    }
}

#[test]
fn odd_arguments_are_refused_in_words() {
    for args in [
        &["--top", "-1", "f"][..],
        &["--connection", "x", "f"],
        &["--connection", "99999999999999999999999", "f"],
        &["--json", "--jsonl", "f"],
        &["--json", "--top", "3", "f"],
        &["--color", "green", "f"],
        &["--nonsense"],
        &["completions", "tcsh"],
        &["--json", "causes"],
    ] {
        let complaint = complaint(whyslow().args(args));
        assert!(complaint.starts_with("error: "), "{args:?}: {complaint}");
    }
}
