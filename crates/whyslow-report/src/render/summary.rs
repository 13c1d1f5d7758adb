//! One connection in Markdown, short enough to paste into a ticket (`whyslow export --markdown`).

use super::terminal::names;
use crate::headline::{self, confidence};
use crate::text::{harmless, units};
use crate::words::{self, Lang};
use std::fmt::Write;
use whyslow_analysis::{Capture, Connection, End, Finding, Form, Near, Transfer};

/// The most transfers that are described; the largest ones.
const TRANSFERS: usize = 3;
/// Rounds that are listed.
const ROUNDS: usize = 24;

/// The findings of a connection in Markdown.
pub fn markdown(capture: Option<&Capture>, connection: &Connection) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "### {}\n", escaped(&names::ends(connection)));
    let near = match connection.near {
        Near::Client => "at the client",
        Near::Server => "at the server",
        Near::Middle => "between the two ends",
        Near::Unknown => "at an unknown place",
    };
    if let Some(capture) = capture {
        let path = capture.path.rsplit('/').next().unwrap_or_default();
        let time = capture.first_time.as_ref().map_or(String::new(), |time| format!(", {time}"));
        let _ = writeln!(out, "`{}`, connection {}, captured {near}{time}  ", code(path), connection.id);
    }
    let rtt = connection.rtt_ms.min.map_or("unknown".to_owned(), units::millis);
    let bytes = |end: End| connection.directions.iter().find(|half| half.from == end).map_or(0, |half| half.bytes);
    let _ = writeln!(
        out,
        "{}{} up, {} down in {}, minimum RTT {rtt}",
        connection.quic.as_ref().map_or(String::new(), |quic| format!("{}, ", quic.label())),
        units::bytes(bytes(End::Client)),
        units::bytes(bytes(End::Server)),
        units::seconds(connection.duration_s)
    );
    let headline = headline::of_connection(connection, whyslow_diagnosis::ranking::DEFAULT_THRESHOLD, Lang::En);
    let _ = writeln!(out, "\n**{}**", escaped(&headline.sentence));
    if let Some(advice) = &headline.advice {
        let _ = writeln!(out, "{}", escaped(advice));
    }
    for problem in &connection.problems {
        let _ = writeln!(out, "\n> **{}**: {}", problem.slug, escaped(&words::problem(problem, Lang::En)));
    }
    for finding in &connection.findings {
        print_finding(&mut out, finding);
    }
    let mut largest: Vec<(usize, &Transfer)> = connection.transfers.iter().enumerate().collect();
    largest.sort_by_key(|(_, transfer)| std::cmp::Reverse(transfer.bytes));
    for (index, transfer) in largest.iter().take(TRANSFERS) {
        print_transfer(&mut out, *index, transfer, connection.transfers_total);
    }
    out
}

fn print_transfer(out: &mut String, index: usize, transfer: &Transfer, total: u64) {
    let way = match transfer.from {
        End::Client => "up",
        End::Server => "down",
    };
    let rate = transfer.rate_bps.map_or(String::new(), |rate| format!(" = {}", units::rate(rate)));
    let _ = writeln!(
        out,
        "\n#### Transfer {} of {total}: {} {way} in {}{rate}\n",
        index + 1,
        units::bytes(transfer.bytes),
        units::seconds(transfer.duration_s)
    );
    if let Some(label) = &transfer.label {
        let _ = writeln!(out, "`{}`  ", code(label));
    }
    let before = transfer.before.iter().map(|share| (share, "before"));
    let limits = transfer.limits.iter().map(|share| (share, ""));
    let _ = writeln!(out, "| where the time went | seconds | share |\n|---|---:|---:|");
    for (share, before) in before.chain(limits) {
        let part = if before.is_empty() { units::share(share.share) } else { "before it".to_owned() };
        let _ = writeln!(out, "| {} | {} | {part} |", names::limit(share.limit), units::seconds(share.seconds));
    }
    for finding in &transfer.findings {
        print_finding(out, finding);
    }
    if transfer.rounds.len() > 1 {
        print_rounds(out, transfer);
    }
}

fn print_finding(out: &mut String, finding: &Finding) {
    let (cost, sure) = (units::span(finding.cost_s), confidence(finding.confidence, Lang::En));
    let _ = writeln!(out, "\n**{}** ({cost}, {sure}): {}", finding.cause, escaped(&words::summary(finding, Lang::En)));
    for evidence in &finding.evidence {
        let frames = names::frames(&evidence.frames);
        let frames = if frames.is_empty() { frames } else { format!(" ({frames})") };
        let value = words::value(evidence, Lang::En);
        let _ = writeln!(out, "- {}: {value}{frames}", escaped(&words::measure(evidence, Lang::En)));
    }
    for (index, remedy) in finding.remedies.iter().enumerate() {
        let label = if index == 0 { "Fix" } else { "Or" };
        let _ = writeln!(out, "\n{label}: {}", escaped(&words::action(&remedy.action, Lang::En)));
        if let Some((platform, Form::Command(command))) = remedy.printed() {
            let unknown = remedy.host.platform.is_none() && remedy.acts_at(Some(End::Client)).is_some();
            let named = if unknown { format!("   # {}", platform.name()) } else { String::new() };
            let _ = writeln!(out, "\n    {}{named}", harmless(&command));
        }
        if index == 0
            && let Some(verify) = words::verify(finding, Lang::En)
        {
            let _ = writeln!(out, "\nVerify: {}", escaped(&verify));
        }
        if let Some(promise) = remedy.promise {
            let assumed = promise.assumed.map(|assumed| format!("; {}", names::assumed(assumed)));
            let range = promise.range_s.map(|[low, high]| words::time_range(low, high, Lang::En));
            let (range, assumed) = (range.unwrap_or_default(), assumed.unwrap_or_default());
            let _ = writeln!(out, "\nIf fixed: {}{range}{assumed}", units::seconds(promise.time_s));
        }
    }
}

fn print_rounds(out: &mut String, transfer: &Transfer) {
    let _ = writeln!(
        out,
        "\n<details><summary>{}</summary>\n\n| round | sent | in flight | window | took | limited by | frames |\n\
         |---:|---:|---:|---:|---:|---|---|",
        units::count(transfer.rounds_total, "round")
    );
    for (index, round) in transfer.rounds.iter().take(ROUNDS).enumerate() {
        let window = round.window.map_or("unknown".to_owned(), units::thousands);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {window} | {} | {} | {} |",
            index + 1,
            units::thousands(round.bytes),
            units::thousands(round.in_flight),
            units::span(round.duration_s),
            names::limit(round.limit),
            names::range(round.first_frame, round.last_frame)
        );
    }
    let more = transfer.rounds_total.saturating_sub(transfer.rounds.len().min(ROUNDS) as u64);
    if more > 0 {
        let _ = writeln!(out, "\n… and {}", units::count(more, "more round"));
    }
    let _ = writeln!(out, "\n</details>");
}

/// Escapes text from a capture: nothing in it becomes markup, a link or a mention, and nothing
/// stays hidden, not even as an entity that Markdown decodes (`&#8238;`).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in harmless(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '&' => out += "&amp;",
            '@' => out += "&#64;",
            c => out.push(c),
        }
    }
    out
}

/// Escapes text between backticks.
fn code(text: &str) -> String {
    harmless(text).replace('`', "'")
}

#[cfg(test)]
mod tests;
