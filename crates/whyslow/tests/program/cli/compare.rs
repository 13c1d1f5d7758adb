//! `whyslow compare`: the names of transfers, its output, and its errors.

use crate::{complaint, whyslow};
use serde_json::Value;
use whyslow_testing::{Lack, skip};

fn sample(name: &str) -> String {
    format!("{}/../../samples/{name}.pcap", env!("CARGO_MANIFEST_DIR"))
}

fn compared(a: &str, b: &str) -> Value {
    let output = whyslow().args(["compare", a, b, "--json"]).assert().code(0).stderr("").get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn two_captures_by_their_largest_transfers() {
    let comparison = compared(&sample("sender-cap-client"), &sample("slow-start-client"));
    assert_eq!(comparison["schema"], "whyslow-compare/2");
    let from: Vec<_> =
        comparison["transfers"].as_array().unwrap().iter().map(|comparison| &comparison["from"]).collect();
    assert_eq!(from, ["server", "server"]);
    let slow_start =
        comparison["phases"].as_array().unwrap().iter().find(|phase| phase["limit"] == "slow-start").unwrap();
    assert!(slow_start["difference_s"].as_f64().unwrap() > 0.2);
    assert_eq!(comparison["reach"][0]["kind"], "steady");
    assert_eq!(comparison["reach"][1]["kind"], "window");
    assert_eq!(comparison["leads"].as_array().unwrap().last().unwrap()["faster"], 1);
}

#[test]
fn two_transfers_of_one_connection() {
    let file = sample("restart-after-idle-client");
    let comparison = compared(&format!("{file}#1.2"), &format!("{file}#1.4"));
    assert_eq!(comparison["transfers"][1]["transfer"], 4);
    assert_eq!(comparison["same_size"]["bytes"], comparison["transfers"][0]["bytes"]);
    // The second one had no handshake to wait for.
    assert_eq!(comparison["phases"][0]["limit"], "handshake");
    assert!(comparison["phases"][0]["difference_s"].as_f64().unwrap() < -0.049);
    let page = whyslow().args(["compare", &format!("{file}#1.2"), &format!("{file}#1.4")]).assert().code(0);
    let page = String::from_utf8(page.get_output().stdout.clone()).unwrap();
    assert!(page.contains("connection 1, transfer 4"), "{page}");
}

/// Whether this build has the page.
pub fn has_page() -> bool {
    let output = whyslow().args(["report", &sample("healthy-server"), "-o", "-"]).output().unwrap();
    output.status.success() || !String::from_utf8(output.stderr).unwrap().contains("built without the page")
}

#[test]
fn a_comparison_is_a_page_in_one_file() {
    if !has_page() {
        skip(Lack::Machine, "the page is not built: Node is missing");
        return;
    }
    let [a, b] = [sample("sender-cap-client"), sample("slow-start-client")];
    let page = |a: &str, b: &str| {
        let output = whyslow().args(["compare", a, b, "--report", "-"]).assert().code(0).stderr("");
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let one = page(&a, &b);
    assert!(one.starts_with("<!doctype html>") && one.len() > 100_000);
    assert_ne!(one, page(&b, &a));
    let two = |a: &str, b: &str| complaint(whyslow().args(["compare", a, b, "--report", "-"]));
    assert!(two(&a, &a).contains("are one transfer"));
    assert!(two(&a, &format!("{b}#2")).contains("there is no connection 2: the input holds one"));
    assert!(two(&a, "missing.pcap").contains("missing.pcap"));
    assert!(complaint(whyslow().args(["compare", &a, &b, "--port", "80"])).contains("--view"));
    assert!(complaint(whyslow().args(["compare", &a, &b, "--view", "--json"])).contains("cannot be used with"));
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_reason() {
    let file = sample("slow-start-client");
    let two = |a: &str, b: &str| complaint(whyslow().args(["compare", a, b]));
    assert!(two(&file, &file).contains("are one transfer"));
    assert!(two(&file, &format!("{file}#2")).contains("there is no connection 2: the input holds one"));
    assert!(two(&file, &format!("{file}#1.9")).contains("there is no transfer 9: connection 1 has 1 to 2"));
    assert!(two(&file, "missing.pcap").contains("missing.pcap"));
    assert!(complaint(whyslow().args(["compare", &file])).contains("<B>"));
}
