//! The command line as its users meet it: what it prints, where, and its exit status.

#[cfg(target_os = "linux")]
mod action;
mod arguments;
mod capture;
mod ci;
mod compare;
mod evidence;
mod export;
#[cfg(unix)]
mod gateway;
mod inputs;
#[cfg(unix)]
mod interrupt;
mod keys;
#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod names;
mod outputs;
#[cfg(target_os = "linux")]
mod page;
pub(crate) mod pcap;
mod predict;
#[cfg(all(target_os = "linux", feature = "remote"))]
mod remote;
#[cfg(all(target_os = "linux", feature = "parquet"))]
mod replaced;
mod select;
mod sets;
mod stitch;
mod tables;
mod texts;
mod wireshark;
#[cfg(all(target_os = "linux", feature = "remote"))]
mod wrong;

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The program, in an environment without colour settings.
pub(crate) fn whyslow() -> Command {
    let mut command = Command::cargo_bin("whyslow").unwrap();
    command
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CLICOLOR")
        .env_remove("COLUMNS")
        .env_remove("SSLKEYLOGFILE")
        .env("TERM", "xterm-256color");
    command
}

/// A folder with files in it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn put(&self, name: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// The output of `--json` for files; the status must be 0.
pub(crate) fn json(files: &[PathBuf]) -> Value {
    let output = whyslow().arg("--json").args(files).assert().code(0).stderr("");
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

/// The JSON of a capture with its sentences (`--words`); the status must be 0.
pub(crate) fn json_with_words(file: &Path) -> Value {
    let output = whyslow().args(["--json", "--words"]).arg(file).assert().code(0).stderr("");
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

/// stderr of a run that must fail with status 2 and print nothing on stdout.
pub(crate) fn complaint(command: &mut Command) -> String {
    let output = command.assert().code(2).stdout("");
    String::from_utf8(output.get_output().stderr.clone()).unwrap()
}
