//! `whyslow host` on machines in real states: in network namespaces, with nginx, curl and programs
//! that do not close, and over a path of the lab. If namespaces are not allowed, or a program is
//! not installed, a test reports it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod arguments;
mod cgroups;
mod findings;
mod namespaces;
mod path;
mod world;

use serde_json::Value;

/// Findings of the whole machine: another program's load does not matter to a test.
const OF_THE_MACHINE: [&str; 3] = ["host-cpu", "softnet-drops", "cpu-throttled"];

/// Reads what `--json` printed; it follows the schema.
#[track_caller]
fn checked(text: &str) -> Value {
    let printed = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let schema = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/whyslow-host-2.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    if let Some(wrong) = jsonschema::validator_for(&schema).unwrap().iter_errors(&printed).next() {
        panic!("{}: {wrong}", wrong.instance_path());
    }
    printed
}

/// The names of the findings, without those of the machine at large.
fn causes(printed: &Value) -> Vec<String> {
    let findings = printed["findings"].as_array().unwrap();
    let causes = findings.iter().map(|finding| finding["cause"].as_str().unwrap().to_owned());
    causes.filter(|cause| !OF_THE_MACHINE.contains(&cause.as_str())).collect()
}

/// The finding of this name.
#[track_caller]
fn finding<'a>(printed: &'a Value, cause: &str) -> &'a Value {
    let mut findings = printed["findings"].as_array().unwrap().iter();
    let found = findings.find(|finding| finding["cause"] == cause);
    found.unwrap_or_else(|| panic!("no {cause} in {:#}", printed["findings"]))
}

/// A figure of a finding's evidence.
#[track_caller]
fn figure(finding: &Value, name: &str) -> f64 {
    let evidence = finding["evidence"].as_array().unwrap();
    let found = evidence.iter().find(|evidence| evidence["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {evidence:#?}"))["value"].as_f64().unwrap()
}
