//! JUnit's XML, GitHub's workflow commands, Markdown.

use super::{Case, verdict};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io::{self, Write};
use whyslow_analysis::Analysis;

/// JUnit's XML: a test case for each transfer.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn junit(cases: &[Case], out: &mut impl Write) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(&mut *out, b' ', 1);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let (tests, failures) = (cases.len().to_string(), failed(cases).count().to_string());
    let time = seconds(cases.iter().map(|case| case.waited_s).sum());
    let counts = [("name", "whyslow"), ("tests", &tests), ("failures", &failures), ("time", &time)];
    xml.write_event(Event::Start(BytesStart::new("testsuites").with_attributes(counts)))?;
    xml.write_event(Event::Start(BytesStart::new("testsuite").with_attributes(counts)))?;
    for case in cases {
        let (class, name, time) = (plain(&case.capture), plain(&case.name), seconds(case.waited_s));
        let start = BytesStart::new("testcase").with_attributes([
            ("classname", class.as_str()),
            ("name", &name),
            ("time", &time),
        ]);
        if case.failures.is_empty() {
            xml.write_event(Event::Empty(start))?;
            continue;
        }
        xml.write_event(Event::Start(start))?;
        for (kind, text) in &case.failures {
            let (kind, text) = (plain(kind), plain(text));
            let failure = BytesStart::new("failure").with_attributes([("type", kind.as_str()), ("message", &text)]);
            xml.write_event(Event::Start(failure))?;
            xml.write_event(Event::Text(BytesText::new(&text)))?;
            xml.write_event(Event::End(BytesEnd::new("failure")))?;
        }
        xml.write_event(Event::End(BytesEnd::new("testcase")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    writeln!(out)
}

fn failed(cases: &[Case]) -> impl Iterator<Item = &Case> {
    cases.iter().filter(|case| !case.failures.is_empty())
}

fn seconds(value: f64) -> String {
    format!("{value:.3}")
}

/// Without characters that XML cannot hold.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// GitHub's annotations: an error for each failure, or a notice with the verdict.
pub(crate) fn github(analysis: &Analysis, cases: &[Case]) -> String {
    let mut out = String::new();
    for case in failed(cases) {
        for (kind, text) in &case.failures {
            let title = property(&format!("whyslow: {kind}"));
            let message = data(&format!("{}: {text}", case.name));
            out += &format!("::error file={},title={title}::{message}\n", property(&case.capture));
        }
    }
    if out.is_empty() {
        out = format!("::notice title=whyslow::{}\n", data(&verdict(analysis)));
    }
    out
}

/// A message: the runner takes line feeds for its end.
fn data(text: &str) -> String {
    plain_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

fn plain_lines(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// Rows of the table in Markdown.
const ROWS: usize = 50;

/// Markdown, for a job's summary: the verdict, and a table of the transfers that were slowest.
pub(crate) fn markdown(analysis: &Analysis, cases: &[Case], baseline: Option<&str>) -> String {
    let mut out = format!("**whyslow**: {}\n\n", cell(&verdict(analysis)));
    let mut rows: Vec<&Case> = cases.iter().filter(|case| case.cause.is_some() || !case.failures.is_empty()).collect();
    rows.sort_by(|a, b| {
        let weight = |case: &Case| (!case.failures.is_empty(), case.cause.map_or(0.0, |(_, cost)| cost));
        let (a, b) = (weight(a), weight(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    if !rows.is_empty() {
        out += "| capture | transfer | waited | cause | cost | fails |\n|---|---|--:|---|--:|---|\n";
    }
    for case in rows.iter().take(ROWS) {
        let (cause, cost) =
            case.cause.map_or(("", String::new()), |(cause, cost)| (cause, format!("{} s", seconds(cost))));
        let fails: Vec<String> = case.failures.iter().map(|(kind, text)| format!("{kind}: {text}")).collect();
        out += &format!(
            "| {} | {} | {} s | {cause} | {cost} | {} |\n",
            cell(&case.capture),
            cell(&case.name),
            seconds(case.waited_s),
            cell(&fails.join("; "))
        );
    }
    if let Some(text) = baseline {
        out += &format!("\n<pre>{}</pre>\n", html(text));
    }
    out
}

/// Text in a cell: no mark-up of Markdown or HTML, no end of the cell or the line.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in html(text).chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
