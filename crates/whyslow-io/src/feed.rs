//! [`Feed`]: from a source to the explainer, block by block, telling how far it has come.

use crate::source::{Block, Source};
use crate::{Error, Input, Progress};
use std::fs;
use whyslow_core::capture::{Problem, Reader, Sink, Summary};
use whyslow_core::explain::Explainer;

/// Bytes read at once: enough that system calls cost nothing, few enough to stay in the processor's cache.
const BLOCK: usize = 1 << 20;

/// Reads inputs one after the other.
pub(crate) struct Feed<'a> {
    buffer: Vec<u8>,
    /// Bytes of the inputs that are done with.
    done: u64,
    total: Option<u64>,
    progress: &'a mut dyn FnMut(Progress),
}

impl<'a> Feed<'a> {
    pub(crate) fn new(inputs: &[Input], progress: &'a mut dyn FnMut(Progress)) -> Self {
        let total = inputs.iter().map(size).try_fold(0, |sum: u64, size| sum.checked_add(size?));
        Self { buffer: vec![0; BLOCK], done: 0, total, progress }
    }

    /// These inputs are to be read as well.
    pub(crate) fn expect(&mut self, inputs: &[Input]) {
        let more = inputs.iter().map(size).try_fold(0, |sum: u64, size| sum.checked_add(size?));
        self.total = self.total.zip(more).and_then(|(total, more)| total.checked_add(more));
    }

    /// Reads one input to its end.
    ///
    /// # Errors
    /// When the input cannot be read or is no capture.
    pub(crate) fn run(&mut self, mut source: Source, explainer: &mut Explainer) -> Result<Summary, Error> {
        explainer.begin_capture(source.name());
        let summary = self.read(&mut source, explainer)?;
        explainer.end_capture(summary.clone());
        Ok(summary)
    }

    /// Pushes an input's packets to a sink, to the input's end.
    ///
    /// # Errors
    /// When the input cannot be read or is no capture.
    pub(crate) fn read<S: Sink>(&mut self, source: &mut Source, sink: &mut S) -> Result<Summary, Error> {
        let mut reader = Reader::new();
        let torn = loop {
            match push_block(source, &mut self.buffer, &mut reader, sink)? {
                Block::Bytes(_) => {}
                Block::End => break None,
                Block::Torn(detail) => break Some(detail),
            }
            (self.progress)(Progress { read: self.done + source.raw_bytes(), total: self.total });
        };
        let mut summary = source.told(reader.finish(sink).map_err(|error| source.no_capture(error))?);
        self.done += source.raw_bytes();
        summary.problems.extend(torn.map(|detail| Problem { slug: "torn-compression", count: 1, detail }));
        Ok(summary)
    }
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

/// The bytes of a regular file.
fn size(input: &Input) -> Option<u64> {
    let Input::Path(path) = input else { return None };
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}
