//! The bundled captures: each was recorded with a known cause (see samples/README.md), and must be explained by it.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn explain(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"));
    let out = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(path).arg("--json").output().unwrap();
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Every finding there is, most seconds first.
fn causes(analysis: &Value) -> Vec<String> {
    let connections = analysis["connections"].as_array().unwrap();
    let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
    let of = |holder: &Value| holder["findings"].as_array().unwrap().clone();
    let mut all: Vec<Value> = of(analysis);
    all.extend(connections.iter().flat_map(of));
    all.extend(transfers.flat_map(of));
    all.sort_by(|a, b| b["seconds"].as_f64().unwrap().total_cmp(&a["seconds"].as_f64().unwrap()));
    all.iter().map(|finding| finding["cause"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn first_cause(name: &str, cause: &str) {
    assert_eq!(causes(&explain(name)).first().map(String::as_str), Some(cause), "{name}");
}

#[track_caller]
fn from_both_ends(name: &str, cause: &str) {
    for end in ["client", "server"] {
        let capture = format!("{name}-{end}");
        first_cause(&capture, cause);
        assert_eq!(explain(&capture)["connections"][0]["near"], end, "{capture}");
    }
}

#[test]
fn each_cause_is_found_where_it_was_made() {
    first_cause("application-server", "application");
    first_cause("bandwidth-server", "bandwidth");
    first_cause("new-connection-each-time-server", "new-connection-each-time");
    first_cause("no-window-scaling-server", "no-window-scaling");
    first_cause("server-think-server", "server-think");
    first_cause("timeout-server", "timeout");
    first_cause("turn-taking-server", "turn-taking");
}

#[test]
fn each_cause_is_found_from_both_ends() {
    from_both_ends("loss", "loss");
    from_both_ends("nagle-delayed-ack", "nagle-delayed-ack");
    from_both_ends("receive-window", "receive-window");
    from_both_ends("reordering", "reordering");
    from_both_ends("sender-cap", "sender-cap");
    from_both_ends("slow-start", "slow-start");
    from_both_ends("tls", "slow-start");
    from_both_ends("zero-window", "zero-window");
}

#[test]
fn a_queue_that_grows_is_told_beside_the_rate_that_fills_it() {
    for end in ["client", "server"] {
        assert_eq!(causes(&explain(&format!("bufferbloat-{end}"))), ["bandwidth", "bufferbloat"]);
    }
}

#[test]
fn the_second_of_two_transfers_starts_over() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("restart-after-idle-{end}"));
        let found = causes(&analysis);
        assert!(
            found.contains(&"restart-after-idle".to_owned()) && found.contains(&"slow-start".to_owned()),
            "{found:?}"
        );
        let transfers = analysis["connections"][0]["transfers"].as_array().unwrap();
        let second = transfers.iter().rfind(|transfer| transfer["from"] == "server").unwrap();
        assert_eq!(second["findings"][0]["cause"], "restart-after-idle");
    }
}

#[test]
fn a_lost_syn_is_seen_at_the_client_only() {
    first_cause("syn-loss-client", "syn-loss");
    assert!(!causes(&explain("syn-loss-server")).contains(&"syn-loss".to_owned()));
}

#[test]
fn a_lost_tail_is_a_probe_and_no_timeout() {
    let analysis = explain("tail-loss-server");
    let kinds = &analysis["connections"][0]["directions"][1]["retransmitted"];
    assert_eq!((kinds["tail_probe"].as_u64(), kinds["timeout"].as_u64()), (Some(1), Some(0)));
}

#[test]
fn an_application_level_window_is_called_a_cap_with_what_would_settle_it() {
    let analysis = explain("protocol-window-server");
    let transfers = analysis["connections"][0]["transfers"].as_array().unwrap();
    let bulk = transfers.iter().max_by_key(|transfer| transfer["bytes"].as_u64()).unwrap();
    let finding = &bulk["findings"][0];
    assert_eq!(finding["cause"], "sender-cap");
    assert!(finding["confidence"].as_f64().unwrap() <= 0.75 && finding["settle"].is_string());
}

#[test]
fn nothing_is_blamed_on_a_healthy_transfer() {
    assert!(causes(&explain("healthy-server")).is_empty());
}

#[test]
fn both_ends_of_a_lossy_transfer_count_the_same_losses() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("loss-{end}"));
        assert_eq!(analysis["connections"][0]["directions"][1]["retransmitted"]["fast"], 7, "{end}");
    }
}

#[test]
fn the_server_is_named_by_its_certificate_request() {
    assert_eq!(explain("tls-client")["connections"][0]["server"]["name"], "server.lab.example");
}

#[test]
fn the_readme_lists_every_cause() {
    let readme = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let listed: Vec<&str> =
        readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(slug, _)| slug).collect();
    let known: Vec<&str> = whyslow_core::rules::causes().iter().map(|cause| cause.slug).collect();
    assert_eq!(listed, known);
}

#[test]
fn every_cause_explains_itself() {
    for cause in whyslow_core::rules::causes() {
        let page = cause.markdown();
        for part in
            ["## What it is", "## How it is recognised", "## What it is confused with", "## The fix", "## References"]
        {
            assert!(page.contains(part), "{} lacks {part:?}", cause.slug);
        }
        assert!(page.lines().next().is_some_and(|line| line.ends_with('.')), "{}", cause.slug);
    }
}
