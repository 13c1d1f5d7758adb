//! `whyslow compare`: two transfers side by side.

use crate::output::Output;
use crate::place::{self, Place};
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use whyslow_core::compare::{self, choose};
use whyslow_report::render::compare as render;

/// What to compare.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compare {
    /// A transfer: `FILE` is the one that carried most, `FILE#3` that of connection 3, `FILE#3.2` its transfer 2.
    #[arg(value_name = "A", value_hint = clap::ValueHint::FilePath)]
    a: PathBuf,
    /// The other one.
    #[arg(value_name = "B", value_hint = clap::ValueHint::FilePath)]
    b: PathBuf,
    /// Print a JSON object (schema whyslow-compare/1).
    #[arg(long)]
    json: bool,
}

/// Reads both, and prints what differs.
///
/// # Errors
/// When one cannot be read, has no such transfer, or both are one.
pub(crate) fn run(task: &Compare, mut out: Output) -> anyhow::Result<ExitCode> {
    let places = [Place::read(&task.a), Place::read(&task.b)];
    let first = place::explain(&places[0].input)?;
    let other = if places[0].input == places[1].input { None } else { Some(place::explain(&places[1].input)?) };
    let second = other.as_ref().unwrap_or(&first);
    let a = choose(&first, places[0].which).with_context(|| places[0].input.name())?;
    let b = choose(second, places[1].which).with_context(|| places[1].input.name())?;
    if other.is_none() && (a.connection.id, a.number) == (b.connection.id, b.number) {
        bail!("A and B are one transfer, {0}#{1}.{2}: name two, as {0}#1 {0}#2", a.path, a.connection.id, a.number);
    }
    let comparison = compare::compare(&a, &b);
    if task.json {
        out.raw(|out| render::json(&comparison, out)).context("stdout")?;
    } else {
        let page = render::terminal(&comparison, out.width());
        out.write(&page).context("stdout")?;
    }
    Ok(ExitCode::SUCCESS)
}
