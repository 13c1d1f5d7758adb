//! Real servers and clients over the lab's path, and the required explanation of their captures.
//!
//! ```text
//!   scenarios ─▶ draw ─▶ path of `lab exec`, ─▶ captures, counters, ─▶ label confirmed, or not
//!   (a table)            both programs          emulator's log
//! ```
//!
//! `scenarios` defines which programs and settings make which cause, `programs` how to start them,
//! `counters` reads both kernels' view of their sockets. The right answer follows from the
//! configuration and is fixed before anything is explained. It counts only if the kernels' counters
//! and the emulator's log confirm it. A run leaves no file and no process.

pub(crate) mod counters;
mod label;
pub(crate) mod programs;
mod scenarios;

use crate::count;
use crate::draws::{Chance, build, ms, set};
use crate::exec;
use crate::net::config::Host;
use crate::program::{PLACES, is_installed};
use crate::run::{self, Outcome, Progress, RunError, RunMethod, Settings, file_error};
use crate::scenario::{Experiment, ScenarioError, Variant};
use crate::truth::{self, Machine, RunResult};
pub use label::Label;
use programs::Program;
#[cfg(test)]
use scenarios::Row;
use scenarios::drawn::DrawnRun;
use scenarios::rows;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The runs that are possible on this machine, and those that are not.
#[derive(Debug)]
pub struct RealRuns {
    /// The runs.
    pub experiment: Experiment,
    /// By the scenario's name.
    pub labels: BTreeMap<&'static str, Label>,
    /// Missing programs and rights, and the scenarios that are skipped for them.
    pub missing: BTreeMap<String, Vec<&'static str>>,
    programs: BTreeMap<String, DrawnRun>,
    fixes: BTreeMap<String, (Host, String)>,
}

/// A fix as printed for a run.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The run that it is for.
    pub label: String,
    /// A command, and the host that it is for.
    pub command: Option<(Host, String)>,
    /// Its words, which may concern the programs' own settings.
    pub words: String,
}

/// Suffix of the label of a run with the fix applied.
pub const FIXED: &str = "-fixed";

impl RealRuns {
    /// The same runs once more, each with its fix applied: the command before its programs start,
    /// and the advice on a program's own settings in that program's syntax. Runs for which neither
    /// is possible here are left out.
    pub fn fixed(&self, fixes: &[Fix]) -> Self {
        let mut runs = Vec::new();
        let (mut programs, mut commands) = (BTreeMap::new(), BTreeMap::new());
        for fix in fixes {
            let Some(run) = self.experiment.runs.iter().find(|run| run.label == fix.label) else { continue };
            let Some(mut drawn) = self.programs.get(&fix.label).cloned() else { continue };
            let is_changed = drawn.server.apply_fix(&fix.words) | drawn.client.apply_fix(&fix.words);
            if fix.command.is_none() && !is_changed {
                continue;
            }
            let label = format!("{}{FIXED}", fix.label);
            let mut run = Variant { label: label.clone(), ..run.clone() };
            // The claims that confirm the cause need not hold without it.
            run.scenario.verify.clear();
            runs.push(run);
            programs.insert(label.clone(), drawn);
            commands.extend(fix.command.clone().map(|command| (label, command)));
        }
        Self {
            experiment: Experiment { runs, ..self.experiment.clone() },
            labels: self.labels.clone(),
            missing: BTreeMap::new(),
            programs,
            fixes: commands,
        }
    }
}

/// `each` runs of every scenario that this machine has the programs for.
///
/// # Errors
/// None that chance could bring about: a drawn scenario that cannot be built is a mistake in the
/// table, which a test looks for.
pub fn draw(seed: u64, each: u32) -> Result<RealRuns, ScenarioError> {
    let is_root = Machine::here().root;
    let mut drawing = RealRuns {
        experiment: Experiment {
            name: format!("real-{seed}"),
            title: format!("{each} of every scenario, seed {seed}"),
            about: "Real programs over the lab's path, to judge an explanation with.".to_owned(),
            columns: ["rtt_min", "retransmitted", "span"].map(str::to_owned).to_vec(),
            expect: Vec::new(),
            runs: Vec::new(),
        },
        labels: BTreeMap::new(),
        missing: BTreeMap::new(),
        programs: BTreeMap::new(),
        fixes: BTreeMap::new(),
    };
    for (nth, row) in rows().enumerate() {
        for n in 1..=each {
            let mut chance = Chance::new(seed, (nth as u64) << 32 | u64::from(n));
            let drawn = (row.draw)(&mut chance);
            if let Some(lack) = lack(&drawn, is_root) {
                drawing.missing.entry(lack).or_default().push(row.name);
                break;
            }
            let mut settings = common(&mut chance);
            settings.push(set("cause", row.label.right.first().copied().unwrap_or("none")));
            settings.extend(drawn.settings.iter().cloned());
            let label = format!("{}-{n}", row.name);
            drawing.experiment.runs.extend(build(&settings, label.clone())?);
            drawing.programs.insert(label, drawn);
            drawing.labels.insert(row.name, row.label.clone());
        }
    }
    Ok(drawing)
}

/// Settings that must not matter.
fn common(chance: &mut Chance) -> Vec<(String, String)> {
    let offload = chance.is(0.5).to_string();
    vec![
        set("path.seed", chance.whole(1, 1_000_000).to_string()),
        set("client.timestamps", chance.is(0.8).to_string()),
        set("server.tso", offload.clone()),
        set("client.gro", offload.clone()),
        set("client.tso", offload.clone()),
        set("server.gro", offload),
        set("snaplen", chance.among(&["128B", "256B", "1600B"])),
        set("sample_every", ms(0.01)),
        set("timeout", "60s"),
    ]
}

/// The folder of Python's modules in Debian's packages.
const MODULES: &str = "/usr/lib/python3/dist-packages";

/// Requirements of a scenario that this machine lacks.
fn lack(drawn: &DrawnRun, is_root: bool) -> Option<String> {
    if drawn.server.takes_root && !is_root {
        return Some("the machine's root".to_owned());
    }
    let needs = drawn.server.needs.iter().chain(&drawn.client.needs);
    let program = needs.copied().find(|program| !is_installed(program)).map(str::to_owned);
    let modules = drawn.server.modules.iter().chain(&drawn.client.modules);
    let module = modules.copied().find(|module| !Path::new(MODULES).join(module).is_dir());
    program.or_else(|| module.map(|module| format!("Python's {module}")))
}

/// Makes all selected runs; unchanged ones are reused.
///
/// # Errors
/// As [`run::run`].
pub fn run(
    drawing: &RealRuns,
    settings: &Settings,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<RunResult>, RunError> {
    let experiment = &drawing.experiment;
    let key = |run: &Variant| {
        let programs = drawing.programs.get(&run.label).map(|drawn| format!("{:?}", lines(drawn)));
        let fix = drawing.fixes.get(&run.label).map(|(_, command)| command.as_str());
        crate::scenario::key_of(&(run.scenario.key() + &programs.unwrap_or_default() + fix.unwrap_or_default()))
    };
    let once = |run: &Variant, folder: &Path| once(drawing, run, folder, stop);
    run::run_by(experiment, settings, progress, &RunMethod { key: &key, once: &once })
}

/// The key of a pair of programs.
fn lines(drawn: &DrawnRun) -> Vec<&str> {
    let files = drawn.server.files.iter().chain(&drawn.client.files).map(|(_, text)| text.as_str());
    [drawn.server.line.as_str(), drawn.client.line.as_str()].into_iter().chain(files).collect()
}

/// One try.
fn once(
    drawing: &RealRuns,
    run: &Variant,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Result<Outcome, String>, RunError> {
    let Some(DrawnRun { server, client, .. }) = drawing.programs.get(&run.label) else {
        return Ok(Err("there are no programs for it".to_owned()));
    };
    let scenario = &run.scenario;
    let place = RunFolder::new()?;
    for program in [server, client] {
        place.write(program)?;
    }
    let fix = drawing.fixes.get(&run.label).map(|(host, command)| (*host, crate::command::here(command)));
    let line = |program: &Program| format!("PATH={PLACES}:$PATH\n{}", program.line);
    let programs = exec::Programs {
        client_output: exec::ClientOutput::Stderr,
        outside: None,
        server: Some(&line(server)),
        client: &line(client),
        port: Some(server.port),
        folder: Some(&place.0),
        are_asked: true,
        timeout: Some(scenario.timeout.duration()),
        before: fix.as_ref().map(|(host, command)| (*host, command.as_str())),
    };
    let taps = ["client.pcap", "server.pcap"].map(|name| folder.join(name));
    let (executed, mut truth) = match exec::record(scenario, &programs, taps, stop) {
        Err(RunError::Refused(what)) => {
            return Ok(Err(format!("{}; {}", RunError::Refused(what), place.last_output_of_both())));
        }
        recorded => recorded?,
    };
    if stop.load(Ordering::Relaxed) {
        return Err(RunError::Stopped);
    }
    let failed = match executed.client {
        None => Some(format!("the client had not ended after {} s", scenario.timeout.seconds())),
        Some(status) if !status.success() => Some(format!("the client failed: {status}")),
        Some(_) => None,
    };
    if let Some(failed) = failed {
        return Ok(Err(format!("{failed}; {}", place.last_output_of_both())));
    }
    truth.experiment.clone_from(&drawing.experiment.name);
    truth.label.clone_from(&run.label);
    truth.cause.clone_from(&scenario.cause);
    let mut captures = BTreeMap::new();
    for (host, file) in [(Host::Client, &executed.captures[0]), (Host::Server, &executed.captures[1])] {
        let counted = count::count(file).map_err(file_error(file.display().to_string()))?;
        captures.insert(host.name().to_owned(), counted);
    }
    let figures = truth::figures(&truth, &captures);
    Ok(Ok((truth, figures)))
}

/// A folder for the programs of one run, gone with this value.
struct RunFolder(PathBuf);

impl RunFolder {
    fn new() -> Result<Self, RunError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("whyslow-real-{}-{number}", std::process::id()));
        let make = || -> std::io::Result<()> {
            std::fs::create_dir(&folder)?;
            // A database that is not root's goes through it to its own folder.
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o711))
        };
        make().map_err(file_error(folder.display().to_string()))?;
        Ok(Self(folder))
    }

    fn write(&self, program: &Program) -> Result<(), RunError> {
        for (name, text) in &program.files {
            let file = self.0.join(name);
            let text = text.replace("{DIR}", &self.0.display().to_string());
            std::fs::write(&file, text).map_err(file_error(file.display().to_string()))?;
        }
        Ok(())
    }

    fn last_output_of_both(&self) -> String {
        format!("the client: {}; the server: {}", self.last_output(Host::Client), self.last_output(Host::Server))
    }

    /// The last lines that a program printed.
    fn last_output(&self, host: Host) -> String {
        let text = std::fs::read(self.0.join(format!("{}.log", host.name()))).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().rev().take(3).collect();
        if lines.is_empty() { "no word".to_owned() } else { lines.into_iter().rev().collect::<Vec<_>>().join(" / ") }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All programs that the scenarios need.
pub fn needs() -> BTreeSet<&'static str> {
    let of = |row: &scenarios::Row| {
        let drawn = (row.draw)(&mut Chance::new(1, 1));
        drawn.server.needs.into_iter().chain(drawn.client.needs).collect::<Vec<_>>()
    };
    rows().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
