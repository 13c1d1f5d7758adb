//! The lab without the rest: `cargo run -p whyslow-lab --example lab -- run slow-start`.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use whyslow_lab::progress::Bar;
use whyslow_lab::run::Settings;
use whyslow_lab::{exec, experiments, run, scenario, show};

const USAGE: &str = "lab list | run NAME|FILE… [--out DIR] [--repeat N] [--only LABEL] [--jobs N] [--attempts N] [--set KEY=VALUE] | exec SERVER CLIENT [--set …] | show DIR [--csv|--json]";

fn main() -> ExitCode {
    if let Some(code) = whyslow_lab::agent::maybe_run() {
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match command(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn command(args: &[String]) -> Result<(), String> {
    let (mut settings, mut words, mut overrides) = (Settings::new("lab-results"), Vec::new(), Vec::new());
    let (mut csv, mut json) = (false, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--out" => settings.out = PathBuf::from(value()?),
            "--repeat" => settings.repeat = value()?.parse().map_err(|e| format!("--repeat: {e}"))?,
            "--jobs" => settings.jobs = value()?.parse().map_err(|e| format!("--jobs: {e}"))?,
            "--attempts" => settings.attempts = value()?.parse().map_err(|e| format!("--attempts: {e}"))?,
            "--only" => settings.only.push(value()?.clone()),
            "--set" => {
                let (key, text) = value()?.split_once('=').ok_or("--set wants KEY=VALUE")?;
                overrides.push((key.to_owned(), text.to_owned()));
            }
            "--csv" => csv = true,
            "--json" => json = true,
            word => words.push(word.to_owned()),
        }
    }
    match words.split_first().map(|(verb, names)| (verb.as_str(), names)) {
        Some(("list", [])) => {
            for (name, title) in experiments::list() {
                println!("{name:<18} {title}");
            }
            Ok(())
        }
        Some(("run", names)) if !names.is_empty() => {
            // All files are read before anything starts.
            let experiments = names
                .iter()
                .map(|name| experiments::open(name, &overrides).map_err(|e| e.to_string()))
                .collect::<Result<Vec<scenario::Experiment>, _>>()?;
            whyslow_lab::net::enter().map_err(|e| e.to_string())?;
            for experiment in &experiments {
                println!("{}\n", experiment.about);
                let bar = Bar::new(&experiment.name);
                let results = run::run(experiment, &settings, &|event| bar.show(&event)).map_err(|e| e.to_string())?;
                drop(bar);
                println!("{}", show::report(experiment, &results));
            }
            Ok(())
        }
        Some(("exec", [server, client])) => {
            let scenario = scenario::load("--set", "", &overrides).map_err(|e| e.to_string())?.runs.remove(0).scenario;
            whyslow_lab::net::enter().map_err(|e| e.to_string())?;
            let done = exec::exec(&scenario, server, client, &settings.out).map_err(|e| e.to_string())?;
            println!(
                "client {} after {:.3} s; captures in {}",
                done.client,
                done.took.as_secs_f64(),
                settings.out.display()
            );
            Ok(())
        }
        Some(("show", [folder])) => {
            let results = show::find(Path::new(folder)).map_err(|e| format!("{folder}: {e}"))?;
            let columns = show::COLUMNS;
            let text = if csv { show::csv(&results, columns) } else { show::text(&results, columns) };
            print!("{}", if json { show::json(&results) } else { text });
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    }
}
