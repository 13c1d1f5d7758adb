//! How often explanations are right: `whyslow lab score` makes transfers whose cause is known and
//! judges their explanations, `whyslow lab disagree` finds captures that contradict theirs, and
//! `whyslow lab gallery` shows an experiment's conditions on one page.
//!
//! ```text
//!   draws, real programs ─▶ lab ─▶ captures ─▶ Analysis ─┬▶ judged ─▶ tables, counts of confidence
//!                            └──▶ truth ─────────────────┘
//! ```

mod args;
mod disagree;
mod forecast;
mod gallery;
mod kinds;
mod score;

pub use args::{Disagree, Gallery, Score};
pub use disagree::disagree;
pub use gallery::gallery;

use anyhow::Context;
use score::Counts;
use std::process::ExitCode;
use whyslow_cli::Ending;
use whyslow_cli::interrupt::ended_by;
use whyslow_cli::output::{Output, complain};
use whyslow_lab::progress::Bar;
use whyslow_lab::scenario::{Experiment, Variant};
use whyslow_lab::{draws, experiments, net, real, run};
use whyslow_report::text::harmless_lines;

/// Real programs: the same path, and a label that their configuration and the kernels' counters
/// give.
fn score_real_programs(task: &Score, mut out: Output) -> anyhow::Result<ExitCode> {
    let each = task.each.unwrap_or(3);
    let drawing = real::draw(task.seed, each)?;
    for (lack, scenarios) in &drawing.missing {
        complain(&format!("{lack} is missing: {} scenarios are skipped ({})", scenarios.len(), scenarios.join(", ")));
    }
    net::enter()?;
    let settings = run::Settings { only: task.only.clone(), attempts: task.attempts, ..run::Settings::new(&*task.out) };
    let ending = Ending::listen()?;
    let scored = score_and_fix(task, each, &drawing, &settings, &ending);
    if let Some(signal) = ending.hand_over() {
        complain("stopped: runs that were finished are kept");
        return Ok(ExitCode::from(ended_by(signal)));
    }
    let report = scored?;
    if task.json {
        out.json(&report)?;
    } else {
        out.write(&harmless_lines(&report.page()))?;
    }
    add_to_table(task.calibrate.as_deref(), report.counts())?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the runs and judges them; then those again, with the fix applied, for which one was
/// printed and a promise made.
fn score_and_fix(
    task: &Score,
    each: u32,
    drawing: &real::RealRuns,
    settings: &run::Settings,
    ending: &Ending,
) -> anyhow::Result<score::real::Report> {
    let make = |drawing: &real::RealRuns, settings: &run::Settings| {
        let bar = Bar::new(&drawing.experiment.name);
        real::run(drawing, settings, ending.flag(), &|event| bar.show(&event))
    };
    let results = make(drawing, settings)?;
    let report = score::real::report(drawing, &results, &task.out, task.seed, each)?;
    if !task.fixes {
        return Ok(report);
    }
    let promises = score::real::promised(drawing, &results, &task.out)?;
    if promises.is_empty() {
        return Ok(report);
    }
    let fixes: Vec<real::Fix> = promises.iter().map(score::real::Promise::fix).collect();
    let fixed = drawing.fixed(&fixes);
    let results = make(&fixed, &run::Settings { only: Vec::new(), ..settings.clone() })?;
    report.measured(promises, &fixed, &results, &task.out)
}

/// Makes transfers of known causes, explains them, and prints how often the explanation is right.
///
/// # Errors
/// If the arguments are invalid, namespaces are forbidden, or a file cannot be read or written.
pub fn score(task: &Score, mut out: Output) -> anyhow::Result<ExitCode> {
    if task.real {
        return score_real_programs(task, out);
    }
    let each = task.each.unwrap_or(2);
    let experiment = draws::draw(task.seed, each)?;
    net::enter()?;
    let settings = run::Settings { only: task.only.clone(), attempts: task.attempts, ..run::Settings::new(&*task.out) };
    let make = |experiment: &Experiment| {
        let bar = Bar::new(&experiment.name);
        run::run(experiment, &settings, &|event| bar.show(&event))
    };
    let lossy = draws::losses(task.seed, LOSSY.saturating_mul(each))?;
    let is_named = |run: &Variant| task.only.iter().any(|only| run.label.contains(only.as_str()));
    let mut page = String::new();
    let mut made = Vec::new();
    let mut counts = Counts::default();
    // An unknown name is an error that lists the causes.
    if task.only.is_empty() || experiment.runs.iter().any(is_named) || !lossy.runs.iter().any(is_named) {
        let results = make(&experiment)?;
        page += &score::report(&experiment, &results, &task.out, &mut counts)?;
        made.push((experiment, results));
    }
    if task.only.is_empty() || lossy.runs.iter().any(is_named) {
        let results = make(&lossy)?;
        made.push((lossy, results));
    }
    page += "\n";
    page += &kinds::report(&made, &task.out)?;
    // With some causes alone, predictions are not asked for.
    if task.only.is_empty() {
        let mut made = Vec::new();
        for name in forecast::EXPERIMENTS {
            let experiment = experiments::open(name, &[])?;
            let results = make(&experiment)?;
            made.push((experiment, results));
        }
        page += "\n";
        page += &forecast::report(&made);
    }
    out.write(&page)?;
    add_to_table(task.calibrate.as_deref(), counts)?;
    Ok(ExitCode::SUCCESS)
}

/// Adds counts to a file of such counts.
fn add_to_table(file: Option<&std::path::Path>, mut counts: Counts) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let name = || file.display().to_string();
    match std::fs::read_to_string(file) {
        Ok(before) => counts.add_text(&before).map_err(|line| {
            anyhow::anyhow!("{}: line {line} is not `grade, weight, findings, right` with tabs between", name())
        })?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(name),
    }
    std::fs::write(file, counts.text()).with_context(name)
}

/// Transfers over lossy paths for each one of a cause.
const LOSSY: u32 = 8;
