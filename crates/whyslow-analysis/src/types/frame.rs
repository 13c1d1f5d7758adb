//! [`Frame`]: the number of a packet in the captures.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

/// A frame number, 1-based as in Wireshark, and its file if there are several inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
pub struct Frame {
    /// Index in [`Analysis::captures`](crate::Analysis::captures); `None` with one input.
    pub file: Option<u16>,
    /// Frame number within that file.
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

/// Serialized as a number, or with several inputs as `"file:frame"`; the file's number is 1-based.
impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.file {
            Some(_) => serializer.collect_str(self),
            None => serializer.serialize_u64(self.number),
        }
    }
}
