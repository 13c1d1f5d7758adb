//! On a network of the lab, with a server and a client that really run.

use crate::{checked, transfers};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use whyslow_testing::{Lack, skip};

/// Runs `script` in parallel with a watch with `arguments`, at the client's end of a path: the
/// lines of the watch, and its messages. `None` if there can be no paths here.
fn watched(folder: &Path, arguments: &str, script: &str) -> Option<(Vec<Value>, String)> {
    if !whyslow_testing::tools(&["nginx", "curl"]) {
        return None;
    }
    let here = folder.display();
    let config = format!(
        "daemon off; pid {here}/pid; error_log {here}/errors; worker_processes 1; events {{}}
         http {{ access_log off; client_body_temp_path {here}/t1; proxy_temp_path {here}/t2; fastcgi_temp_path {here}/t3;
                 uwsgi_temp_path {here}/t4; scgi_temp_path {here}/t5;
                 server {{ listen 0.0.0.0:8080; root {here}; keepalive_timeout 300; }} }}"
    );
    std::fs::write(folder.join("nginx.conf"), config).unwrap();
    std::fs::write(folder.join("file"), vec![b'x'; 600_000]).unwrap();
    let program = env!("CARGO_BIN_EXE_whyslow");
    let server = format!("exec nginx -p {here} -c {here}/nginx.conf -e stderr");
    let client = format!(
        "{program} watch {arguments} > {here}/printed 2> {here}/message & watch=$!; \
         for try in $(seq 100); do grep -qs listening {here}/message && break; sleep 0.1; done; \
         {script}; wait $watch; echo $? > {here}/status"
    );
    let mut command = Command::new(program);
    command.args(["lab", "exec", "--rtt", "40ms", "--server", &server, "--client", &client, "--out"]);
    let output = command.arg(folder.join("results")).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if message.contains("namespaces are not allowed") || message.contains("is not installed") {
        skip(Lack::Machine, message);
        return None;
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let message = format!("{message}\n{}", read("said"));
    assert_eq!(read("status").trim(), "0", "{message}");
    Some((read("printed").lines().map(checked).collect(), message))
}

const CURL: &str = "sleep 1; curl -s -o /dev/null http://$SERVER:8080/file";

#[test]
fn a_download_is_reported_and_its_packets_kept() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.pcapng").display().to_string();
    let arguments = format!("--jsonl --for 6s --keep {kept} --slower-than 10ms");
    let Some((lines, message)) = watched(folder.path(), &arguments, CURL) else { return };
    let large: Vec<_> = transfers(&lines).into_iter().filter(|(_, _, bytes, _)| *bytes > 600_000).collect();
    assert_eq!(large.len(), 1, "{message}\n{lines:?}");
    assert_eq!((large[0].0, large[0].1.as_str()), (8080, "server"));
    let record = lines.iter().find(|line| line["connection"]["transfers"][0]["bytes"] == large[0].2).unwrap();
    let transfer = &record["connection"]["transfers"][0];
    assert!(transfer["duration_s"].as_f64().unwrap() >= 0.04 && record["over"] == true, "{record}");
    // On busy processors a receive window may open more slowly than the congestion window.
    let cause = transfer["findings"][0]["cause"].as_str().unwrap_or_default();
    assert!(["slow-start", "receive-window"].contains(&cause), "{record}");
    let output = Command::new(env!("CARGO_BIN_EXE_whyslow")).args([&kept, "--json"]).output().unwrap();
    let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of_file = analysis["connections"][0]["transfers"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(of_file["bytes"], transfer["bytes"]);
    assert_eq!(of_file["findings"][0]["cause"], cause);
}

#[test]
fn a_connection_that_was_open_before_has_a_handshake_and_a_program() {
    let folder = tempfile::tempdir().unwrap();
    // curl asks twice on one connection, and is slow about the first: the watch begins in between.
    let here = folder.path().display().to_string();
    let program = env!("CARGO_BIN_EXE_whyslow");
    let script = format!(
        "(curl -s --limit-rate 150k -o /dev/null -o /dev/null http://$SERVER:8080/file http://$SERVER:8080/file) & curl=$!; \
         sleep 2; {program} watch --jsonl --for 9s > {here}/later 2>> {here}/message; wait $curl"
    );
    if watched(folder.path(), "--jsonl --for 1s", &script).is_none() {
        return;
    }
    let text = std::fs::read_to_string(folder.path().join("later")).unwrap();
    let lines: Vec<Value> = text.lines().map(checked).collect();
    let of_server = |line: &&Value| line["connection"]["server"]["port"] == 8080;
    let record = lines.iter().rfind(of_server).unwrap_or_else(|| panic!("nothing told: {text}"));
    let problems = record["connection"]["problems"].as_array().unwrap();
    assert!(problems.iter().all(|problem| problem["slug"] != "no-handshake"), "{problems:?}");
    assert!(record["connection"]["handshake"]["window_scale"][0].is_u64(), "{record}");
    assert_eq!(record["process"], "curl", "{record}");
}

#[test]
fn a_closed_connection_is_reported_by_the_kernels_account() {
    let folder = tempfile::tempdir().unwrap();
    // The packets of the download are not watched.
    let Some((lines, message)) = watched(folder.path(), "--jsonl --closed --for 6s port 1", CURL) else { return };
    let of_curl = |line: &&Value| line["type"] == "closed" && line["remote"]["port"] == 8080;
    let closed = lines.iter().find(of_curl).unwrap_or_else(|| panic!("{message}\n{lines:?}"));
    let account = &closed["account"];
    assert!(account["received_bytes"].as_u64() > Some(600_000), "{closed}");
    assert!(account["sent_bytes"].as_u64() > Some(50) && account["min_rtt_ms"].as_f64() >= Some(39.0), "{closed}");
    let sums = &lines.last().unwrap()["closed"];
    assert!(sums["connections"].as_u64() >= Some(1) && sums["missed"] == 0, "{sums}");
}
