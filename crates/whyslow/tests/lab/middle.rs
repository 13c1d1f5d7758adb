//! A proxy between two paths, and two clients on one: the explanation of each side alone.

use super::{User, alone, text};
use serde_json::Value;
use whyslow_testing::{Lack, skip};

/// The cause that cost most in each transfer of more than 10 kB, in order; `None` without a
/// finding.
fn causes(user: &User, capture: &str) -> Vec<String> {
    let analysis = user.explain(&user.path(&format!("lab-results/{capture}.pcap")));
    let connections = analysis["connections"].as_array().unwrap();
    let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
    let large = transfers.filter(|transfer| transfer["bytes"].as_u64().unwrap() > 10_000);
    let top = |transfer: &Value| match transfer["findings"].as_array().unwrap().first() {
        Some(finding) => finding["cause"].as_str().unwrap().to_owned(),
        None => "none".to_owned(),
    };
    large.map(top).collect()
}

/// Runs these of the bundled experiments; false when the machine spoiled one.
fn run(user: &User, arguments: &[&str]) -> bool {
    let output = user.lab(&[&["run", "--attempts", "20"], arguments].concat());
    let (table, complaint) = (text(&output.stdout), text(&output.stderr));
    if complaint.contains("no result") && complaint.contains(" late ") {
        skip(Lack::Quiet, format!("as {}: this machine is too busy: {complaint}", user.name));
        return false;
    }
    assert!(output.status.success(), "{table}\n{complaint}");
    true
}

#[test]
fn a_proxy_is_seen_from_the_client_and_its_server_behind_it() {
    let _alone = alone();
    if !whyslow_testing::tools(&["haproxy"]) {
        return;
    }
    let Some(user) = User::all().into_iter().next() else { return };
    if !run(&user, &["proxy-split", "--only", "haproxy"]) {
        return;
    }
    for side in ["client", "proxy"] {
        // The proxy opens a connection for each request; the client keeps one.
        let split = causes(&user, &format!("proxy-split/haproxy-1/{side}"));
        assert_eq!(split.len(), 4, "{side}: {split:?}");
        assert!(split.iter().filter(|cause| *cause == "proxy-split").count() >= 3, "{side}: {split:?}");
        let pooled = causes(&user, &format!("proxy-split/haproxy-pool-1/{side}"));
        assert_eq!(pooled[0], "proxy-split", "{side}: {pooled:?}");
        assert!(pooled[2..].iter().all(|cause| cause == "server-think"), "{side}: {pooled:?}");
    }
    for side in ["proxy-server", "server"] {
        let split = causes(&user, &format!("proxy-split/haproxy-1/{side}"));
        assert!(split.iter().filter(|cause| *cause == "slow-start").count() >= 3, "{side}: {split:?}");
        let pooled = causes(&user, &format!("proxy-split/haproxy-pool-1/{side}"));
        assert_eq!((pooled[0].as_str(), pooled[3].as_str()), ("slow-start", "none"), "{side}: {pooled:?}");
    }
}

#[test]
fn cross_traffic_is_in_the_server_s_capture_and_not_in_the_client_s() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    if !run(&user, &["cross-traffic", "--only", "beside"]) {
        return;
    }
    let folder = "cross-traffic/beside-1";
    assert_eq!(causes(&user, &format!("{folder}/server")), ["bandwidth", "bandwidth"]);
    for side in ["client", "cross"] {
        // The rate is shared and the losses are the full queue's: which one held it longer differs.
        let own = causes(&user, &format!("{folder}/{side}"));
        assert_eq!(own.len(), 1, "{side} sees its own alone: {own:?}");
        assert!(["bandwidth", "loss", "bufferbloat"].contains(&own[0].as_str()), "{side}: {own:?}");
    }
}
