//! What the link gives back of a packet.

use crate::log::Record;

/// A packet that has left the link: delivered or dropped, as its record says.
#[derive(Clone, Debug)]
pub struct Finished<T> {
    /// What became of it. `out_ns` is equal to `due_ns`; the caller knows better.
    pub record: Record,
    /// The packet.
    pub body: T,
}
