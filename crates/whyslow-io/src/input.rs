//! What is read, and how far the reading has come.

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
    /// How it is named in messages and in the analysis.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
        }
    }
}

/// How far the reading has come, over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read, as they are stored: still compressed.
    pub read: u64,
    /// Bytes to read in all; none when an input is not a regular file.
    pub total: Option<u64>,
}
