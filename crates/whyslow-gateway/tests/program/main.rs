//! `whyslow-gateway` as its users meet it.
#![allow(clippy::unwrap_used, missing_docs)]

mod objects;
#[cfg(unix)]
mod outputs;
#[cfg(target_os = "linux")]
mod serve;

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with files in it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// stderr of a run that must fail with status 2 and print nothing on stdout.
fn complaint(command: &mut Command) -> String {
    let output = command.assert().code(2).stdout("");
    String::from_utf8(output.get_output().stderr.clone()).unwrap()
}
