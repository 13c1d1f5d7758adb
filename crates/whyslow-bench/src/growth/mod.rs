//! How processor time and memory grow with hostile input: what `make growth` prints.
//!
//! Each input is made once, twice and four times as large: of what repeats in it, for some begin
//! with packets of which there are always as many. Of a program that takes time in proportion to
//! its input the exponent is about 1 at most; structures that fill up to their limit give somewhat
//! more.

mod inputs;
mod packets;
#[cfg(test)]
mod tests;
mod text;

pub use inputs::{GrowingInput, Reads, inputs};

use crate::run::{Measured, Measurement, measure_command};
use anyhow::Context;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// How many times as large an input is.
const FACTORS: [u32; 3] = [1, 2, 4];

/// What to measure.
#[derive(Clone, Debug)]
pub struct GrowthSettings {
    /// The program to measure.
    pub whyslow: PathBuf,
    /// The folder of the inputs, which are removed after their run.
    pub folder: PathBuf,
    /// Inputs are this many times as large as usual.
    pub scale: f64,
    /// Names of inputs; empty: all inputs.
    pub only: Vec<String>,
}

/// The cost of the runs on one input.
#[derive(Clone, Debug)]
pub struct GrowthRow {
    input: GrowingInput,
    /// Size of the input in bytes, and what its run took.
    runs: Vec<(u64, Measurement)>,
    /// Why the runs ended: one took too much memory, or failed.
    remark: Option<String>,
}

impl GrowthRow {
    /// Returns the exponent of processor time over the factor; `None` with fewer than two runs.
    pub fn exponent(&self) -> Option<f64> {
        let [(_, first), .., (_, last)] = &self.runs[..] else { return None };
        // The growth of a time shorter than a clock tick cannot be measured.
        let growth = last.cpu.max(TICK) / first.cpu.max(TICK);
        let factor = FACTORS.get(self.runs.len() - 1)? / FACTORS[0];
        Some(growth.log2() / f64::from(factor).log2())
    }
}

/// Seconds between two samples of the running processes.
const TICK: f64 = 0.01;

/// Runs the program on every input in every size. Returns the table in Markdown. `say` gets a line
/// for each input.
///
/// # Errors
/// When an input cannot be written.
pub fn growth(settings: &GrowthSettings, notify: &mut dyn FnMut(&str)) -> anyhow::Result<String> {
    fs::create_dir_all(&settings.folder).with_context(|| settings.folder.display().to_string())?;
    let known = inputs();
    if let Some(unknown) = settings.only.iter().find(|name| known.iter().all(|input| input.name != **name)) {
        anyhow::bail!("there is no input {unknown}");
    }
    let is_wanted =
        |input: &GrowingInput| settings.only.is_empty() || settings.only.iter().any(|name| name == input.name);
    let mut rows = Vec::new();
    for input in known.into_iter().filter(is_wanted) {
        let row = grow(settings, input)?;
        notify(&line(&row));
        rows.push(row);
    }
    Ok(table(&rows))
}

fn grow(settings: &GrowthSettings, input: GrowingInput) -> anyhow::Result<GrowthRow> {
    let mut row = GrowthRow { input, runs: Vec::new(), remark: None };
    for factor in FACTORS {
        let file = settings.folder.join(input.name);
        let mut out = BufWriter::new(File::create(&file).with_context(|| file.display().to_string())?);
        input.write(&mut out, f64::from(factor) * settings.scale)?;
        out.flush()?;
        let size = fs::metadata(&file)?.len();
        let beside = settings.folder.join("out");
        let (command, through_pipe) = command(&settings.whyslow, input.reads, &file, &beside);
        let run = measure_command(input.name, command, through_pipe.then(|| file.clone()));
        let _ = (fs::remove_file(&file), fs::remove_file(&beside), fs::remove_dir_all(&beside));
        match run {
            Ok(Measured::Done(measurement)) => row.runs.push((size, measurement)),
            Ok(Measured::Stopped) => row.remark = Some("stopped: too much memory".to_owned()),
            Err(error) => row.remark = Some(format!("{error:#}")),
        }
        if row.remark.is_some() {
            break;
        }
    }
    Ok(row)
}

/// The command that reads a file, and whether through a pipe.
fn command(whyslow: &Path, reads: Reads, file: &Path, beside: &Path) -> (Vec<OsString>, bool) {
    let words = |words: &[&std::ffi::OsStr]| words.iter().map(|word| (*word).to_owned()).collect();
    let (whyslow, file, beside) = (whyslow.as_os_str(), file.as_os_str(), beside.as_os_str());
    match reads {
        // Several threads read large inputs, and text is parsed by each of them.
        Reads::Json => (words(&[whyslow, file, "--json".as_ref(), "--threads".as_ref(), "1".as_ref()]), false),
        Reads::Scan => (words(&[whyslow, "scan".as_ref(), file, "--out".as_ref(), beside]), false),
        Reads::Watch => (words(&[whyslow, "watch".as_ref(), "-".as_ref(), "--jsonl".as_ref()]), true),
    }
}

fn table(rows: &[GrowthRow]) -> String {
    let mut out = String::from(
        "| input | MB | CPU s at 1×, 2×, 4× | peak memory MB at 1×, 2×, 4× | exponent | what it is |\n|---|--:|--:|--:|--:|---|\n",
    );
    for row in rows {
        out += &line(row);
        out.push('\n');
    }
    out
}

fn line(row: &GrowthRow) -> String {
    let all =
        |figure: &dyn Fn(&(u64, Measurement)) -> String| row.runs.iter().map(figure).collect::<Vec<_>>().join(", ");
    let cpu = all(&|(_, run)| format!("{:.2}", run.cpu));
    let peak = all(&|(_, run)| run.peak.map_or("–".to_owned(), |peak| format!("{:.0}", peak as f64 / 1e6)));
    let exponent = row.exponent().map_or("–".to_owned(), |exponent| format!("{exponent:.2}"));
    let size = row.runs.last().map_or(0.0, |(size, _)| *size as f64 / 1e6);
    let mut out = String::new();
    // A String takes everything.
    let _ = write!(out, "| {} | {size:.1} | {cpu} | {peak} | {exponent} | {}", row.input.name, row.input.what);
    if let Some(remark) = &row.remark {
        let _ = write!(out, "; **{remark}**");
    }
    out + " |"
}
