//! A probe started by root gives up root's rights before it talks to a server.

use crate::{probe, servers};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use whyslow_testing::{Lack, skip};

/// Starts a probe, and shows its status while the server has its request and has not answered.
fn status_while_asking(arguments: &[&str]) -> (String, Child) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut command = probe(&[&[url.as_str()], arguments].concat());
    command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let _ = std::io::Read::read(&mut stream, &mut [0; 4096]).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    servers::respond(&mut stream, "200 OK", b"ok");
    (status, child)
}

#[track_caller]
fn assert_status_has(status: &str, lines: &[&str]) {
    for line in lines {
        assert!(status.lines().any(|found| found == *line), "{line:?} is not in {status}");
    }
}

const NOTHING: [&str; 4] =
    ["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"];

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(Lack::Machine, "only root has rights to give up");
    }
    is_root
}

#[test]
fn root_becomes_nobody_before_it_asks() {
    if !is_root() {
        return;
    }
    let (status, child) = status_while_asking(&["--json"]);
    assert_status_has(&status, &NOTHING);
    assert_status_has(&status, &["Uid:\t65534\t65534\t65534\t65534", "Gid:\t65534\t65534\t65534\t65534"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // Packets are recorded, because the socket was open.
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(printed["recording"]["packets"].as_u64().unwrap() >= 6, "{}", printed["recording"]);
}

#[test]
fn files_of_root_are_written_without_capabilities() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("own.pcapng");
    let (status, child) = status_while_asking(&["--capture", &capture.display().to_string()]);
    assert_status_has(&status, &NOTHING);
    assert_status_has(&status, &["Uid:\t0\t0\t0\t0"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::metadata(&capture).unwrap().len() > 500);
    // Another user's folder: only the rights to files remain.
    std::os::unix::fs::chown(folder.path(), Some(4_711), Some(4_711)).unwrap();
    let other = folder.path().join("other.pcapng");
    let (status, child) = status_while_asking(&["--capture", &other.display().to_string()]);
    assert_status_has(&status, &["CapEff:\t000000000000000b", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"]);
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(Path::new(&other).exists());
}
