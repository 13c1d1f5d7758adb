//! Hostile captures given to the commands of the program: no command may panic, be killed or hang.
//!
//! The inputs come from the harness of the core's fuzz tests; its `README.md` has the settings.

#[path = "../../../whyslow-core/src/capture/build.rs"]
mod build;
#[path = "../../../whyslow-diagnosis/tests/fuzz/harness.rs"]
mod harness;
#[path = "../../../whyslow-diagnosis/tests/fuzz/mutate.rs"]
mod mutate;
#[path = "../../../whyslow-diagnosis/tests/fuzz/packets.rs"]
mod packets;
#[allow(dead_code, reason = "captures of packets are enough here")]
#[path = "../../../whyslow-diagnosis/tests/fuzz/seeds.rs"]
mod seeds;

use harness::{fuzz, kind_of};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use whyslow_core::capture::{CaptureOrigin, Reader};
use whyslow_diagnosis::condense::Condenser;

/// A command that takes longer hangs. The harness ends the tests a little later.
const HANG: Duration = Duration::from_secs(50);

/// Runs the program with an input as its standard input; the arguments may name the input too.
#[track_caller]
fn run(arguments: &[&str], input: &Path) -> Output {
    let output = tempfile::NamedTempFile::new().unwrap();
    let errors = tempfile::NamedTempFile::new().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .args(arguments)
        .stdin(File::open(input).unwrap())
        .stdout(Stdio::from(output.reopen().unwrap()))
        .stderr(Stdio::from(errors.reopen().unwrap()))
        .spawn()
        .unwrap();
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if since.elapsed() > HANG {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{arguments:?} hangs");
        }
        sleep(Duration::from_millis(1));
    };
    let [stdout, stderr] = [output, errors].map(|file| std::fs::read(file.path()).unwrap());
    Output { status, stdout, stderr }
}

/// Runs a command, and returns what kind of outcome it had.
#[track_caller]
fn outcome(arguments: &[&str], input: &Path) -> u64 {
    let Output { status, stdout, stderr } = run(arguments, input);
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(matches!(status.code(), Some(0..=2)), "{arguments:?}: {status}: {stderr}");
    let lines = stdout.iter().filter(|&&byte| byte == b'\n').count();
    kind_of(&(status.code(), lines.checked_ilog2(), stderr.split_whitespace().next_back()))
}

/// Fuzzes one command; `{}` among its arguments stands for the input's path.
fn fuzz_command(name: &str, seeds: Vec<Vec<u8>>, arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.replace("{}", path.to_str().unwrap())).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    fuzz(name, seeds, |input| {
        std::fs::write(&path, input).unwrap();
        outcome(&arguments, &path)
    });
}

/// Small captures: each run is a process of its own.
fn small_samples() -> Vec<Vec<u8>> {
    let mut seeds = seeds::samples();
    seeds.retain(|seed| seed.len() < 12_000);
    seeds
}

/// These, and one that cannot be read: a busy machine may have no time for many others.
fn captures() -> Vec<Vec<u8>> {
    let mut seeds = small_samples();
    seeds.push(vec![0; 64]);
    seeds
}

fn sample(name: &str) -> String {
    crate::common::sample(name).display().to_string()
}

#[test]
#[cfg(target_os = "linux")]
fn prove_builds_a_scenario_or_reports_the_reason() {
    fuzz_command("prove", captures(), &["prove", "{}", "--scenario"]);
}

#[test]
fn report_is_written_or_refused() {
    let page = tempfile::tempdir().unwrap();
    let page = page.path().join("page.html").display().to_string();
    fuzz_command("report", captures(), &["report", "{}", "-o", &page]);
}

#[test]
fn watch_reads_a_pipe_to_its_end() {
    fuzz_command("watch-command", captures(), &["watch", "-", "--jsonl"]);
}

#[test]
fn compare_compares_any_two_captures() {
    fuzz_command("compare-command", captures(), &["compare", "{}", &sample("loss-client")]);
}

#[test]
fn both_ends_are_explained_together() {
    fuzz_command("explain-pair", captures(), &["{}", &sample("syn-loss-server"), "--json"]);
}

fn condensed(capture: &[u8]) -> Vec<u8> {
    let mut rows = Vec::new();
    let mut condenser = Condenser::new(&CaptureOrigin::default(), 1, |_, row: Vec<u8>| rows.extend(row));
    let mut reader = Reader::new();
    let summary = reader.push(capture, &mut condenser).and_then(|()| reader.finish(&mut condenser)).unwrap();
    condenser.finish(&summary);
    rows
}

#[test]
fn stitch_joins_condensed_captures_or_reports_the_error() {
    let seeds: Vec<_> = small_samples().iter().map(|capture| condensed(capture)).collect();
    let folder = tempfile::tempdir().unwrap();
    let other: PathBuf = folder.path().join("other.condensed");
    std::fs::write(&other, &seeds[0]).unwrap();
    fuzz_command("merge", seeds, &["merge", "{}", other.to_str().unwrap(), "--json"]);
}
