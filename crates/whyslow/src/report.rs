//! `whyslow report`: the page in a file.

use crate::hints;
use crate::keylog;
use crate::output::{Target, sources};
use crate::place::Readable;
use crate::progress::Meter;
use crate::settings::ReportTask;
use crate::spooled::SpooledInputs;
use anyhow::Context;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use whyslow_io::{OmittedConnections, Reading, Stop};
use whyslow_serve::{Document, Opening, Proof};

/// Reads the captures and writes the page with the findings.
///
/// # Errors
/// When an input cannot be read, the file cannot be written, or the program was built without the
/// page.
pub(crate) fn run(task: &ReportTask) -> anyhow::Result<ExitCode> {
    let sources = keylog::protected(sources(&task.inputs).and_files(&task.proof));
    let target = Target::open(Some(&task.output), &sources)?;
    whyslow_serve::page()?;
    let proof = proof(task.proof.as_deref())?;
    let readable = Readable::of(&task.inputs)?;
    let kept = SpooledInputs::new(&readable.inputs)?;
    let opening = Opening { names: kept.names(), proof, ..Opening::of(kept.inputs().to_vec()) };
    let reading = read(&opening)?;
    if let (Some(proof), Some(file)) = (&opening.proof, &task.proof) {
        proof.fits(&reading.analysis).map_err(anyhow::Error::msg).with_context(|| file.display().to_string())?;
    }
    write(reading, &opening, target)?;
    Ok(readable.status())
}

/// What `whyslow prove --json` printed into a file, where one is named.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub(crate) fn proof(file: Option<&Path>) -> anyhow::Result<Option<Proof>> {
    let Some(file) = file else { return Ok(None) };
    let read = || Proof::read(&std::fs::read(file)?).map_err(anyhow::Error::msg);
    read().with_context(|| file.display().to_string()).map(Some)
}

/// Reads the inputs, with a progress bar.
///
/// # Errors
/// When an input cannot be read.
pub(crate) fn read(opening: &Opening) -> anyhow::Result<Reading> {
    let mut meter = Meter::new();
    let options = keylog::options()?;
    whyslow_io::read_on(options, &opening.groups(), &Stop::default(), &mut |progress| meter.update(progress))
        .map_err(|error| anyhow::Error::msg(opening.with_names(&hints::with_hint(&error))))
}

/// As [`read`], with the connections that the analysis does not list.
///
/// # Errors
/// When an input cannot be read, or there is no room for temporary files.
pub(crate) fn read_every(opening: &Opening) -> anyhow::Result<(Reading, OmittedConnections)> {
    let mut meter = Meter::new();
    let options = keylog::options()?;
    whyslow_io::read_every(options, &opening.groups(), &Stop::default(), &mut |progress| meter.update(progress))
        .map_err(|error| anyhow::Error::msg(opening.with_names(&hints::with_hint(&error))))
}

/// Writes the page with the analysed captures.
///
/// # Errors
/// When it cannot be written, the program was built without the page, or an input has changed: the
/// page's graphs are made of a reading of their own.
pub(crate) fn write(reading: Reading, opening: &Opening, mut target: Target) -> anyhow::Result<()> {
    let files = reading.files();
    let mut meter = Meter::new();
    let document = Document::complete(reading, opening, &mut |progress| meter.update(progress));
    drop(meter);
    let report = whyslow_serve::report(&document)?;
    files.are_there().map_err(|error| anyhow::Error::msg(opening.with_names(&error.to_string())))?;
    target.write_all(report.as_bytes())?;
    target.finish()
}
