//! The gallery as one HTML file that loads nothing.

use super::graphs::{COLUMNS, Graphs, Line};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use whyslow_lab::figures::{self, Kind};
use whyslow_lab::scenario::{Experiment, Scenario};
use whyslow_lab::show;
use whyslow_lab::truth::{Machine, RunResult};
use whyslow_report::text::units::thousands;

/// The height of a graph, pixels; it is as wide as its cell.
const HEIGHT: f64 = 84.0;

/// The window's graph is at most this many times as high as the bytes in flight.
const FAR_ABOVE: f64 = 4.0;

const STYLE: &str = include_str!("page.css");

/// Heading of each graph, and the text below it.
const GRAPHS: [(&str, &str); 4] = [
    ("RTT", "smoothed, as the sender has it"),
    ("Throughput", "acknowledged"),
    ("Time and sequence", "acknowledged; <i class=resent>retransmitted</i>"),
    ("Window", "<i class=window>receiver's</i>, <i class=cwnd>congestion</i>, <i class=flight>in flight</i>"),
];

/// Meaning of the figures next to the graphs.
const FIGURES: &str = "counts are segments; in small: what it may be, where this machine held packets back";

/// A condition: its result, and its graphs.
pub(super) struct Row<'a> {
    pub(super) result: &'a RunResult,
    pub(super) graphs: Option<Graphs>,
}

/// The page. `seconds` is how long a transfer may take, `machine` where it ran.
pub(super) fn page(experiment: &Experiment, rows: &[Row<'_>], seconds: f64, machine: &Machine) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n<p>{about}</p>\n\
         <p class=how>Each transfer ends when all has come, or after {seconds} s. Linux {kernel}, {cpus} processors. \
         Every graph begins at zero and has a scale of its own: its upper end stands above, its time below. A window \
         that far exceeds what was ever in flight is cut off.</p>\n",
        title = escaped(&experiment.title),
        about = escaped(&experiment.about),
        kernel = escaped(&machine.kernel),
        cpus = machine.cpus,
    );
    html.push_str("<table>\n<thead><tr><th>Condition<small>what is not as usual</small></th>");
    for (name, words) in GRAPHS {
        let _ = write!(html, "<th class=graph>{name}<small>{words}</small></th>");
    }
    let _ = write!(html, "<th>Figures<small>{FIGURES}</small></th></tr></thead>\n<tbody>\n");
    let usual = usual(experiment);
    for row in rows {
        let scenario = experiment.runs.iter().find(|run| run.label == row.result.label).map(|run| &run.scenario);
        html.push_str(&table_row(row, &scenario.map_or_else(Vec::new, |scenario| differs(&usual, scenario))));
    }
    html.push_str("</tbody></table>\n</html>\n");
    html
}

fn table_row(row: &Row<'_>, differs: &[String]) -> String {
    let result = row.result;
    let mut html = format!("<tr id=\"{0}\"><th><b>{0}</b>", escaped(&result.label));
    for setting in differs {
        // A long key goes on in the next line where one of its parts ends.
        let _ = write!(html, "<code>{}</code>", escaped(setting).replace('.', ".<wbr>"));
    }
    let _ = write!(html, "<span>{}</span></th>", escaped(&result.cause));
    match &row.graphs {
        Some(graphs) => {
            let drawn = [rtt(graphs), throughput(graphs), sequence(graphs), window(graphs)];
            for ((name, words), graph) in GRAPHS.iter().zip(drawn) {
                let _ = write!(html, "<td class=graph><small>{name}: {words}</small>{graph}</td>");
            }
        }
        None => {
            let why = result.problems.first().map_or("no result", String::as_str);
            let _ = write!(html, "<td colspan=4 class=none>no result: {}</td>", escaped(why));
        }
    }
    let _ = writeln!(html, "<td class=figures>{}</td></tr>", figures_of(result));
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
        let shown = grouped(&shown);
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

/// Figures of more than three digits by thousands: 1,234,567.
fn grouped(text: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let parts = text.split_inclusive(|c: char| !c.is_ascii_digit());
    let one = |part: &str| {
        let digits = part.trim_end_matches(|c| !is_digit(c));
        let whole = digits.parse().ok().filter(|_| digits.len() > 3);
        whole.map_or_else(|| part.to_owned(), |n| thousands(n) + &part[digits.len()..])
    };
    parts.map(one).collect()
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

/// Windows far above the bytes in flight are cut off: the scale is that of the bytes in flight.
fn window(graphs: &Graphs) -> String {
    let lines = [("window", &graphs.window), ("cwnd", &graphs.congestion_window), ("flight", &graphs.in_flight)];
    let highest = lines.iter().map(|(_, line)| most(line)).fold(0.0, f64::max);
    let most = highest.min(most(&graphs.in_flight) * FAR_ABOVE);
    svg(graphs, &Drawn { kind: Kind::Size, lines: &lines, marks: &[], most })
}

fn most(line: &Line) -> f64 {
    line.iter().flatten().copied().fold(0.0, f64::max)
}

/// The content of one graph.
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
    let (most_shown, seconds) = (grouped(&kind.show(most)), Kind::Time.show(graphs.seconds));
    // Text stands outside, because the picture is stretched to its cell.
    let mut out = format!(
        "<figure><figcaption>{most_shown}</figcaption><svg viewBox=\"0 0 {COLUMNS} {HEIGHT}\" preserveAspectRatio=none \
         role=img aria-label=\"up to {most_shown} in {seconds}\"><path class=axis d=\"M0 {}H{COLUMNS}M0 0V{HEIGHT}H{COLUMNS}\"/>",
        HEIGHT / 2.0,
    );
    for (at, _) in marks.iter().enumerate().filter(|(_, is_marked)| **is_marked) {
        let _ = write!(out, "<path class=resent d=\"M{at}.5 {HEIGHT}v-9\"/>");
    }
    for (class, line) in lines {
        let _ = write!(out, "<path class={class} d=\"{}\"/>", path(line, most));
    }
    let _ = write!(out, "</svg><figcaption><span>0 s</span><span>{seconds}</span></figcaption></figure>");
    out
}

/// A line's steps, interrupted where nothing was read.
fn path(line: &Line, most: f64) -> String {
    let mut out = String::new();
    let mut last = None;
    for (at, value) in line.iter().enumerate() {
        let y = value.map(|value| HEIGHT * (1.0 - (value / most).min(1.0)));
        match (last, y) {
            // Equal values are one stroke.
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

/// The unusual settings of a scenario.
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
mod tests;
