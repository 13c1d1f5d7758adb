//! tcpdump's text.

use super::{CaptureError, Sink, Summary};

/// Reads tcpdump's text, pushed in any split.
#[derive(Debug, Default)]
pub struct TextReader {}

impl TextReader {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// When they are not tcpdump's text.
    pub fn push<S: Sink>(&mut self, _bytes: &[u8], _sink: &mut S) -> Result<(), CaptureError> {
        Ok(())
    }

    /// The end was reached.
    ///
    /// # Errors
    /// When there was no packet in the text.
    pub fn finish<S: Sink>(self, _sink: &mut S) -> Result<Summary, CaptureError> {
        Err(CaptureError { offset: 0, message: "no packet was found in this text".to_owned() })
    }
}
