//! [`InputReader`]: reads inputs one after the other and reports progress over all of them.

use crate::error::Error;
use crate::input::{Input, Progress};
use crate::source::Source;
use crate::worker_pool::{self, WorkerPool};
use std::fs;
use whyslow_core::capture::{Sink, Summary};

/// Reads inputs one after the other.
pub(crate) struct InputReader<'a> {
    /// Bytes of the inputs that are finished.
    done: u64,
    total: Option<u64>,
    progress: &'a mut dyn FnMut(Progress),
}

impl<'a> InputReader<'a> {
    pub(crate) fn new<'i>(inputs: impl IntoIterator<Item = &'i Input>, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let total = inputs.into_iter().map(size).try_fold(0, |sum: u64, size| sum.checked_add(size?));
        Self { done: 0, total, progress }
    }

    /// Bytes of all inputs, if all are known.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total
    }

    /// Adds these inputs to the total.
    pub(crate) fn expect<'i>(&mut self, inputs: impl IntoIterator<Item = &'i Input>) {
        let more = inputs.into_iter().map(size).try_fold(0, |sum: u64, size| sum.checked_add(size?));
        self.total = self.total.zip(more).and_then(|(total, more)| total.checked_add(more));
    }

    /// Reads one input to its end.
    ///
    /// # Errors
    /// When the input cannot be read, or is not a capture.
    pub(crate) fn run(&mut self, source: &mut Source, pool: &mut WorkerPool) -> Result<Summary, Error> {
        self.watch(source, |source, progress| pool.run(source, progress))
    }

    /// Pushes an input's packets to a sink, to the input's end.
    ///
    /// # Errors
    /// When the input cannot be read, or is not a capture.
    pub(crate) fn read<S: Sink>(&mut self, source: &mut Source, sink: &mut S) -> Result<Summary, Error> {
        self.watch(source, |source, progress| worker_pool::read(source, sink, progress))
    }

    fn watch(
        &mut self,
        source: &mut Source,
        read: impl FnOnce(&mut Source, &mut dyn FnMut(u64)) -> Result<Summary, Error>,
    ) -> Result<Summary, Error> {
        let (done, total) = (self.done, self.total);
        let summary = read(source, &mut |bytes| (self.progress)(Progress { read: done + bytes, total }))?;
        self.done += source.raw_bytes();
        Ok(summary)
    }
}

/// The bytes of a regular file or an object.
fn size(input: &Input) -> Option<u64> {
    match input {
        Input::Path(path) => fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len()),
        Input::Object(object) => object.size(),
        Input::Stdin => None,
    }
}
