//! [`PeekedReader`]: a reader that can look at its next bytes before they are read.

use std::io::{self, Read};

/// Bytes to peek at: enough for every magic number, and for the header of a skippable frame.
const HEAD: usize = 8;

/// A reader, and the bytes that were peeked at but not read yet.
pub(super) struct PeekedReader<R> {
    head: [u8; HEAD],
    /// The bytes of `head` that are still unread.
    held: std::ops::Range<usize>,
    rest: R,
}

impl<R: Read> PeekedReader<R> {
    pub(super) fn new(rest: R) -> Self {
        Self { head: [0; HEAD], held: 0..0, rest }
    }

    /// Peeks at the first eight bytes of the next frame; they are fewer only at the end of the
    /// input. Skips skippable frames (RFC 8878 section 3.1.2), which may precede zstd's first frame
    /// and any frame of lz4. All bytes peeked at earlier must have been read.
    pub(super) fn peek_frame(&mut self) -> io::Result<&[u8]> {
        loop {
            self.held = 0..0;
            while let Some(room @ [_, ..]) = self.head.get_mut(self.held.end..) {
                match self.rest.read(room) {
                    Ok(0) => break,
                    Ok(read) => self.held.end += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            let [0x50..=0x5f, 0x2a, 0x4d, 0x18, length @ ..] = self.head else { break };
            if self.held.end < HEAD {
                break;
            }
            let length = u32::from_le_bytes(length).into();
            io::copy(&mut (&mut self.rest).take(length), &mut io::sink())?;
        }
        Ok(self.head.get(self.held.clone()).unwrap_or_default())
    }
}

impl<R: Read> Read for PeekedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = self.head.get(self.held.clone()).unwrap_or_default();
        if held.is_empty() {
            return self.rest.read(buffer);
        }
        let read = held.len().min(buffer.len());
        let (Some(to), Some(from)) = (buffer.get_mut(..read), held.get(..read)) else { return Ok(0) };
        to.copy_from_slice(from);
        self.held.start += read;
        Ok(read)
    }
}
