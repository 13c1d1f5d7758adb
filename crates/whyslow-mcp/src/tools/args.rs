//! Arguments of tools: lenient about what assistants write, strict about unknown ones.

use crate::failure::Failure;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Longest part of a message of the JSON parser.
const LONGEST: usize = 300;

/// The arguments of a tool.
///
/// # Errors
/// When one is missing, unknown, or of another type.
pub(crate) fn read<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        let why: String = error.to_string().chars().take(LONGEST).collect();
        Failure::new(format!("the arguments are wrong: {why}"), "the tool's inputSchema names them and their types")
    })
}

/// A list, or its only member.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a file name, or a list of file names")]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(from)? {
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}

/// A frame: a number, or text as `2:17`.
pub(crate) fn frame<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a frame number, or FILE:FRAME as text")]
    enum Either {
        Number(u64),
        Text(String),
    }
    Ok(match Either::deserialize(from)? {
        Either::Number(number) => number.to_string(),
        Either::Text(text) => text,
    })
}

/// A place in a list, from a cursor.
///
/// # Errors
/// When it is none of this server.
pub(crate) fn offset(cursor: Option<&str>) -> Result<usize, Failure> {
    cursor.map_or(Ok(0), |cursor| {
        cursor.parse().map_err(|_| {
            Failure::new("this cursor is none of this server", "give the `next_cursor` of the answer before, or none")
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Args {
        #[serde(deserialize_with = "one_or_more")]
        files: Vec<String>,
        #[serde(deserialize_with = "frame")]
        frame: String,
    }

    fn of(value: Value) -> Result<Args, Failure> {
        read(value.as_object().cloned())
    }

    #[test]
    fn single_values_are_lists_and_numbers_are_frames() {
        let expected = Args { files: vec!["a".into()], frame: "17".into() };
        assert_eq!(of(json!({"files": "a", "frame": 17})).unwrap(), expected);
        assert_eq!(of(json!({"files": ["a"], "frame": "17"})).unwrap(), expected);
    }

    #[test]
    fn wrong_arguments_are_named() {
        let text = |value| of(value).unwrap_err().text();
        assert!(text(json!({"files": "a", "frame": 1, "path": "b"})).contains("unknown field `path`"));
        assert!(text(json!({"files": 7, "frame": 1})).contains("a list of file names"));
        assert!(text(json!({})).contains("missing field"));
        assert!(offset(Some("x")).is_err());
        assert_eq!(offset(Some("20")), Ok(20));
    }
}
