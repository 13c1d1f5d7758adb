//! Lists of objects in JSON, read one by one: a truncated file gives the objects before the cut.

use serde::de::DeserializeOwned;

/// Maximum number of objects of a list.
const MOST: usize = 100_000;

/// The objects of the first list with that name, and whether it was read to its end.
pub(crate) fn list<T: DeserializeOwned>(text: &str, name: &str) -> (Vec<T>, bool) {
    let mut out = Vec::new();
    let Some(mut rest) = after(text, name) else { return (out, true) };
    while out.len() < MOST {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.starts_with(']') {
            return (out, true);
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        match values.next() {
            Some(Ok(value)) => out.push(value),
            _ => return (out, false),
        }
        rest = &rest[values.byte_offset()..];
    }
    (out, false)
}

/// The text after `"name": [`.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let quoted = format!("\"{name}\"");
    text.match_indices(&quoted).find_map(|(at, _)| {
        let rest = text[at + quoted.len()..].trim_start().strip_prefix(':')?.trim_start();
        rest.strip_prefix('[')
    })
}
