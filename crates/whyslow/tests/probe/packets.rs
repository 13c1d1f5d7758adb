//! The packets of a request: recorded, explained, and where they may not be.

use crate::servers::{Nginx, Server, respond};
use crate::{json, probe, run, seconds, stdout, times};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use whyslow_testing::{Lack, skip};

/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// Whether packets may be recorded here; else the calling test is skipped.
#[track_caller]
fn may_record(printed: &Value) -> bool {
    let missing = printed["recording"]["missing"].as_str();
    if let Some(why) = missing {
        skip(Lack::Machine, why);
    }
    missing.is_none()
}

#[test]
fn every_handshake_is_there() {
    let server = Server::of_bytes(100);
    let printed = json(&[&server.url("/"), "--repeat", "100"]);
    if !may_record(&printed) {
        return;
    }
    let connections = printed["analysis"]["connections"].as_array().unwrap();
    assert_eq!(connections.len(), 100);
    assert!(connections.iter().all(|connection| !connection["handshake"].is_null()));
    for (index, request) in printed["requests"].as_array().unwrap().iter().enumerate() {
        assert_eq!(request["connection"], index + 1);
    }
    assert_eq!(printed["recording"]["dropped"], 0);
}

#[test]
fn verdict_on_a_quick_request_has_its_whole_time() {
    let server = Server::start(|_, stream| {
        sleep(Duration::from_millis(20));
        respond(stream, "200 OK", &[b'x'; 20_000]);
    });
    let printed = run(&[&server.url("/")]);
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    let mut lines = text.lines();
    let Some(whole) = lines.next().and_then(|line| line.strip_prefix("Nothing slowed the request, which took ")) else {
        // A busy machine makes the server slow.
        if text.contains("server-think") {
            return;
        }
        let message = String::from_utf8_lossy(&printed.stderr);
        assert!(message.contains("CAP_NET_RAW") || text.contains("TCP_INFO alone"), "{text}{message}");
        return skip(Lack::Machine, message);
    };
    let figures = lines.find(|line| line.contains(": 200, HTTP/1.1")).unwrap();
    assert!(figures.contains(&format!(" in {} = ", whole.trim_end_matches('.'))), "{text}");
}

#[test]
fn the_verdict_is_that_of_the_capture() {
    let server = Server::start(|got, stream| {
        let millis = got.line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        sleep(Duration::from_millis(millis));
        respond(stream, "200 OK", &vec![b'x'; 3000 * millis as usize]);
    });
    let folder = tempfile::tempdir().unwrap();
    for name in ["probe.pcapng", "probe.pcap"] {
        let file = folder.path().join(name);
        let urls: Vec<String> = (0..15).map(|draw| server.url(&format!("/{}", draw * 7))).collect();
        let file_name = file.display().to_string();
        let mut arguments = vec!["--capture", &file_name];
        arguments.extend(urls.iter().map(String::as_str));
        let refused = run(&["--capture", &file_name, &urls[0]]);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        if refused.status.code() == Some(2) && message.contains("CAP_NET_RAW") {
            skip(Lack::Machine, message);
            return;
        }
        let mut printed = json(&arguments);
        let output = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(&file).arg("--json").output().unwrap();
        let mut alone: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Only files have a field for truncation.
        for analysis in [&mut printed["analysis"], &mut alone] {
            assert_eq!(analysis["connections"].as_array().unwrap().len(), 15);
        }
        assert_eq!(printed["analysis"]["connections"], alone["connections"], "{name}");
        assert_eq!(printed["analysis"]["findings"], alone["findings"], "{name}");
    }
}

#[test]
fn the_first_packet_is_that_of_the_capture() {
    let server = Server::start(|_, stream| {
        sleep(Duration::from_millis(100));
        respond(stream, "200 OK", &[b'x'; 500]);
    });
    let Some(nginx) = Nginx::start(server.address) else { return };
    let trust = nginx.trust();
    let [a, b, c, d] = trust.each_ref().map(String::as_str);
    let mut are_distinct = Vec::new();
    // On a busy machine a process sees packets late: use the nearest of several counts.
    for _ in 0..20 {
        let printed = json(&[&nginx.url("/"), a, b, c, d]);
        if !may_record(&printed) {
            return;
        }
        let connection = &printed["analysis"]["connections"][0];
        let transfers = connection["transfers"].as_array().unwrap();
        // The answer: what came after the request, a tenth of a second before the end.
        let answer = transfers.iter().rfind(|transfer| transfer["from"] == "server").unwrap();
        let by_packets = seconds(&answer["start_s"]) - seconds(&connection["start_s"]);
        let times = times(&printed, 0);
        let by_probe = seconds(&times["first_packet_s"]);
        are_distinct.push(by_probe - by_packets);
        if (-0.001..0.001).contains(&(by_probe - by_packets)) {
            return;
        }
    }
    let nearest = are_distinct.iter().map(|difference: &f64| difference.abs()).fold(f64::MAX, f64::min);
    assert!(nearest < 0.05, "the first packet by the probe and by its capture differ by {are_distinct:?} s");
    skip(Lack::Quiet, format!("the first packet is told {nearest} s late at best"));
}

#[test]
fn without_the_right_to_record_the_kernel_is_asked() {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let server = Server::start(|_, stream| {
        sleep(Duration::from_millis(150));
        respond(stream, "200 OK", b"late");
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let program = folder.path().join("whyslow");
    std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), &program).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("probe").args(arguments).current_dir(folder.path());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap()
    };
    let url = server.url("/");
    let output = run(&[&url]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    if page.contains("1 connection") {
        skip(Lack::Machine, "an ordinary user may record packets here");
        return;
    }
    for part in ["by TCP_INFO alone: server-think (possible)", "no packets were recorded", "CAP_NET_RAW"] {
        assert!(page.contains(part), "{page}");
    }
    let refused = run(&["--capture", "x.pcapng", &url]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty() && !folder.path().join("x.pcapng").exists());
}

#[test]
fn packets_may_be_cut() {
    let server = Server::of_bytes(50_000);
    let printed = json(&[&server.url("/"), "--snaplen", "128"]);
    if may_record(&printed) {
        let problems = printed["analysis"]["captures"][0]["problems"].as_array().unwrap();
        assert!(problems.iter().any(|problem| problem["slug"] == "short-snaplen"), "{problems:?}");
    }
    assert!(probe(&["--snaplen", "1", "http://a/"]).output().unwrap().status.code() == Some(2));
    assert!(!stdout(&[&server.url("/")]).contains("short-snaplen"));
}
