//! `whyslow report`: the page in a file.

use crate::output::Output;
use crate::progress::Meter;
use crate::settings::ReportTask;
use anyhow::Context;
use std::fs;

/// Reads the captures and writes the page with what was found.
///
/// # Errors
/// When an input cannot be read, the file cannot be written, or the program was built without the page.
pub(crate) fn run(task: &ReportTask, mut out: Output) -> anyhow::Result<()> {
    whyslow_serve::page()?;
    let analysis = {
        let mut meter = Meter::new();
        whyslow_io::explain(&task.inputs, &whyslow_io::Stop::default(), &mut |progress| meter.update(progress))?
    };
    let document = whyslow_serve::Document::complete(analysis, &task.inputs);
    let report = whyslow_serve::report(&document)?;
    match &task.output {
        Some(path) => fs::write(path, report).with_context(|| path.display().to_string())?,
        None => out.write_bytes(report.as_bytes()).context("stdout")?,
    }
    Ok(())
}
