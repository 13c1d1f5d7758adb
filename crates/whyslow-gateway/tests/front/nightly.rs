//! The conformance cases in front of S3 services, every night (`make soak`). Cases that fail are in
//! `conformance_baseline.txt`: a case that begins to fail, or to pass, fails the test.

use crate::programs::failing_cases;
use crate::server::{KEY, SECRET, Server};
use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use whyslow_testing::{rare_tools, soaks};

struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the cases in front of a service that `start` starts at a port.
fn compare(name: &str, start: impl Fn(u16) -> Command) {
    if !soaks() || !rare_tools(&[name, "python3"]) {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = start(port).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _service = Service(child.unwrap());
    crate::until("a service", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let server = Server::in_front_of(format!("http://127.0.0.1:{port}"));
    let (found, printed) = failing_cases(&server);
    let lines = include_str!("conformance_baseline.txt").lines().filter(|line| !line.starts_with('#'));
    let of_service = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let expected: BTreeSet<_> =
        of_service.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect();
    assert_eq!(found, expected, "in front of {name}; {printed}");
}

#[test]
fn s3_in_front_of_moto_is_as_in_the_baseline() {
    compare("moto_server", |port| {
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        command
    });
}

#[test]
fn s3_in_front_of_versitygw_is_as_in_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    compare("versitygw", |port| {
        let mut command = Command::new("versitygw");
        command.args(["--port", &format!("127.0.0.1:{port}"), "--access", KEY, "--secret", SECRET, "posix"]);
        command.arg(folder.path());
        command
    });
}

#[test]
fn s3_in_front_of_s3s_fs_is_as_in_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    compare("s3s-fs", |port| {
        let mut command = Command::new("s3s-fs");
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--access-key", KEY, "--secret-key", SECRET]);
        command.arg(folder.path());
        command
    });
}
