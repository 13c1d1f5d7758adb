//! Folders that runs replace.

use std::path::Path;
use whyslow_cli::output::Sources;
use whyslow_lab::run;
use whyslow_lab::scenario::Experiment;

/// # Errors
/// Returns an error if the folder of a run, which is emptied before the run, holds a file that is
/// read.
pub(super) fn refuse_to_replace(
    experiment: &Experiment,
    sources: &Sources,
    out: &Path,
    repeat: u32,
) -> anyhow::Result<()> {
    for run in &experiment.runs {
        for repetition in 1..=repeat {
            let folder = run::folder(out, &experiment.name, run, repetition);
            sources.refuse_folder(&folder.with_extension("partial"))?;
            sources.refuse_folder(&folder)?;
        }
    }
    Ok(())
}
