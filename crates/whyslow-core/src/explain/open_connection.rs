//! A connection that is not over yet.

use crate::flow::FlowEntry;
use crate::tcp;

/// A connection and the capture in which it began.
#[derive(Debug)]
pub(super) struct OpenConnection {
    pub(super) capture: usize,
    pub(super) tcp: tcp::Connection,
}

const _: () = assert!(size_of::<FlowEntry<OpenConnection>>() <= 448, "of open connections there may be a million");
