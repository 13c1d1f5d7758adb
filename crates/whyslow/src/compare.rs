//! `whyslow compare`: two transfers side by side.

pub(crate) mod args;

use crate::settings::PageTask;
use crate::view;
use anyhow::{Context, bail};
use args::Compare;
use std::process::ExitCode;
use whyslow_cli::output::{Output, Target, sources};
use whyslow_cli::place::{self, TransferPlace};
use whyslow_cli::{SpooledInputs, keylog, reading};
use whyslow_diagnosis::compare::{self, ChosenTransfer, choose};
use whyslow_io::Input;
use whyslow_report::render::compare as render;
use whyslow_serve::{Opening, SoughtTransfer};

/// Reads both, and prints what differs.
///
/// # Errors
/// When one cannot be read, has no such transfer, or both are one.
pub(crate) fn run(task: &Compare, mut out: Output) -> anyhow::Result<ExitCode> {
    let places = [TransferPlace::read(&task.a)?, TransferPlace::read(&task.b)?];
    if task.view || task.report.is_some() {
        return page(task, &places);
    }
    sources(&inputs(&places)).refuse_stdout()?;
    let first = place::explain(&places[0].input)?;
    let other = if places[0].input == places[1].input { None } else { Some(place::explain(&places[1].input)?) };
    let second = other.as_ref().unwrap_or(&first);
    let a = choose(&first, places[0].which).with_context(|| places[0].input.name())?;
    let b = choose(second, places[1].which).with_context(|| places[1].input.name())?;
    if other.is_none() {
        are_two(&a, &b)?;
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

/// The inputs to read: one if both transfers are in it.
fn inputs([a, b]: &[TransferPlace; 2]) -> Vec<Input> {
    if a.input == b.input { vec![a.input.clone()] } else { vec![a.input.clone(), b.input.clone()] }
}

/// # Errors
/// When both are one transfer.
fn are_two(a: &ChosenTransfer<'_>, b: &ChosenTransfer<'_>) -> anyhow::Result<()> {
    if (a.connection.id, a.number) == (b.connection.id, b.number) {
        bail!("A and B are one transfer, {0}#{1}.{2}: name two, as {0}#1 {0}#2", a.path, a.connection.id, a.number);
    }
    Ok(())
}

/// The comparison on the page. Reads both captures before it shows anything, so that errors are
/// printed here.
fn page(task: &Compare, places: &[TransferPlace; 2]) -> anyhow::Result<ExitCode> {
    let typed = inputs(places);
    let is_one = typed.len() == 1;
    let sources = keylog::protected(sources(&typed));
    let target = match &task.report {
        Some(path) => Some(Target::open(Some(path), &sources)?),
        None => sources.refuse_stdout().map(|()| None)?,
    };
    whyslow_serve::page()?;
    view::check(&typed)?;
    let mut kept = SpooledInputs::new(&typed)?;
    let sought =
        |index: usize| SoughtTransfer { group: Some(if is_one { 0 } else { index }), which: places[index].which };
    let opening = Opening {
        groups: kept.inputs().iter().map(|input| vec![input.clone()]).collect(),
        names: kept.names(),
        compare: Some([sought(0), sought(1)]),
        ..Opening::default()
    };
    let reading = reading::read(&opening)?;
    let find = |index: usize| sought(index).find(&reading).with_context(|| places[index].input.name());
    are_two(&find(0)?, &find(1)?)?;
    match target {
        Some(target) => reading::write_page(reading, &opening, target)?,
        None => view::show(Some(opening), Some(reading), &mut kept, PageTask { port: task.port, open: task.open })?,
    }
    Ok(ExitCode::SUCCESS)
}
