//! Sources of bytes: files, pipes, standard input, and objects that others open ([`Object`]);
//! compressed or not, one or a set.
//!
//! [`explain`] opens its inputs one after the other and undoes their compression as it reads
//! (`source`). It pushes the bytes to explainers that share the connections (`worker_pool`), each
//! on a thread of its own; they fetch blocks in turn (`broadcast`). Memory is bounded whatever the
//! input's size: nothing is read whole, and a compressed input that swells without end only takes
//! as long.
//!
//! Several inputs are put in order first (`capture_group`). Files that follow each other in time
//! are one capture in parts: they go through one pool of explainers in time order, whatever their
//! order on the command line, so a connection that crosses from one file to the next stays whole.
//! Captures that overlap in time, or that hold the same packets, were taken at two places: each has
//! a pool of its own, and the results are joined (`join`). Connections that two of them hold are
//! then compared packet by packet, in a second pass over the files (`compare_sets`). A second pass
//! that finds less than the first is an error (`file_snapshot`).
//!
//! [`scan`] makes a capture a condensed one, anywhere; [`stitch`] explains such together, as if the
//! captures themselves were there.
//!
//! [`read`] remembers which files hold a connection, so that its packets can be read once more
//! ([`follow`], [`pick`]). Data from a pipe is stored in a temporary file for that
//! ([`Spool`], in a folder of the process: [`Scratch`]).
#![forbid(unsafe_code)]
// A browser uses a part of it: files, pipes and threads stay unused there.
#![cfg_attr(target_family = "wasm", allow(dead_code))]

mod broadcast;
mod capture_group;
mod compare_sets;
mod error;
mod feed;
mod file_snapshot;
mod hash_seed;
mod input;
mod join;
mod key_log;
mod object;
mod omitted;
mod options;
mod packet_export;
mod reading;
#[cfg(not(target_family = "wasm"))]
mod scan;
mod scratch;
mod shard_exchange;
mod share_packets;
#[cfg(not(target_family = "wasm"))]
mod shares;
mod source;
mod spill;
mod spool;
mod stitch;
mod stop;
mod worker_pool;

pub use error::Error;
pub use hash_seed::{hash_seed, set_hash_seed};
pub use input::{Input, Progress, is_url};
pub use key_log::{key_log_of, read_key_log};
pub use object::{Object, ObjectInput};
pub use omitted::{EveryConnection, OmittedConnections};
pub use options::ExplainOptions;
pub use packet_export::PacketExport;
pub use reading::{FilesRead, PacketSource, Reading, follow, follow_all, follow_until, pick};
#[cfg(not(target_family = "wasm"))]
pub use scan::{ScanError, Scanned, scan, scan_into, scan_shares, unread};
pub use scratch::Scratch;
#[cfg(not(target_family = "wasm"))]
pub use source::{open_decompressed, peek_stdin};
pub use spool::Spool;
pub use stitch::{RowFiles, stitch};
pub use stop::Stop;

use capture_group::{RotationSet, WaitingInput};
use compare_sets::ReadSet;
use feed::InputReader;
use file_snapshot::FileSnapshot;
use reading::GroupRead;
use share_packets::ShareFiles;
use source::Source;
use whyslow_analysis::Analysis;
use whyslow_diagnosis::condense::ConnectionShard;
use worker_pool::{PoolFindings, WorkerPool};

/// Reads all inputs and explains the connections in them. Calls `progress` after every block. After
/// a `stop` request no more is read, and the analysis is [partial](Analysis::partial).
///
/// Of several inputs, one continues a set of earlier ones if its first packet is not earlier than
/// the set's last (within a hundredth of the set's time and at most 100 ms if their names differ
/// only in digits), and no SYN at its beginning is also at the beginning of one of the set's. Of
/// several such sets it continues the one of its name, or else the one that ended last. All others,
/// and those without a date, are explained on their own, and connections that two of these sets
/// hold are compared.
///
/// # Errors
/// When an input cannot be opened or read, is empty, or is not a capture: then nothing is
/// explained. An input that is damaged or truncated further on is explained as far as it goes, and
/// its [`Capture`] has a problem that reports it.
///
/// [`Capture`]: whyslow_analysis::Capture
pub fn explain(inputs: &[Input], stop: &Stop, progress: &mut dyn FnMut(Progress)) -> Result<Analysis, Error> {
    explain_on(ExplainOptions::default(), inputs, stop, progress)
}

/// Opens an input and reads its beginning, to see whether it is a capture. Do not check a pipe: its
/// bytes come once.
///
/// # Errors
/// When it cannot be opened or read, is empty, or is not a capture.
pub fn check(input: &Input) -> Result<(), Error> {
    capture_group::check(input)
}

/// As [`explain`], with these options.
///
/// # Errors
/// As [`explain`].
pub fn explain_on(
    options: ExplainOptions,
    inputs: &[Input],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Analysis, Error> {
    Ok(read_on(options, &[inputs], stop, progress)?.analysis)
}

/// Explains groups of inputs, each as [`explain`] does and independently of the others. Connection
/// numbers continue from group to group. The [`Reading`] also records where packets can be read
/// again.
///
/// # Errors
/// As [`explain`].
pub fn read(groups: &[&[Input]], stop: &Stop, progress: &mut dyn FnMut(Progress)) -> Result<Reading, Error> {
    read_on(ExplainOptions::default(), groups, stop, progress)
}

/// As [`read`], with these options.
///
/// # Errors
/// As [`explain`].
pub fn read_on(
    options: ExplainOptions,
    groups: &[&[Input]],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Reading, Error> {
    let pools = Pools { options, omitted: false, share: ConnectionShard::ALL };
    Ok(read_groups(&pools, groups, stop, progress)?.0)
}

/// As [`read_on`], with the connections that the analysis does not list: they wait in temporary
/// files. The analysis is the same.
///
/// # Errors
/// As [`explain`], and when there is no room for temporary files.
pub fn read_every(
    options: ExplainOptions,
    groups: &[&[Input]],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Reading, OmittedConnections), Error> {
    read_groups(&Pools { options, omitted: true, share: ConnectionShard::ALL }, groups, stop, progress)
}

fn read_groups(
    pools: &Pools,
    groups: &[&[Input]],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Reading, OmittedConnections), Error> {
    let mut feed = InputReader::new(&groups.concat(), progress);
    let read = groups.iter().map(|inputs| match inputs {
        [input] => read_one(pools, input, stop, &mut feed),
        inputs => finish_sets(read_sets(pools, inputs, stop, &mut feed)?, stop, &mut feed),
    });
    Ok(Reading::new(read.collect::<Result<Vec<_>, _>>()?))
}

/// How connections are explained, and whether those that are not listed are kept too.
struct Pools {
    options: ExplainOptions,
    omitted: bool,
    /// The shard of connections that the inputs hold.
    share: ConnectionShard,
}

impl Pools {
    /// One for a set of captures; `bytes` is the size of the inputs, if known.
    fn pool(&self, bytes: Option<u64>) -> WorkerPool {
        let mut pool = WorkerPool::new(&self.options, bytes);
        if self.omitted {
            pool.keep_omitted();
        }
        pool
    }
}

fn read_one(pools: &Pools, input: &Input, stop: &Stop, feed: &mut InputReader<'_>) -> Result<GroupRead, Error> {
    let mut pool = pools.pool(feed.total());
    let mut source = Source::open(input, stop)?;
    let summary = feed.run(&mut source, &mut pool)?;
    if pool.share() != pools.share {
        return Err(Error::share(input.name(), pool.share()));
    }
    let files = capture_group::is_file(input).then(|| vec![FileSnapshot::new(input.clone(), &source, &summary)]);
    drop(source);
    let PoolFindings { analysis, fingerprints, omitted } = pool.finish(stop)?;
    let set = ReadSet { files, shares: Vec::new(), fingerprints, captures: 0, connections: 0, omitted };
    Ok(GroupRead { analysis: Analysis { partial: stop.is_cut(), ..analysis }, sets: vec![set] })
}

/// A set while it is read.
struct OpenSet {
    set: RotationSet,
    pool: WorkerPool,
    /// None for a pipe.
    files: Vec<Option<FileSnapshot>>,
}

/// Reads inputs to the end; those that continue each other are a set.
fn read_sets(pools: &Pools, inputs: &[Input], stop: &Stop, feed: &mut InputReader<'_>) -> Result<Vec<OpenSet>, Error> {
    let mut parts = inputs.iter().map(|input| WaitingInput::open(input, stop)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(WaitingInput::order);
    let mut open: Vec<OpenSet> = Vec::new();
    for part in parts {
        if part.opening.share != pools.share {
            return Err(Error::share(part.source.name(), part.opening.share));
        }
        if stop.is_asked() && !open.is_empty() {
            stop.has_cut();
            break;
        }
        let continued = capture_group::continued(open.iter().map(|open| &open.set), &part.opening);
        let OpenSet { set, pool, files } = match continued.and_then(|place| open.get_mut(place)) {
            Some(open) => open,
            None => {
                let pool = pools.pool(feed.total());
                open.push_mut(OpenSet { set: RotationSet::default(), pool, files: Vec::new() })
            }
        };
        let WaitingInput { opening, source } = part;
        let file = source.file();
        let mut source = source.open(stop)?;
        let summary = feed.run(&mut source, pool)?;
        files.push(file.map(|input| FileSnapshot::new(input, &source, &summary)));
        set.add(opening, &summary);
    }
    Ok(open)
}

fn finish_sets(open: Vec<OpenSet>, stop: &Stop, feed: &mut InputReader<'_>) -> Result<GroupRead, Error> {
    let finish = |OpenSet { pool, files, .. }: OpenSet| {
        Ok(FoundSet { found: pool.finish(stop)?, files: files.into_iter().collect(), shares: Vec::new() })
    };
    join_sets(open.into_iter().map(finish), stop, feed)
}

/// A set that was read, explained.
struct FoundSet {
    found: PoolFindings,
    /// `None` if one of them was a pipe.
    files: Option<Vec<FileSnapshot>>,
    /// The files of each capture, where they are one for each share of the connections.
    shares: Vec<ShareFiles>,
}

/// Joins the results of sets, and compares the connections that two of them hold.
fn join_sets(
    found: impl Iterator<Item = Result<FoundSet, Error>>,
    stop: &Stop,
    feed: &mut InputReader<'_>,
) -> Result<GroupRead, Error> {
    let mut sets = Vec::new();
    let mut analyses = Vec::new();
    let (mut captures, mut connections) = (0, 0);
    for set in found {
        let FoundSet { found: PoolFindings { analysis, fingerprints, omitted }, files, shares } = set?;
        sets.push(ReadSet { files, shares, fingerprints, captures, connections, omitted });
        captures += analysis.captures.len();
        connections += join::last_id(&analysis);
        analyses.push(analysis);
    }
    let mut analysis = join::join(analyses.into_iter());
    compare_sets::compare(&sets, feed, stop, &mut analysis)?;
    analysis.partial |= stop.is_cut();
    Ok(GroupRead { analysis, sets })
}
