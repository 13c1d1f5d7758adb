//! Inputs, and the progress of reading them.

use crate::object::ObjectInput;
use std::path::PathBuf;

/// A place to read a capture from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, or anything else that can be opened by a path.
    Path(PathBuf),
    /// Standard input, named `-`.
    Stdin,
    /// What the caller opens, again and again.
    Object(ObjectInput),
}

impl Input {
    /// Its name in messages and in the analysis.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::Object(object) => object.name().to_owned(),
        }
    }
}

/// Progress over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far; compressed bytes count as stored.
    pub read: u64,
    /// Bytes to read in total; none if that of an input is not known, as that of a pipe.
    pub total: Option<u64>,
}
