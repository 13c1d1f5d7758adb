//! Packets of slow transfers, kept while it serves.

#[path = "../../far/backend.rs"]
mod far_end;

use super::running::{Place, Running, until};
use super::{output, pattern};
use serde_json::Value;
use std::net::TcpListener;
use std::process::Command;
use whyslow_testing::{Lack, neighbour, skip};

#[test]
fn packets_of_slow_transfers_are_kept() {
    if !rustix::process::geteuid().is_root() {
        return skip(Lack::Machine, "root is needed to capture packets");
    }
    // The programs that capture and explain.
    let Some(whyslow) = neighbour("whyslow") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = listener.local_addr().unwrap();
    std::thread::spawn(move || far_end::run(&listener));
    let place = Place::new();
    assert_eq!(output(&mut place.command(&["init", "keys", "--store", "s3://bucket"])).0, Some(0));
    let mut command = place.command(&["serve", "--config", "keys/gateway.toml", "--no-auth"]);
    command.args(["--endpoint", &format!("http://{far}")]);
    command.env("AWS_ACCESS_KEY_ID", "any").env("AWS_SECRET_ACCESS_KEY", "any");
    // The fastest is slow.
    let gateway = Running::start(command, &["--keep", "slow.pcapng", "--slower-than", "1us"]);
    let (status, answer) = gateway.ask("PUT", "/bucket/one", &pattern(300_000, 1));
    assert_eq!(status, 200, "{}{}", String::from_utf8_lossy(&answer), gateway.stderr());
    // The recorder's line comes when it has ended for a while.
    let is_listed = |line: &str| line.contains("--keep: ") && line.contains("300,");
    until("a transfer is listed", || gateway.stderr().lines().any(is_listed));
    let errors = gateway.end();
    assert!(errors.contains("--keep: "), "{errors}");
    let mut explain = Command::new(whyslow);
    let (code, json, errors) = output(explain.arg(place.at("slow.pcapng")).arg("--json"));
    assert_eq!(code, Some(0), "{errors}");
    let analysis: Value = serde_json::from_str(&json).unwrap();
    let connections = analysis["connections"].as_array().unwrap();
    let transfers = connections.iter().flat_map(|one| one["transfers"].as_array().unwrap());
    assert!(transfers.map(|one| one["bytes"].as_u64().unwrap()).any(|bytes| bytes > 300_000), "{json}");
    // For a connection that was open before, the packets do not show which side opened it.
    let is_far = |end: &Value| end["port"] == far.port();
    assert!(connections.iter().all(|one| is_far(&one["server"]) || is_far(&one["client"])), "{json}");
}

#[test]
fn what_cannot_be_kept() {
    let place = Place::new();
    let mut command = place.command(&["serve", "--store", "file:store", "--no-auth", "--admin", "off"]);
    let (code, _, errors) = output(command.args(["--listen", "127.0.0.1:0", "--keep", "slow.pcapng"]));
    assert!(code == Some(2) && errors.contains("the store is a folder, which no packets go to"), "{errors}");
    let mut command = place.command(&["serve", "--store", "file:store", "--no-auth", "--slower-than", "2s"]);
    let (code, _, errors) = output(&mut command);
    assert!(code == Some(2) && errors.contains("--slower-than is for the packets that --keep FILE writes"), "{errors}");
}
