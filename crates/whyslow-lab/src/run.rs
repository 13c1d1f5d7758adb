//! Runs an experiment: builds each path, starts the programs, records what happens.
//!
//! A folder with a `result.json` is a finished run. A void run is repeated and never reported as a
//! result. No process, namespace or device is left, whatever happens. [`crate::figures`] defines
//! the figures, and [`crate::show`] prints them.

mod agent_process;
mod play;
mod proxy_program;
mod tries;

use crate::command;
use crate::count;
use crate::net::config::Host;
use crate::net::{Path as NetPath, Tap};
use crate::noise::Noise;
use crate::sample;
use crate::scenario::{Experiment, Scenario, Variant};
use crate::trace::{Trace, Tracer};
use crate::truth::{self, HostTruth, Machine, RunResult, SCHEMA, Truth};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of all results; each run gets a folder below it.
    pub out: PathBuf,
    /// How often each run is made.
    pub repeat: u32,
    /// Only runs whose label contains one of these; empty for all.
    pub only: Vec<String>,
    /// Runs at the same time. More than one disturbs the others on a small machine.
    pub jobs: usize,
    /// How often a run is tried in all, where the machine disturbs it.
    pub attempts: u32,
    /// Number of tries of a short run, of which the median is taken.
    pub short: u32,
    /// The program that becomes an agent when started with [`crate::agent::ARGUMENT`]; this binary
    /// when it is `None`.
    pub agent: Option<PathBuf>,
}

impl Settings {
    /// Results in `out`, each run once, one at a time, up to five tries.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self { out: out.into(), repeat: 1, only: Vec::new(), jobs: 1, attempts: 5, short: 1, agent: None }
    }
}

/// Progress of an experiment.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// A run begins.
    Started {
        /// Label of the run.
        label: &'a str,
        /// Index among all runs, from 0.
        index: usize,
        /// Number of runs.
        total: usize,
    },
    /// The machine spoiled a run; it is made again while tries are left.
    Void {
        /// Its label.
        label: &'a str,
        /// Why.
        why: &'a [String],
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// A run is finished: made now, or reused.
    Finished {
        /// Its label.
        label: &'a str,
        /// Made before.
        reused: bool,
        /// The result of the run.
        result: &'a RunResult,
    },
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file or folder.
    #[error("{what}: {source}")]
    File {
        /// The file, and the operation.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// `--only` matches nothing.
    #[error("no run is named {0:?}; there are: {1}")]
    NothingNamed(Vec<String>, String),
    /// A value that the path cannot have.
    #[error("{key}: {allowed}")]
    Impossible {
        /// The key in the scenario.
        key: String,
        /// The allowed values.
        allowed: String,
    },
    /// A command that a host does not take.
    #[error("it cannot be done here: {0}")]
    Refused(String),
    /// The user stopped the run.
    #[error("stopped before its end")]
    Stopped,
    /// Namespaces or devices.
    #[error(transparent)]
    Net(#[from] crate::net::Error),
}

pub(crate) fn file_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RunError {
    let what = what.into();
    move |source| RunError::File { what, source }
}

/// Runs all that is asked for, in the order of the experiment. Runs that are there already are
/// kept.
pub fn run(
    experiment: &Experiment,
    settings: &Settings,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<RunResult>, RunError> {
    let once = |run: &Variant, folder: &Path| once(&experiment.name, run, folder, settings);
    run_by(experiment, settings, progress, &RunMethod { key: &|run| run.scenario.key(), once: &once })
}

/// One attempt, whose captures go into the folder. The inner error is about this run (its programs
/// failed); the outer one is about all.
type Try<'a> = dyn Fn(&Variant, &Path) -> Result<Result<Outcome, String>, RunError> + Sync + 'a;

/// How a run is made.
pub(crate) struct RunMethod<'a> {
    /// The key of a run: the run is reused while its key stays the same.
    pub key: &'a (dyn Fn(&Variant) -> String + Sync),
    /// One try.
    pub once: &'a Try<'a>,
}

/// As [`run()`], with another way to make a run.
pub(crate) fn run_by(
    experiment: &Experiment,
    settings: &Settings,
    progress: &(dyn Fn(Progress<'_>) + Sync),
    making: &RunMethod<'_>,
) -> Result<Vec<RunResult>, RunError> {
    let wanted =
        |run: &Variant| settings.only.is_empty() || settings.only.iter().any(|only| run.label.contains(only.as_str()));
    let runs: Vec<(&Variant, u32)> = experiment
        .runs
        .iter()
        .filter(|run| wanted(run))
        .flat_map(|run| (1..=settings.repeat.max(1)).map(move |n| (run, n)))
        .collect();
    if runs.is_empty() {
        let labels: Vec<_> = experiment.runs.iter().map(|r| r.label.as_str()).collect();
        return Err(RunError::NothingNamed(settings.only.clone(), labels.join(", ")));
    }
    std::fs::create_dir_all(&settings.out).map_err(file_error(settings.out.display().to_string()))?;
    let session = Session { experiment, settings, progress, making };
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<RunResult, RunError>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.clamp(1, runs.len()) {
            scope.spawn(|| {
                while let Some((run, repetition)) = runs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let index = next.load(Ordering::SeqCst).saturating_sub(1);
                    progress(Progress::Started { label: &run.label, index, total: runs.len() });
                    let result = session.keep_or_make(run, *repetition);
                    let failed = result.is_err();
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((order(&runs, run, *repetition), result));
                    if failed {
                        // The next one would fail for the same reason.
                        next.store(runs.len(), Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn order(runs: &[(&Variant, u32)], run: &Variant, repetition: u32) -> usize {
    runs.iter().position(|(r, n)| std::ptr::eq(*r, run) && *n == repetition).unwrap_or(usize::MAX)
}

/// The folder of a run.
pub fn folder(out: &Path, experiment: &str, run: &Variant, repetition: u32) -> PathBuf {
    let plain = |text: &str| -> String {
        let keep = |c: char| if c.is_ascii_alphanumeric() || "._-=+".contains(c) { c } else { '_' };
        text.chars().map(keep).take(120).collect()
    };
    out.join(plain(experiment)).join(format!("{}-{repetition}", plain(&run.label)))
}

/// The folders that the runs of an experiment empty or make, those of unfinished runs included.
pub fn replaced<'a>(out: &'a Path, experiment: &'a Experiment, repeat: u32) -> impl Iterator<Item = PathBuf> + 'a {
    let each = move |run: &'a Variant| (1..=repeat).map(move |nth| folder(out, &experiment.name, run, nth));
    experiment.runs.iter().flat_map(each).flat_map(|folder| [folder.with_extension("partial"), folder])
}

/// The state that all runs share.
struct Session<'a> {
    experiment: &'a Experiment,
    settings: &'a Settings,
    progress: &'a (dyn Fn(Progress<'_>) + Sync),
    making: &'a RunMethod<'a>,
}

impl Session<'_> {
    /// Returns the existing result, or makes a new one.
    fn keep_or_make(&self, run: &Variant, repetition: u32) -> Result<RunResult, RunError> {
        let folder = folder(&self.settings.out, &self.experiment.name, run, repetition);
        let key = (self.making.key)(run);
        let reused = read_result(&folder).filter(|r| r.key == key && r.problems.is_empty());
        let is_reused = reused.is_some();
        let result = match reused {
            Some(result) => result,
            None => self.make(run, RunResult { repetition, key, ..self.no_result(run) }, &folder)?,
        };
        (self.progress)(Progress::Finished { label: &run.label, reused: is_reused, result: &result });
        Ok(result)
    }

    fn no_result(&self, run: &Variant) -> RunResult {
        RunResult {
            schema: SCHEMA.to_owned(),
            experiment: self.experiment.name.clone(),
            label: run.label.clone(),
            values: run.values.clone(),
            repetition: 0,
            key: String::new(),
            cause: run.scenario.cause.clone(),
            voided: 0,
            noise: Noise::default(),
            problems: Vec::new(),
            confirmed: false,
            claims: Vec::new(),
            figures: BTreeMap::new(),
        }
    }
}

/// The result in a folder, if there is one that this version understands.
pub fn read_result(folder: &Path) -> Option<RunResult> {
    let text = std::fs::read_to_string(folder.join("result.json")).ok()?;
    serde_json::from_str::<RunResult>(&text).ok().filter(|r| r.schema == SCHEMA)
}

pub(crate) fn write_json(file: &Path, value: &impl serde::Serialize) -> Result<(), RunError> {
    let write = || -> io::Result<()> {
        let mut out = io::BufWriter::new(std::fs::File::create(file)?);
        serde_json::to_writer(&mut out, value)?;
        out.write_all(b"\n")?;
        out.flush()
    };
    write().map_err(file_error(file.display().to_string()))
}

/// Truth and figures of a run.
pub(crate) type Outcome = (Truth, crate::figures::Figures);

fn once(
    experiment: &str,
    run: &Variant,
    folder: &Path,
    settings: &Settings,
) -> Result<Result<Outcome, String>, RunError> {
    let scenario = &run.scenario;
    let mut config = match scenario.resolve() {
        Ok(config) => config,
        Err((key, allowed)) => return Ok(Err(format!("{key}: {allowed}"))),
    };
    // A program that chooses no congestion control gets the scenario's by the route.
    if let (Some(host), Some(spec)) = (&mut config.proxy, &scenario.proxy) {
        host.route.congestion_control = Some(spec.host.congestion.clone());
    }
    let mut path = NetPath::build(&config)?;
    let capture = |host: Host| folder.join(format!("{}.pcap", host.name()));
    path.start(&taps(scenario, folder))?;
    if let Some(refused) = prepare(&path, scenario)? {
        path.stop()?;
        return Ok(Err(refused));
    }
    let tracer = Tracer::start();
    let played = play::play(&path, scenario, settings.agent.as_deref(), folder);
    let stopped = path.stop()?;
    let resends = tracer.map_or_else(|error| Trace::missing(error.to_string()), Tracer::finish);
    let ends = match played {
        Ok(ends) => ends,
        Err(e) => return Ok(Err(e.to_string())),
    };
    let truth = Truth {
        experiment: experiment.to_owned(),
        label: run.label.clone(),
        cause: scenario.cause.clone(),
        ends,
        links: stopped.links,
        resends,
        void: stopped.spoiled,
        ..empty_truth(&path, scenario)?
    };
    let mut captures = BTreeMap::new();
    for host in hosts_of(scenario) {
        let file = capture(host);
        let counted = count::count(&file).map_err(file_error(file.display().to_string()))?;
        captures.insert(host.name().to_owned(), counted);
    }
    let figures = truth::figures(&truth, &captures);
    Ok(Ok((truth, figures)))
}

/// Runs the preparing commands on their hosts. Returns the error of one that was refused.
fn prepare(path: &NetPath, scenario: &Scenario) -> Result<Option<String>, RunError> {
    for (host, spec) in [(Host::Client, &scenario.client), (Host::Server, &scenario.server)] {
        for line in &spec.before {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(command::here(line)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            let done = path.spawn(host, shell)?.wait_with_output().map_err(file_error("waiting for a command"))?;
            if !done.status.success() {
                let complaint = String::from_utf8_lossy(&done.stderr);
                return Ok(Some(format!("the {} refused `{line}`: {}", host.name(), complaint.trim())));
            }
        }
    }
    Ok(None)
}

/// The truth of a run without its programs: the machine, and the current settings and
/// counters of the hosts.
pub(crate) fn empty_truth(path: &NetPath, scenario: &Scenario) -> Result<Truth, RunError> {
    let mut hosts = BTreeMap::new();
    for host in hosts_of(scenario) {
        let truth = HostTruth {
            sysctls: path.settings(host)?,
            routes: path.routes(host)?,
            counters: path.counters(host)?,
            metrics: path.metrics(host)?,
        };
        hosts.insert(host.name().to_owned(), truth);
    }
    Ok(Truth {
        schema: SCHEMA,
        experiment: String::new(),
        label: String::new(),
        cause: String::new(),
        scenario: scenario.clone(),
        machine: Machine::here(),
        epoch_ns: path.epoch().realtime_ns,
        hosts,
        ends: BTreeMap::new(),
        socket_columns: sample::columns(),
        links: Vec::new(),
        resends: Trace::missing("only experiments are traced"),
        void: Vec::new(),
        partial: false,
    })
}

fn hosts_of(scenario: &Scenario) -> Vec<Host> {
    let there = |host: &Host| match host {
        Host::Proxy => scenario.proxy.is_some(),
        Host::Cross => scenario.cross.is_some(),
        Host::Client | Host::Server => true,
    };
    [Host::Client, Host::Cross, Host::Proxy, Host::Server].into_iter().filter(there).collect()
}

/// A capture at every host, and two at the proxy: of its side towards the client, and of that
/// towards the server.
fn taps(scenario: &Scenario, folder: &Path) -> Vec<Tap> {
    let snaplen = u32::try_from(scenario.snaplen.0).unwrap_or(u32::MAX);
    let tap = |host: Host, is_far: bool, name: &str| Tap { host, is_far, file: folder.join(name), snaplen };
    let mut taps: Vec<Tap> =
        hosts_of(scenario).into_iter().map(|host| tap(host, false, &format!("{}.pcap", host.name()))).collect();
    taps.extend(scenario.proxy.iter().map(|_| tap(Host::Proxy, true, "proxy-server.pcap")));
    taps
}
