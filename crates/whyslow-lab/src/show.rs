//! Results as tables: text, CSV, JSON. Prints measured values next to published ones; computes
//! nothing.

use crate::figures::{self, Kind};
use crate::run::read_result;
use crate::scenario::Experiment;
use crate::truth::RunResult;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The columns of the third write-up's table.
pub const COLUMNS: &[&str] =
    &["rtt", "goodput", "retransmitted", "duplicate_acks", "out_of_order", "zero_window", "window_full"];

/// All results below a folder, in the order of experiment, label and repetition.
pub fn find(folder: &Path) -> io::Result<Vec<RunResult>> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        found.extend(read_result(&folder));
        // out / experiment / run: deeper there is nothing of ours.
        if depth < 3 {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() && entry.path().extension().is_none_or(|e| e != "partial") {
                    open.push((entry.path(), depth + 1));
                }
            }
        }
    }
    found.sort_by(|a, b| (&a.experiment, &a.label, a.repetition).cmp(&(&b.experiment, &b.label, b.repetition)));
    Ok(found)
}

/// Rows and columns of text, the first row being the header.
struct Table(Vec<Vec<String>>);

impl Table {
    fn text(&self) -> String {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.0.iter().filter_map(|row| row.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.0 {
            let mut line = String::new();
            for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
                // The first column is a name, the others are figures.
                let (before, after) = if c == 0 { ("", gap.as_str()) } else { (gap.as_str(), "") };
                let _ = write!(line, "{}{before}{cell}{after}", if c == 0 { "" } else { "  " });
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn csv(&self) -> String {
        let cell = |text: &String| {
            if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
        };
        self.0.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n").collect()
    }
}

/// A row's name; with a repetition number if there are several.
fn name(result: &RunResult, results: &[RunResult], with_experiment: bool) -> String {
    let again = results.iter().any(|r| r.repetition > 1);
    let experiment = if with_experiment && result.label != result.experiment {
        format!("{} ", result.experiment)
    } else {
        String::new()
    };
    format!("{experiment}{}{}", result.label, if again { format!(" #{}", result.repetition) } else { String::new() })
}

/// The state of a run in a word or two; empty for a confirmed result.
fn remark(result: &RunResult) -> String {
    if let Some(problem) = result.problems.first() {
        return format!("no result: {problem}");
    }
    let broken: Vec<String> = result
        .claims
        .iter()
        .filter(|c| !c.holds)
        .map(|c| {
            let kind = figures::kind(&c.claim.figure).unwrap_or(Kind::Count);
            let measured = c.measured.map_or("not measured".to_owned(), |v| kind.show(v));
            format!("not confirmed: {} ({measured})", c.claim)
        })
        .collect();
    broken.join("; ")
}

fn table(results: &[RunResult], columns: &[&str], units: bool) -> Table {
    let several = results.windows(2).any(|w| w[0].experiment != w[1].experiment);
    let mut header = vec!["run".to_owned()];
    header.extend(columns.iter().map(|c| (*c).to_owned()));
    header.extend(["cause".to_owned(), "remark".to_owned()]);
    let mut rows = vec![header];
    for result in results {
        let mut row = vec![name(result, results, several)];
        for column in columns {
            let shown = result.figures.get(*column).filter(|_| result.problems.is_empty()).map(|value| {
                let kind = figures::kind(column).unwrap_or(Kind::Count);
                let between = result.noise.between.get(*column).copied();
                if units { kind.show_between(*value, between) } else { value.to_string() }
            });
            row.push(shown.unwrap_or_default());
        }
        row.push(result.cause.clone());
        row.push(remark(result));
        rows.push(row);
    }
    Table(rows)
}

/// The table for people.
pub fn text(results: &[RunResult], columns: &[&str]) -> String {
    table(results, columns, true).text()
}

/// The same with plain numbers in base units (seconds, bits per second, counts), for programs.
pub fn csv(results: &[RunResult], columns: &[&str]) -> String {
    table(results, columns, false).csv()
}

/// Every result with all its figures, an array of the documents in each `result.json`.
pub fn json(results: &[RunResult]) -> String {
    serde_json::to_string_pretty(results).unwrap_or_default() + "\n"
}

/// Measured values next to published ones, for the runs that publications cover; empty if there are
/// none.
pub fn published(experiment: &Experiment, results: &[RunResult]) -> String {
    let mut rows = vec![["run", "figure", "measured", "write-up", "ratio", ""].map(str::to_owned).to_vec()];
    for expectation in &experiment.expect {
        for run in experiment.runs.iter().filter(|run| run.is_meant(expectation)) {
            let measured: Vec<f64> = results
                .iter()
                .filter(|r| r.label == run.label && r.problems.is_empty())
                .filter_map(|r| r.figures.get(&expectation.figure).copied())
                .collect();
            if measured.is_empty() {
                continue;
            }
            // With repetitions: the median.
            let mut sorted = measured;
            sorted.sort_by(f64::total_cmp);
            let Some(value) = sorted.get(sorted.len() / 2).copied() else { continue };
            let kind = figures::kind(&expectation.figure).unwrap_or(Kind::Count);
            let ratio =
                if expectation.is.base > 0.0 { format!("{:.2}", value / expectation.is.base) } else { String::new() };
            let figure = expectation.figure.clone();
            let note = expectation.note.clone();
            rows.push(vec![run.label.clone(), figure, kind.show(value), expectation.is.text.clone(), ratio, note]);
        }
    }
    if rows.len() == 1 { String::new() } else { Table(rows).text() }
}

/// All that `lab run` prints when it is done: the table of the experiment's own columns, then the
/// write-ups' figures.
pub fn report(experiment: &Experiment, results: &[RunResult]) -> String {
    let columns: Vec<&str> = if experiment.columns.is_empty() {
        COLUMNS.to_vec()
    } else {
        experiment.columns.iter().map(String::as_str).collect()
    };
    let mut out = format!("{}: {}\n\n{}", experiment.name, experiment.title, text(results, &columns));
    let published = published(experiment, results);
    if !published.is_empty() {
        let _ = write!(out, "\n{published}");
    }
    out
}

#[cfg(test)]
mod tests;
