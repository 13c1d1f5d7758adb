//! Where the bytes come from: files, pipes and standard input, compressed or not, one or a set.
//!
//! [`explain`] opens its inputs one after the other, undoes their compression as it reads
//! (`source`), and pushes the bytes to explainers that share the connections, each on a thread of
//! its own (`team`), who fetch them in turn (`belt`). Memory is bounded whatever the input's size:
//! nothing is read whole, and a compressed input that swells without end only takes as long.
//!
//! Several inputs are put in order first (`set`): files that follow each other in time are one
//! capture in parts, and go through one `WorkerPool` of explainers in time order whatever their
//! order on the command line, so that a connection that crosses from one file to the next stays
//! whole. Captures that overlap in time, or that hold the same packets, look at the same thing from
//! two places: each has a `WorkerPool` of its own, and the results stand side by side (`join`).
//! Connections that two of them hold are then compared packet by packet, in a second pass over the
//! files (`again`). A second pass that finds less than the first is an error (`first`).
//!
//! [`read`] remembers which files a connection lies in, so that it can be followed through them
//! once more ([`follow`], [`pick`]); what comes through a pipe is kept in a temporary file for that
//! ([`Spool`], in the process' own folder: [`Scratch`]).
#![forbid(unsafe_code)]

mod broadcast;
mod compare_sets;
mod error;
mod feed;
mod first;
mod join;
mod reading;
mod scratch;
mod set;
mod shard_exchange;
mod source;
mod spool;
mod stop;
mod worker_pool;

pub use error::Error;
pub use reading::{FilesRead, PacketSource, Reading, follow, follow_all, pick};
pub use scratch::Scratch;
pub use spool::Spool;
pub use stop::Stop;

use compare_sets::ReadSet;
use feed::InputReader;
use first::FirstRead;
use set::{RotationSet, WaitingInput};
use source::Source;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;
use whyslow_core::analysis::Analysis;
use worker_pool::WorkerPool;

/// A place to read a capture from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, or anything else that can be opened by a path.
    Path(PathBuf),
    /// Standard input, named `-`.
    Stdin,
}

impl Input {
    /// How it is named in messages and in the analysis.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
        }
    }
}

/// How far the reading has come, over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read, as they are stored: still compressed.
    pub read: u64,
    /// Bytes to read in all; none when an input is not a regular file.
    pub total: Option<u64>,
}

/// Reads all inputs and explains the connections in them; `progress` is called after every block.
/// Once `stop` is asked for, no more is read, and the analysis is [partial](Analysis::partial).
///
/// Of several inputs, one continues a set of earlier ones when its first packet is not earlier than
/// the set's last (by a hundredth of the set's time and at most 100 ms, where only digits tell
/// their names apart), and no SYN at its beginning is also at the beginning of one of the set's. Of
/// several sets it continues the one of its name, or else the one that ended last. All others, and
/// those without a date, are explained on their own, and the connections that two of these sets
/// hold are compared.
///
/// # Errors
/// When an input cannot be opened or read, is empty, or is no capture: then nothing is explained at
/// all. An input that is damaged or cut short further on is explained as far as it goes, and its
/// [`Capture`] has a problem that says so.
///
/// [`Capture`]: whyslow_core::analysis::Capture
pub fn explain(inputs: &[Input], stop: &Stop, progress: &mut dyn FnMut(Progress)) -> Result<Analysis, Error> {
    explain_on(ExplainOptions::default(), inputs, stop, progress)
}

/// How captures are explained.
#[derive(Clone, Copy, Debug)]
pub struct ExplainOptions {
    /// On so many threads; what comes out does not depend on how many there are.
    pub threads: NonZero<usize>,
    /// What the path carries, payload bits per second, where somebody says so.
    pub path_rate: Option<f64>,
}

impl Default for ExplainOptions {
    /// On a thread for each processor, with what the captures show of the path.
    fn default() -> Self {
        Self { threads: thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN), path_rate: None }
    }
}

/// As [`explain`], in this way.
///
/// # Errors
/// As [`explain`].
pub fn explain_on(
    how: ExplainOptions,
    inputs: &[Input],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Analysis, Error> {
    Ok(read_on(how, &[inputs], stop, progress)?.analysis)
}

/// Explains groups of inputs, each as [`explain`] does and as if the others were not there:
/// connections are numbered on over all of them. Says as well where their connections can be read
/// once more.
///
/// # Errors
/// As [`explain`].
pub fn read(groups: &[&[Input]], stop: &Stop, progress: &mut dyn FnMut(Progress)) -> Result<Reading, Error> {
    read_on(ExplainOptions::default(), groups, stop, progress)
}

fn read_on(
    how: ExplainOptions,
    groups: &[&[Input]],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Reading, Error> {
    let mut feed = InputReader::new(&groups.concat(), progress);
    let read = groups.iter().map(|inputs| read_group(how, inputs, stop, &mut feed)).collect::<Result<Vec<_>, _>>()?;
    Ok(Reading::of(read))
}

/// What was read of one group.
fn read_group(
    how: ExplainOptions,
    inputs: &[Input],
    stop: &Stop,
    feed: &mut InputReader<'_>,
) -> Result<(Analysis, Vec<ReadSet>), Error> {
    let team = |feed: &InputReader<'_>| WorkerPool::new(how, feed.total());
    if let [input] = inputs {
        let mut team = team(feed);
        let mut source = Source::open(input, stop)?;
        let summary = feed.run(&mut source, &mut team)?;
        let files = set::is_file(input).then(|| vec![FirstRead::new(input.clone(), &source, &summary)]);
        drop(source);
        let (analysis, fingerprints) = team.finish();
        let seen = ReadSet { files, fingerprints, captures: 0, connections: 0 };
        return Ok((Analysis { partial: stop.is_cut(), ..analysis }, vec![seen]));
    }
    let mut parts = inputs.iter().map(|input| WaitingInput::look(input, stop)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(WaitingInput::order);
    let mut sets: Vec<(RotationSet, WorkerPool, Vec<Option<FirstRead>>)> = Vec::new();
    for part in parts {
        if stop.is_asked() && !sets.is_empty() {
            stop.has_cut();
            break;
        }
        let continued = set::continued(sets.iter().map(|(set, ..)| set), &part.look);
        let (set, team, files) = match continued.and_then(|place| sets.get_mut(place)) {
            Some(set) => set,
            None => sets.push_mut((RotationSet::default(), team(feed), Vec::new())),
        };
        let WaitingInput { look, source } = part;
        let file = source.file();
        let mut source = source.open(stop)?;
        let summary = feed.run(&mut source, team)?;
        files.push(file.map(|input| FirstRead::new(input, &source, &summary)));
        set.add(look, &summary);
    }
    let mut seen = Vec::new();
    let mut analyses = Vec::new();
    let (mut captures, mut connections) = (0, 0);
    for (_, team, files) in sets {
        let (analysis, fingerprints) = team.finish();
        seen.push(ReadSet { files: files.into_iter().collect(), fingerprints, captures, connections });
        captures += analysis.captures.len();
        connections += join::last_id(&analysis);
        analyses.push(analysis);
    }
    let mut joined = join::join(analyses.into_iter());
    compare_sets::compare(&seen, feed, stop, &mut joined)?;
    joined.partial |= stop.is_cut();
    Ok((joined, seen))
}
