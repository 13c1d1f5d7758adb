#![allow(clippy::unwrap_used)]

use super::super::example;
use super::{json, terminal};
use serde_json::{Value, json as value};
use whyslow_analysis::{Analysis, LimitingFactor};
use whyslow_diagnosis::compare::{Comparison, TransferName, choose, compare};

/// The example's download, and one whose sender has a cap.
fn both() -> Analysis {
    let mut analysis = example::slow_start();
    let mut capped =
        example::transfer(400_000, 80.0, &[(LimitingFactor::RequestWait, 26.0)], &[(LimitingFactor::SenderCap, 180.0)]);
    capped.rounds = analysis.connections[0].transfers[0].rounds.clone();
    capped.rounds.truncate(7);
    for (index, round) in capped.rounds.iter_mut().enumerate() {
        round.start_s = example::ms(80.0 + 25.0 * index as f64);
        (round.bytes, round.in_flight, round.limit) = (65_535, 65_535, LimitingFactor::SenderCap);
    }
    capped.rounds_total = 7;
    capped.rate_bps = None;
    analysis.connections.push(example::connection(2, vec![capped]));
    analysis
}

fn comparison(analysis: &Analysis) -> Comparison {
    let at = |connection| choose(analysis, TransferName { connection: Some(connection), transfer: None }).unwrap();
    compare(&at(2), &at(1))
}

#[test]
fn a_page() {
    let page = terminal(&comparison(&both()), 80);
    insta::assert_snapshot!(anstream::adapter::strip_str(&page).to_string());
}

#[test]
fn a_narrow_page_fits_its_terminal() {
    let page = terminal(&comparison(&both()), 60);
    let page = anstream::adapter::strip_str(&page).to_string();
    let widest = page.lines().map(crate::text::width).max().unwrap();
    assert!(widest <= 60, "{widest}:\n{page}");
}

#[test]
fn json_is_what_its_schema_describes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/whyslow-compare-2.schema.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let slugs: Vec<_> = example::ALL_LIMITS.iter().map(|limit| value!(limit.slug())).collect();
    assert_eq!(schema["$defs"]["limit"]["enum"], value!(slugs));
    // What is printed must be described.
    schema["additionalProperties"] = value!(false);
    for definition in schema["$defs"].as_object_mut().unwrap().values_mut() {
        if definition.get("properties").is_some() {
            definition["additionalProperties"] = value!(false);
        }
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut unknown = both();
    unknown.connections[1].handshake = None;
    unknown.connections[1].rtt_ms = Default::default();
    unknown.connections[1].transfers[0].before.clear();
    unknown.connections[1].transfers[0].rounds.clear();
    for analysis in [both(), unknown] {
        let mut out = Vec::new();
        json(&comparison(&analysis), &mut out).unwrap();
        let document = serde_json::from_slice(&out).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}
