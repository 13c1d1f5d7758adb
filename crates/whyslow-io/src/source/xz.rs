//! xz streams, one after the other.

use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::io::{self, Read};

/// The memory limit of a stream: enough for every preset (`xz -9` needs 65 MiB).
const MEMORY: u64 = 256 << 20;

/// Decodes all streams of an input.
pub(super) struct Streams<R: Read> {
    decoder: XzDecoder<R>,
    /// The error that follows the bytes returned last.
    failed: Option<io::Error>,
}

impl<R: Read> Streams<R> {
    pub(super) fn new(reader: R) -> io::Result<Self> {
        let stream = Stream::new_stream_decoder(MEMORY, CONCATENATED)?;
        Ok(Self { decoder: XzDecoder::new_stream(reader, stream), failed: None })
    }
}

impl<R: Read> Read for Streams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let before = self.decoder.total_out();
        self.decoder.read(buffer).or_else(|error| {
            // The decoder reports an error even when it has decoded bytes that lie before it.
            match self.decoder.total_out() - before {
                0 => Err(error),
                decoded => {
                    self.failed = Some(error);
                    Ok(buffer.len().min(decoded as usize))
                }
            }
        })
    }
}
