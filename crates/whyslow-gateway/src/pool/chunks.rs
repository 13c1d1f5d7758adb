//! [`Chunks`]: a body in the coding `aws-chunked`, followed by its CRC-32.
//!
//! ```text
//!   10000⏎ 65,536 bytes⏎ … 7d0⏎ 2,000 bytes⏎ 0⏎ x-amz-checksum-crc32:…⏎ ⏎
//! ```
//!
//! A server that decodes this notices a missing end, even if it would store a body that is shorter
//! than its Content-Length.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest};
use std::collections::VecDeque;
use std::fmt;

/// Bytes of each chunk but the last. S3 refuses chunks below 8 KiB.
const CHUNK: u64 = 64 << 10;
/// The field after the bytes.
pub(crate) const TRAILER: &str = "x-amz-checksum-crc32";
/// `0⏎`, the field's name, a colon, four bytes in base64, `⏎⏎`.
const END: u64 = 3 + TRAILER.len() as u64 + 1 + 8 + 4;

/// Bytes of the coded form of `length` bytes.
pub(crate) fn coded(length: u64) -> u64 {
    let chunk = |size: u64| head(size).len() as u64 + size + 2;
    let (whole, rest) = (length / CHUNK, length % CHUNK);
    whole * chunk(CHUNK) + if rest > 0 { chunk(rest) } else { 0 } + END
}

fn head(size: u64) -> String {
    format!("{size:x}\r\n")
}

/// Takes the bytes of a body of known length, and returns their coded form piece by piece.
pub(crate) struct Chunks {
    /// Bytes of the body beyond the open chunk.
    left: u64,
    /// Bytes of the open chunk.
    in_chunk: u64,
    sum: Digest,
    ready: VecDeque<Bytes>,
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("left", &(self.left + self.in_chunk)).finish_non_exhaustive()
    }
}

impl Chunks {
    pub(crate) fn new(length: u64) -> Self {
        let sum = Digest::new(CrcAlgorithm::Crc32IsoHdlc);
        let mut this = Self { left: length, in_chunk: 0, sum, ready: VecDeque::new() };
        this.open();
        this
    }

    /// Takes the next bytes of the body; bytes beyond its length are dropped.
    pub(crate) fn push(&mut self, mut bytes: Bytes) {
        while !bytes.is_empty() && self.in_chunk > 0 {
            let count = usize::try_from(self.in_chunk).unwrap_or(usize::MAX).min(bytes.len());
            let piece = bytes.split_to(count);
            self.sum.update(&piece);
            self.in_chunk -= count as u64;
            self.ready.push_back(piece);
            if self.in_chunk == 0 {
                self.ready.push_back(Bytes::from_static(b"\r\n"));
                self.open();
            }
        }
    }

    /// The next piece of the coded form; `None` if more of the body must be pushed.
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    /// Begins the next chunk, or writes the end.
    fn open(&mut self) {
        self.in_chunk = self.left.min(CHUNK);
        self.left -= self.in_chunk;
        let text = if self.in_chunk > 0 {
            head(self.in_chunk)
        } else {
            let sum = u32::try_from(self.sum.finalize()).unwrap_or_default();
            format!("0\r\n{TRAILER}:{}\r\n\r\n", STANDARD.encode(sum.to_be_bytes()))
        };
        self.ready.push_back(Bytes::from(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut chunks = Chunks::new(bytes.len() as u64);
        let mut out = Vec::new();
        for piece in bytes.chunks(piece) {
            chunks.push(Bytes::copy_from_slice(piece));
            while let Some(piece) = chunks.pop() {
                out.extend_from_slice(&piece);
            }
        }
        while let Some(piece) = chunks.pop() {
            out.extend_from_slice(&piece);
        }
        out
    }

    #[test]
    fn coded_form_is_that_of_s3() {
        assert_eq!(all(b"hello", 2), b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n");
        assert_eq!(all(b"", 1), b"0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n");
    }

    #[test]
    fn length_of_the_coded_form_is_known_beforehand() {
        for length in [0, 1, 15, 16, 65_535, 65_536, 65_537, 131_072, 200_000] {
            let bytes = vec![7; length];
            for piece in [1000, 65_536, 70_001] {
                assert_eq!(all(&bytes, piece).len() as u64, coded(length as u64), "{length} in pieces of {piece}");
            }
        }
    }
}
