//! The measurements, in Markdown.

use super::contest::CAT;
use super::machine::Machine;
use super::results::{Results, Row};
use super::targets::{Bound, Target};
use std::fmt::Write;

/// The report of a run.
pub(super) fn markdown(machine: &Machine, results: &Results, targets: &[Target]) -> String {
    let mut out = String::from("# A run of `make bench`\n\n");
    for (what, value) in machine.facts() {
        line(&mut out, format_args!("- {what}: {value}"));
    }
    if results.smaller > 1 {
        let times = results.smaller;
        line(&mut out, format_args!("- **inputs with {times} times fewer packets than the targets speak of**"));
    }
    for program in &results.missing {
        line(&mut out, format_args!("- **not installed here, and left out: {program}**"));
    }
    out += "\nMedians, and in brackets the least and the most where there were several runs. Own memory is what is not a file.\n\n";
    out += "| input | packets | program | seconds | CPU s | ns a packet | × cat | memory MB | own MB |\n";
    out += "|---|--:|---|--:|--:|--:|--:|--:|--:|\n";
    let mut last = "";
    for row in &results.rows {
        let (input, packets) =
            if row.input == last { ("", String::new()) } else { (row.input, thousands(row.packets)) };
        last = row.input;
        let cat =
            results.ratio((row.input, row.program), (row.input, CAT)).map_or_else(dash, |ratio| figures(ratio, 1));
        line(
            &mut out,
            format_args!(
                "| {input} | {packets} | {} | {} | {} | {} | {cat} | {} | {} |",
                row.program,
                seconds(row),
                row.of(|sample| sample.cpu).map_or_else(dash, |[median, ..]| figures(median, 2)),
                row.per_packet().map_or_else(dash, |nanos| figures(nanos, 1)),
                megabytes(row.peak()),
                megabytes(row.own()),
            ),
        );
    }
    out += "\n| target | bound | measured | |\n|---|--:|--:|---|\n";
    for target in targets {
        let unit = target.unit;
        let (sign, bound) = match target.bound {
            Bound::AtLeast(bound) => ('≥', bound),
            Bound::AtMost(bound) => ('≤', bound),
        };
        let measured = target.measured.map_or_else(dash, |measured| format!("{} {unit}", figures(measured, 2)));
        let verdict = match target.is_met() {
            Some(true) => "met",
            Some(false) => "**not met**",
            None => "not measured",
        };
        line(&mut out, format_args!("| {} | {sign} {bound} {unit} | {measured} | {verdict} |", target.what));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A String takes everything.
    let _ = writeln!(out, "{text}");
}

fn seconds(row: &Row) -> String {
    match row.of(|sample| sample.wall) {
        Some([median, least, most]) if row.samples.len() > 1 => {
            format!("{} ({}–{})", figures(median, 3), figures(least, 3), figures(most, 3))
        }
        Some([median, ..]) => figures(median, 3),
        None => row.remark.clone().unwrap_or_else(dash),
    }
}

fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(dash, |bytes| figures(bytes as f64 / 1e6, 1))
}

fn dash() -> String {
    "–".to_owned()
}

/// With separators of thousands, and up to `places` decimals as far as these are significant.
pub(super) fn figures(value: f64, places: usize) -> String {
    let places = if value >= 1_000.0 { 0 } else { places };
    let text = format!("{value:.places$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    whole.parse().map_or_else(|_| text.clone(), thousands) + rest
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
