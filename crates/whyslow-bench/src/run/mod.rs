//! The runs: whyslow beside other programs, in turn, on the inputs of [`make`](crate::make).
//!
//! `contest` says which programs meet on which input, `measure` runs one of them, `results` keeps what came of it, `targets`
//! judges it, `report` prints it, and `machine` says where it was. In each round every program runs once, so that what
//! disturbs the machine disturbs all of them; medians are told, and what they lie between.

mod contest;
mod machine;
mod measure;
mod report;
mod results;
mod targets;

use crate::make::{Made, Recipe, recipes};
use anyhow::Context;
use contest::{Program, contests};
use measure::measure;
use results::{Results, Row};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The program to measure.
    pub whyslow: PathBuf,
    /// Where inputs are, or are put.
    pub folder: PathBuf,
    /// Inputs have so many times fewer packets.
    pub smaller: u64,
    /// How often each program runs.
    pub rounds: u32,
    /// Inputs, by name; all when there is none.
    pub only: Vec<String>,
}

/// Makes inputs that are not there, runs everything, and tells what came of it, in Markdown. `say` is told how far it has
/// come.
///
/// # Errors
/// When an input cannot be made or read, or whyslow does not run. Other programs that are missing are passed over, and said.
pub fn run(wanted: &Wanted, say: &mut dyn FnMut(&str)) -> anyhow::Result<String> {
    run_with(wanted, &|_| true, say)
}

fn run_with(
    wanted: &Wanted,
    takes_part: &dyn Fn(&Program) -> bool,
    say: &mut dyn FnMut(&str),
) -> anyhow::Result<String> {
    fs::create_dir_all(&wanted.folder).with_context(|| wanted.folder.display().to_string())?;
    let machine = machine::Machine::look(&wanted.whyslow);
    let mut results = Results { smaller: wanted.smaller, ..Results::default() };
    for recipe in recipes() {
        if !wanted.only.is_empty() && !wanted.only.iter().any(|name| name == recipe.name) {
            continue;
        }
        let recipe = recipe.smaller(wanted.smaller);
        let made = input(&recipe, &wanted.folder, say)?;
        made.files.iter().try_for_each(|file| warm(file))?;
        let mut rows: Vec<Row> = Vec::new();
        let mut programs = Vec::new();
        for program in contests(&wanted.whyslow, recipe.name, &made.files).into_iter().filter(takes_part) {
            if program.is_there() {
                rows.push(Row::new(&recipe, &made, program.name));
                programs.push(program);
            } else {
                results.missing(program.name);
            }
        }
        for round in 0..wanted.rounds.max(1) {
            for (program, row) in programs.iter().zip(&mut rows) {
                if round == 0 || !program.once {
                    say(&format!("{}, round {}: {}", recipe.name, round + 1, program.name));
                    row.samples.push(measure(program)?);
                }
            }
        }
        results.rows.append(&mut rows);
    }
    Ok(report::markdown(&machine, &results, &targets::judge(&results)))
}

/// Makes an input, or takes it as it is where it was made before.
fn input(recipe: &Recipe, folder: &Path, say: &mut dyn FnMut(&str)) -> anyhow::Result<Made> {
    // The recipe stands beside its file: another recipe, or a generator that changed, makes it anew.
    let note = folder.join(format!("{}.made", recipe.name));
    let recipe_text = format!("{} {recipe:?}\n", crate::make::VERSION);
    if let Ok(text) = fs::read_to_string(&note)
        && let Some(made) = text.strip_prefix(&recipe_text).and_then(|made| Made::parse(made, folder))
    {
        return Ok(made);
    }
    say(&format!("making {}: {}", recipe.name, recipe.about));
    let made = recipe.make(folder)?;
    fs::write(&note, recipe_text + &made.to_text()).with_context(|| note.display().to_string())?;
    Ok(made)
}

/// Reads a file once, so that all find it in memory.
fn warm(file: &Path) -> anyhow::Result<()> {
    let mut open = File::open(file).with_context(|| file.display().to_string())?;
    io::copy(&mut open, &mut io::sink()).with_context(|| file.display().to_string())?;
    Ok(())
}

#[cfg(test)]
mod tests;
