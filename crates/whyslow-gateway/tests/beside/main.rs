//! `whyslow-gateway` compared with other clients, over a path of the lab: 200 ms, 1 Gbit/s.
//!
//! As a test: 1 MB through the gateway, and by a new connection straight to the far storage, in
//! one run. `cargo test --release -p whyslow-gateway --test beside -- figures` prints a table
//! of boto3 straight to the storage, through the gateway, and through `rclone serve s3` with
//! its crypt remote (PATH, RCLONE=PROGRAM), each timed by one client. `-- figures clients`: 200
//! clients of a gateway on this machine for five minutes.
//!
//! The storage is versitygw or moto for the figures; for the test it is one that keeps nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod clients;
mod far;
mod figures;
#[path = "../far/backend.rs"]
mod sink;

use far::{Far, SECRET, USER};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use whyslow_lab::net::config::Host;
use whyslow_testing::{Lack, skip, tools};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["sink", address] => sink::run(&std::net::TcpListener::bind(address).unwrap()),
        ["figures"] => figures::print(&figures::Choice::default()),
        ["figures", "clients"] => clients::print(Duration::from_secs(300)),
        ["figures", "clients", seconds] => clients::print(Duration::from_secs(seconds.parse().unwrap())),
        ["figures", "quick"] => figures::print(&figures::Choice::quick()),
        _ if words.contains(&"--list") => {
            println!("an_upload_through_the_gateway_takes_a_round_trip_where_a_new_connection_takes_eight: test");
            ExitCode::SUCCESS
        }
        _ => test(),
    }
}

/// A machine that is busy may spoil a run, not three.
fn test() -> ExitCode {
    let began = Instant::now();
    if !tools(&["curl"]) {
        return ExitCode::SUCCESS;
    }
    for _ in 0..3 {
        let Some(mut far) = Far::build(far::Storage::Sink) else { return ExitCode::SUCCESS };
        let folder = tempfile::tempdir().unwrap();
        let gateway = far.gateway(folder.path(), "127.0.0.1:9000");
        let file = folder.path().join("megabyte");
        std::fs::write(&file, vec![7; 1_000_000]).unwrap();
        // The connections that are kept have had their bursts by then.
        std::thread::sleep(Duration::from_secs(8));
        let straight = put(&far, &file, &format!("http://{}/bucket/straight", far.address));
        let through: Vec<f64> =
            (0..4).map(|n| put(&far, &file, &format!("http://127.0.0.1:9000/bucket/{n}"))).collect();
        drop(gateway);
        let void = far.stop();
        let best = through.iter().copied().fold(f64::INFINITY, f64::min);
        // Nothing beats the path: handshake and slow start, or one round trip.
        assert!(straight >= 1.2 && best >= 0.2, "{straight} s straight, {through:?} s through the gateway");
        if best < straight / 3.0 {
            println!("test an_upload_through_the_gateway_… ok ({:.0} s)", began.elapsed().as_secs_f64());
            return ExitCode::SUCCESS;
        }
        println!("{straight} s straight, {through:?} s through the gateway; {void:?}");
        if !void.is_empty() {
            skip(Lack::Quiet, void.join("; "));
            return ExitCode::SUCCESS;
        }
    }
    println!("test an_upload_through_the_gateway_… FAILED");
    ExitCode::FAILURE
}

/// Seconds from curl's start to the whole answer.
fn put(far: &Far, file: &std::path::Path, url: &str) -> f64 {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--fail-with-body", "--show-error", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user"]);
    curl.arg(format!("{USER}:{SECRET}")).args(["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]);
    let answer = file.with_extension("answer");
    curl.arg("--output").arg(&answer).args(["--write-out", "%{time_total}", "--upload-file"]).arg(file).arg(url);
    curl.stdout(std::process::Stdio::piped());
    let output = far.spawn(Host::Client, curl).wait_with_output().unwrap();
    assert!(output.status.success(), "{url}: {}", std::fs::read_to_string(&answer).unwrap_or_default());
    String::from_utf8(output.stdout).unwrap().parse().unwrap()
}
