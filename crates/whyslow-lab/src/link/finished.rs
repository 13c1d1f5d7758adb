//! A packet that the link returns.

use crate::log::Record;

/// A packet that has left the link: delivered or dropped, as its record shows.
#[derive(Clone, Debug)]
pub struct Finished<T> {
    /// Its record. `out_ns` equals `due_ns`; the caller sets the real time.
    pub record: Record,
    /// The packet.
    pub body: T,
}
