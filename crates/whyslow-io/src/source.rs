//! [`Source`]: an input's bytes in blocks, with their compression undone.
//!
//! Knows gzip (of several members), zstd (of several frames, skippable ones too), lz4 frames and xz (of several
//! streams), told by their magic numbers and not by the file's name. It promises that memory does not grow with the input,
//! and that what could be decompressed before a stream breaks off or proves damaged is still given out.
//!
//! Files are read in blocks and not mapped into memory: a mapped file that another program cuts short while it is
//! read kills the process with SIGBUS, and captures are often still being written. Reading costs one copy out of the
//! page cache, which is small beside the analysis.

mod head;
mod lz4;
mod xz;

use crate::{Error, Input};
use head::Headed;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;
use whyslow_core::capture::CaptureError;

/// Bytes decompressed at once. A decoder that meets damage loses what it decoded in the same call.
const PIECE: usize = 16 << 10;

/// An open input.
pub(crate) struct Source {
    name: String,
    stream: Box<dyn Read>,
    raw: Rc<Raw>,
    compression: Option<Compression>,
    /// Whether any byte was given out.
    given: bool,
    /// What went wrong behind the bytes that were given out.
    failed: Option<io::Error>,
    torn: Option<String>,
}

/// What is known of the bytes below the decompression.
#[derive(Default)]
struct Raw {
    read: Cell<u64>,
    failed: Cell<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Lz4,
    Xz,
}

impl Compression {
    /// Told by an input's first bytes.
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Xz => "xz",
        }
    }
}

/// What a read gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// So many bytes, at least one.
    Bytes(usize),
    /// The end.
    End,
    /// The compressed stream breaks off or is damaged here: nothing more can be read. Says where and what.
    Torn(String),
}

impl Source {
    /// Opens an input and looks at its first bytes.
    pub(crate) fn open(input: &Input) -> Result<Self, Error> {
        let name = input.name();
        let open_error = |cause| Error::Open { name: name.clone(), cause };
        match input {
            Input::Stdin => Self::over(name, io::stdin().lock()),
            Input::Path(path) => {
                if fs::metadata(path).map_err(open_error)?.is_dir() {
                    return Err(Error::Directory { name });
                }
                let file = File::open(path).map_err(open_error)?;
                Self::over(name, file)
            }
        }
    }

    /// Reads from anything.
    pub(crate) fn over(name: String, reader: impl Read + 'static) -> Result<Self, Error> {
        let raw = Rc::new(Raw::default());
        let counted = Counted { reader, raw: Rc::clone(&raw) };
        let mut bytes = Headed::new(BufReader::with_capacity(1 << 16, counted));
        let read_error = |cause| Error::Read { name: name.clone(), offset: raw.read.get(), cause };
        let compression = Compression::of(bytes.peek_frame().map_err(read_error)?);
        let stream = decompressed(bytes, compression).map_err(read_error)?;
        Ok(Self { name, stream, raw, compression, given: false, failed: None, torn: None })
    }

    /// How it is named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes read so far, as they are stored.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw.read.get()
    }

    /// What the core says of its bytes, with its name.
    pub(crate) fn no_capture(&self, cause: CaptureError) -> Error {
        Error::Capture { name: self.name.clone(), compressed: self.compression.is_some(), cause }
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// When the input itself fails, or is compressed and nothing of it could be decompressed.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Block, Error> {
        let piece = if self.compression.is_some() { PIECE } else { buffer.len() };
        let mut filled = 0;
        while self.failed.is_none()
            && let Some(room @ [_, ..]) = buffer.get_mut(filled..)
        {
            let room = room.split_at_mut(room.len().min(piece)).0;
            match self.stream.read(room) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failed = Some(error),
            }
        }
        self.given |= filled > 0;
        if filled > 0 {
            return Ok(Block::Bytes(filled));
        }
        match self.failed.take() {
            Some(error) => self.broken(error),
            None if !self.given => Err(Error::Empty { name: self.name.clone() }),
            None => Ok(self.torn.clone().map_or(Block::End, Block::Torn)),
        }
    }

    /// Tells an input that fails from a compressed stream that is broken.
    fn broken(&mut self, error: io::Error) -> Result<Block, Error> {
        let (name, offset) = (self.name.clone(), self.raw_bytes());
        let Some(compression) = self.compression.filter(|_| !self.raw.failed.get()) else {
            return Err(Error::Read { name, offset, cause: error });
        };
        let detail = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
            _ => error.to_string(),
        };
        let kind = compression.name();
        if !self.given {
            return Err(Error::Compressed { name, offset, kind, detail });
        }
        let detail = format!(
            "the {kind} stream breaks off near byte {offset} of the file ({detail}); what came before was read"
        );
        self.torn = Some(detail.clone());
        self.stream = Box::new(io::empty());
        Ok(Block::Torn(detail))
    }

    /// Gives bytes that were read out once more.
    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        let rest = std::mem::replace(&mut self.stream, Box::new(io::empty()));
        self.stream = Box::new(Cursor::new(bytes).chain(rest));
    }
}

/// Counts what is read, and remembers when reading fails.
struct Counted<R> {
    reader: R,
    raw: Rc<Raw>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Ok(read) => {
                self.raw.read.set(self.raw.read.get() + read as u64);
                Ok(read)
            }
            Err(error) => {
                self.raw.failed.set(error.kind() != io::ErrorKind::Interrupted);
                Err(error)
            }
        }
    }
}

fn decompressed(bytes: impl Read + 'static, compression: Option<Compression>) -> io::Result<Box<dyn Read>> {
    Ok(match compression {
        None => Box::new(bytes),
        Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Some(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::new(bytes)?),
        Some(Compression::Lz4) => Box::new(lz4::Frames::new(bytes)),
        Some(Compression::Xz) => Box::new(xz::Streams::new(bytes)?),
    })
}

#[cfg(test)]
mod tests;
