#![allow(clippy::unwrap_used)]

use super::{json, terminal};
use whyslow_model::plan::{Plan, Tls, Way};
use whyslow_units::Nanos;

fn plan() -> Plan {
    let plan = Plan::new(1_000_000, Nanos::from_millis(200));
    Plan { rate: Some(200e6), way: Way::Upload, tls: Tls::V13, ..plan }
}

fn page(plan: &Plan) -> String {
    anstream::adapter::strip_str(&terminal(plan, &plan.forecast(), &plan.changes(&plan.forecast()), 80)).to_string()
}

#[test]
fn a_new_upload() {
    insta::assert_snapshot!(page(&plan()));
}

#[test]
fn a_lossy_download() {
    insta::assert_snapshot!(page(&Plan { loss: 0.01, way: Way::Download, count: 3, ..plan() }));
}

#[test]
fn nothing_to_gain() {
    let tiny = Plan { bytes: 1, rate: None, reuse: true, tls: Tls::None, rtt: Nanos(1_000), ..plan() };
    insta::assert_snapshot!(page(&tiny));
}

#[test]
fn json_is_what_its_schema_describes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/whyslow-predict-1.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for plan in [plan(), Plan { loss: 0.01, queue: Some(50_000), send_buffer: Some(9_000), rate: None, ..plan() }] {
        let document = serde_json::from_str(&json(&plan, &plan.forecast(), &plan.changes(&plan.forecast()))).unwrap();
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}
