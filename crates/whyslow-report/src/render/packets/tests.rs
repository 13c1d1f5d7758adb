#![allow(clippy::unwrap_used)]

use super::*;
use crate::render::example::points;
use serde_json::Value;

#[test]
fn csv_has_a_cell_for_every_title() {
    let mut out = Vec::new();
    Rows::titles(&mut out).unwrap();
    let mut rows = Rows::default();
    for point in points::lossy() {
        rows.csv(&point, &mut out).unwrap();
    }
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|line| line.split(',').count() == COLUMNS.len()), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_lines_of_json_have_the_same_columns_and_null_for_what_is_not_known() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/whyslow-packets-1.schema.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    schema["additionalProperties"] = false.into();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut rows = Rows::default();
    for point in points::lossy() {
        let mut out = Vec::new();
        rows.json(&point, &mut out).unwrap();
        let row: Value = serde_json::from_slice(&out).unwrap();
        let names: Vec<_> = row.as_object().unwrap().keys().filter(|name| *name != "schema").collect();
        let mut titles = COLUMNS.to_vec();
        titles.sort_unstable();
        assert_eq!(names, titles);
        assert!(validator.is_valid(&row), "{row}");
        assert_eq!(row["schema"], SCHEMA);
        assert_eq!(row["rtt_ms"].is_null(), point.rtt.is_none());
    }
}
