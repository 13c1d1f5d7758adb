//! [`FileSnapshot`]: what a file held when it was first read.
//!
//! A second reading must find at least as much: a file that was truncated or replaced in between
//! would give figures that contradict the first reading. A file that has grown still holds all that
//! the first reading saw.

use crate::error::Error;
use crate::input::Input;
use crate::source::Source;
use crate::stop::Stop;
use std::fs;
use whyslow_core::capture::Summary;

/// A file as it was read the first time.
#[derive(Clone, Debug)]
pub(crate) struct FileSnapshot {
    pub(crate) input: Input,
    /// Bytes that were read, as they are stored.
    bytes: u64,
    packets: u64,
}

impl FileSnapshot {
    /// The state of an input after this reading.
    pub(crate) fn new(input: Input, source: &Source, summary: &Summary) -> Self {
        Self { input, bytes: source.raw_bytes(), packets: summary.packets }
    }

    /// The size is unknown.
    pub(crate) fn unknown(input: Input) -> Self {
        Self { input, bytes: 0, packets: 0 }
    }

    /// Checks, without reading, that it still has all its bytes.
    ///
    /// # Errors
    /// When it is missing or shorter.
    pub(crate) fn is_there(&self) -> Result<(), Error> {
        let open_error = |cause| Error::Open { name: self.input.name(), cause };
        match &self.input {
            Input::Path(path) => self.at_least("bytes", self.bytes, fs::metadata(path).map_err(open_error)?.len()),
            Input::Object(object) => object.check().map_err(open_error),
            Input::Stdin => Ok(()),
        }
    }

    /// Opens it again.
    ///
    /// # Errors
    /// When it is missing.
    pub(crate) fn open(&self, stop: &Stop) -> Result<Source, Error> {
        Source::open(&self.input, stop)
    }

    /// Checks that a second reading, to the end, found as much.
    ///
    /// # Errors
    /// When it found less.
    pub(crate) fn is_all(&self, second: &Summary) -> Result<(), Error> {
        self.at_least("packets", self.packets, second.packets)
    }

    fn at_least(&self, what: &'static str, before: u64, now: u64) -> Result<(), Error> {
        if now >= before {
            return Ok(());
        }
        Err(Error::Changed { name: self.input.name(), what, before, now })
    }
}

#[cfg(test)]
mod tests;
