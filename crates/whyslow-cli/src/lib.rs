//! What the commands of `whyslow` share: how captures are named ([`place`]) and connections
//! selected ([`select`]), options with units ([`quantity`]), progress on a terminal, Ctrl-C
//! ([`interrupt`]), hints for errors, the language of the sentences.
//!
//! It reads captures for a command, and prints no finding.

pub mod cause_pages;
mod ending;
pub mod exit;
pub mod hints;
pub mod interrupt;
pub mod keylog;
pub mod language;
pub mod output;
pub mod place;
mod progress;
pub mod quantity;
pub mod reading;
pub mod select;
mod spooled;

pub use ending::Ending;
pub use progress::Meter;
pub use spooled::SpooledInputs;
