//! [`Source`]: an input's bytes in blocks, with their compression undone.
//!
//! Knows gzip (of several members), zstd (of several frames, skippable ones too), lz4 frames and xz (of several
//! streams), told by their magic numbers and not by the file's name. It promises that memory does not grow with the input,
//! and that what could be decompressed before a stream breaks off or proves damaged is still given out.
//!
//! Files are read in blocks and not mapped into memory: a mapped file that another program cuts short while it is
//! read kills the process with SIGBUS, and captures are often still being written. Reading costs one copy out of the
//! page cache, which is small beside the analysis.
//!
//! What is compressed, or comes through a pipe, is read by a thread of its own (`ahead`), so that it is there when the
//! analysis asks for it. Once a [`Stop`] is asked for, the input ends behind the bytes that were given out.

mod ahead;
mod head;
mod lz4;
mod xz;

use crate::{Error, Input, Stop};
pub(crate) use ahead::{Ahead, Pieces};
use head::Headed;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use whyslow_core::analysis::PARTIAL;
use whyslow_core::capture::{CaptureError, Problem, Summary};

/// Bytes decompressed at once. A decoder that meets damage loses what it decoded in the same call.
const PIECE: usize = 16 << 10;

/// An open input.
pub(crate) struct Source {
    name: String,
    stream: Box<dyn Read>,
    raw: Arc<Raw>,
    compression: Option<Compression>,
    /// Whether any byte was given out.
    given: bool,
    /// What went wrong behind the bytes that were given out.
    failed: Option<io::Error>,
    torn: Option<String>,
    /// Bytes of a regular file, as they are stored.
    size: Option<u64>,
    stop: Stop,
    /// It was not read to its end because of that.
    cut: bool,
}

/// What is known of the bytes below the decompression.
#[derive(Default)]
struct Raw {
    read: AtomicU64,
    failed: AtomicBool,
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
    pub(crate) fn open(input: &Input, stop: &Stop) -> Result<Self, Error> {
        let name = input.name();
        let open_error = |cause| Error::Open { name: name.clone(), cause };
        match input {
            // Not its lock: that cannot go to another thread.
            Input::Stdin => Self::over(name, io::stdin(), Some(Pieces::Coming), stop),
            Input::Path(path) => {
                let metadata = fs::metadata(path).map_err(open_error)?;
                if metadata.is_dir() {
                    return Err(Error::Directory { name });
                }
                let file = File::open(path).map_err(open_error)?;
                if metadata.is_file() {
                    let source = Self::over(name, file, None, stop)?;
                    return Ok(Self { size: Some(metadata.len()), ..source });
                }
                Self::over(name, file, Some(Pieces::Coming), stop)
            }
        }
    }

    /// Reads from anything; with `ahead` by a thread of its own even where it is not compressed.
    pub(crate) fn over(
        name: String,
        reader: impl Read + Send + 'static,
        ahead: Option<Pieces>,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let raw = Arc::new(Raw::default());
        let counted = Counted { reader, raw: Arc::clone(&raw) };
        let mut bytes = Headed::new(BufReader::with_capacity(1 << 16, counted));
        let read_error = |cause| Error::Read { name: name.clone(), offset: raw.read.load(Ordering::Relaxed), cause };
        let compression = Compression::of(bytes.peek_frame().map_err(read_error)?);
        let stream = stream(bytes, compression, ahead).map_err(read_error)?;
        let stop = stop.clone();
        let (given, failed, torn, size, cut) = (false, None, None, None, false);
        Ok(Self { name, stream, raw, compression, given, failed, torn, size, stop, cut })
    }

    /// How it is named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes read so far, as they are stored.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw.read.load(Ordering::Relaxed)
    }

    /// What the core says of its bytes, with its name.
    pub(crate) fn no_capture(&self, cause: CaptureError) -> Error {
        Error::Capture { name: self.name.clone(), compressed: self.compression.is_some(), cause }
    }

    /// Reads the next bytes: those that are there, if others may be long in coming.
    ///
    /// # Errors
    /// When the input itself fails, or is compressed and nothing of it could be decompressed.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Block, Error> {
        while self.failed.is_none() {
            if self.given && self.stop.is_asked() {
                self.cut = true;
                self.stop.has_cut();
                return Ok(Block::End);
            }
            match self.stream.read(buffer) {
                Ok(0) => break,
                Ok(read) => {
                    self.given = true;
                    return Ok(Block::Bytes(read));
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(error) => self.failed = Some(error),
            }
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
        let Some(compression) = self.compression.filter(|_| !self.raw.failed.load(Ordering::Relaxed)) else {
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

    /// What the core says of the bytes that were given out, and what it cannot know: that there are more.
    pub(crate) fn told(&self, mut summary: Summary) -> Summary {
        if self.cut {
            // The last record goes on.
            summary.problems.retain(|problem| problem.slug != "torn-record");
            let of = self.size.map_or_else(String::new, |size| format!(" of {}", megabytes(size)));
            let read = megabytes(self.raw_bytes());
            let detail = format!("reading was stopped after {read}{of}: nothing is known of what follows");
            summary.problems.insert(0, Problem { slug: PARTIAL, count: 1, detail });
        }
        summary
    }

    /// Gives bytes that were read out once more.
    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        let rest = std::mem::replace(&mut self.stream, Box::new(io::empty()));
        self.stream = Box::new(Cursor::new(bytes).chain(rest));
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Counts what is read, and remembers when reading fails.
struct Counted<R> {
    reader: R,
    raw: Arc<Raw>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Ok(read) => {
                self.raw.read.fetch_add(read as u64, Ordering::Relaxed);
                Ok(read)
            }
            Err(error) => {
                self.raw.failed.store(error.kind() != io::ErrorKind::Interrupted, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

/// The bytes with their compression undone.
fn stream(
    bytes: impl Read + Send + 'static,
    compression: Option<Compression>,
    ahead: Option<Pieces>,
) -> io::Result<Box<dyn Read>> {
    let Some(compression) = compression else {
        return Ok(match ahead {
            Some(pieces) => Box::new(Ahead::of(bytes, pieces)?),
            None => Box::new(bytes),
        });
    };
    let pieces = Pieces::Of(PIECE);
    Ok(Box::new(match compression {
        Compression::Gzip => Ahead::of(flate2::read::MultiGzDecoder::new(bytes), pieces)?,
        Compression::Zstd => Ahead::of(zstd::stream::read::Decoder::new(bytes)?, pieces)?,
        Compression::Lz4 => Ahead::of(lz4::Frames::new(bytes), pieces)?,
        Compression::Xz => Ahead::of(xz::Streams::new(bytes)?, pieces)?,
    }))
}

#[cfg(test)]
mod tests;
