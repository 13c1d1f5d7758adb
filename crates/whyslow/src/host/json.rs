//! JSON: the contract `whyslow-host/1`, described by `docs/schema/whyslow-host-1.schema.json`.

use super::finding::Finding;
use super::groups::{PeerGroup, ProcessGroup};
use super::judged::Judged;
use serde::Serialize;
use std::io::{self, Write};
use whyslow_live::host::Host;
use whyslow_report::render::json;

const SCHEMA: &str = "whyslow-host/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// Seconds since the look before, where there was one: counts are over these.
    over_s: Option<f64>,
    findings: &'a [Finding],
    peers: Vec<PeerGroup>,
    processes: Vec<ProcessGroup>,
    /// All that was read.
    host: &'a Host,
}

fn document(judged: &Judged) -> Document<'_> {
    Document {
        schema: SCHEMA,
        over_s: judged.over,
        findings: &judged.findings,
        peers: PeerGroup::all(&judged.host),
        processes: ProcessGroup::all(&judged.host),
        host: &judged.host,
    }
}

/// Writes all that is known.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(judged: &Judged, out: &mut impl Write) -> io::Result<()> {
    json::object(&document(judged), out)
}

/// Writes it in one line.
///
/// # Errors
/// Those of `out`.
pub(super) fn line(judged: &Judged, out: &mut impl Write) -> io::Result<()> {
    json::to_people(&document(judged), &mut *out)?;
    writeln!(out)
}
