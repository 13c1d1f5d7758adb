//! [`Plan`]: what one connection does, and over what path.

use super::Time;
use super::host::Settings;
use super::way::Link;
use std::ops::Range;

/// A connection that will be.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Its number: addresses and ports come from it.
    pub(super) number: u32,
    pub(super) start: Time,
    pub(super) ipv6: bool,
    /// To the servers, and back.
    pub(super) path: [Link; 2],
    /// The client's and the server's.
    pub(super) hosts: [Settings; 2],
    /// Requests, one after the other.
    pub(super) exchanges: u64,
    /// Bytes of a request, and of its answer.
    pub(super) sizes: [Range<u64>; 2],
    /// The client's time before each request but the first, and the server's before each answer.
    pub(super) thinking: [Range<u64>; 2],
    /// How long the connection stays open behind the last answer.
    pub(super) hold: Time,
}

impl Plan {
    /// Without a queue.
    pub(super) fn round_trip(&self) -> Time {
        self.path.iter().map(|link| link.delay).sum()
    }
}
