//! `whyslow report`: the page in a file.

use crate::settings::ReportTask;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use whyslow_cli::output::{Target, sources};
use whyslow_cli::place::Readable;
use whyslow_cli::{SpooledInputs, keylog, reading};
use whyslow_serve::{Opening, Proof};

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
    let opening = Opening { names: kept.names(), show: task.show, proof, ..Opening::of(kept.inputs().to_vec()) };
    let reading = reading::read(&opening)?;
    whyslow_serve::shown(&reading.analysis, task.show)?;
    if let (Some(proof), Some(file)) = (&opening.proof, &task.proof) {
        proof.fits(&reading.analysis).map_err(anyhow::Error::msg).with_context(|| file.display().to_string())?;
    }
    reading::write_page(reading, &opening, target)?;
    Ok(readable.status())
}

/// The output of `whyslow prove --json` in a file, if one is named.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub(crate) fn proof(file: Option<&Path>) -> anyhow::Result<Option<Proof>> {
    let Some(file) = file else { return Ok(None) };
    let read = || Proof::read(&std::fs::read(file)?).map_err(anyhow::Error::msg);
    read().with_context(|| file.display().to_string()).map(Some)
}
