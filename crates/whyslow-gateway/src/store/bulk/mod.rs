//! Large objects over several connections at once: [`put_in_parts`] and [`get_in_parts`].
//!
//! A connection carries at most its send buffer in a round trip, so over a long path one of them
//! does not fill it. Parts are equal except the last one, which some stores demand. A part that met
//! a broken connection is sent again alone, so it is held until it was answered: its memory is
//! taken before its first byte is.

mod get;
mod memory;
mod plan;
mod put;

pub use get::{HeldStream, Source, get_in_parts, read_spans};
pub use memory::Bulk;
pub use plan::Plan;
pub use put::put_in_parts;
