//! Output must be possible for the capture: no cost beyond the time that there was, no rate that
//! is not bytes by time, no round trip longer than its connection, no certainty that the model of
//! the same transfer contradicts. This needs no truth, so it holds for every capture there is.

use super::common;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Captures that end within a second only in an optimised build.
const LONG: &[&str] = &["hang.pcap"];
/// Files next to captures that are not captures.
const OTHERS: &[&str] = &["gz.json", "json", "log", "md", "py", "sh", "toml", "zip"];

/// All captures below a folder, in the order of their names.
fn captures_in(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_other = OTHERS.iter().any(|ending| name.ends_with(ending)) || LONG.contains(&name.as_str());
        if path.is_dir() {
            captures_in(&path, found);
        } else if !is_other && !name.ends_with(".ss.gz") {
            found.push(path);
        }
    }
}

/// Contradictions in the output for these captures; unreadable captures have none.
fn impossible(captures: &[PathBuf]) -> Vec<String> {
    let judge = |path: &PathBuf| {
        let out = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(path).arg("--json").output().unwrap();
        let analysis: Value = serde_json::from_slice(&out.stdout).ok()?;
        // Other programs' output (`whyslow-evidence/2`) has no packets to contradict.
        let is_capture = analysis["schema"] == "whyslow/2";
        let wrong = is_capture.then(|| common::consistent(&analysis).err())??;
        Some(format!("{}: {wrong}", path.display()))
    };
    captures.iter().filter_map(judge).collect()
}

#[test]
fn samples_are_explained_without_contradiction() {
    let mut captures = Vec::new();
    captures_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples"), &mut captures);
    assert!(captures.len() > 50, "{}", captures.len());
    let wrong = impossible(&captures);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn captures_of_others_are_explained_without_contradiction() {
    let Some(folder) = whyslow_testing::captures() else { return };
    let mut captures = Vec::new();
    captures_in(&folder, &mut captures);
    let wrong = impossible(&whyslow_testing::part_of(captures));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
