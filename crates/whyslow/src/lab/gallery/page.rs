//! The gallery as one HTML file that loads nothing.

use super::graphs::{COLUMNS, Graphs, Line};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use whyslow_lab::figures::{self, Kind};
use whyslow_lab::scenario::{Experiment, Scenario};
use whyslow_lab::show;
use whyslow_lab::truth::{Machine, RunResult};

/// The size of a graph's own area; a column is a pixel.
const HEIGHT: f64 = 84.0;
/// Room for the largest value above it, and for the time below.
const ABOVE: f64 = 15.0;
const BELOW: f64 = 14.0;

/// The window's graph reaches so many times as high as what was in flight.
const FAR_ABOVE: f64 = 4.0;

const STYLE: &str = include_str!("page.css");

/// A graph's heading, and the words below it.
const GRAPHS: [(&str, &str); 4] = [
    ("RTT", "smoothed, as the sender has it"),
    ("Throughput", "acknowledged"),
    ("Time and sequence", "acknowledged; <i class=resent>retransmitted</i>"),
    ("Window", "<i class=window>receiver's</i>, <i class=cwnd>congestion</i>, <i class=flight>in flight</i>"),
];

/// A condition: its result, and what is drawn of it.
pub(super) struct Row<'a> {
    pub(super) result: &'a RunResult,
    pub(super) graphs: Option<Graphs>,
}

/// The page. `seconds` is how long a transfer may take.
pub(super) fn page(experiment: &Experiment, rows: &[Row<'_>], seconds: f64) -> String {
    let machine = Machine::here();
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n<p>{about}</p>\n\
         <p class=how>Each transfer ends when all has come, or after {seconds} s. Linux {kernel}, {cpus} processors. \
         Every graph has a scale of its own, whose upper end stands above it, and its time below.</p>\n",
        title = escaped(&experiment.title),
        about = escaped(&experiment.about),
        kernel = escaped(&machine.kernel),
        cpus = machine.cpus,
    );
    html.push_str("<div class=wide><table>\n<thead><tr><th>Condition</th>");
    for (name, words) in GRAPHS {
        let _ = write!(html, "<th>{name}<small>{words}</small></th>");
    }
    html.push_str("<th>Figures</th></tr></thead>\n<tbody>\n");
    let usual = usual(experiment);
    for row in rows {
        let scenario = experiment.runs.iter().find(|run| run.label == row.result.label).map(|run| &run.scenario);
        html.push_str(&table_row(row, &scenario.map_or_else(Vec::new, |scenario| differs(&usual, scenario))));
    }
    html.push_str("</tbody></table></div>\n</html>\n");
    html
}

fn table_row(row: &Row<'_>, differs: &[String]) -> String {
    let result = row.result;
    let mut html = format!("<tr id=\"{0}\"><th><b>{0}</b>", escaped(&result.label));
    for setting in differs {
        let _ = write!(html, "<code>{}</code>", escaped(setting));
    }
    let _ = write!(html, "<span>{}</span></th>", escaped(&result.cause));
    match &row.graphs {
        Some(graphs) => {
            for svg in [rtt(graphs), throughput(graphs), sequence(graphs), window(graphs)] {
                let _ = write!(html, "<td>{svg}</td>");
            }
        }
        None => {
            let why = result.problems.first().map_or("no result", String::as_str);
            let _ = write!(html, "<td colspan=4 class=none>no result: {}</td>", escaped(why));
        }
    }
    let _ = writeln!(html, "<td>{}</td></tr>", figures_of(result));
    html
}

/// The figures of the third write-up's table, one below the other.
fn figures_of(result: &RunResult) -> String {
    if !result.problems.is_empty() {
        return String::new();
    }
    let mut html = String::from("<dl>");
    for name in show::COLUMNS {
        let Some(value) = result.figures.get(*name) else { continue };
        let kind = figures::kind(name).unwrap_or(Kind::Count);
        let shown = kind.show_between(*value, result.noise.between.get(*name).copied());
        let (shown, range) = shown.split_once(" (").map_or((shown.as_str(), ""), |(shown, range)| (shown, range));
        let name = name.replace('_', " ");
        let _ = write!(html, "<dt>{name}</dt><dd>{shown}</dd><dd>{}</dd>", range.trim_end_matches(')'));
    }
    html.push_str("</dl>");
    for claim in result.claims.iter().filter(|claim| !claim.holds) {
        let _ = write!(html, "<p class=none>not confirmed: {}</p>", escaped(&claim.claim.to_string()));
    }
    html
}

fn rtt(graphs: &Graphs) -> String {
    svg(graphs, &Drawn { kind: Kind::Time, lines: &[("rtt", &graphs.rtt)], marks: &[], most: most(&graphs.rtt) })
}

fn throughput(graphs: &Graphs) -> String {
    let lines = [("throughput", &graphs.throughput)];
    svg(graphs, &Drawn { kind: Kind::Rate, lines: &lines, marks: &[], most: most(&graphs.throughput) })
}

fn sequence(graphs: &Graphs) -> String {
    let lines = [("acknowledged", &graphs.acknowledged)];
    let (marks, most) = (&graphs.retransmitted[..], most(&graphs.acknowledged));
    svg(graphs, &Drawn { kind: Kind::Size, lines: &lines, marks, most })
}

/// What no sender comes near is cut off: the scale is that of what was in flight.
fn window(graphs: &Graphs) -> String {
    let lines = [("window", &graphs.window), ("cwnd", &graphs.congestion_window), ("flight", &graphs.in_flight)];
    let highest = lines.iter().map(|(_, line)| most(line)).fold(0.0, f64::max);
    let most = highest.min(most(&graphs.in_flight) * FAR_ABOVE);
    svg(graphs, &Drawn { kind: Kind::Size, lines: &lines, marks: &[], most })
}

fn most(line: &Line) -> f64 {
    line.iter().flatten().copied().fold(0.0, f64::max)
}

/// What one graph shows.
struct Drawn<'a> {
    /// The unit.
    kind: Kind,
    /// Lines, each with its class.
    lines: &'a [(&'a str, &'a Line)],
    /// Columns that are marked at the bottom.
    marks: &'a [bool],
    /// The scale's upper end.
    most: f64,
}

fn svg(graphs: &Graphs, drawn: &Drawn<'_>) -> String {
    let Drawn { kind, lines, marks, most } = *drawn;
    if most <= 0.0 {
        return "<span class=none>nothing</span>".to_owned();
    }
    let base = ABOVE + HEIGHT;
    let (width, height) = (COLUMNS, base + BELOW);
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {height}\" width={width} height={height} role=img><path class=axis d=\"M0 {ABOVE}V{base}H{width}\"/>\
         <text x=0 y=10>{}</text><text x={width} y={} class=end>{}</text>",
        kind.show(most),
        height - 2.0,
        Kind::Time.show(graphs.seconds),
    );
    for (at, _) in marks.iter().enumerate().filter(|(_, is_marked)| **is_marked) {
        let _ = write!(out, "<path class=resent d=\"M{at}.5 {base}v-9\"/>");
    }
    for (class, line) in lines {
        let _ = write!(out, "<path class={class} d=\"{}\"/>", path(line, most));
    }
    out.push_str("</svg>");
    out
}

/// A line's steps, interrupted where nothing was read.
fn path(line: &Line, most: f64) -> String {
    let mut out = String::new();
    let mut last = None;
    for (at, value) in line.iter().enumerate() {
        let y = value.map(|value| ABOVE + HEIGHT * (1.0 - (value / most).min(1.0)));
        match (last, y) {
            // What stays the same is one stroke.
            (Some(before), Some(y)) if before == y => {}
            (Some(_), Some(y)) => drop(write!(out, "H{at}V{y:.1}")),
            (None, Some(y)) => drop(write!(out, "M{at} {y:.1}")),
            (Some(_), None) => drop(write!(out, "H{at}")),
            (None, None) => {}
        }
        last = y;
    }
    if last.is_some() {
        let _ = write!(out, "H{}", line.len());
    }
    out
}

/// The settings of the condition that has no trouble, or else of the first.
fn usual(experiment: &Experiment) -> BTreeMap<String, String> {
    let healthy = experiment.runs.iter().find(|run| run.scenario.cause == "none");
    healthy.or(experiment.runs.first()).map(|run| settings(&run.scenario)).unwrap_or_default()
}

/// What a scenario has that is not usual.
fn differs(usual: &BTreeMap<String, String>, scenario: &Scenario) -> Vec<String> {
    let own = settings(scenario);
    let is_other = |(key, value): &(&String, &String)| usual.get(*key) != Some(*value);
    own.iter().filter(is_other).map(|(key, value)| format!("{key} {value}")).collect()
}

/// The settings of path and hosts, as a scenario names them.
fn settings(scenario: &Scenario) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let value = serde_json::to_value(scenario).unwrap_or_default();
    for key in ["path", "client", "server", "proxy", "cross"] {
        if let Some(value) = value.get(key) {
            flatten(key, value, &mut all);
        }
    }
    all
}

fn flatten(key: &str, value: &Value, all: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(inner) => inner.iter().for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, all)),
        Value::Array(list) => {
            let words: Vec<String> = list.iter().map(word).collect();
            all.insert(key.to_owned(), words.join(" "));
        }
        other => drop(all.insert(key.to_owned(), word(other))),
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_line_is_drawn_in_steps_and_broken_where_nothing_was_read() {
        let line = vec![None, Some(10.0), Some(10.0), Some(5.0), None, Some(0.0)];
        assert_eq!(path(&line, 10.0), "M1 15.0H3V57.0H4M5 99.0H6");
        assert_eq!(path(&Line::new(), 10.0), "");
    }

    #[test]
    fn a_row_says_what_is_not_usual_and_nothing_is_taken_for_markup() {
        let text = "name = \"g\"\ntitle = \"a < b\"\n[[case]]\nname = \"plain\"\nset = { cause = \"none\" }\n\
                    [[case]]\nname = \"far\"\nset = { path.rtt = \"100ms\", server.tcp_wmem = [\"4096B\", \"4096B\", \"4096B\"] }\n";
        let experiment = whyslow_lab::scenario::load("g.toml", text, &[]).unwrap();
        let far = differs(&usual(&experiment), &experiment.runs[1].scenario);
        assert_eq!(far, ["path.rtt 100ms", "server.tcp_wmem 4KiB 4KiB 4KiB"]);
        let html = page(&experiment, &[], 5.0);
        assert!(html.contains("<h1>a &lt; b</h1>") && html.contains("after 5 s"), "{html}");
    }

    #[test]
    fn a_graph_has_its_largest_value_its_time_and_its_marks() {
        let graphs = Graphs {
            seconds: 2.5,
            acknowledged: vec![Some(0.0), Some(2_000_000.0)],
            retransmitted: vec![false, true],
            ..Graphs::default()
        };
        let svg = sequence(&graphs);
        assert!(svg.contains(">2.00 MB<") && svg.contains(">2.50 s<"), "{svg}");
        assert_eq!(svg.matches("class=resent").count(), 1);
        assert_eq!(rtt(&graphs), "<span class=none>nothing</span>");
    }
}
