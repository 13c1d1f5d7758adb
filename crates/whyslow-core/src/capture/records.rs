//! The trait of formats that consist of records.

use super::{CaptureError, Sink};

/// A format of records, each of which is read once all of its bytes are available.
pub(super) trait Records {
    /// Reads all complete records in `bytes`. `end`: no more bytes follow, and all must be
    /// consumed.
    ///
    /// # Errors
    /// If nothing can be read at all.
    fn read<S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Result<Progress, CaptureError>;
}

/// Result of [`Records::read`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Number of consumed bytes.
    pub(super) consumed: usize,
    /// Number of bytes after those that are needed for the next step.
    pub(super) need: usize,
}
