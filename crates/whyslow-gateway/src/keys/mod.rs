//! The secrets: epochs, the files that carry them, and where they are read from.
//!
//! ```text
//!   operators' identities ──open──▶ epoch file ──▶ Epoch ──▶ objects
//!        (age keys of people)       (an age file)   (an age key, and what is derived from it)
//! ```
//!
//! Objects are sealed to an [`Epoch`], never to operators. [`epoch_file::rekey`] changes which
//! operators can open the epoch's file, and touches no object; a new epoch is for new objects, and
//! the older ones stay in the [`Keyring`] for as long as there are objects of theirs.

mod epoch;
pub mod epoch_file;
mod source;

pub use epoch::{Epoch, EpochId, Keyring};
pub use source::{SecretSource, SourceError, SourceSyntax};

#[cfg(test)]
mod tests;
