//! The runs: whyslow and other programs, in turn, on the inputs of [`make`](crate::make).
//!
//! `contest` lists which programs run on which input, `measure` runs one of them, `results` holds
//! the samples, `targets` judges them, `report` prints them, and `machine` describes where they
//! were taken. In each round every program runs once, so that any disturbance of the machine
//! affects all of them. The report gives medians, minima and maxima.

mod contest;
mod input;
mod machine;
mod measure;
mod report;
mod results;
mod targets;

use crate::make::recipes;
use anyhow::Context;
use contest::{Program, contests};
use input::Input;
use machine::Machine;
use measure::{Run, measure};
use results::{Results, Row};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// The cost of one run of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Seconds of all its threads, in user and kernel mode.
    pub cpu: f64,
    /// The most memory it had, bytes; `None` where the system does not report it.
    pub peak: Option<u64>,
}

/// A run that ended, or did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// It ended.
    Done(Measurement),
    /// It took more than half of the machine's memory.
    Stopped,
}

/// Runs a command, its output discarded, and measures it. With `through_pipe` the command reads
/// that file from standard input.
///
/// # Errors
/// When it does not start, or fails.
pub fn measure_command(
    name: &'static str,
    command: Vec<OsString>,
    through_pipe: Option<PathBuf>,
) -> anyhow::Result<Measured> {
    let program = Program { through_pipe, ..Program::new(name, command) };
    Ok(match measure(&program, Machine::allowance())? {
        Run::Done(sample) => {
            Measured::Done(Measurement { cpu: sample.cpu, peak: Some(sample.max_rss).filter(|peak| *peak > 0) })
        }
        Run::Stopped(_) => Measured::Stopped,
    })
}

/// The programs to run, and their inputs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program to measure.
    pub whyslow: PathBuf,
    /// The folder of the inputs; those that are not there are made there.
    pub folder: PathBuf,
    /// The number of packets of the inputs is divided by this.
    pub smaller: u64,
    /// How often each program runs.
    pub rounds: u32,
    /// Names of inputs; empty: all inputs.
    pub only: Vec<String>,
}

/// Makes inputs that are not there, and runs every program on each of them. Returns the report in
/// Markdown. `say` gets a line for each step; `keep` gets the report as it stands after every
/// input, for a run takes long and may be interrupted.
///
/// # Errors
/// When an input cannot be made or read, or whyslow does not run. Other programs that are not
/// installed are left out, and the report names them.
pub fn run(
    settings: &Settings,
    notify: &mut dyn FnMut(&str),
    keep: &mut dyn FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    Benchmark::new(settings, &|_| true, notify)?.run(keep)
}

/// A run under way.
struct Benchmark<'a> {
    settings: &'a Settings,
    /// Whether a program takes part.
    takes_part: &'a dyn Fn(&Program) -> bool,
    notify: &'a mut dyn FnMut(&str),
    machine: Machine,
    results: Results,
}

impl<'a> Benchmark<'a> {
    fn new(
        settings: &'a Settings,
        takes_part: &'a dyn Fn(&Program) -> bool,
        notify: &'a mut dyn FnMut(&str),
    ) -> anyhow::Result<Self> {
        fs::create_dir_all(&settings.folder).with_context(|| settings.folder.display().to_string())?;
        let machine = Machine::look(&settings.whyslow);
        let processors = Machine::processors();
        let results = Results { smaller: settings.smaller, processors, ..Results::default() };
        Ok(Self { settings, takes_part, notify, machine, results })
    }

    fn run(mut self, keep: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<String> {
        let Settings { whyslow, folder, smaller, only, .. } = self.settings;
        let is_wanted = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
        for recipe in recipes().into_iter().filter(|recipe| is_wanted(recipe.name)) {
            let input = Input::of_recipe(&recipe.smaller(*smaller), folder, self.notify)?;
            self.measure(&input)?;
            keep(&self.report())?;
        }
        if is_wanted(Input::LAB) {
            match Input::of_lab(whyslow, folder, self.notify) {
                Some(input) => self.measure(&input)?,
                None => self.results.missing("the input of the lab (`whyslow lab run` does not work here)"),
            }
        }
        Ok(self.report())
    }

    fn report(&self) -> String {
        report::markdown(&self.machine, &self.results, &targets::judge(&self.results))
    }

    /// Runs the programs on an input in turn.
    fn measure(&mut self, input: &Input) -> anyhow::Result<()> {
        input.warm_up()?;
        let mut entries: Vec<(Program, Row)> = Vec::new();
        for program in contests(&self.settings.whyslow, input.name, &input.files).into_iter().filter(self.takes_part) {
            if program.is_there() {
                let row = Row::new(input, program.name);
                entries.push((program, row));
            } else {
                self.results.missing(program.name);
            }
        }
        let allowed = Machine::allowance();
        for round in 0..self.settings.rounds.max(1) {
            for (program, row) in &mut entries {
                if row.remark.is_some() || (round > 0 && program.once) {
                    continue;
                }
                (self.notify)(&format!("{}, round {}: {}", input.name, round + 1, program.name));
                match measure(program, allowed)? {
                    Run::Done(sample) => row.samples.push(sample),
                    Run::Stopped(most) => {
                        row.samples.clear();
                        row.remark = Some(format!("stopped at {:.1} GB of its own", most as f64 / 1e9));
                    }
                }
            }
        }
        self.results.rows.extend(entries.into_iter().map(|(_, row)| row));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
