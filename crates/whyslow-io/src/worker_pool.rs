//! [`WorkerPool`]: explainers that share the connections of one set of captures, each on its own
//! thread.
//!
//! Every explainer gets all bytes, reads all records, and follows only the connections of its
//! shards: looking at a packet's four-tuple costs a fraction of following its connection. Only
//! blocks pass between threads (`broadcast`), so nothing has to be put in order, and the analysis
//! does not depend on the number of threads. If one explainer has more to do than another, they
//! exchange shards between two blocks (`shard_exchange`).

use crate::broadcast::{BlockBroadcast, BlockReader};
use crate::error::Error;
use crate::hash_seed::hash_seed;
use crate::omitted::{OmittedOfSet, OmittedSpill};
use crate::options::ExplainOptions;
use crate::shard_exchange::ShardExchange;
use crate::source::{Block, Filled, Gauge, Source};
use crate::stop::{LaterStop, Stop};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use whyslow_analysis::Analysis;
use whyslow_core::capture::{CaptureError, Problem, Reader, Sink, Summary};
use whyslow_core::tls::KeyRing;
use whyslow_diagnosis::condense::ConnectionShard;
use whyslow_diagnosis::explain::{Explainer, Fragment, ReplayQueue};
use whyslow_diagnosis::pair::ConnectionFingerprint;

/// A smaller input is read before threads could start.
const SMALL: u64 = 4 << 20;

/// Explainers that share the connections of one set of captures.
pub(crate) struct WorkerPool {
    explainers: Vec<Explainer>,
    omitted: Option<OmittedSpill>,
}

/// The joint findings of explainers.
pub(crate) struct PoolFindings {
    pub(crate) analysis: Analysis,
    pub(crate) fingerprints: Vec<ConnectionFingerprint>,
    /// If they are requested.
    pub(crate) omitted: Option<OmittedOfSet>,
}

impl WorkerPool {
    /// One explainer for each thread; `bytes` is the size of the inputs, if known.
    pub(crate) fn new(options: &ExplainOptions, bytes: Option<u64>) -> Self {
        let count = if bytes.is_some_and(|bytes| bytes < SMALL) { 1 } else { options.threads.get() };
        let mut explainers = Explainer::sharing(count);
        let keys = options.keys.clone().map(KeyRing::from);
        for explainer in &mut explainers {
            keys.iter().for_each(|keys| explainer.set_keys(keys.clone()));
            explainer.set_hash_seed(hash_seed());
            explainer.set_path_rate(options.path_rate);
            if !options.messages {
                explainer.ignore_messages();
            }
        }
        Self { explainers, omitted: None }
    }

    /// Keeps the connections that are not listed as well.
    pub(crate) fn keep_omitted(&mut self) {
        let spill = OmittedSpill::default();
        self.explainers.iter_mut().for_each(|explainer| spill.attach_to(explainer));
        self.omitted = Some(spill);
    }

    /// The share of connections that it follows, from the inputs.
    pub(crate) fn share(&self) -> ConnectionShard {
        self.explainers.first().map_or(ConnectionShard::ALL, Explainer::share)
    }

    /// Reads one input to its end; calls `progress` with the bytes read after every block.
    ///
    /// # Errors
    /// If the input cannot be read, is not a capture, or the temporary files find no room.
    pub(crate) fn run(&mut self, source: &mut Source, progress: &mut dyn FnMut(u64)) -> Result<Summary, Error> {
        self.explainers.iter_mut().for_each(|explainer| explainer.begin_capture(source.name()));
        let summary = match self.explainers.as_mut_slice() {
            [alone] => read(source, alone, progress)?,
            explainers => read_shared(source, explainers, progress)?,
        };
        self.explainers.iter_mut().for_each(|explainer| explainer.end_capture(summary.clone()));
        self.omitted.as_ref().map_or(Ok(()), OmittedSpill::check)?;
        Ok(summary)
    }

    /// Finishes the analysis once everything was read. A stop request from now on leaves out the
    /// rest of what the model would predict.
    ///
    /// # Errors
    /// If the temporary files find no room.
    pub(crate) fn finish(self, stop: &Stop) -> Result<PoolFindings, Error> {
        let (count, stop) = (self.explainers.len(), stop.later());
        let (merged, omitted) = self.into_fragment();
        finish(merged, omitted, count, &stop)
    }

    /// The results after everything was read, to be merged with the results of other
    /// connections; and where the connections wait that are not listed.
    pub(crate) fn into_fragment(self) -> (Fragment, Option<OmittedSpill>) {
        let mut explainers = on_threads(self.explainers, |mut explainer| {
            explainer.close_all();
            explainer
        });
        Explainer::discard_omitted(&mut explainers);
        let mut fragments = on_threads(explainers, Explainer::into_fragment).into_iter();
        let mut merged = fragments.next().unwrap_or_default();
        fragments.for_each(|other| merged.merge(other));
        (merged, self.omitted)
    }
}

/// Finishes the analysis of all connections, with the model on this number of threads.
///
/// # Errors
/// If the temporary files find no room.
pub(crate) fn finish(
    fragment: Fragment,
    omitted: Option<OmittedSpill>,
    threads: usize,
    stop: &LaterStop,
) -> Result<PoolFindings, Error> {
    let mut merged = fragment.into_merged();
    let completion = merged.take_omitted();
    let omitted = omitted.map(|spill| spill.finish(completion)).transpose()?;
    let (analysis, fingerprints) = merged.finish_with(|plays| play_on_threads(threads, plays, stop));
    Ok(PoolFindings { analysis, fingerprints, omitted })
}

/// Runs the model on several threads; each thread takes the next transfer when it has finished one,
/// until a stop is requested.
fn play_on_threads(threads: usize, plays: &mut ReplayQueue<'_>, stop: &LaterStop) {
    let plays = Mutex::new(plays);
    // Nothing is left half done under the lock, even after a panic.
    let plays = || plays.lock().unwrap_or_else(PoisonError::into_inner);
    on_threads(vec![(); threads], |()| {
        let mut next = plays().take();
        while let Some(play) = next.filter(|_| !stop.is_asked()) {
            let played = play.play();
            let mut plays = plays();
            plays.put(&play, played);
            next = plays.take();
        }
    });
}

/// Applies a function to several values in parallel, to the first on this thread.
fn on_threads<T: Send, U: Send>(values: Vec<T>, act: impl Fn(T) -> U + Sync) -> Vec<U> {
    let act = &act;
    thread::scope(|scope| {
        let mut values = values.into_iter();
        let first = values.next();
        let others: Vec<_> = values.map(|value| scope.spawn(move || act(value))).collect();
        first.map(act).into_iter().chain(others.into_iter().map(join)).collect()
    })
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Pushes an input's packets to a sink, to the input's end.
///
/// # Errors
/// When the input cannot be read, or is not a capture.
pub(crate) fn read<S: Sink>(
    source: &mut Source,
    sink: &mut S,
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Error> {
    let (gauge, is_slow) = (source.gauge(), source.is_compressed());
    let broadcast = BlockBroadcast::new(1, |block: &mut Block| source.fill(block));
    let outcome = thread::scope(|scope| {
        // If another thread is possible, it decompresses, so that a lone reader need not.
        if is_slow {
            let _ = thread::Builder::new().name("reading".to_owned()).spawn_scoped(scope, || broadcast.fetch_all());
        }
        push_all_blocks(broadcast.reader(), sink, &gauge, &mut |_| {
            progress(gauge.bytes());
            true
        })
    });
    let end = broadcast.end();
    reading_result(source, [outcome], end)
}

/// Gives the packets of an input to several explainers, the first on this thread, the others on
/// their own.
fn read_shared(
    source: &mut Source,
    explainers: &mut [Explainer],
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Error> {
    let gauge = source.gauge();
    let exchange = ShardExchange::default();
    let broadcast = BlockBroadcast::new(explainers.len(), |block: &mut Block| source.fill(block));
    let follow = |explainer: &mut Explainer, progress: &mut dyn FnMut(u64)| {
        let leaving = AbandonOnDrop(&exchange);
        let outcome = push_all_blocks(broadcast.reader(), explainer, &gauge, &mut |explainer| {
            progress(gauge.bytes());
            exchange.rebalance(explainer)
        });
        if matches!(outcome, Ok(Some(_))) {
            std::mem::forget(leaving);
        }
        outcome
    };
    let outcomes = thread::scope(|scope| {
        let mut explainers = explainers.iter_mut();
        let first = explainers.next();
        let others: Vec<_> = explainers.map(|explainer| scope.spawn(|| follow(explainer, &mut |_| {}))).collect();
        let first = first.map(|explainer| follow(explainer, progress));
        first.into_iter().chain(others.into_iter().map(join)).collect::<Vec<_>>()
    });
    let end = broadcast.end();
    reading_result(source, outcomes, end)
}

/// Wakes the others when one leaves early or panics.
struct AbandonOnDrop<'a>(&'a ShardExchange);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The result for an input, from those of its readers and the end of its blocks.
fn reading_result(
    source: &Source,
    outcomes: impl IntoIterator<Item = Result<Option<Summary>, CaptureError>>,
    end: Option<Result<Option<String>, Error>>,
) -> Result<Summary, Error> {
    // All have met the same, if they have come so far.
    let mut summary = None;
    for outcome in outcomes {
        summary = summary.or(outcome.map_err(|error| source.no_capture(error))?);
    }
    let torn = end.transpose()?.flatten();
    Ok(with_torn(source.complete_summary(summary.unwrap_or_default()), torn))
}

/// Pushes all blocks to a sink until `between` stops it. None if it has not seen all of them.
///
/// # Errors
/// When they are not a capture.
fn push_all_blocks<S: Sink, F: FnMut(&mut Block) -> Result<Filled, Error>>(
    mut blocks: BlockReader<'_, F>,
    sink: &mut S,
    gauge: &Gauge,
    between: &mut dyn FnMut(&mut S) -> bool,
) -> Result<Option<Summary>, CaptureError> {
    let mut reader = Reader::new();
    while let Some(block) = blocks.next() {
        // The others must not wait for bytes that are not a capture.
        reader.push(block, sink).inspect_err(|_| gauge.give_up())?;
        if !between(sink) {
            return Ok(None);
        }
    }
    if blocks.has_read_all() { reader.finish(sink).map(Some) } else { Ok(None) }
}

fn with_torn(mut summary: Summary, torn: Option<String>) -> Summary {
    summary.problems.extend(torn.map(|detail| Problem { slug: "torn-compression".into(), count: 1, detail }));
    summary
}

#[cfg(test)]
pub(crate) mod tests;
