//! `whyslow watch` on pipes, on files that grow, and on a network of the lab. If packets may not be
//! recorded, or a program is not installed, a test reports it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod chart;
mod errors;
mod files;
mod metrics;
mod network;
mod otlp;
mod pipe;
mod pods;
mod rights;
mod screen;
mod view;

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::Duration;

/// `whyslow watch`, with nothing of the environment's.
fn watch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.arg("watch").args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("COLUMNS");
    command
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"))
}

/// The output of a run that gets these bytes in pieces.
fn piped(bytes: &[u8], piece: usize, arguments: &[&str]) -> Output {
    let mut child = watch(&[&["-"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input: ChildStdin = child.stdin.take().unwrap();
    let pieces: Vec<Vec<u8>> = bytes.chunks(piece).map(<[u8]>::to_vec).collect();
    // A program that ends early does not read all of it.
    let writer = std::thread::spawn(move || pieces.iter().try_for_each(|piece| input.write_all(piece)));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    output
}

/// The lines of a run that must succeed; each follows the schema.
#[track_caller]
fn json_lines(output: &Output) -> Vec<Value> {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    std::str::from_utf8(&output.stdout).unwrap().lines().map(checked).collect()
}

/// A line, which follows the schema; and its connection that of the analysis.
#[track_caller]
fn checked(line: &str) -> Value {
    let printed: Value = serde_json::from_str(line).unwrap();
    let read = |name: &str| -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let check = |schema: &Value, value: &Value| {
        let validator = jsonschema::validator_for(schema).unwrap();
        if let Some(wrong) = validator.iter_errors(value).next() {
            panic!("{}: {wrong}", wrong.instance_path());
        }
    };
    check(&read("whyslow-watch-2.schema.json"), &printed);
    if let Some(connection) = printed.get("connection") {
        let whole = read("whyslow-2.schema.json");
        let schema = serde_json::json!({"$ref": "#/$defs/connection", "$defs": whole["$defs"]});
        check(&schema, connection);
    }
    printed
}

/// The transfers among lines: server port, sender, bytes, and beginning.
fn transfers(lines: &[Value]) -> Vec<(u64, String, u64, String)> {
    let of = lines.iter().filter(|line| line["type"] == "transfer").map(|line| {
        let transfer = &line["connection"]["transfers"][0];
        let number = |value: &Value| value.as_u64().unwrap();
        let from = transfer["from"].as_str().unwrap().to_owned();
        (
            number(&line["connection"]["server"]["port"]),
            from,
            number(&transfer["bytes"]),
            transfer["start_s"].to_string(),
        )
    });
    let mut all: Vec<_> = of.collect();
    all.sort();
    all
}

/// The same, by the analysis of a capture.
fn explained(path: &Path) -> Vec<(u64, String, u64, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(path).arg("--json").output().unwrap();
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut all = Vec::new();
    for connection in printed["connections"].as_array().unwrap() {
        for transfer in connection["transfers"].as_array().unwrap() {
            let number = |value: &Value| value.as_u64().unwrap();
            let from = transfer["from"].as_str().unwrap().to_owned();
            let start = transfer["start_s"].to_string();
            all.push((number(&connection["server"]["port"]), from, number(&transfer["bytes"]), start));
        }
    }
    all.sort();
    all
}

/// A watch that goes on, whose lines are read as they come.
struct Running {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Running {
    fn start(arguments: &[&str], input: Stdio) -> Self {
        let mut child = watch(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    /// The next line; `None` after a long time.
    fn line(&self) -> Option<Value> {
        self.lines.recv_timeout(Duration::from_secs(60)).ok().map(|line| checked(&line))
    }

    /// Ends it as Ctrl-C does: its other lines.
    fn end(&mut self) -> Vec<Value> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        let lines = self.lines.iter().map(|line| checked(&line)).collect();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        lines
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
