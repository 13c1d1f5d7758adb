//! The runs: whyslow beside other programs, in turn, on the inputs of [`make`](crate::make).
//!
//! `contest` says which programs meet on which input, `measure` runs one of them, `results` keeps
//! what came of it, `targets` judges it, `report` prints it, and `machine` says where it was. In
//! each round every program runs once, so that what disturbs the machine disturbs all of them;
//! medians are told, and what they lie between.

mod contest;
mod machine;
mod measure;
mod report;
mod results;
mod targets;

use crate::make::{Made, Recipe, recipes};
use crate::walk::walk;
use anyhow::Context;
use contest::{Program, contests};
use measure::{Run, measure};
use results::{Results, Row};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

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

/// Makes inputs that are not there, runs everything, and tells what came of it, in Markdown. `say`
/// is told how far it has come; `keep` is given the report as it stands after every input, for a
/// run takes long and may not come to its end.
///
/// # Errors
/// When an input cannot be made or read, or whyslow does not run. Other programs that are missing
/// are passed over, and said.
pub fn run(
    wanted: &Wanted,
    say: &mut dyn FnMut(&str),
    keep: &mut dyn FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    run_with(wanted, &|_| true, say, keep)
}

fn run_with(
    wanted: &Wanted,
    takes_part: &dyn Fn(&Program) -> bool,
    say: &mut dyn FnMut(&str),
    keep: &mut dyn FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    fs::create_dir_all(&wanted.folder).with_context(|| wanted.folder.display().to_string())?;
    let machine = machine::Machine::look(&wanted.whyslow);
    let processors = machine::Machine::processors();
    let mut results = Results { smaller: wanted.smaller, processors, ..Results::default() };
    let report = |results: &Results| report::markdown(&machine, results, &targets::judge(results));
    let asked = |name: &str| wanted.only.is_empty() || wanted.only.iter().any(|only| only == name);
    for recipe in recipes().into_iter().filter(|recipe| asked(recipe.name)) {
        let name = recipe.name;
        let made = made(&recipe.smaller(wanted.smaller), &wanted.folder, say)?;
        let Made { files, packets, connections, .. } = made;
        meet(&Input { name, files, packets, connections }, wanted, takes_part, &mut results, say)?;
        keep(&report(&results))?;
    }
    if asked(LAB) {
        match recorded(wanted, say) {
            Some(input) => meet(&input, wanted, takes_part, &mut results, say)?,
            None => results.missing("the input of the lab (`whyslow lab run` does not work here)"),
        }
    }
    Ok(report(&results))
}

/// Something to read.
struct Input {
    name: &'static str,
    files: Vec<PathBuf>,
    packets: u64,
    connections: u64,
}

/// Lets the programs run on an input in turn.
fn meet(
    input: &Input,
    wanted: &Wanted,
    takes_part: &dyn Fn(&Program) -> bool,
    results: &mut Results,
    say: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    input.files.iter().try_for_each(|file| warm(file))?;
    let mut entries: Vec<(Program, Row)> = Vec::new();
    for program in contests(&wanted.whyslow, input.name, &input.files).into_iter().filter(takes_part) {
        if program.is_there() {
            let row = Row::new(input, program.name);
            entries.push((program, row));
        } else {
            results.missing(program.name);
        }
    }
    let allowed = machine::Machine::allowance();
    for round in 0..wanted.rounds.max(1) {
        for (program, row) in &mut entries {
            if row.remark.is_some() || (round > 0 && program.once) {
                continue;
            }
            say(&format!("{}, round {}: {}", input.name, round + 1, program.name));
            match measure(program, allowed)? {
                Run::Done(sample) => row.samples.push(sample),
                Run::Stopped(most) => {
                    row.samples.clear();
                    row.remark = Some(format!("stopped at {:.1} GB of its own", most as f64 / 1e9));
                }
            }
        }
    }
    results.rows.extend(entries.into_iter().map(|(_, row)| row));
    Ok(())
}

/// The name of the input that the lab records.
const LAB: &str = "lab";

/// Packets of this machine's own TCP stack, recorded once; none where namespaces are not allowed.
fn recorded(wanted: &Wanted, say: &mut dyn FnMut(&str)) -> Option<Input> {
    let folder = wanted.folder.join(LAB);
    say("making lab: a download over this machine's own TCP stack");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab.toml");
    // A run that was made before is kept.
    let mut command = Command::new(&wanted.whyslow);
    command.args(["lab", "run"]).arg(scenario).arg("--out").arg(&folder).stdout(Stdio::null()).stderr(Stdio::null());
    let file = folder.join("bench/bench-1/server.pcap");
    let packets = command.status().ok().filter(ExitStatus::success).and_then(|_| walk(&file).ok())?;
    Some(Input { name: LAB, files: vec![file], packets, connections: 1 })
}

/// Makes an input, or takes it as it is where it was made before.
fn made(recipe: &Recipe, folder: &Path, say: &mut dyn FnMut(&str)) -> anyhow::Result<Made> {
    // The recipe stands beside its file: another recipe, or a generator that changed, makes it
    // anew.
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
