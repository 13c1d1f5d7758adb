//! Over a path of the lab: where figures are known.

use crate::servers::{certificate, configuration};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use whyslow_testing::{Lack, skip};

/// Runs nginx and a probe at the two ends of a path, if there can be paths here.
fn over(rtt: &str, folder: &Path, arguments: &str) -> Option<Output> {
    if !whyslow_testing::tools(&["nginx"]) {
        return None;
    }
    // A path shares its processors with no other one.
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let servers = "server { listen 0.0.0.0:8080; root .; location /put { proxy_pass http://127.0.0.1:8081/; } }
                   server { listen 127.0.0.1:8081; location / { return 200 ok; } }
                   server { listen 0.0.0.0:8443 ssl; ssl_protocols TLSv1.3; ssl_certificate cert.pem;
                            ssl_certificate_key key.pem; root .; }";
    certificate(folder);
    std::fs::write(folder.join("nginx.conf"), configuration(servers)).unwrap();
    let (program, here) = (env!("CARGO_BIN_EXE_whyslow"), folder.display());
    let server = format!("exec nginx -p {here} -c {here}/nginx.conf -e stderr");
    let client = format!("{program} probe {arguments} --json > {here}/told.json; echo $? > {here}/status");
    let results = folder.join("results").display().to_string();
    let mut command = Command::new(program);
    command.args(["lab", "exec", "--rtt", rtt, "--server", &server, "--client", &client, "--out", &results]);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if message.contains("namespaces are not allowed") || message.contains("is not installed") {
        skip(Lack::Machine, message);
        return None;
    }
    Some(output)
}

fn probe_output(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("told.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn uploads_over_200_ms_take_what_they_must() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "http://$SERVER:8080/put --method PUT --sizes 1kB,100kB,1MB --new --reuse --repeat 2";
    if over("200ms", folder.path(), arguments).is_none() {
        return;
    }
    let printed = probe_output(folder.path());
    let mut all = Vec::new();
    for request in printed["requests"].as_array().unwrap() {
        let hop = &request["hops"][0];
        let total = hop["times"]["total_s"].as_f64().unwrap();
        let floor = request["floor"]["seconds"].as_f64().unwrap();
        all.push((hop["reused"].as_bool().unwrap(), request["size"].as_u64().unwrap(), total, floor));
    }
    assert_eq!(all.len(), 12);
    for (is_reused, size, total, floor) in &all {
        // The round trips that it takes at least; a busy machine adds to them.
        let least = match (is_reused, size) {
            (true, _) => 0.2,
            (false, 1_000) => 0.4,
            (false, 100_000) => 0.6,
            (false, _) => 1.2,
        };
        assert!(*total >= least, "reused {is_reused}, {size} B: {total} s of {all:?}");
        assert!(*floor >= 0.19 && *floor <= total + 0.01, "floor {floor} s of {total} s");
    }
    // The reason for a slow new connection comes from the packets.
    let connections = printed["analysis"]["connections"].as_array().unwrap();
    let large = printed["requests"].as_array().unwrap().iter().find(|request| request["size"] == 1_000_000).unwrap();
    let connection = connections.iter().find(|connection| connection["id"] == large["connection"]).unwrap();
    let causes = connection["transfers"].as_array().unwrap().iter().flat_map(|transfer| {
        transfer["findings"].as_array().unwrap().iter().map(|finding| finding["cause"].as_str().unwrap())
    });
    assert!(causes.clone().any(|cause| cause == "slow-start"), "{:?}", causes.collect::<Vec<_>>());
}

#[test]
fn a_silent_address_is_reported_with_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), vec![b'x'; 1000]).unwrap();
    let arguments = "http://two.example:8080/file --resolve two.example:8080:10.77.0.77,$SERVER";
    if over("20ms", folder.path(), arguments).is_none() {
        return;
    }
    let printed = probe_output(folder.path());
    let attempts = printed["requests"][0]["hops"][0]["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!((&attempts[0]["outcome"], &attempts[1]["outcome"]), (&"given-up".into(), &"connected".into()));
    let cost = attempts[1]["after_s"].as_f64().unwrap();
    assert!(cost >= 0.2, "{cost}");
}

#[test]
fn a_record_that_spans_rounds_is_readable_a_round_late() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), vec![b'x'; 500_000]).unwrap();
    let mut delays = Vec::new();
    // A process on a busy machine sees a packet late: one run of several sees it in time.
    for _ in 0..4 {
        if over("60ms", folder.path(), "https://$SERVER:8443/file --insecure --http 1.1").is_none() {
            return;
        }
        let printed = probe_output(folder.path());
        let hop = &printed["requests"][0]["hops"][0];
        // Ten segments, and a record of 16 kB.
        assert!(hop["first_record"].as_u64().unwrap() > 14_480, "{hop}");
        let [packet, byte] = ["first_packet_s", "starttransfer_s"].map(|name| hop["times"][name].as_f64().unwrap());
        // A round trip, less what the machine takes.
        if byte - packet >= 0.03 {
            return;
        }
        delays.push(byte - packet);
    }
    panic!("readable {delays:?} s after the first packet");
}
