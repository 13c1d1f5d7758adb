//! The results of the requests: figures, and their output.
//!
//! `figures`, `floor`, `spread` and `kernel` compute; [`page`] prints for a person,
//! [`formats`] as other tools do, [`json`] for programs.

mod duel;
pub mod figures;
pub(crate) mod floor;
pub mod formats;
pub mod json;
pub(crate) mod kernel;
mod line;
pub mod page;
mod picture;
mod side_by_side;
mod spread;
mod verdict;

pub use line::monitor_line;
