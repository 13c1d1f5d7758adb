//! What the requests came to: figures, and how they are printed.
//!
//! `figures`, `floor`, `spread` and `kernel` compute; [`page`] prints for a person,
//! [`formats`] as other tools do, [`json`] for programs.

pub(crate) mod figures;
mod floor;
pub mod formats;
pub mod json;
mod kernel;
pub mod page;
mod picture;
mod side_by_side;
mod spread;
