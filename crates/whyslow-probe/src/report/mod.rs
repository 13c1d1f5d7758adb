//! What the requests came to: figures, and how they are printed.
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
