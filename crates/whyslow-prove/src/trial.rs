//! [`Trial`]: a scenario that was run, and the ordinary explanation of its captures.

use super::captured::Captured;
use super::packets::Packets;
use super::scenario::TransferScenario;
use anyhow::{Context, bail, ensure};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use whyslow_analysis::{Analysis, Connection, End};
use whyslow_io::{Input, PacketSource, Stop};
use whyslow_lab::run::{self, Progress};
use whyslow_lab::scenario::{Experiment, Scenario, Variant};
use whyslow_lab::truth::RunResult;

/// How often a run that the machine spoiled is made in all.
const ATTEMPTS: u32 = 5;
/// Runs below this length, seconds, are repeated if no number is given: the median of three.
const SHORT: f64 = 3.0;
const SHORT_TIMES: u32 = 3;

/// Where runs are made.
pub(super) struct Workshop<'a> {
    pub folder: &'a Path,
    /// Number of runs; `None` for one, and three of short ones that count.
    pub repeat: Option<u32>,
    /// No run begins later than this after `began`.
    pub limit: Duration,
    /// When the first one could begin.
    pub began: Instant,
    /// Called with each step.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// A run, and its analysis.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub seen: Captured,
    /// How long it took, seconds; the median of all.
    pub seconds: f64,
    /// How long each took.
    pub all_seconds: Vec<f64>,
    /// Upper bound of its time that the machine's late packets can have added, seconds.
    pub added: f64,
}

/// What is looked for in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought {
    pub from: End,
    pub place: u64,
    pub bytes: u64,
    pub vantage: End,
    pub is_about_connection: bool,
    /// The server's thinking counts.
    pub thinks: bool,
    /// How long it took in the capture, seconds.
    pub captured_s: f64,
}

impl Sought {
    pub fn of(captured: &Captured, built: &TransferScenario) -> Self {
        Self {
            from: captured.from(),
            place: built.place,
            bytes: built.bytes,
            vantage: captured.vantage(),
            is_about_connection: captured.is_about_connection,
            thinks: captured.thought() > 0.0,
            captured_s: built.captured_s,
        }
    }
}

impl Workshop<'_> {
    /// Whether no further run begins.
    pub fn is_over(&self) -> bool {
        self.began.elapsed() >= self.limit
    }

    /// Runs a scenario, and explains its captures.
    ///
    /// # Errors
    /// If the lab cannot run it, the machine spoils every attempt, or the captures do not show the
    /// transfer.
    pub fn run(&self, name: &str, scenario: &Scenario, sought: Sought) -> anyhow::Result<Trial> {
        self.run_times(self.repeat.unwrap_or(1), name, scenario, sought)
    }

    /// As [`run`](Self::run), and a short run several times: those of this name count.
    ///
    /// # Errors
    /// As `run`.
    pub fn repeat(&self, name: &str, scenario: &Scenario, sought: Sought) -> anyhow::Result<Trial> {
        let times = if sought.captured_s < SHORT { SHORT_TIMES } else { 1 };
        self.run_times(self.repeat.unwrap_or(times), name, scenario, sought)
    }

    fn run_times(&self, repeat: u32, name: &str, scenario: &Scenario, sought: Sought) -> anyhow::Result<Trial> {
        ensure!(!self.is_over(), "not run: the time of --max-time was over");
        let experiment = experiment(name, scenario);
        let settings = run::Settings { repeat, attempts: ATTEMPTS, ..run::Settings::new(self.folder) };
        let results = run::run(&experiment, &settings, &|event| self.show_progress(&event))?;
        let mut trials = Vec::new();
        let mut problem = None;
        for (result, repetition) in results.iter().zip(1..) {
            if let Some(why) = result.problems.first() {
                problem = Some(why.clone());
                continue;
            }
            let variant = experiment.runs.first().context("one run")?;
            let folder = run::folder(self.folder, &experiment.name, variant, repetition);
            trials.push(observe(result, folder, sought)?);
        }
        let Some(why) = problem.filter(|_| trials.is_empty()) else { return median(trials) };
        bail!("{name}: {why}")
    }

    fn show_progress(&self, event: &Progress<'_>) {
        if let Progress::Void { why, attempt, .. } = event {
            (self.progress)(&format!("try {attempt} was spoiled by the machine: {}", why.join("; ")));
        }
    }
}

/// One scenario as an experiment of its own.
pub(super) fn experiment(name: &str, scenario: &Scenario) -> Experiment {
    let run = Variant { label: name.to_owned(), values: Default::default(), scenario: scenario.clone() };
    Experiment {
        name: name.to_owned(),
        title: String::new(),
        about: String::new(),
        columns: Vec::new(),
        expect: Vec::new(),
        runs: vec![run],
    }
}

/// The trial of the median time, with the times of all.
fn median(mut trials: Vec<Trial>) -> anyhow::Result<Trial> {
    trials.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let all_seconds: Vec<f64> = trials.iter().map(|trial| trial.seconds).collect();
    let middle = trials.get(trials.len() / 2).cloned().context("no run gave a result")?;
    Ok(Trial { all_seconds, ..middle })
}

fn observe(result: &RunResult, folder: PathBuf, sought: Sought) -> anyhow::Result<Trial> {
    let name = if sought.vantage == End::Client { "client.pcap" } else { "server.pcap" };
    let input = Input::Path(folder.join(name));
    let analysis = whyslow_io::explain(std::slice::from_ref(&input), &Stop::default(), &mut |_| {})?;
    let connection = connection(&analysis).context("the run shows no transfer")?;
    let packets = Packets::read(&PacketSource::alone(&input, connection), connection)?;
    let index = nearest(connection, &packets, sought).context("the run shows no transfer from the same end")?;
    let seen = Captured {
        place: packets.place(&connection.transfers[index]).unwrap_or(0),
        connection: connection.clone(),
        index,
        packets,
        is_about_connection: sought.is_about_connection,
        is_supposed: false,
        spanning: analysis.findings.clone(),
    };
    let seconds = seconds(&seen, sought);
    let added = result.noise.added_s.min(seconds);
    Ok(Trial { seen, seconds, all_seconds: vec![seconds], added })
}

/// The run's one connection.
fn connection(analysis: &Analysis) -> Option<&Connection> {
    let carried = |connection: &&Connection| connection.directions.iter().map(|half| half.bytes).sum::<u64>();
    analysis.connections.iter().max_by_key(carried).filter(|connection| !connection.transfers.is_empty())
}

/// The transfer that begins nearest to the place where the captured one does.
fn nearest(connection: &Connection, packets: &Packets, sought: Sought) -> Option<usize> {
    let own = connection.transfers.iter().enumerate().filter(|(_, transfer)| transfer.from == sought.from);
    let apart = |transfer| packets.place(transfer).map_or(u64::MAX, |place| place.abs_diff(sought.place));
    own.min_by_key(|(_, transfer)| (apart(transfer), std::cmp::Reverse(transfer.bytes))).map(|(index, _)| index)
}

/// How long it took: as the analysis has it where the transfer has the same bytes, and else by its
/// first byte and the ACK of its last.
fn seconds(seen: &Captured, sought: Sought) -> f64 {
    if sought.is_about_connection {
        return seen.seconds();
    }
    let is_same = seen.place.abs_diff(sought.place) * 50 <= sought.bytes
        && seen.transfer().bytes.abs_diff(sought.bytes) * 50 <= sought.bytes;
    let thought = if sought.thinks { seen.thought() } else { 0.0 };
    if is_same {
        return seen.transfer().duration_s.as_secs_f64() + thought;
    }
    let start = seen.packets.sent_at(sought.from, sought.place);
    let end = seen.packets.acked_at(sought.from, sought.place + sought.bytes);
    // By the sender's clock, as the analysis has it.
    let ahead = seen.distance(sought.from);
    start.zip(end).map_or(seen.seconds(), |(start, end)| (end - start + ahead).max(0.0) + thought)
}
