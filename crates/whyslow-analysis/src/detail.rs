//! [`Detail`]: plain words that may name a frame.

use crate::types::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use std::fmt;

/// A sentence that may name a frame. The frame stays a number until the sentence is printed,
/// because frames are renumbered when analyses are joined.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Detail {
    before: String,
    /// The frame, and the text after it.
    frame: Option<(Frame, String)>,
}

impl Detail {
    /// Returns the words `before`, the frame's number, and the words `after`.
    pub fn naming(before: impl Into<String>, frame: Frame, after: impl Into<String>) -> Self {
        Self { before: before.into(), frame: Some((frame, after.into())) }
    }

    /// Returns the frame that it names.
    pub fn frame_mut(&mut self) -> Option<&mut Frame> {
        self.frame.as_mut().map(|(frame, _)| frame)
    }
}

impl From<String> for Detail {
    fn from(words: String) -> Self {
        Self { before: words, frame: None }
    }
}

impl From<&str> for Detail {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.before)?;
        match &self.frame {
            Some((frame, after)) => write!(f, "{frame}{after}"),
            None => Ok(()),
        }
    }
}

/// Serializes the words.
impl Serialize for Detail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}
