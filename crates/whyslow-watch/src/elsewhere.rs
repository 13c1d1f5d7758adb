//! Replaces [`owners`](super::owners) and the feed of closed connections on systems where packets
//! of this machine are not available: only Linux reports which program holds a connection.

use super::closed::ClosedConnection;
use super::record::Record;

/// There are none.
pub(super) enum Owners {}

impl Owners {
    pub(super) fn name(&self, _: &mut Record) {
        match *self {}
    }

    pub(super) fn name_closed(&self, _: &mut ClosedConnection) {
        match *self {}
    }
}

/// Closed connections: there are none.
pub(super) enum ClosedFeed {}

impl ClosedFeed {
    pub(super) fn take(&self) -> (Vec<ClosedConnection>, u64) {
        match *self {}
    }
}
