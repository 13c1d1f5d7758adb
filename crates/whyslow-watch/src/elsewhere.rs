//! Replaces [`owners`](super::owners) on systems where packets of this machine are not available:
//! only Linux reports which program holds a connection.

use super::record::Record;

/// There are none.
pub(super) enum Owners {}

impl Owners {
    pub(super) fn name(&self, _: &mut Record) {
        match *self {}
    }
}
