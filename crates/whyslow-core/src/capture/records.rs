//! Formats that are made of records.

use super::{CaptureError, Sink};

/// A format made of records, each of which is read once all of its bytes are at hand.
pub(super) trait Records {
    /// Reads all records that are whole in `bytes`. With `end` set no more bytes will come, and all
    /// are consumed.
    ///
    /// # Errors
    /// When nothing can be read at all.
    fn read<S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Result<Progress, CaptureError>;
}

/// How far [`Records::read`] came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Bytes that are done with.
    pub(super) consumed: usize,
    /// Bytes that must be at hand, from there on, for the next step.
    pub(super) need: usize,
}
