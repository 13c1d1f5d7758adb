//! `whyslow lab`: calls of the lab, and their results on stdout.
//!
//! Errors in the arguments or in a scenario are reported before anything is started.

pub(crate) mod args;

use crate::explain;
use crate::settings::{ExplainTask, Format as Explanation};
use anyhow::Context;
use args::{Check, Exec, Format, Lab, Path, Run, Shell, Show};
use std::process::{ExitCode, ExitStatus};
use whyslow_cli::Ending;
use whyslow_cli::exit::{FAILED, FOUND};
use whyslow_cli::interrupt::ended_by;
use whyslow_cli::output::{Output, Sources, complain, notify};
use whyslow_io::Input;
use whyslow_lab::check::{self, CheckConfig};
use whyslow_lab::exec::{ClientOutput, CommandLines};
use whyslow_lab::net::{self, config::Host};
use whyslow_lab::progress::Bar;
use whyslow_lab::scenario::{self, Experiment, Scenario};
use whyslow_lab::truth::RunResult;
use whyslow_lab::{exec, experiments, run, show};
use whyslow_report::render::json;
use whyslow_report::text::harmless_lines;

/// Runs the requested command.
///
/// # Errors
/// If the arguments are invalid, namespaces are forbidden, or a file cannot be read or written.
pub(crate) fn run(lab: &Lab, out: Output) -> anyhow::Result<ExitCode> {
    match lab {
        Lab::List { name: None } => list(out),
        Lab::List { name: Some(name) } => text(name, out),
        Lab::Run(task) => run_experiments(task, out),
        Lab::Show(task) => show_results(task, out),
        #[cfg(feature = "eval")]
        Lab::Gallery(task) => whyslow_eval::gallery(task, out),
        Lab::Exec(task) => execute(task, out),
        Lab::Shell(task) => open_shell(task),
        Lab::Check(task) => check_path(task, out),
        #[cfg(feature = "eval")]
        Lab::Score(task) => whyslow_eval::score(task, out),
        #[cfg(feature = "eval")]
        Lab::Disagree(task) => whyslow_eval::disagree(task, out),
    }
}

fn list(mut out: Output) -> anyhow::Result<ExitCode> {
    let experiments = experiments::list();
    let width = experiments.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = experiments.iter().map(|(name, title)| format!("{name:<width$}  {title}\n"));
    out.write(&lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

fn text(name: &str, mut out: Output) -> anyhow::Result<ExitCode> {
    // An unknown name is refused as `run` refuses it.
    let text = match experiments::text(name) {
        Some(text) => text.to_owned(),
        None => {
            whyslow_cli::output::sources(&[Input::Path(name.into())]).refuse_stdout()?;
            experiments::open(name, &[])?;
            std::fs::read_to_string(name).with_context(|| name.to_owned())?
        }
    };
    out.write(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn run_experiments(task: &Run, mut out: Output) -> anyhow::Result<ExitCode> {
    // All are read before the first one starts.
    let open = |name: &String| experiments::open(name, &task.set);
    let experiments = task.names.iter().map(open).collect::<Result<Vec<Experiment>, _>>()?;
    let sources = Sources::default().and_files(&task.names);
    sources.refuse_stdout()?;
    for experiment in &experiments {
        for folder in run::replaced(&task.out, experiment, task.repeat) {
            sources.refuse_folder(&folder)?;
        }
    }
    net::enter()?;
    let settings = run::Settings {
        repeat: task.repeat,
        only: task.only.clone(),
        jobs: usize::try_from(task.jobs).unwrap_or(usize::MAX),
        attempts: task.attempts,
        short: 3,
        ..run::Settings::new(&*task.out)
    };
    let mut all = Vec::new();
    for (nth, experiment) in experiments.iter().enumerate() {
        let results = {
            let bar = Bar::new(&experiment.name);
            run::run(experiment, &settings, &|event| bar.show(&event))?
        };
        if !(task.format.csv || task.format.json) {
            let gap = if nth == 0 { "" } else { "\n" };
            let report = show::report(experiment, &results);
            out.write(&harmless_lines(&format!("{gap}{}\n\n{}\n", report.trim_end(), experiment.about)))?;
        }
        all.extend(results);
    }
    if task.format.csv || task.format.json {
        print_table(&all, &[], task.format, &mut out)?;
    } else if let Some(result) = all.first() {
        let folder = task.out.join(&result.experiment);
        let folder = folder.display().to_string();
        notify(&format!("captures and truth are in {folder}; `whyslow FILE` explains a capture"));
    }
    let spoiled = all.iter().any(|result| !result.problems.is_empty());
    Ok(if spoiled { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn show_results(task: &Show, mut out: Output) -> anyhow::Result<ExitCode> {
    let folder = task.folder.display();
    let results = show::find(&task.folder).with_context(|| folder.to_string())?;
    anyhow::ensure!(!results.is_empty(), "{folder}: no results there or in the two levels of folders below it");
    print_table(&results, &task.columns, task.format, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints results in the format asked for, by default with the columns of the third write-up.
fn print_table(results: &[RunResult], columns: &[String], format: Format, out: &mut Output) -> std::io::Result<()> {
    let named: Vec<&str> = columns.iter().map(String::as_str).collect();
    let columns = if named.is_empty() { show::COLUMNS } else { named.as_slice() };
    match format {
        Format { json: true, .. } => out.raw(|out| json::object(&results, out)),
        Format { csv: true, .. } => out.write_bytes(harmless_lines(&show::csv(results, columns)).as_bytes()),
        _ => out.write_bytes(harmless_lines(&show::text(results, columns)).as_bytes()),
    }
}

fn execute(task: &Exec, out: Output) -> anyhow::Result<ExitCode> {
    let scenario = scenario(&task.path)?;
    net::enter()?;
    let ending = Ending::listen()?;
    // One of both has stdout: with --json the explanation is the data.
    let client_output = if task.json { ClientOutput::Stderr } else { ClientOutput::Stdout };
    let lines =
        CommandLines { server: task.server.as_deref(), client: &task.client, client_output, outside: &task.nat };
    let done = exec::exec(&scenario, &lines, &task.out, ending.flag())?;
    let took = format!("{:.3} s", done.took.as_secs_f64());
    // A signal that came after the run ends the explanation.
    let signal = ending.hand_over().filter(|_| done.client.is_none());
    match signal {
        Some(_) => complain(&format!("stopped when the client had run for {took}: this is what was captured by then")),
        None => {
            let folder = task.out.display().to_string();
            notify(&format!("the client ran for {took}; captures and truth are in {folder}"));
        }
    }
    for reason in &done.void {
        complain(&format!("the machine disturbed this run, its figures are not the path's: {reason}"));
    }
    if !done.noise.is_quiet() {
        let added = done.noise.added();
        complain(&format!("the machine was busy: packets that it held back may have added {added}"));
    }
    // Programs that a signal of the terminal ended have not failed.
    let failed = |status: Option<ExitStatus>| status.filter(|status| signal.is_none() && !status.success());
    let programs = [("server", failed(done.server)), ("client", failed(done.client))];
    for (name, status) in programs {
        if let Some(status) = status {
            complain(&format!("the {name}'s program failed: {status}"));
        }
    }
    let cut = signal.map(|_| {
        format!("the run was stopped when the client had run for {took}: nothing is known of what would have followed")
    });
    let out = if task.json { out } else { out.to_stderr() };
    let code = explain::run(&both_ends(done, task.json, cut), out)?;
    Ok(match signal {
        Some(signal) => ExitCode::from(ended_by(signal)),
        None if programs.iter().any(|(_, status)| status.is_some()) => ExitCode::from(FAILED),
        None => code,
    })
}

/// The findings of both captures: one page for a person, from the sender's point of view, and
/// everything for a program.
fn both_ends(done: exec::ExecOutcome, json: bool, cut: Option<String>) -> ExplainTask {
    let inputs = done.captures.into_iter().map(Input::Path).collect();
    let format = if json {
        Explanation::Json { words: false }
    } else {
        Explanation::Terminal { top: None, lang: whyslow_cli::language::chosen(None) }
    };
    ExplainTask {
        baseline: None,
        threshold: whyslow_diagnosis::ranking::DEFAULT_THRESHOLD,
        inputs,
        format,
        selection: Default::default(),
        fail_on: Vec::new(),
        how: whyslow_io::ExplainOptions::default(),
        cut,
        stitched: false,
    }
}

fn open_shell(task: &Shell) -> anyhow::Result<ExitCode> {
    let scenario = scenario(&task.path)?;
    net::enter()?;
    let status = exec::shell(&scenario, Host::from(task.host), task.other.as_deref())?;
    // As a shell's own: what its last command returned.
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)))
}

fn check_path(task: &Check, mut out: Output) -> anyhow::Result<ExitCode> {
    net::enter()?;
    let config = CheckConfig { quick: task.quick, port: task.port.into() };
    let report = {
        let bar = Bar::waiting("check");
        check::run(&config, |row| bar.message(&row.what))?
    };
    if task.json {
        out.json(&report)?;
    } else {
        out.write(&report.table())?;
    }
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

/// The scenario that the options describe.
fn scenario(path: &Path) -> anyhow::Result<Scenario> {
    let mut keys = path.profile.map_or(Vec::new(), |profile| profile.keys());
    if let Some(rtt) = &path.rtt {
        keys.push(("path.rtt".to_owned(), rtt.clone()));
    }
    // How long a packet waits that later ones overtake: as long as the path takes, and 10 ms where
    // it takes no time.
    let late = path.rtt.as_deref().or(path.profile.map(|profile| profile.rtt)).unwrap_or("10ms");
    let reorder = path.reorder.as_ref().map(|share| format!(r#"{{ share = "{share}", delay = "{late}" }}"#));
    let options = [
        ("rate", &path.rate),
        ("queue", &path.queue),
        ("loss", &path.loss),
        ("duplicate", &path.duplicate),
        ("corrupt", &path.corrupt),
        ("reorder", &reorder),
    ];
    for (key, value) in options {
        for direction in ["up", "down"] {
            keys.extend(value.iter().map(|value| (format!("path.{direction}.{key}"), value.clone())));
        }
    }
    let has_rate = path.rate.is_some() || path.profile.is_some() || path.up.is_some() || path.down.is_some();
    anyhow::ensure!(path.queue.is_none() || has_rate, "--queue stands in front of --rate, --profile, --up or --down");
    for (direction, trace) in [("up", &path.up), ("down", &path.down)] {
        let Some(trace) = trace else { continue };
        // A trace stands instead of a rate.
        keys.retain(|(key, _)| *key != format!("path.{direction}.rate"));
        keys.push((format!("path.{direction}.trace"), trace.display().to_string()));
    }
    keys.extend(path.set.iter().cloned());
    let variant = scenario::load("the command line", "", &keys)?.runs.into_iter().next();
    Ok(variant.context("an empty file is one scenario")?.scenario)
}
