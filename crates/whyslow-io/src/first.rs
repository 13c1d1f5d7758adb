//! [`FirstRead`]: a file that was read once, and what there was in it.
//!
//! What is read a second time must have at least as much: a file that was cut short or replaced in
//! between would give figures that contradict the first reading. One that has grown since gives all
//! that the first reading saw.

use crate::error::Error;
use crate::input::Input;
use crate::source::Source;
use crate::stop::Stop;
use std::fs;
use whyslow_core::capture::Summary;

/// A file that was read once.
#[derive(Clone, Debug)]
pub(crate) struct FirstRead {
    pub(crate) input: Input,
    /// Bytes that were read, as they are stored.
    bytes: u64,
    packets: u64,
}

impl FirstRead {
    /// What this reading of an input saw.
    pub(crate) fn new(input: Input, source: &Source, summary: &Summary) -> Self {
        Self { input, bytes: source.raw_bytes(), packets: summary.packets }
    }

    /// Nothing is known of how much it was.
    pub(crate) fn unknown(input: Input) -> Self {
        Self { input, bytes: 0, packets: 0 }
    }

    /// Whether it still has the bytes that it had: a look that costs nothing, before anything is
    /// made of it.
    ///
    /// # Errors
    /// When it is gone, or shorter.
    pub(crate) fn is_there(&self) -> Result<(), Error> {
        let Input::Path(path) = &self.input else { return Ok(()) };
        let now = fs::metadata(path).map_err(|cause| Error::Open { name: self.input.name(), cause })?.len();
        self.at_least("bytes", self.bytes, now)
    }

    /// Opens it once more.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn open(&self, stop: &Stop) -> Result<Source, Error> {
        Source::open(&self.input, stop)
    }

    /// Whether a second reading to its end saw as much.
    ///
    /// # Errors
    /// When it saw less.
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
