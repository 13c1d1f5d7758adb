//! Captures of TLS with a key log.

use super::{Folder, whyslow};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A capture that holds its secrets.
fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../whyslow-diagnosis/tests/keys/{name}.pcapng"))
}

/// The same without them, and their key log.
fn apart(name: &str) -> (Vec<u8>, Vec<u8>) {
    let bytes = std::fs::read(capture(name)).unwrap();
    let (packets, log) = whyslow_testing::without_secrets(&bytes);
    assert!(log.starts_with(b"#") || log.starts_with(b"CLIENT") || log.starts_with(b"SERVER"));
    (packets, log)
}

fn at(folder: &Folder, name: &str) -> PathBuf {
    folder.0.path().join(name)
}

/// A folder with the packets and the key log of a capture.
fn folder(name: &str) -> Folder {
    let folder = Folder::new();
    let (packets, log) = apart(name);
    folder.put("packets.pcapng", &packets);
    folder.put("keys", &log);
    folder
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn labels(analysis: &Value) -> Vec<String> {
    let requests = analysis["connections"][0]["requests"].as_array().cloned().unwrap_or_default();
    requests.iter().map(|one| format!("{} {}", one["label"].as_str().unwrap(), one["status"])).collect()
}

#[test]
fn requests_inside_tls_are_listed_with_their_waits() {
    for name in ["http1-tls12", "http1-tls13"] {
        let analysis = json(&whyslow().arg("--json").arg(capture(name)).output().unwrap());
        assert_eq!(labels(&analysis), ["GET /six.bin?… 200", "GET /query 200"], "{name}");
        let connection = &analysis["connections"][0];
        for direction in connection["decryption"]["directions"].as_array().unwrap() {
            assert!(direction["stopped"].is_null() && direction["bytes"].as_u64().unwrap() > 0, "{direction}");
        }
        let query = &connection["requests"][1];
        assert!((0.35..0.6).contains(&query["wait_s"].as_f64().unwrap()), "{query}");
        assert_eq!((&query["response_bytes"], &query["complete"]), (&Value::from(3_000), &Value::from(true)));
        let exchange = &connection["exchanges"][1];
        assert_eq!(exchange["request"]["label"], "HTTP GET /query");
        // The server's time has the request's name.
        let findings =
            connection["transfers"].as_array().unwrap().iter().flat_map(|one| one["findings"].as_array().unwrap());
        let slow = findings.clone().find(|finding| finding["cause"] == "server-think").unwrap();
        assert!(slow["details"].to_string().contains("GET /query"), "{slow}");
    }
}

#[test]
fn streams_of_http2_have_their_own_waits() {
    let analysis = json(&whyslow().arg("--json").arg(capture("http2-tls13")).output().unwrap());
    let mut labels = labels(&analysis);
    labels.sort();
    assert_eq!(labels, ["GET /query 200", "GET /six.bin 200", "GET /six.bin?… 200"]);
    for request in analysis["connections"][0]["requests"].as_array().unwrap() {
        let is_slow = request["label"] == "GET /query";
        assert_eq!(request["wait_s"].as_f64().unwrap() > 0.3, is_slow, "{request}");
        assert!(request["stream"].as_u64().unwrap() % 2 == 1);
    }
}

#[test]
fn key_log_is_given_by_option_or_variable() {
    let folder = folder("http1-tls13");
    let (packets, keys) = (at(&folder, "packets.pcapng"), at(&folder, "keys"));
    let plain = json(&whyslow().env_remove("SSLKEYLOGFILE").arg("--json").arg(&packets).output().unwrap());
    assert!(plain["connections"][0].get("decryption").is_none());
    let by_option = json(&whyslow().arg("--json").arg("--keylog").arg(&keys).arg(&packets).output().unwrap());
    let by_variable = json(&whyslow().env("SSLKEYLOGFILE", &keys).arg("--json").arg(&packets).output().unwrap());
    assert_eq!(by_option, by_variable);
    assert_eq!(labels(&by_option).len(), 2);
    // A variable that names no file is for other programs; an option is not.
    let absent = at(&folder, "absent");
    let output = whyslow().env("SSLKEYLOGFILE", &absent).arg(&packets).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let output = whyslow().arg("--keylog").arg(&absent).arg(&packets).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the key log"));
}

#[test]
fn missing_and_wrong_keys_are_reported_in_both_languages() {
    let folder = folder("http1-tls12");
    let (_, other) = apart("http1-tls13");
    let wrong = String::from_utf8(apart("http1-tls12").1).unwrap();
    let (kept, secret) = wrong.trim_end().rsplit_once(' ').unwrap();
    let wrong = format!("{kept} {}\nNEW_LABEL a b\n", secret.chars().rev().collect::<String>());
    let page = |keys: &[u8], lang: &str| {
        std::fs::write(at(&folder, "keys"), keys).unwrap();
        let mut command = whyslow();
        command.args(["--lang", lang, "--keylog"]).arg(at(&folder, "keys")).arg(at(&folder, "packets.pcapng"));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        (text(output.stdout), text(output.stderr))
    };
    assert!(page(&other, "en").0.contains("TLS 1.2 not decrypted: the key log has no secret of this connection"));
    assert!(page(&other, "zh").0.contains("TLS 1.2 未解密：密钥日志中没有这个连接的密钥"));
    let (stdout, stderr) = page(wrong.as_bytes(), "en");
    assert!(
        stdout.contains("TLS 1.2 not decrypted: the secrets in the key log do not fit this connection"),
        "{stdout}"
    );
    assert!(stderr.contains("has lines with a label that is unknown: 1"), "{stderr}");
}

#[test]
fn secrets_and_private_text_are_in_no_output() {
    for name in ["http1-tls12", "http1-tls13", "http2-tls13"] {
        let (_, log) = apart(name);
        let log = String::from_utf8(log).unwrap();
        let secrets: Vec<&str> = log.lines().filter_map(|line| line.split(' ').nth(2)).collect();
        assert!(!secrets.is_empty());
        for options in [&["--json", "--words"][..], &["--jsonl"], &["--connection", "1"], &["--brief"], &["--markdown"]]
        {
            let output = whyslow().args(options).arg(capture(name)).output().unwrap();
            let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!text.contains("private"), "{name} {options:?}: the query is cut");
            assert!(secrets.iter().all(|secret| !text.contains(&secret[..16])), "{name} {options:?}");
        }
        // Nor in condensed captures.
        let folder = Folder::new();
        let output = whyslow().args(["condense", "-o"]).arg(folder.0.path()).arg(capture(name)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let condensed = at(&folder, &format!("{name}.pcapng.condensed.zst"));
        let mut bytes = Vec::new();
        whyslow_io::open_decompressed(&condensed).unwrap().read_to_end(&mut bytes).unwrap();
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(!holds(b"CLIENT_RANDOM") && !holds(b"TRAFFIC_SECRET") && !holds(&secrets[0].as_bytes()[..16]));
    }
}

#[test]
fn result_does_not_depend_on_threads() {
    let read =
        |threads: &str| whyslow().args(["--json", "--threads", threads]).arg(capture("http2-tls13")).output().unwrap();
    assert_eq!(json(&read("1")), json(&read("4")));
}
