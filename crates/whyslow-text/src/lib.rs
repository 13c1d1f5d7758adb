//! Lines of styled text of known width, which a terminal page is made of.
//!
//! [`Line`] knows how many columns a character takes, and makes text from a capture [`harmless`].
//! Styles are always written; the caller strips them if they are not wanted. [`json`] is the same
//! for programs. [`units`] prints figures with their units, [`quantity`] reads them.
//!
//! Nothing here depends on the content: captures, findings and the gateway's requests alike.
#![forbid(unsafe_code)]

mod harmless;
pub mod json;
mod lang;
mod line;
mod page;
pub mod quantity;
mod sentence;
pub mod styles;
mod table;
pub mod units;

pub use harmless::{harmless, harmless_lines, harmless_page, is_hidden};
pub use lang::Lang;
pub use line::{Line, width};
pub use page::Page;
pub use sentence::{capitalised, first_clause};
pub use table::{Align, Column, Table};

#[cfg(test)]
mod tests;
