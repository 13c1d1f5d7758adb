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

use crate::{Error, Input};
use head::Headed;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::rc::Rc;

/// Most memory that an xz stream may ask for: enough for every preset (`xz -9` needs 65 MiB).
const XZ_MEMORY: u64 = 256 << 20;

/// An open input.
pub(crate) struct Source {
    name: String,
    stream: Box<dyn Read>,
    raw: Rc<Raw>,
    compression: Option<Compression>,
    given: u64,
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
        let open_error = |source| Error::Open { name: name.clone(), source };
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
        let read_error = |source| Error::Read { name: name.clone(), offset: raw.read.get(), source };
        let head = bytes.peek_frame().map_err(read_error)?;
        let compression = Compression::of(head);
        if let (None, Some((kind, unpack))) = (compression, other_compression(head)) {
            let command = format!("{unpack} {name} | whyslow -");
            return Err(Error::Unsupported { name, kind, command });
        }
        let stream = decompressed(bytes, compression).map_err(read_error)?;
        Ok(Self { name, stream, raw, compression, given: 0 })
    }

    /// How it is named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes read so far, as they are stored.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw.read.get()
    }

    /// Whether the bytes are decompressed ones.
    pub(crate) fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// When the input itself fails, or is compressed and nothing of it could be decompressed.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Block, Error> {
        loop {
            return match self.stream.read(buffer) {
                Ok(0) if self.given == 0 => Err(Error::Empty { name: self.name.clone() }),
                Ok(0) => Ok(Block::End),
                Ok(read) => {
                    self.given += read as u64;
                    Ok(Block::Bytes(read))
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.broken(error),
            };
        }
    }

    /// Tells an input that fails from a compressed stream that is broken.
    fn broken(&self, error: io::Error) -> Result<Block, Error> {
        let (name, offset) = (self.name.clone(), self.raw_bytes());
        let Some(compression) = self.compression.filter(|_| !self.raw.failed.get()) else {
            return Err(Error::Read { name, offset, source: error });
        };
        let detail = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
            _ => error.to_string(),
        };
        let kind = compression.name();
        if self.given == 0 {
            return Err(Error::Compressed { name, offset, kind, detail });
        }
        Ok(Block::Torn(format!(
            "the {kind} stream breaks off near byte {offset} of the file ({detail}); what came before was read"
        )))
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
        Some(Compression::Xz) => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)?;
            Box::new(liblzma::read::XzDecoder::new_stream(bytes, stream))
        }
    })
}

/// Formats that are named instead of being called no capture, with what unpacks them.
fn other_compression(head: &[u8]) -> Option<(&'static str, &'static str)> {
    match head {
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(("bzip2", "bzip2 -dc")),
        [b'P', b'K', 3, 4, ..] => Some(("zip", "unzip -p")),
        [b'7', b'z', 0xbc, 0xaf, ..] => Some(("7z", "7z x -so")),
        [0x1f, 0x9d, ..] => Some(("compress", "uncompress -c")),
        [0x02, 0x21, 0x4c, 0x18, ..] => Some(("legacy lz4", "lz4 -dc")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
