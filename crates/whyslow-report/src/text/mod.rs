//! Lines of styled text of known width: what a page for the terminal is made of.
//!
//! Knows how wide a character is, and that text from a capture may try to steer the terminal:
//! [`Line`] makes it [`harmless`] instead of passing it on. Styles are always there; whoever prints
//! the page strips them where they are not wanted.

mod harmless;
mod line;
mod page;
mod table;
pub mod units;

pub use harmless::{harmless, harmless_lines, is_hidden};
pub use line::{Line, width};
pub use page::Page;
pub use table::{Align, Column, Table};

#[cfg(test)]
mod tests;
