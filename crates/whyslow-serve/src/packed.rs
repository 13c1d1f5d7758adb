//! Graphs as a report holds them: lists of figures as differences, which compress to a third.
//!
//! It promises that the page has the very same figures again: times are whole nanoseconds, and a
//! list that has anything but whole figures stays as it is. It knows lists and no graphs: what is
//! added to an answer goes through.

use crate::graphs::Answer;
use serde_json::{Value, json};

/// Nanoseconds a second.
const NANOS: f64 = 1e9;
/// Beyond this a float is no whole number any more.
const MAX: f64 = 9e15;

/// An answer with its lists packed: `{"d": differences, "of": units}`, with `"by": 1` where each
/// side's figures have differences of their own.
pub(crate) fn pack(answer: &Answer) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(answer)?;
    for lane in value["lanes"].as_array_mut().into_iter().flatten() {
        for (name, list) in lane.as_object_mut().into_iter().flatten() {
            let of = if matches!(name.as_str(), "t" | "rtt") { NANOS } else { 1.0 };
            match list.as_array_mut().map(Vec::as_mut_slice) {
                Some([low @ Value::Array(_), high @ Value::Array(_)]) => {
                    [low, high].into_iter().for_each(|list| squeeze(list, of, None))
                }
                _ => squeeze(list, of, None),
            }
        }
    }
    if let Some(points) = value["points"].as_object_mut() {
        let from: Vec<usize> =
            points.get("from").and_then(|from| serde_json::from_value(from.clone()).ok()).unwrap_or_default();
        for (name, list) in points.iter_mut() {
            match name.as_str() {
                "t" => squeeze(list, NANOS, None),
                "frame" => squeeze(list, 1.0, None),
                "seq" | "ack" | "win" | "fly" => squeeze(list, 1.0, Some(&from)),
                _ => {}
            }
        }
    }
    Ok(value)
}

/// Puts differences in the place of figures, where all are whole in these units; null stays null.
fn squeeze(list: &mut Value, of: f64, by: Option<&[usize]>) {
    let mut last = [0_i64; 2];
    let differences: Option<Vec<Option<i64>>> = list.as_array().and_then(|list| {
        list.iter()
            .enumerate()
            .map(|(index, figure)| {
                if figure.is_null() {
                    return Some(None);
                }
                let whole = (figure.as_f64()? * of).round();
                // What comes back must be what went in.
                if whole.abs() > MAX || whole / of != figure.as_f64()? {
                    return None;
                }
                let side = by.and_then(|by| by.get(index)).copied().unwrap_or(0);
                let last = last.get_mut(side)?;
                Some(Some(whole as i64 - std::mem::replace(last, whole as i64)))
            })
            .collect()
    });
    if let Some(differences) = differences {
        *list = match by {
            Some(_) => json!({ "d": differences, "of": of as u64, "by": 1 }),
            None => json!({ "d": differences, "of": of as u64 }),
        };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn squeezed(list: Value, of: f64, by: Option<&[usize]>) -> Value {
        let mut list = list;
        squeeze(&mut list, of, by);
        list
    }

    #[test]
    fn lists_are_differences_of_whole_figures() {
        assert_eq!(squeezed(json!([5, null, 7, 3]), 1.0, None), json!({ "d": [5, null, 2, -4], "of": 1 }));
        let times = squeezed(json!([0.000000001, 1.5, 1.500000002]), 1e9, None);
        assert_eq!(times, json!({ "d": [1, 1_499_999_999, 2], "of": 1_000_000_000 }));
        let sides = squeezed(json!([10, 1000, 20, 1448]), 1.0, Some(&[0, 1, 0, 1]));
        assert_eq!(sides, json!({ "d": [10, 1000, 10, 448], "of": 1, "by": 1 }));
    }

    #[test]
    fn what_would_not_come_back_stays() {
        for list in [json!(["2:17", "2:18"]), json!([0.1234567891234]), json!([1e16]), json!("NNF"), json!(null)] {
            assert_eq!(squeezed(list.clone(), 1e9, None), list);
        }
        assert_eq!(squeezed(json!([1, 2]), 1.0, Some(&[0, 7])), json!([1, 2]));
    }
}
