//! A watch of root goes on as another user.

use crate::watch;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use whyslow_testing::{Lack, skip};

#[test]
fn root_becomes_nobody_once_it_listens() {
    if !rustix::process::geteuid().is_root() {
        return skip(Lack::Machine, "only root has rights to give up");
    }
    let mut command = watch(&["-i", "lo", "--for", "1s", "--lines"]);
    command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    let line = said.lines().map(Result::unwrap).find(|line| line.contains("listening on"));
    assert!(line.is_some());
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    for line in ["Uid:\t65534\t65534\t65534\t65534", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(status.lines().any(|found| found == line), "{line:?} is not in {status}");
    }
    assert!(child.wait().unwrap().success());
}
