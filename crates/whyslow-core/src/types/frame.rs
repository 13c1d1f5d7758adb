//! [`Frame`]: where in the captures something is seen.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

/// A frame number, 1-based as in Wireshark; with its file when there are several inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
pub struct Frame {
    /// Index in [`Analysis::captures`](crate::analysis::Analysis::captures); none with one input.
    pub file: Option<u16>,
    /// Within that file.
    pub number: u64,
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.file {
            Some(file) => write!(f, "{}:{}", file + 1, self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// A number, or `"file:frame"` (the file's 1-based place among the captures) with several inputs.
impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.file {
            Some(_) => serializer.collect_str(self),
            None => serializer.serialize_u64(self.number),
        }
    }
}
