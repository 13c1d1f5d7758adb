//! Questions of the page about open captures, and their answers: `series?c=3&columns=800`.
//!
//! The local server gets questions as addresses, a worker of the browser as messages. Both answer
//! from here.

use crate::worded::{WordedComparison, WordedConnection};
use crate::{OpenCaptures, Query, packet};
use serde::Serialize;
use whyslow_diagnosis::compare::TransferName;
use whyslow_report::render::json;
use whyslow_units::Nanos;

/// Columns of a graph if none are requested.
pub const COLUMNS: usize = 1_024;

/// The questions with an answer in JSON.
const QUESTIONS: [&str; 5] = ["series", "connection", "packet", "compare", "analysis"];

/// Whether this is a question that [`answer`] knows.
pub fn is_question(wanted: &str) -> bool {
    QUESTIONS.contains(&wanted)
}

/// The answer to a question, as JSON.
///
/// - `series`: graphs of connection `c`, in this number of `columns`, `from` and `to` these seconds
/// - `connection`: all of connection `c`, which the document may have a line of
/// - `packet`: the headers of `frame` of connection `c` at the time `t`, seconds
/// - `compare`: transfers `a` and `b` side by side, named as on the command line: `a=3.2&b=5.1`
/// - `analysis`: all that was found, as `whyslow --json` prints it
///
/// # Errors
/// If the requested data does not exist, or the captures cannot be read again.
pub fn answer(opened: &OpenCaptures, wanted: &str, query: Query<'_>) -> Result<Vec<u8>, String> {
    let id = || query.number("c").ok_or("which connection?");
    match wanted {
        "series" => {
            let columns = query.number("columns").unwrap_or(COLUMNS);
            write(&opened.answer(id()?, range(query), columns)?)
        }
        "connection" => write(&WordedConnection::new(opened.connection(id()?)?)),
        "packet" => {
            let (place, _) = opened.place(id()?)?;
            let time = query.number::<f64>("t").filter(|time| time.is_finite()).ok_or("when?")?;
            let frame = query.number("frame").ok_or("which frame?")?;
            write(&packet::read(&place, frame, Nanos::from_secs_f64(time))?)
        }
        "compare" => match ["a", "b"].map(|name| query.get(name).and_then(|text| TransferName::read(&text))) {
            [Some(a), Some(b)] => write(&WordedComparison::new(opened.compare([a, b])?)),
            _ => Err("which two transfers?".to_owned()),
        },
        "analysis" => {
            let mut text = Vec::new();
            json::pretty(opened.analysis(), &mut text).map_err(|error| error.to_string())?;
            Ok(text)
        }
        _ => Err("there is nothing of this name".to_owned()),
    }
}

/// A time range, as seconds from the first packet.
pub fn range(query: Query<'_>) -> Option<(Nanos, Nanos)> {
    let [from, to] = ["from", "to"].map(|name| query.number::<f64>(name).filter(|seconds| seconds.is_finite()));
    let (from, to) = (Nanos::from_secs_f64(from?), Nanos::from_secs_f64(to?));
    (from <= to).then_some((from, to))
}

/// The file name of a slice of a connection.
pub fn slice_name(id: u64, packets: u64) -> String {
    format!("connection-{id}-{packets}-packets.pcapng")
}

fn write(value: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    json::to_people(value, &mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Opening;
    use crate::testing::{path, reading};
    use serde_json::Value;
    use whyslow_io::Input;

    #[test]
    fn questions_are_answered_and_missing_parts_are_reported() {
        let opening = Opening::of(vec![Input::Path(path("loss-client"))]);
        let opened = OpenCaptures::new(reading(&[&["loss-client"]]), opening);
        let ask = |wanted: &str, query: &str| answer(&opened, wanted, Query::new(query));
        let json = |wanted, query| serde_json::from_slice::<Value>(&ask(wanted, query).unwrap()).unwrap();
        assert_eq!(json("connection", "c=1")["id"], 1);
        let packets = opened.analysis().captures[0].tcp_packets;
        assert_eq!(json("series", "c=1&columns=8")["packets"], packets);
        assert!(json("packet", "c=1&frame=1&t=0")["mss"].is_number());
        let whole = json("analysis", "");
        assert_eq!(whole["connections"], serde_json::to_value(&opened.analysis().connections).unwrap());
        assert_eq!(whole["headline"]["cause"], whole["connections"][0]["transfers"][1]["findings"][0]["cause"]);
        for (wanted, query, why) in [
            ("connection", "c=2", "there is no connection of this number"),
            ("connection", "", "which connection?"),
            ("packet", "c=1&frame=2&t=0", "there is no such packet"),
            ("packet", "c=1&frame=2&t=NaN", "when?"),
            ("compare", "a=1.1", "which two transfers?"),
            ("document", "", "there is nothing of this name"),
        ] {
            assert_eq!(ask(wanted, query), Err(why.to_owned()), "{wanted}?{query}");
            assert_eq!(is_question(wanted), wanted != "document");
        }
    }

    #[test]
    fn a_slice_holds_what_lies_in_its_time() {
        let opening = Opening::of(vec![Input::Path(path("loss-client"))]);
        let opened = OpenCaptures::new(reading(&[&["loss-client"]]), opening);
        let (all, packets) = opened.slice(1, range(Query::new("from=0&to=60")), Vec::new()).unwrap();
        assert_eq!(packets, opened.analysis().captures[0].tcp_packets);
        let (some, fewer) = opened.slice(1, range(Query::new("from=0&to=0.3")), Vec::new()).unwrap();
        assert!(fewer < packets && some.len() < all.len());
        assert!(opened.slice(1, range(Query::new("from=2&to=1")), Vec::new()).is_err());
    }
}
