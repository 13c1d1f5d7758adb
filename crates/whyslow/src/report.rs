//! `whyslow report`: the page in a file.

use crate::kept::Kept;
use crate::output::Output;
use crate::progress::Meter;
use crate::settings::ReportTask;
use anyhow::Context;
use std::fs;
use std::path::Path;
use whyslow_io::{Reading, Stop};
use whyslow_serve::{Document, Opening};

/// Reads the captures and writes the page with what was found.
///
/// # Errors
/// When an input cannot be read, the file cannot be written, or the program was built without the page.
pub(crate) fn run(task: &ReportTask, mut out: Output) -> anyhow::Result<()> {
    whyslow_serve::page()?;
    let kept = Kept::new(&task.inputs)?;
    let opening = Opening { names: kept.names(), ..Opening::of(kept.inputs().to_vec()) };
    write(read(&opening)?, &opening, task.output.as_deref(), &mut out)
}

/// Reads what is to be opened, with a progress bar for whoever waits.
///
/// # Errors
/// When an input cannot be read.
pub(crate) fn read(opening: &Opening) -> anyhow::Result<Reading> {
    let mut meter = Meter::new();
    whyslow_io::read(&opening.groups(), &Stop::default(), &mut |progress| meter.update(progress))
        .map_err(|error| anyhow::Error::msg(opening.told(&error.to_string())))
}

/// Writes the page with what was read; without a path to stdout.
///
/// # Errors
/// When the file cannot be written, or the program was built without the page.
pub(crate) fn write(reading: Reading, opening: &Opening, to: Option<&Path>, out: &mut Output) -> anyhow::Result<()> {
    let document = Document::complete(reading, opening);
    let report = whyslow_serve::report(&document)?;
    match to {
        Some(path) => fs::write(path, report).with_context(|| path.display().to_string())?,
        None => out.write_bytes(report.as_bytes()).context("stdout")?,
    }
    Ok(())
}
