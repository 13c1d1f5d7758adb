//! `whyslow prove`: captures reproduced on this machine's kernel, with fixes applied.

use super::{User, alone, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_testing::{Lack, skip, soaks};

/// Samples of four causes, each reproduced from one capture and fixed: by a command on the client,
/// by one on the server, in a program, and on the path. The first two stand for the others.
const PROVED: &[(&str, &str, &str)] = &[
    ("receive-window-client", "receive-window", "net.ipv4.tcp_rmem max 6,291,456 on the client"),
    ("slow-start-server", "slow-start", "initcwnd 32 on the server"),
    ("server-think-server", "server-think", "a server that answers at once"),
    ("loss-client", "loss", "a path that loses nothing"),
];

/// A name that would steer a terminal.
const NAME: &str = "slow\u{9b}31m\u{202e}.pcap";

/// A run of a busy machine may not be the capture's: then a test proves nothing either way.
#[test]
fn a_captured_transfer_is_reproduced_and_fixed() {
    let _alone = alone();
    let schema = include_str!("../../../../docs/schema/whyslow-prove-1.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    for (user, cases) in User::all().into_iter().zip([&PROVED[..if soaks() { 4 } else { 2 }], &PROVED[..1]]) {
        for (sample, cause, fix) in cases {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../samples/{sample}.pcap"));
            std::fs::copy(&file, user.path(NAME)).unwrap();
            let mut arguments = vec!["prove", NAME, "--json", "--repeat", "1", "--keep", "kept"];
            // Built without Node, the program has no page.
            let has_page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/index.html").exists();
            arguments.extend(has_page.then_some(["--report", "page.html"]).into_iter().flatten());
            let output = user.command(&arguments).env("TMPDIR", user.path("")).output().unwrap();
            let complaint = text(&output.stderr);
            assert!(output.status.code().is_some_and(|code| code < 2), "{sample} as {}: {complaint}", user.name);
            let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(!text(&output.stdout).contains(['\u{9b}', '\u{202e}']), "{outcome}");
            assert_eq!(outcome["capture"], NAME);
            if let Some(wrong) = schema.iter_errors(&outcome).next() {
                panic!("{sample}: {wrong} at {}: {outcome}", wrong.instance_path());
            }
            assert_eq!(outcome["agreement"]["captured_cause"], *cause);
            assert_eq!(outcome["agrees"], output.status.success(), "{outcome}");
            // The kept file is a scenario of the lab.
            let kept = std::fs::read_to_string(user.path("kept/again.toml")).unwrap();
            assert!(whyslow_lab::scenario::load("again", &kept, &[]).is_ok(), "{kept}");
            assert!(std::fs::read_to_string(user.path("kept/curves.svg")).unwrap().matches("<polyline").count() >= 2);
            let page = std::fs::read_to_string(user.path("page.html"));
            assert_eq!(page.is_ok_and(|page| page.starts_with("<!doctype html>")), has_page);
            if outcome["agrees"] != true {
                assert!(outcome["fixes"].as_array().unwrap().is_empty(), "{outcome}");
                skip(Lack::Quiet, format!("{sample} as {}: {}", user.name, outcome["agreement"]["differs"]));
                continue;
            }
            let first = &outcome["fixes"][0];
            assert_eq!((&first["cause"], &first["what"]), (&Value::from(*cause), &Value::from(*fix)), "{outcome}");
            assert!(first["measured"].as_f64().is_some() || first["why_not"].is_string(), "{outcome}");
        }
        // Only the kept files are left.
        let left = std::fs::read_dir(user.path("")).unwrap().flatten();
        assert_eq!(left.filter(|it| it.file_name().to_string_lossy().starts_with("whyslow-prove-")).count(), 0);
    }
}

/// On a busy machine no explanation may agree: then the test proves nothing either way.
#[test]
fn a_wrong_explanation_is_contradicted_by_the_right_one() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/receive-window-client.pcap");
    std::fs::copy(&file, user.path("slow.pcap")).unwrap();
    let arguments = ["prove", "slow.pcap", "--json", "--repeat", "1", "--tries", "2", "--suppose", "bandwidth"];
    let output = user.command(&arguments).env("TMPDIR", user.path("")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = include_str!("../../../../docs/schema/whyslow-prove-1.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(schema.is_valid(&outcome), "{outcome}");
    assert_eq!(outcome["agreement"]["captured_cause"], "bandwidth");
    assert_eq!(outcome["agrees"], false, "{outcome}");
    // The analysis's own explanation is tested first.
    assert_eq!(outcome["instead"][0]["cause"], "receive-window");
    if outcome["instead"][0]["agreement"]["agrees"] != true {
        skip(Lack::Quiet, format!("receive-window: {}", outcome["instead"][0]["agreement"]["differs"]));
        return;
    }
    assert_eq!(outcome["behaves_like"], "receive-window");
}

/// A prove run that is asked to end leaves no files.
#[test]
fn a_proof_that_is_ended_leaves_no_folder() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/server-think-server.pcap");
    std::fs::copy(&file, user.path("slow.pcap")).unwrap();
    let folders = || {
        let all = std::fs::read_dir(user.path("")).unwrap().flatten();
        all.filter(|it| it.file_name().to_string_lossy().starts_with("whyslow-prove-")).count()
    };
    let mut command = user.command(&["prove", "slow.pcap", "--repeat", "25"]);
    let mut child = command.env("TMPDIR", user.path("")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    while folders() == 0 && child.try_wait().unwrap().is_none() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(folders(), 1);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(folders(), 0);
}

#[test]
fn no_run_begins_after_the_time_that_is_allowed() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/receive-window-client.pcap");
    std::fs::copy(&file, user.path("slow.pcap")).unwrap();
    let arguments = ["prove", "slow.pcap", "--json", "--repeat", "1", "--max-time", "1us"];
    let output = user.command(&arguments).env("TMPDIR", user.path("")).output().unwrap();
    // The first run is not made either.
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("--max-time"), "{}", text(&output.stderr));
    let arguments = ["prove", "slow.pcap", "--json", "--repeat", "1", "--max-time", "1s"];
    let output = user.command(&arguments).env("TMPDIR", user.path("")).output().unwrap();
    // A busy machine takes as long to begin.
    if output.status.code() == Some(2) {
        assert!(text(&output.stderr).contains("--max-time"), "{}", text(&output.stderr));
        return;
    }
    let outcome: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    let fixes = outcome["fixes"].as_array().unwrap();
    assert!(fixes.iter().all(|fix| fix["why_not"].is_string()), "the first run takes 2 s: {outcome}");
}
