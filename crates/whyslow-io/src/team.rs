//! [`Team`]: explainers that share the connections of one set of captures, each on a thread of its own.
//!
//! Every one is given all bytes, walks all records, and takes up the connections that fall to it: a glance at a packet's
//! four-tuple costs a fraction of what following its connection does, and nothing need be handed over but the blocks
//! themselves. So there is nothing to put in order, and what comes out does not depend on how many there are.

use crate::Error;
use crate::source::{Block, Source};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, ScopedJoinHandle};
use whyslow_core::analysis::Analysis;
use whyslow_core::capture::{CaptureError, Problem, Reader, Sink, Summary};
use whyslow_core::explain::{Explainer, Fragment};
use whyslow_core::pair::Mark;

/// Bytes read at once: enough that system calls and threads that wake each other cost nothing.
pub(crate) const BLOCK: usize = 1 << 20;
/// Blocks that may be read before the slowest of those who share them has taken the first.
const AHEAD: usize = 4;
/// Less than this is read sooner than threads are started.
const SMALL: u64 = 4 << 20;

/// Explainers that share the connections of one set of captures.
pub(crate) struct Team {
    explainers: Vec<Explainer>,
}

impl Team {
    /// One for each of `threads`, for inputs of so many bytes, if that is known.
    pub(crate) fn new(threads: NonZero<usize>, bytes: Option<u64>) -> Self {
        let count = if bytes.is_some_and(|bytes| bytes < SMALL) { 1 } else { threads.get() };
        Self { explainers: Explainer::sharing(count) }
    }

    /// Reads one input to its end; `progress` is told how much of it was read after every block.
    ///
    /// # Errors
    /// When the input cannot be read or is no capture.
    pub(crate) fn run(&mut self, source: &mut Source, progress: &mut dyn FnMut(u64)) -> Result<Summary, Error> {
        self.explainers.iter_mut().for_each(|explainer| explainer.begin_capture(source.name()));
        let summary = match self.explainers.as_mut_slice() {
            [explainer] => read(source, explainer, progress)?,
            explainers => read_shared(source, explainers, progress)?,
        };
        self.explainers.iter_mut().for_each(|explainer| explainer.end_capture(summary.clone()));
        Ok(summary)
    }

    /// Everything was read.
    pub(crate) fn finish(self) -> (Analysis, Vec<Mark>) {
        let count = self.explainers.len();
        let fragments = on_threads(self.explainers, Explainer::into_fragment);
        Fragment::merge(fragments).finish_with(2 * count, |plays| {
            let share = plays.len().div_ceil(count).max(1);
            let shares: Vec<_> = plays.chunks(share).collect();
            let played = on_threads(shares, |plays| plays.iter().map(|play| play.play()).collect::<Vec<_>>());
            played.into_iter().flatten().collect()
        })
    }
}

/// Does one thing with several values at the same time; the first one on this thread.
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
/// When the input cannot be read or is no capture.
pub(crate) fn read<S: Sink>(
    source: &mut Source,
    sink: &mut S,
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Error> {
    let mut buffer = vec![0; BLOCK];
    let mut reader = Reader::new();
    let torn = loop {
        match push_block(source, &mut buffer, &mut reader, sink)? {
            Block::Bytes(_) => {}
            Block::End => break None,
            Block::Torn(detail) => break Some(detail),
        }
        progress(source.raw_bytes());
    };
    let summary = reader.finish(sink).map_err(|error| source.no_capture(error))?;
    Ok(with_torn(source.told(summary), torn))
}

/// Reads the next block and pushes it on.
///
/// # Errors
/// When the input cannot be read or is no capture.
pub(crate) fn push_block<S: Sink>(
    source: &mut Source,
    buffer: &mut [u8],
    reader: &mut Reader,
    sink: &mut S,
) -> Result<Block, Error> {
    let block = source.read(buffer)?;
    if let Block::Bytes(length) = block {
        let bytes = buffer.get(..length).unwrap_or_default();
        reader.push(bytes, sink).map_err(|error| source.no_capture(error))?;
    }
    Ok(block)
}

/// Reads blocks on this thread, and gives each to all sinks, which have threads of their own.
fn read_shared<S: Sink + Send>(
    source: &mut Source,
    sinks: &mut [S],
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Error> {
    let (torn, outcome) = thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut threads = Vec::new();
        for sink in sinks {
            let (sender, blocks) = sync_channel::<Arc<Vec<u8>>>(AHEAD);
            senders.push(sender);
            threads.push(scope.spawn(move || -> Result<Summary, CaptureError> {
                let mut reader = Reader::new();
                for block in blocks {
                    reader.push(&block, sink)?;
                }
                reader.finish(sink)
            }));
        }
        let mut spare = Spare::default();
        let torn = loop {
            let mut block = spare.take();
            // Nobody else holds a block that was taken from among the spare ones.
            let Some(buffer) = Arc::get_mut(&mut block) else { continue };
            buffer.resize(BLOCK, 0);
            match source.read(buffer)? {
                Block::Bytes(length) => buffer.truncate(length),
                Block::End => break None,
                Block::Torn(detail) => break Some(detail),
            }
            // Who takes no more has met what is no capture, and says so below.
            if !senders.iter().all(|sender| sender.send(Arc::clone(&block)).is_ok()) {
                break None;
            }
            spare.give(block);
            progress(source.raw_bytes());
        };
        drop(senders);
        // All have read the same.
        Ok((torn, threads.into_iter().map(join).fold(None, |first, outcome| first.or(Some(outcome)))))
    })?;
    match outcome {
        Some(Ok(summary)) => Ok(with_torn(source.told(summary), torn)),
        Some(Err(error)) => Err(source.no_capture(error)),
        None => Ok(Summary::default()),
    }
}

/// Blocks that were read before, to be used again when all have done with them.
#[derive(Default)]
struct Spare(Vec<Arc<Vec<u8>>>);

impl Spare {
    /// The threads hold so few blocks that this list stays short.
    fn take(&mut self) -> Arc<Vec<u8>> {
        match self.0.iter_mut().position(|block| Arc::get_mut(block).is_some()) {
            Some(free) => self.0.swap_remove(free),
            None => Arc::default(),
        }
    }

    fn give(&mut self, block: Arc<Vec<u8>>) {
        self.0.push(block);
    }
}

fn with_torn(mut summary: Summary, torn: Option<String>) -> Summary {
    summary.problems.extend(torn.map(|detail| Problem { slug: "torn-compression", count: 1, detail }));
    summary
}

#[cfg(test)]
mod tests;
