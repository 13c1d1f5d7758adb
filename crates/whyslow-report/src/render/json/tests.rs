#![allow(clippy::unwrap_used)]

use super::super::example;
use super::*;
use serde_json::{Value, json};
use whyslow_analysis::{
    MAX_COST_SPANS, MAX_LOST_FRAMES, MAX_PAIRS, MAX_ROUNDS, MAX_SPANS, MAX_TRANSFERS, MAX_WAIT_SPANS, Party, State,
};

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/whyslow-2.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schema, with members that it does not describe forbidden: what is printed must be described.
fn strict_schema(of: &str) -> Value {
    let mut schema = schema();
    schema["$ref"] = json!(format!("#/$defs/{of}"));
    for definition in schema["$defs"].as_object_mut().unwrap().values_mut() {
        // Some have members of their own for each `kind`.
        if definition.get("properties").is_some() && definition.get("additionalProperties").is_none() {
            definition["additionalProperties"] = json!(false);
        }
    }
    schema
}

fn check(validator: &jsonschema::Validator, value: &Value) {
    let errors: Vec<_> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn examples() -> Vec<Analysis> {
    vec![
        example::slow_start(),
        example::healthy(),
        example::damaged(),
        example::reused(),
        example::many(),
        example::everything(),
        example::both_ends(),
        example::without_payload(State::Unanswered),
        example::icmp_errors(),
        example::analysis(Vec::new()),
        Analysis { partial: true, ..example::slow_start() },
    ]
}

fn printed(analysis: &Analysis) -> Value {
    let mut out = Vec::new();
    pretty(analysis, &mut out).unwrap();
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_layout_is_that_of_serde_json() {
    for analysis in examples() {
        let mut out = Vec::new();
        pretty(&analysis, &mut out).unwrap();
        // Except the values that the examples' labels and names hide.
        let expected = serde_json::to_string_pretty(&Whole::of(&analysis)).unwrap() + "\n";
        let hidden = [(r"\u001b", r"\\u{1b}"), (r"\u0007", r"\\u{7}"), ("\u{202e}", r"\\u{202e}")];
        let expected = hidden.iter().fold(expected, |text, (raw, shown)| text.replace(raw, shown));
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn what_is_printed_is_what_the_schema_describes() {
    assert!(jsonschema::meta::is_valid(&schema()));
    let validator = jsonschema::validator_for(&strict_schema("analysis")).unwrap();
    for analysis in examples() {
        check(&validator, &printed(&analysis));
    }
}

#[test]
fn every_line_is_what_the_schema_describes() {
    let validator = jsonschema::validator_for(&strict_schema("line")).unwrap();
    for analysis in examples() {
        let mut out = Vec::new();
        lines(&analysis, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let count =
            analysis.captures.len() + analysis.connections.len() + analysis.findings.len() + analysis.pairs.len();
        assert_eq!(text.lines().count(), count);
        for line in text.lines() {
            assert!(line.starts_with(r#"{"schema":"whyslow/2","#), "{line}");
            check(&validator, &serde_json::from_str(line).unwrap());
        }
    }
}

#[test]
fn the_schema_refuses_what_is_not_the_contract() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good = printed(&example::slow_start());
    assert!(validator.is_valid(&good));
    for (pointer, wrong) in [
        ("/schema", json!("whyslow/1")),
        ("/connections/0/state", json!("half_closed")),
        ("/connections/0/transfers/0/limits/0/limit", json!("slow start")),
        ("/connections/0/transfers/0/findings/0/remedies/0/actor", json!("somebody")),
        ("/connections/0/transfers/0/findings/0/cause", json!("Slow-Start")),
        ("/connections/0/handshake/mss", json!([1_440])),
        ("/connections/0/transfers/0/rounds/0/first_frame", json!("0:7")),
        ("/connections/0/rtt_ms", json!(25.8)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = wrong;
        assert!(!validator.is_valid(&bad), "{pointer}");
    }
}

#[test]
fn a_later_version_may_add_members() {
    let mut later = printed(&example::slow_start());
    later["connections"][0]["series"] = json!([1, 2]);
    assert!(jsonschema::validator_for(&schema()).unwrap().is_valid(&later));
}

#[test]
fn the_schema_has_the_slugs_and_bounds_of_the_analysis() {
    let schema = schema();
    let slugs: Vec<_> = example::ALL_LIMITS.iter().map(|limit| json!(limit.slug())).collect();
    assert_eq!(schema["$defs"]["limit"]["enum"], json!(slugs));
    assert_eq!(serde_json::to_value(example::ALL_LIMITS).unwrap(), json!(slugs));
    assert_eq!(schema["$defs"]["analysis"]["properties"]["schema"]["const"], json!(SCHEMA));
    assert_eq!(schema["$defs"]["transfer"]["properties"]["rounds"]["maxItems"], json!(MAX_ROUNDS));
    assert_eq!(schema["$defs"]["transfer"]["properties"]["timeline"]["maxItems"], json!(MAX_SPANS));
    assert_eq!(schema["$defs"]["finding"]["properties"]["spans"]["maxItems"], json!(MAX_COST_SPANS));
    assert_eq!(schema["$defs"]["exchange"]["properties"]["spans"]["maxItems"], json!(MAX_WAIT_SPANS));
    assert_eq!(schema["$defs"]["party"]["enum"], json!(Party::ALL.map(Party::slug)));
    assert_eq!(serde_json::to_value(Party::ALL).unwrap(), json!(Party::ALL.map(Party::slug)));
    assert_eq!(schema["$defs"]["connection"]["properties"]["transfers"]["maxItems"], json!(MAX_TRANSFERS));
    assert_eq!(schema["$defs"]["analysis"]["properties"]["pairs"]["maxItems"], json!(MAX_PAIRS));
    assert_eq!(schema["$defs"]["pair_direction"]["properties"]["lost_frames"]["maxItems"], json!(MAX_LOST_FRAMES));
    let pattern = schema["$defs"]["cause"]["pattern"].as_str().unwrap();
    assert!(pattern.starts_with('^') && pattern.ends_with('$'));
}

#[test]
fn non_finite_numbers_are_null() {
    let everything = printed(&example::everything());
    let rates: Vec<_> = everything["connections"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|c| c["transfers"].as_array().unwrap())
        .filter(|t| t["rate_bps"].is_null())
        .collect();
    assert_eq!(rates.len(), 1);
}

#[test]
fn every_cause_has_a_name_that_the_schema_allows() {
    let validator = jsonschema::validator_for(&strict_schema("cause")).unwrap();
    for cause in whyslow_analysis::cause::Cause::ALL {
        assert!(validator.is_valid(&json!(cause.slug())), "{}", cause.slug());
    }
}

#[test]
fn what_people_see_is_harmless_and_all_else_is_as_it_was() {
    let seen = |value: &Value| -> Value {
        let mut json = Vec::new();
        to_people(value, &mut json).unwrap();
        serde_json::from_slice(&json).unwrap()
    };
    let hostile = "a\u{202e}b\"c\\d\u{1b}[31m\ne\tf\u{7f}\u{2066}\u{85}ä😀<b>\u{8}\u{c}\r\u{0}/";
    let shown = "a\\u{202e}b\"c\\d\\u{1b}[31m\\u{a}e f\\u{7f}\\u{2066}\\u{85}ä😀<b>\\u{8}\\u{c}\\u{d}\\u{0}/";
    for member in ["name", "path"] {
        assert_eq!(seen(&json!({ member: hostile, "list": [hostile] })), json!({ member: shown, "list": [shown] }));
    }
    let value = json!({ "a": [1, -2.5, null, true, { "b": "c", "path": "ä/?q=\"1\"\\" }], "d": "" });
    assert_eq!(seen(&value), value);
}

#[test]
fn names_of_members_are_harmless_too() {
    let hostile = "a\u{9b}31m\u{202e}\u{1b}[8m\\\"\n";
    let mut out = Vec::new();
    object(&json!({ hostile: { "path": hostile } }), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{text}");
    let read: Value = serde_json::from_str(&text).unwrap();
    // What opens a file keeps its value; its characters are escapes.
    assert_eq!(read, json!({ "a\\u{9b}31m\\u{202e}\\u{1b}[8m\\\"\\u{a}": { "path": hostile } }));
}

#[test]
fn a_log_keeps_every_value_and_shows_nothing_hidden() {
    let hostile = "a\u{9b}31m\u{202e}\u{1b}\\\"\n\t";
    let mut out = Vec::new();
    log_line(&json!({ "key": hostile, "list": [hostile, 1], "after": { "more": hostile } }), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{1b}', '\t']) && text.lines().count() == 1, "{text}");
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, json!({ "key": hostile, "list": [hostile, 1], "after": { "more": hostile } }));
}
