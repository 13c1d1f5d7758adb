//! `whyslow probe` against real servers: on the loopback device, and over a path of the lab. If
//! packets may not be recorded, or nginx is not installed, a test reports it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod errors;
mod like_curl;
mod limits;
mod monitor;
mod packets;
mod path;
mod proxies;
mod requests;
mod rights;
mod servers;

use serde_json::Value;
use std::process::{Command, Output, Stdio};

/// `whyslow probe`, with nothing of the environment's.
fn probe(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.arg("probe").args(arguments).stdin(Stdio::null());
    for name in
        ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NO_COLOR"]
    {
        command.env_remove(name);
    }
    command
}

fn run(arguments: &[&str]) -> Output {
    probe(arguments).output().unwrap()
}

/// The output of a run that must succeed.
#[track_caller]
fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON of a run that must succeed; it follows the schema.
#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let printed = serde_json::from_str(&stdout(&[arguments, &["--json"]].concat())).unwrap();
    assert_follows_schema(&printed);
    printed
}

#[track_caller]
fn assert_follows_schema(printed: &Value) {
    let schema = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/whyslow-probe-1.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    if let Some(wrong) = jsonschema::validator_for(&schema).unwrap().iter_errors(printed).next() {
        panic!("{}: {wrong}", wrong.instance_path());
    }
}

/// The times of the last hop of a request.
fn times(printed: &Value, request: usize) -> &Value {
    &printed["requests"][request]["hops"].as_array().unwrap().last().unwrap()["times"]
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap()
}
