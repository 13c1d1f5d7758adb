//! `whyslow lab gallery`: an experiment's conditions on one page, a row each, with graphs of the
//! sender's kernel counters and their figures.

mod graphs;
mod page;

use super::args::Gallery;
use anyhow::Context;
use graphs::Graphs;
use page::Row;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use whyslow_cli::exit::FAILED;
use whyslow_cli::output::{Output, Sources, Target, notify};
use whyslow_lab::progress::Bar;
use whyslow_lab::scenario::Experiment;
use whyslow_lab::scenario::work::Work;
use whyslow_lab::truth::{Machine, RunResult};
use whyslow_lab::{experiments, net, run};
use whyslow_report::text::harmless;

/// Readings of a socket in a whole run, so that a graph has no fewer than it has pixels.
const READINGS: f64 = 3_000.0;

/// Makes the runs, and writes the page.
///
/// # Errors
/// If the arguments are invalid, namespaces are forbidden, or a file cannot be read or written.
pub fn gallery(task: &Gallery, mut out: Output) -> anyhow::Result<ExitCode> {
    let experiment = limited(task)?;
    let sources = Sources::default().and_files([&task.name]);
    for folder in run::replaced(&task.out, &experiment, 1) {
        sources.refuse_folder(&folder)?;
    }
    let mut target = Target::open(Some(&task.page), &sources)?;
    net::enter()?;
    let settings = run::Settings { only: task.only.clone(), attempts: task.attempts, ..run::Settings::new(&*task.out) };
    let results = {
        let bar = Bar::new(&experiment.name);
        run::run(&experiment, &settings, &|event| bar.show(&event))?
    };
    let rows = results.iter().map(|result| row(&experiment, result, &task.out)).collect::<anyhow::Result<Vec<_>>>()?;
    let html = page::page(&experiment, &rows, task.seconds, &Machine::here());
    target.write_all(html.as_bytes())?;
    target.finish()?;
    out.write(&format!("{}\n", harmless(&task.page.display().to_string())))?;
    let failed = results.iter().filter(|result| !result.problems.is_empty()).count();
    if failed > 0 {
        notify(&format!("{failed} of {} conditions have no result", results.len()));
    }
    Ok(if failed > 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// The experiment with every transfer as large as asked for, and stopped after some seconds.
fn limited(task: &Gallery) -> anyhow::Result<Experiment> {
    let every = (task.seconds / READINGS * 1e3).clamp(1.0, 100.0);
    let mut keys = vec![
        ("timeout".to_owned(), format!("{}s", task.seconds.ceil() + 60.0)),
        ("sample_every".to_owned(), format!("{every:.3}ms")),
        ("snaplen".to_owned(), "96B".to_owned()),
    ];
    for (key, value) in [("size", task.size.clone()), ("at_most", format!("{:.3}s", task.seconds))] {
        keys.push((format!("work.download.{key}"), value));
    }
    keys.extend(task.set.iter().cloned());
    let mut experiment = experiments::open(&task.name, &keys)?;
    let is_download = experiment.runs.iter().all(|run| matches!(run.scenario.work, Work::Download(_)));
    anyhow::ensure!(is_download, "{}: a gallery shows downloads", task.name);
    // A run with a time limit differs from the one of `lab run`, and is stored separately.
    experiment.name = format!("gallery-{}", experiment.name);
    Ok(experiment)
}

fn row<'a>(experiment: &Experiment, result: &'a RunResult, out: &Path) -> anyhow::Result<Row<'a>> {
    let run = experiment.runs.iter().find(|run| run.label == result.label);
    let graphs = match run {
        Some(run) if result.problems.is_empty() => {
            let file = run::folder(out, &experiment.name, run, result.repetition).join("truth.json");
            Some(Graphs::read(&file).with_context(|| file.display().to_string())?)
        }
        _ => None,
    };
    Ok(Row { result, graphs })
}
