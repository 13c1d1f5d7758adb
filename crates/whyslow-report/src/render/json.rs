//! JSON for programs: the contract `whyslow/2`, described by `docs/schema/whyslow-2.schema.json`.

pub use whyslow_text::json::{line, log_line, object, to_people};

use crate::headline::{self, HeadlineData};
use crate::words::WordSheet;
use serde::Serialize;
use std::io::{self, Write};
use whyslow_analysis::{Analysis, Capture, Connection, Finding, Pair, SCHEMA};
use whyslow_diagnosis::ranking::Conclusion;
use whyslow_evidence::{Answer, Report};

/// Writes the whole analysis as one indented object and a line feed.
///
/// # Errors
/// Only those of `out`.
pub fn pretty(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    object(&Whole::of(analysis), out)
}

/// The same with the sentences about the data, in both languages: the member `words`.
///
/// # Errors
/// Only those of `out`.
pub fn with_words(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Worded<'a> {
        #[serde(flatten)]
        whole: Whole<'a>,
        words: WordSheet,
    }
    object(&Worded { whole: Whole::of(analysis), words: WordSheet::of_analysis(analysis) }, out)
}

/// The same next to the conclusions from the output of other tools: the members `evidence` and
/// `answers`.
///
/// # Errors
/// Only those of `out`.
pub fn with_evidence(
    analysis: &Analysis,
    words: bool,
    (evidence, answers): (&Report, &[Answer]),
    out: &mut impl Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Both<'a> {
        #[serde(flatten)]
        whole: Whole<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        words: Option<WordSheet>,
        answers: &'a [Answer],
        evidence: &'a Report,
    }
    let words = words.then(|| WordSheet::of_analysis(analysis));
    object(&Both { whole: Whole::of(analysis), words, answers, evidence }, out)
}

/// An analysis with its headline.
#[derive(Serialize)]
struct Whole<'a> {
    schema: &'static str,
    headline: Option<HeadlineData<'a>>,
    conclusion: Conclusion,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    captures: &'a [Capture],
    connections: &'a [Connection],
    findings: &'a [Finding],
    pairs: &'a [Pair],
    pairs_total: u64,
}

impl<'a> Whole<'a> {
    fn of(analysis: &'a Analysis) -> Self {
        let Analysis { schema, partial, threshold_s: _, captures, connections, findings, pairs, pairs_total } =
            analysis;
        Self {
            schema,
            headline: headline::data(analysis),
            conclusion: Conclusion::of(analysis),
            partial: *partial,
            captures,
            connections,
            findings,
            pairs,
            pairs_total: *pairs_total,
        }
    }
}

/// A line of [`lines`]: `schema`, and one member that names its kind.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Row<'a> {
    Capture(&'a Capture),
    Connection(&'a Connection),
    Finding(&'a Finding),
    Pair(&'a Pair),
    Answer(&'a Answer),
    Evidence(&'a Report),
}

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    #[serde(flatten)]
    row: Row<'a>,
}

/// Writes one object a line: the captures, then the connections, then the findings that span
/// connections, then the connections that two captures hold. Each object has `schema`, and one of
/// `capture`, `connection`, `finding` and `pair` which names its kind.
///
/// # Errors
/// Only those of `out`.
pub fn lines(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    let captures = analysis.captures.iter().map(Row::Capture);
    let connections = analysis.connections.iter().map(Row::Connection);
    let findings = analysis.findings.iter().map(Row::Finding);
    let pairs = analysis.pairs.iter().map(Row::Pair);
    captures.chain(connections).chain(findings).chain(pairs).try_for_each(|row| write_row(row, out))
}

/// Writes the answers and the report about the output of other tools, an object a line: `answer`,
/// and then `evidence`.
///
/// # Errors
/// Only those of `out`.
pub fn evidence_lines(evidence: &Report, answers: &[Answer], out: &mut impl Write) -> io::Result<()> {
    let rows = answers.iter().map(Row::Answer).chain([Row::Evidence(evidence)]);
    rows.into_iter().try_for_each(|row| write_row(row, out))
}

fn write_row(row: Row<'_>, out: &mut impl Write) -> io::Result<()> {
    line(&Line { schema: SCHEMA, row }, out)
}

#[cfg(test)]
mod tests;
