//! lz4 frames, one after the other.
//!
//! `lz4_flex` decodes one frame, and takes the end of its input between two blocks for the end of the frame. Here that
//! is an error, so that a stream that was cut short is not taken for a whole one.

use super::head::Headed;
use lz4_flex::frame::FrameDecoder;
use std::io::{self, Read};

/// Decodes all frames of a stream.
pub(super) struct Frames<R: Read>(FrameDecoder<Endless<Headed<R>>>);

impl<R: Read> Frames<R> {
    pub(super) fn new(reader: R) -> Self {
        Self(FrameDecoder::new(Endless(Headed::new(reader))))
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(buffer)?;
            // Nothing read is the end of a frame here, never that of the input.
            if read > 0 || buffer.is_empty() || self.0.get_mut().0.peek_frame()?.is_empty() {
                return Ok(read);
            }
        }
    }
}

/// A reader whose end is an error.
struct Endless<R>(R);

impl<R: Read> Read for Endless<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            // Not `UnexpectedEof`: `lz4_flex` takes that for a regular end.
            0 if !buffer.is_empty() => Err(io::Error::other("it is cut short")),
            read => Ok(read),
        }
    }
}
