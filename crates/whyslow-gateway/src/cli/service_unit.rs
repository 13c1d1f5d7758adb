//! The unit of systemd in the Debian package starts this program with valid arguments.
#![allow(clippy::unwrap_used)]

use super::args::{Args, Gateway};
use clap::Parser;
use std::process::Command;
use whyslow_testing::rare_tools;

const UNIT: &str = include_str!("../../../../packaging/whyslow-gateway.service");
/// The program's path in the package.
const PROGRAM: &str = "/usr/bin/whyslow-gateway";

#[test]
fn unit_starts_the_gateway_with_known_options() {
    let line = UNIT.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    assert!(line.starts_with(PROGRAM), "{line}");
    let args = Args::try_parse_from(line.split(' ')).unwrap();
    assert!(matches!(args.task, Gateway::Serve(_)), "{args:?}");
}

#[test]
fn unit_is_accepted_by_systemd() {
    if !rare_tools(&["systemd-analyze"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whyslow-gateway.service");
    std::fs::write(&path, UNIT.replace(PROGRAM, "/bin/true")).unwrap();
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    assert!(!complaint.contains("whyslow-gateway.service:"), "{complaint}");
}
