//! JSON: the contract `whyslow-host/2`, described by `docs/schema/whyslow-host-2.schema.json`.

use crate::finding::Finding;
use crate::groups::{PeerGroup, ProcessGroup};
use crate::report::{Change, HostReport};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use whyslow_live::host::Host;
use whyslow_report::render::json;
use whyslow_report::words::host::HostWords;

const SCHEMA: &str = "whyslow-host/2";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// Seconds since the look before, where there was one: counts are over these.
    over_s: Option<f64>,
    /// Counters that rose since then.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    changed: &'a BTreeMap<String, Change>,
    findings: &'a [Finding],
    peers: Vec<PeerGroup>,
    processes: Vec<ProcessGroup>,
    /// All readings.
    host: &'a Host,
    /// The sentences about the findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<HostWords>,
}

fn document(judged: &HostReport, with_words: bool) -> Document<'_> {
    Document {
        schema: SCHEMA,
        over_s: judged.over,
        changed: &judged.changed,
        findings: &judged.findings,
        peers: PeerGroup::all(&judged.host),
        processes: ProcessGroup::all(&judged.host),
        host: &judged.host,
        words: with_words.then(|| HostWords::of(&judged.findings)),
    }
}

/// Writes all that is known.
///
/// # Errors
/// Errors of `out`.
pub fn write(judged: &HostReport, with_words: bool, out: &mut impl Write) -> io::Result<()> {
    json::object(&document(judged, with_words), out)
}

/// Writes it in one line.
///
/// # Errors
/// Errors of `out`.
pub fn line(judged: &HostReport, with_words: bool, out: &mut impl Write) -> io::Result<()> {
    json::to_people(&document(judged, with_words), &mut *out)?;
    writeln!(out)
}
