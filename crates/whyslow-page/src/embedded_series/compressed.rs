//! [`CompressedAnswer`]: an answer with graphs, compressed.

use crate::graphs::GraphsAnswer;
use crate::gzip::compress_quickly;
use flate2::read::GzDecoder;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::io::Read;

/// An answer, unpacked when it is written to the report: its text is ten times as large.
#[derive(Debug)]
pub(crate) struct CompressedAnswer(Vec<u8>);

impl CompressedAnswer {
    pub(super) fn new(answer: &GraphsAnswer) -> Self {
        Self(compress_quickly(answer))
    }

    /// Its size, compressed, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl Serialize for CompressedAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        GzDecoder::new(self.0.as_slice()).read_to_string(&mut text).map_err(S::Error::custom)?;
        RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
    }
}
