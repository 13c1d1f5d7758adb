//! `--every`: a line for each request, and metrics.

use crate::servers::Server;
use crate::{probe, run};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_monitor_prints_a_line_for_each_request() {
    let server = Server::of_bytes(1_000);
    let output = run(&[&server.url("/"), "--every", "50ms", "--repeat", "3", "--new", "--reuse"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines.iter().all(|line| line.contains("Z http://") && line.contains(" 200 ")), "{text}");
    // Three on new connections, and one that opens the connection of two others.
    assert_eq!(lines.iter().filter(|line| line.contains(" new ")).count(), 4, "{text}");
    assert_eq!(lines.iter().filter(|line| line.contains(" reused ")).count(), 2, "{text}");
}

#[test]
fn a_monitor_with_json_prints_a_document_a_line() {
    let server = Server::of_bytes(1_000);
    let output = run(&[&server.url("/"), "--every", "20ms", "--repeat", "2", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let documents: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 2);
    crate::assert_follows_schema(&documents[1]);
    assert_eq!(documents[1]["requests"][0]["hops"][0]["body_bytes"], 1_000);
}

#[test]
fn a_monitor_reports_failures_and_thresholds_in_its_status() {
    let server = Server::of_bytes(10);
    let quick = ["--every", "20ms", "--repeat", "2"];
    let url = server.url("/");
    assert_eq!(run(&[&[url.as_str(), "--fail-on", "total>0s"], &quick[..]].concat()).status.code(), Some(1));
    assert_eq!(run(&[&["http://127.0.0.1:1/"], &quick[..]].concat()).status.code(), Some(2));
}

#[test]
fn a_monitor_offers_metrics_until_it_is_stopped() {
    let server = Server::of_bytes(1_000);
    let url = server.url("/");
    let mut command = probe(&[&url, "--every", "30ms", "--metrics", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let metrics = || {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let labels = format!("{{url=\"{url}\",connection=\"new\",outcome=\"ok\"}}");
    let counted = format!("whyslow_probe_requests_total{labels} ");
    let text = loop {
        let text = metrics();
        let count = text.lines().find_map(|line| line.strip_prefix(&counted)?.parse::<u64>().ok());
        if count.is_some_and(|count| count >= 2) {
            break text;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let total = format!("whyslow_probe_duration_seconds_count{{url=\"{url}\",connection=\"new\",phase=\"total\"}}");
    assert!(text.contains(&total) && text.contains(&format!("whyslow_probe_up{{url=\"{url}\"}} 1")), "{text}");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
