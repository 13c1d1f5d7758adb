//! Inputs, and the progress of reading them.

use std::path::PathBuf;

/// A place to read a capture from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, or anything else that can be opened by a path.
    Path(PathBuf),
    /// Standard input, named `-`.
    Stdin,
}

impl Input {
    /// Its name in messages and in the analysis.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
        }
    }
}

/// Progress over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far; compressed bytes count as stored.
    pub read: u64,
    /// Bytes to read in total; none if an input is not a regular file.
    pub total: Option<u64>,
}
