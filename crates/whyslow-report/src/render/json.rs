//! JSON for programs: the contract `whyslow/1`, described by `docs/schema/whyslow-1.schema.json`.

mod indent;

use indent::Indented;
use serde::Serialize;
use serde_json::Serializer;
use std::io::{self, Write};
use whyslow_core::analysis::{Analysis, Capture, Connection, Finding, Pair, SCHEMA};

/// Writes the whole analysis as one indented object and a line feed.
///
/// # Errors
/// Only those of `out`.
pub fn pretty(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    analysis.serialize(&mut Serializer::with_formatter(&mut *out, Indented::default()))?;
    writeln!(out)
}

/// A line of [`lines`]: beside `schema` it has the one member that says what it is.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Row<'a> {
    Capture(&'a Capture),
    Connection(&'a Connection),
    Finding(&'a Finding),
    Pair(&'a Pair),
}

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    #[serde(flatten)]
    row: Row<'a>,
}

/// Writes one object a line: the captures, then the connections, then the findings that span connections, then the
/// connections that two captures hold. Each object has `schema`, and one of `capture`, `connection`, `finding` and `pair`
/// which says what it is.
///
/// # Errors
/// Only those of `out`.
pub fn lines(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    let captures = analysis.captures.iter().map(Row::Capture);
    let connections = analysis.connections.iter().map(Row::Connection);
    let findings = analysis.findings.iter().map(Row::Finding);
    let pairs = analysis.pairs.iter().map(Row::Pair);
    for row in captures.chain(connections).chain(findings).chain(pairs) {
        serde_json::to_writer(&mut *out, &Line { schema: SCHEMA, row })?;
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
