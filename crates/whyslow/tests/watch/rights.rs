//! A watch that root starts continues as another user.

use crate::watch;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;
use whyslow_testing::{Lack, skip};

#[test]
fn root_becomes_nobody_once_it_listens() {
    if !rustix::process::geteuid().is_root() {
        return skip(Lack::Machine, "only root has rights to give up");
    }
    let mut command = watch(&["-i", "lo", "--for", "1s", "--lines"]);
    command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let messages = BufReader::new(child.stderr.take().unwrap());
    let line = messages.lines().map(Result::unwrap).find(|line| line.contains("listening on"));
    assert!(line.is_some());
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    for line in ["Uid:\t65534\t65534\t65534\t65534", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(status.lines().any(|found| found == line), "{line:?} is not in {status}");
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn root_still_learns_which_program_opens_a_connection() {
    if !rustix::process::geteuid().is_root() {
        return skip(Lack::Machine, "only root has rights to give up");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let filter = format!("tcp port {port}");
    let mut child = watch(&["-i", "lo", "--jsonl", "--for", "6s", &filter])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(messages.any(|line| line.contains("listening on")));
    // It is opened after the rights are gone, and open while the helper looks.
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut server = listener.accept().unwrap().0;
    client.write_all(b"ask").unwrap();
    server.read_exact(&mut [0; 3]).unwrap();
    std::thread::sleep(Duration::from_millis(2_500));
    server.write_all(&[0; 100_000]).unwrap();
    drop(server);
    client.read_to_end(&mut Vec::new()).unwrap();
    drop(client);
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    let of = |line: &str| -> serde_json::Value { serde_json::from_str(line).unwrap() };
    let transfers: Vec<_> = lines.iter().map(|line| of(line)).filter(|line| line["type"] == "transfer").collect();
    let named = transfers.iter().any(|line| line["process"].as_str().is_some_and(|name| name.starts_with("watch-")));
    assert!(named, "{transfers:#?}");
}
