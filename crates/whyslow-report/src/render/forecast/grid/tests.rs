#![allow(clippy::unwrap_used)]

use super::*;

fn rows() -> Vec<Vec<Cell>> {
    let cell = |bytes: u64, rtt: i64| {
        let plan = Plan { rate: Some(100e6), ..Plan::new(bytes, Nanos::from_millis(rtt)) };
        Cell { forecast: plan.forecast(), plan }
    };
    [10_000, 300_000, 10_000_000].map(|bytes| [1, 30, 100].map(|rtt| cell(bytes, rtt)).to_vec()).to_vec()
}

#[test]
fn a_table_of_times_and_a_picture() {
    insta::assert_snapshot!(anstream::adapter::strip_str(&terminal(&rows(), 80)).to_string());
}

#[test]
fn json_is_what_its_schema_describes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/whyslow-predict-grid-1.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document = serde_json::from_str(&json(&rows())).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}
