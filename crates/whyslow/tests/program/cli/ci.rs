//! What build servers read: baselines, JUnit, annotations, Markdown.

use crate::common::sample;
use crate::{Folder, whyslow};
use serde_json::Value;

/// The JSON of a sample, with the bulk transfer's time under its largest limit scaled.
fn earlier(name: &str, factor: f64) -> Vec<u8> {
    let printed = whyslow().arg("--json").arg(sample(name)).output().unwrap();
    let mut run: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let transfer = &mut run["connections"][0]["transfers"][1];
    let duration = transfer["duration_s"].as_f64().unwrap();
    transfer["duration_s"] = (duration * factor).into();
    for limit in transfer["limits"].as_array_mut().unwrap() {
        limit["seconds"] = (limit["seconds"].as_f64().unwrap() * factor).into();
    }
    serde_json::to_vec(&run).unwrap()
}

#[test]
fn transfer_that_is_slower_than_the_baseline_fails_with_its_reason() {
    let folder = Folder::new();
    let capture = sample("sender-cap-server");
    let faster = folder.put("faster.json", &earlier("sender-cap-server", 0.5));
    let same = folder.put("same.json", &earlier("sender-cap-server", 1.0));
    let run = |baseline: &std::path::Path, rule: &str| {
        whyslow().args(["--fail-on", rule]).arg("--baseline").arg(baseline).arg(&capture).output().unwrap()
    };
    let slower = run(&faster, "slower");
    let text = String::from_utf8(slower.stdout).unwrap();
    assert_eq!(slower.status.code(), Some(1), "{text}");
    assert!(text.contains("#1.2 slower by") && text.contains("because sender-cap took"), "{text}");
    assert_eq!(run(&faster, "slower>500%").status.code(), Some(0));
    let unchanged = run(&same, "slower");
    let text = String::from_utf8(unchanged.stdout).unwrap();
    assert!(unchanged.status.code() == Some(0) && text.contains("2 transfers compared, 0 slower"), "{text}");
}

#[test]
fn baseline_that_is_none_is_refused() {
    let folder = Folder::new();
    let capture = sample("sender-cap-server");
    let other = folder.put("other.json", b"{\"schema\":\"whyslow/1\",\"connections\":[]}");
    let code = |arguments: &[&str]| whyslow().args(arguments).arg(&capture).output().unwrap().status.code();
    assert_eq!(code(&["--baseline", other.to_str().unwrap()]), Some(2));
    assert_eq!(code(&["--baseline", "/nowhere/run.json"]), Some(2));
    assert_eq!(code(&["--fail-on", "slower"]), Some(2));
}

#[test]
fn formats_of_build_servers_name_what_failed() {
    let capture = sample("sender-cap-server");
    let print = |format: &str| {
        let out = whyslow().args([format, "--fail-on", "sender-cap"]).arg(&capture).output().unwrap();
        assert_eq!(out.status.code(), Some(1));
        String::from_utf8(out.stdout).unwrap()
    };
    let junit = print("--junit");
    assert!(
        junit.starts_with("<?xml") && junit.contains("failures=\"1\"") && junit.contains("type=\"sender-cap\""),
        "{junit}"
    );
    let github = print("--github");
    assert!(github.starts_with("::error file=") && github.contains("title=whyslow%3A sender-cap::#1.2"), "{github}");
    let markdown = print("--markdown");
    assert!(
        markdown.starts_with("**whyslow**: The download was slow") && markdown.contains("| sender-cap |"),
        "{markdown}"
    );
}
