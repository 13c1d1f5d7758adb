//! No renderer prints hidden characters of a name, a path or a label.
#![allow(clippy::unwrap_used)]

use super::{compare as side_by_side, example, json, picture, summary, terminal, xplot};
use crate::text::is_hidden;
use serde_json::Value;
use whyslow_analysis::{
    Actor, Analysis, Cause, ChangeKind, End, Remedy, SendingAction, SendingQuestion, SendingStatement, SpreadCost,
};
use whyslow_diagnosis::compare::{TransferName, choose, compare};
use whyslow_diagnosis::series::SeriesBuilder;
use whyslow_units::Nanos;

/// A reading order turned round, an erased screen, a line within the line, and a name that looks
/// like another.
const HOSTILE: &str = "a\u{202e}fdp.exe\u{1b}[2J\r\n\u{9b}31m\u{200b}b\u{feff}\u{e0041}\u{2067}\u{7f}\u{ad}\t";
/// The same as it is shown.
const SHOWN: &str = r"a\u{202e}fdp.exe\u{1b}[2J\u{d}\u{a}\u{9b}31m\u{200b}b\u{feff}\u{e0041}\u{2067}\u{7f}\u{ad} ";

/// An analysis with such text wherever a capture, or a file's name, may bring it.
fn hostile() -> Analysis {
    let text = || HOSTILE.to_owned();
    let mut analysis = example::both_ends();
    for capture in &mut analysis.captures {
        capture.path = text();
        capture.problems.push(example::problem("torn-record", 1, HOSTILE));
    }
    let mut other = example::slow_start().connections.remove(0);
    other.id = 3;
    analysis.connections.push(other);
    for connection in &mut analysis.connections {
        connection.client.address = text();
        connection.server.name = Some(text());
        connection.problems.push(example::problem("no-handshake", 1, HOSTILE));
        connection.findings.push(example::finding(Cause::TurnTaking, 5.0, hostile_statement()));
        for transfer in &mut connection.transfers {
            transfer.label = Some(text());
            for finding in &mut transfer.findings {
                finding.statement = hostile_statement().into();
                let peer = Some(text());
                finding.to_confirm = vec![SendingQuestion::RememberedThreshold { peer, segments: 1 }.into()];
                let action =
                    SendingAction::ForgetThreshold { sender: Some(text()), peer: Some(text()), segments: Some(1) };
                finding.remedies = vec![Remedy::new(Actor::Sender, action)];
            }
        }
    }
    analysis.findings.push(example::finding(Cause::NewConnectionEachTime, 9.0, hostile_statement()));
    for pair in &mut analysis.pairs {
        for change in &mut pair.changes {
            change.kind = ChangeKind::Addresses { near_client: (text(), 1), near_server: (text(), 2) };
        }
    }
    analysis
}

/// A statement that names hostile hosts.
fn hostile_statement() -> SendingStatement {
    let cost = SpreadCost { elapsed_s: Nanos::ZERO, summed_s: Nanos::ZERO };
    SendingStatement::RememberedThreshold {
        connections: 1,
        sender: HOSTILE.to_owned(),
        peer: HOSTILE.to_owned(),
        segments: 1,
        cost,
    }
}

#[track_caller]
fn hides_nothing(what: &str, text: &str) {
    let hidden: Vec<_> = text.chars().filter(|&c| c != '\n' && is_hidden(c)).collect();
    assert!(hidden.is_empty(), "{what}: {hidden:?} in {text}");
    assert!(text.contains(r"\u{202e}") || text.contains(r"\\u{202e}"), "{what}: it is not shown at all: {text}");
}

#[test]
fn no_renderer_prints_what_is_hidden() {
    let analysis = hostile();
    for full in [false, true] {
        let page = terminal::page(
            &analysis,
            terminal::View { width: 100, top: Some(9), full, transfer: None, lang: crate::words::Lang::En },
        );
        hides_nothing("terminal", &anstream::adapter::strip_str(&page).to_string());
    }
    for connection in &analysis.connections {
        hides_nothing("markdown", &summary::markdown(analysis.captures.first(), connection));
    }
    let points = example::points::lossy();
    let mut builder = SeriesBuilder::new((points[0].time, points.last().unwrap().time), points.len() as u64);
    points.iter().for_each(|point| builder.push(point));
    let wanted = picture::Picture {
        track: picture::Track::Sequence,
        of: End::Server,
        range: None,
        size: (640, 320),
        title: HOSTILE,
        subtitle: HOSTILE,
        interval: None,
        rtt: None,
    };
    hides_nothing("svg", &picture::svg(&builder.finish(), &wanted));
    let files: [Vec<u8>; 4] = Default::default();
    for file in xplot::Xplot::new(End::Server, HOSTILE, files).unwrap().finish().unwrap() {
        let text = String::from_utf8(file).unwrap();
        hides_nothing("xplot", &text);
        assert!(text.starts_with(&format!("dtime signed\ntitle\n{SHOWN} (")), "a title is one line: {text}");
    }
    let mut object = Vec::new();
    json::pretty(&analysis, &mut object).unwrap();
    hides_nothing("json", &String::from_utf8(object).unwrap());
    let mut lines = Vec::new();
    json::lines(&analysis, &mut lines).unwrap();
    String::from_utf8(lines).unwrap().lines().for_each(|line| hides_nothing("jsonl", line));
    let at = |connection| choose(&analysis, TransferName { connection: Some(connection), transfer: None }).unwrap();
    let both = compare(&at(1), &at(3));
    hides_nothing("compare", &anstream::adapter::strip_str(&side_by_side::terminal(&both, 100)).to_string());
    let mut object = Vec::new();
    side_by_side::json(&both, &mut object).unwrap();
    hides_nothing("compare --json", &String::from_utf8(object).unwrap());
}

/// Every text of a JSON value, with the name of its member.
fn texts<'a>(name: &str, value: &'a Value, act: &mut dyn FnMut(&str, &'a str)) {
    match value {
        Value::String(text) => act(name, text),
        Value::Array(values) => values.iter().for_each(|value| texts(name, value, act)),
        Value::Object(members) => members.iter().for_each(|(name, value)| texts(name, value, act)),
        _ => {}
    }
}

#[test]
fn a_path_in_json_opens_its_file_and_all_other_text_can_be_printed() {
    let analysis = hostile();
    let at = |connection| choose(&analysis, TransferName { connection: Some(connection), transfer: None }).unwrap();
    let (mut object, mut lines, mut both) = (Vec::new(), Vec::new(), Vec::new());
    json::pretty(&analysis, &mut object).unwrap();
    json::lines(&analysis, &mut lines).unwrap();
    side_by_side::json(&compare(&at(1), &at(3)), &mut both).unwrap();
    let documents = [object.as_slice(), both.as_slice()].into_iter().chain(lines.split(|byte| *byte == b'\n'));
    let (mut paths, mut shown) = (0, 0);
    for document in documents.filter(|document| !document.is_empty()) {
        let value: Value = serde_json::from_slice(document).unwrap();
        texts("", &value, &mut |name, text| match name {
            "path" => {
                assert_eq!(text, HOSTILE);
                paths += 1;
            }
            _ => {
                assert!(!text.contains(is_hidden), "{name}: {text:?}");
                shown += usize::from(text.contains(SHOWN));
            }
        });
    }
    assert_eq!(paths, 2 * analysis.captures.len() + 2);
    assert!(shown > 50, "{shown}");
}
