//! Just enough of JSON Schema to compare the program's output with
//! `docs/schema/truth-1.schema.json`.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/schema/truth-1.schema.json");

/// Panics with the place where `document` does not match the definition `name`.
pub fn check(document: &Value, name: &str) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    walk(document, &schema["$defs"][name], &schema, name);
}

fn walk(value: &Value, rule: &Value, schema: &Value, place: &str) {
    let Some(rule) = rule.as_object() else { panic!("{place}: the schema has no rule for it") };
    for keyword in rule.keys() {
        let known =
            ["$ref", "type", "const", "enum", "properties", "required", "additionalProperties", "items", "description"];
        assert!(known.contains(&keyword.as_str()), "{place}: this check does not know `{keyword}`");
    }
    if let Some(name) = rule.get("$ref").and_then(Value::as_str) {
        let name = name.strip_prefix("#/$defs/").unwrap();
        return walk(value, &schema["$defs"][name], schema, place);
    }
    if let Some(expected) = rule.get("const") {
        assert_eq!(value, expected, "{place}");
    }
    if let Some(allowed) = rule.get("enum").and_then(Value::as_array) {
        assert!(allowed.contains(value), "{place}: {value}");
    }
    if let Some(kinds) = rule.get("type") {
        let is = |kind: &Value| match kind.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            other => panic!("{place}: unknown type {other}"),
        };
        let fits = kinds.as_array().map_or_else(|| is(kinds), |kinds| kinds.iter().any(is));
        assert!(fits, "{place}: {value} is not {kinds}");
    }
    if let Some(object) = value.as_object() {
        for key in rule.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(object.contains_key(key.as_str().unwrap()), "{place}: {key} is missing");
        }
        for (key, inner) in object {
            let place = format!("{place}.{key}");
            match (rule.get("properties").and_then(|p| p.get(key)), rule.get("additionalProperties")) {
                (Some(rule), _) => walk(inner, rule, schema, &place),
                (None, Some(Value::Bool(false))) => panic!("{place}: not in the schema"),
                (None, Some(rule @ Value::Object(_))) => walk(inner, rule, schema, &place),
                (None, _) => {}
            }
        }
    }
    if let (Some(list), Some(rule)) = (value.as_array(), rule.get("items")) {
        for (index, inner) in list.iter().enumerate() {
            walk(inner, rule, schema, &format!("{place}[{index}]"));
        }
    }
}
