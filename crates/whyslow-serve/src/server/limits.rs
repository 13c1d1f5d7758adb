//! [`Limits`]: what clients of the page may do, and for how long.

use std::time::Duration;

/// What clients may do, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections: a browser makes six, and many tabs are tens.
    pub(super) connections: usize,
    /// Bytes of a request's head: room for a file's name, which has a few hundred.
    pub(super) head: usize,
    /// Bytes of a connection that are in memory at once.
    pub(super) buffer: usize,
    /// From the end of one request to the end of the next one's head.
    pub(super) wait: Duration,
    /// Between two pieces of an upload.
    pub(super) upload: Duration,
    /// Between two pieces of a response: a browser's user may pause a download.
    pub(super) answer: Duration,
}

/// The limits of the server.
pub(super) const LIMITS: Limits = Limits {
    connections: 256,
    head: 16 << 10,
    buffer: 128 << 10,
    wait: Duration::from_secs(30),
    upload: Duration::from_secs(30),
    answer: Duration::from_secs(300),
};
