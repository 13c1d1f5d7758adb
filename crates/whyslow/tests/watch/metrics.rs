//! The metrics for Prometheus.

use crate::{sample, watch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use whyslow_testing::exposition;

/// A watch of a capture that goes on, and where its metrics are.
struct Watched {
    child: Child,
    address: String,
}

impl Watched {
    fn start(name: &str) -> Self {
        let path = sample(name).display().to_string();
        let mut child =
            watch(&[&path, "--metrics", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut message = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut message).unwrap();
        let address = message.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        // The first line is printed after the first report.
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        Self { child, address }
    }

    fn ask(&self, head: &str) -> (String, String) {
        self.ask_for(head, "*/*")
    }

    fn ask_for(&self, head: &str, accept: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(format!("{head} HTTP/1.1\r\nHost: here\r\nAccept: {accept}\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Values by name and labels.
fn samples(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').map(|(name, value)| (name, value.parse().unwrap())).unwrap()).collect()
}

#[test]
fn metrics_have_the_prometheus_format() {
    let watched = Watched::start("timeout-server");
    let (head, text) = watched.ask_for("GET /metrics", "application/openmetrics-text;version=1.0.0");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/openmetrics-text"), "{head}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    let (head, text) = watched.ask("GET /metrics");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/plain; version=0.0.4"), "{head}");
    exposition::check(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    accepted_by_promtool(&text);
    let all = samples(&text);
    let sum = |name: &str| -> f64 { all.iter().filter(|(key, _)| key.starts_with(name)).map(|(_, value)| value).sum() };
    assert!(sum("whyslow_lost_seconds_total{cause=\"timeout\"") > 0.1, "{text}");
    assert!(sum("whyslow_transfers_total{") >= 1.0 && sum("whyslow_transfer_bytes_total{") > 1_000.0, "{text}");
    assert!(sum("whyslow_packets_total") > 10.0, "{text}");
    assert!(sum("whyslow_retransmitted_segments_total{kind=\"timeout\"") >= 1.0, "{text}");
    assert_eq!(sum("whyslow_dropped_packets_total{by=\"ring\"}"), 0.0);
    assert!(
        sum("whyslow_rtt_seconds_count{") >= 1.0 && sum("whyslow_transfer_duration_seconds_count") >= 1.0,
        "{text}"
    );
    assert!(watched.ask("GET /").0.starts_with("HTTP/1.1 404"));
    assert!(watched.ask("POST /metrics").0.starts_with("HTTP/1.1 405"));
}

/// Prometheus' own check, where it is installed; the rules of [`exposition`] are the same.
fn accepted_by_promtool(text: &str) {
    let promtool = std::process::Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = promtool else {
        return whyslow_testing::skip(whyslow_testing::Lack::Program, "promtool is not installed");
    };
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.is_empty(), "{message}\n{text}");
}

/// Every name of a metric in a text.
fn names(text: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !word(c)).filter(|name| name.starts_with("whyslow_"));
    words.map(str::to_owned).collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let watched = Watched::start("timeout-server");
    let (_, text) = watched.ask("GET /metrics");
    let there = names(&text);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana-whyslow-watch.json");
    let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(queries.len() >= 6);
    for query in queries {
        let asked = names(query);
        assert!(!asked.is_empty(), "{query}");
        for name in asked {
            // Only programs of this machine have a name.
            assert!(there.contains(&name) || name == "whyslow_process_lost_seconds_total", "{name} of {query}");
        }
    }
}
