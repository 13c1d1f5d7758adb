//! lz4 frames, one after the other.
//!
//! `lz4_flex` decodes one frame, and takes the end of its input between two blocks for the end of
//! the frame. Here that is an error, so a truncated stream is not taken for a complete one. Each
//! frame has its own decoder: one decoder for all would keep the buffers of the first frame, which
//! may be too small for the next.

use super::head::PeekedReader;
use lz4_flex::frame::FrameDecoder;
use std::io::{self, Read};

/// Decodes all frames of a stream.
pub(super) struct Frames<R: Read> {
    /// None after the end or an error.
    decoder: Option<FrameDecoder<Endless<PeekedReader<R>>>>,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { decoder: Some(FrameDecoder::new(Endless(PeekedReader::new(reader)))) }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let read = decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // That was the end of a frame, never that of the input.
            let Some(mut reader) = self.decoder.take().map(FrameDecoder::into_inner) else { break };
            if !reader.0.peek_frame()?.is_empty() {
                self.decoder = Some(FrameDecoder::new(reader));
            }
        }
        Ok(0)
    }
}

/// A reader for which the end is an error.
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
