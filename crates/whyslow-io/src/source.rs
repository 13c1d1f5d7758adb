//! [`Source`]: the bytes of an input in blocks, decompressed.
//!
//! Supports gzip (several members), zstd (several frames, skippable ones too), lz4 frames and xz
//! (several streams), recognised by magic number, not by file name. Memory does not grow with the
//! input. What can be decompressed before a stream breaks off or proves damaged is still returned.
//!
//! Files are read, not mapped: if another program truncates a mapped file, the process dies with
//! SIGBUS, and captures are often still being written. Reading costs one copy out of the page
//! cache, which is small compared with the analysis.
//!
//! There is no thread here. The caller that fills a block reads and decompresses straight into it.
//! Once a [`Stop`] is requested, the input ends after the bytes already returned, even while it
//! waits for a pipe.

mod block;
mod head;
mod lz4;
mod pipe;
#[cfg(any(test, target_family = "wasm"))]
mod pure;
#[cfg(not(target_family = "wasm"))]
mod xz;

use crate::error::Error;
use crate::input::Input;
use crate::stop::Stop;
pub(crate) use block::{BLOCK, Block};
use head::PeekedReader;
pub(crate) use pipe::Pipe;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_analysis::PARTIAL;
use whyslow_core::capture::{CaptureError, Problem, Summary};

/// Bytes decompressed at once. A decoder that meets damage loses the output of the same call.
const PIECE: usize = 16 << 10;

/// An open input.
pub(crate) struct Source {
    name: String,
    stream: Box<dyn Read + Send>,
    raw: Arc<RawState>,
    compression: Option<Compression>,
    /// More bytes may take long to come, so those of one call are returned at once.
    coming: bool,
    /// Bytes that were returned and will be returned again.
    put_back: Option<Block>,
    /// The error that follows the bytes returned last.
    failed: Option<io::Error>,
    torn: Option<String>,
    /// Bytes of a file or object, as they are stored.
    size: Option<u64>,
    stop: Stop,
    /// Whether the stop request kept it from being read to its end.
    cut: bool,
}

/// The state of the stored bytes, below the decompression.
#[derive(Default)]
struct RawState {
    read: AtomicU64,
    failed: AtomicBool,
    /// Whether any decompressed byte was returned.
    given: AtomicBool,
    /// The reader wants no more.
    unwanted: AtomicBool,
}

/// Reports how far an input was read, and ends a wait for more; usable from any thread.
pub(crate) struct Gauge(Arc<RawState>);

impl Gauge {
    /// Bytes read so far, as they are stored.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }

    /// Ends a wait for a pipe: no more bytes are wanted.
    pub(crate) fn give_up(&self) {
        self.0.unwanted.store(true, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Lz4,
    Xz,
}

impl Compression {
    /// Recognised by an input's first bytes.
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

/// The result of filling a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// At least one byte was added.
    Bytes,
    /// The end.
    End,
    /// The compressed stream breaks off or is damaged here, with the place and the reason. Nothing
    /// more can be read.
    Torn(String),
}

impl Source {
    /// Opens an input and recognises its compression.
    pub(crate) fn open(input: &Input, stop: &Stop) -> Result<Self, Error> {
        let name = input.name();
        let open_error = |cause| Error::Open { name: name.clone(), cause };
        match input {
            Input::Stdin => {
                let file = stdin().map_err(open_error)?;
                match file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                    true => Self::over(name, file, false, stop),
                    false => Self::over(name, Cursor::new(take_peeked()).chain(Pipe::new(file)), true, stop),
                }
            }
            Input::Path(path) => {
                let metadata = fs::metadata(path).map_err(open_error)?;
                if metadata.is_dir() {
                    return Err(Error::Directory { name });
                }
                let file = File::open(path).map_err(open_error)?;
                if metadata.is_file() {
                    let source = Self::over(name, file, false, stop)?;
                    return Ok(Self { size: Some(metadata.len()), ..source });
                }
                Self::over(name, Pipe::new(file), true, stop)
            }
            Input::Object(object) => {
                let source = Self::over(name.clone(), object.open().map_err(open_error)?, false, stop)?;
                Ok(Self { size: object.size(), ..source })
            }
        }
    }

    /// Reads from any reader. If it is `coming`, more than one call returns may take long to come.
    pub(crate) fn over(
        name: String,
        reader: impl Read + Send + 'static,
        coming: bool,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let raw = Arc::new(RawState::default());
        let counted = Counted { reader, raw: Arc::clone(&raw), stop: stop.clone() };
        let mut bytes = PeekedReader::new(BufReader::with_capacity(1 << 16, counted));
        let read_error = |cause| Error::Read { name: name.clone(), offset: raw.read.load(Ordering::Relaxed), cause };
        let compression = Compression::of(bytes.peek_frame().map_err(read_error)?);
        let stream = stream(bytes, compression).map_err(read_error)?;
        let coming = coming && compression.is_none();
        let stop = stop.clone();
        let (put_back, failed, torn, size, cut) = (None, None, None, None, false);
        Ok(Self { name, stream, raw, compression, coming, put_back, failed, torn, size, stop, cut })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes read so far, as they are stored.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw.read.load(Ordering::Relaxed)
    }

    /// Adds its name to an error of the core.
    pub(crate) fn no_capture(&self, cause: CaptureError) -> Error {
        Error::Capture { name: self.name.clone(), compressed: self.compression.is_some(), cause }
    }

    /// A handle that reports how far it was read.
    pub(crate) fn gauge(&self) -> Gauge {
        Gauge(Arc::clone(&self.raw))
    }

    /// Whether decoding its bytes costs more than copying them.
    pub(crate) fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// Fills the free part of a block, or adds only the available bytes if more may take long to
    /// come.
    ///
    /// # Errors
    /// When the input fails, or is compressed and none of it could be decompressed.
    pub(crate) fn fill(&mut self, block: &mut Block) -> Result<Filled, Error> {
        if self.failed.is_none() && self.has_given() && self.stop.is_asked() {
            self.cut_off();
        } else if let Some(back) = self.put_back.take() {
            *block = back;
            return Ok(Filled::Bytes);
        } else if self.fill_from_stream(block) {
            self.raw.given.store(true, Ordering::Relaxed);
            return Ok(Filled::Bytes);
        }
        match self.failed.take() {
            Some(error) => self.broken(error),
            None if !self.has_given() => Err(Error::Empty { name: self.name.clone() }),
            None => Ok(self.torn.clone().map_or(Filled::End, Filled::Torn)),
        }
    }

    /// Whether any byte came.
    fn fill_from_stream(&mut self, block: &mut Block) -> bool {
        let piece = if self.is_compressed() { PIECE } else { usize::MAX };
        let before = block.len();
        while self.failed.is_none() && !block.is_full() && !(self.coming && block.len() > before) {
            // A decoder with a fault is as good as a damaged stream.
            let room = block.free(piece);
            let read = catch_unwind(AssertUnwindSafe(|| self.stream.read(room)));
            match read.unwrap_or_else(|_| Err(io::Error::other("whatever reads it has failed"))) {
                // Not asked again: behind its end a terminal goes on.
                Ok(0) => {
                    self.stream = Box::new(io::empty());
                    break;
                }
                Ok(read) => block.add(read),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if self.raw.unwanted.load(Ordering::Relaxed) => {
                    self.cut_off();
                    break;
                }
                Err(error) => self.failed = Some(error),
            }
        }
        block.len() > before
    }

    fn has_given(&self) -> bool {
        self.raw.given.load(Ordering::Relaxed)
    }

    /// The rest stays unread.
    fn cut_off(&mut self) {
        self.stream = Box::new(io::empty());
        self.put_back = None;
        self.cut = true;
        self.stop.has_cut();
    }

    /// Distinguishes a failing input from a broken compressed stream.
    fn broken(&mut self, error: io::Error) -> Result<Filled, Error> {
        let (name, offset) = (self.name.clone(), self.raw_bytes());
        let Some(compression) = self.compression.filter(|_| !self.raw.failed.load(Ordering::Relaxed)) else {
            return Err(Error::Read { name, offset, cause: error });
        };
        let detail = match error.kind() {
            ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
            _ => error.to_string(),
        };
        let kind = compression.name();
        if !self.has_given() {
            return Err(Error::Compressed { name, offset, kind, detail });
        }
        let detail = format!(
            "the {kind} stream breaks off near byte {offset} of the file ({detail}); what came before was read"
        );
        self.torn = Some(detail.clone());
        self.stream = Box::new(io::empty());
        Ok(Filled::Torn(detail))
    }

    /// The core's summary, completed with what the core cannot know: that the input has more bytes.
    pub(crate) fn complete_summary(&self, mut summary: Summary) -> Summary {
        if self.cut {
            // The last record goes on.
            summary.problems.retain(|problem| problem.slug != "torn-record");
            let of = self.size.map_or_else(String::new, |size| format!(" of {}", megabytes(size)));
            let read = megabytes(self.raw_bytes());
            let detail = format!("reading was stopped after {read}{of}: nothing is known of what follows");
            summary.problems.insert(0, Problem { slug: PARTIAL.into(), count: 1, detail });
        }
        summary
    }

    /// Returns bytes again.
    pub(crate) fn put_back(&mut self, block: Block) {
        self.put_back = Some(block);
    }
}

/// Bytes of standard input that [`peek_stdin`] has taken from a pipe.
static PEEKED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn take_peeked() -> Vec<u8> {
    std::mem::take(&mut *PEEKED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Reads the beginning of standard input as long as `wants_more` returns true, and leaves it to be
/// read again. While no bytes come from a pipe, it is asked again every 100 ms. Returns these
/// bytes, and whether they are all.
///
/// # Errors
/// Errors of reading.
#[cfg(not(target_family = "wasm"))]
pub fn peek_stdin(mut wants_more: impl FnMut(&[u8]) -> bool) -> io::Result<(Vec<u8>, bool)> {
    let mut file = stdin()?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let start = if is_file { io::Seek::stream_position(&mut file)? } else { 0 };
    let mut reader: Box<dyn Read> =
        if is_file { Box::new(file.try_clone()?) } else { Box::new(Pipe::new(file.try_clone()?)) };
    let (mut head, mut block, mut is_all) = (Vec::new(), vec![0; 64 << 10], false);
    while head.is_empty() || wants_more(&head) {
        match reader.read(&mut block) {
            Ok(0) => {
                is_all = true;
                break;
            }
            Ok(length) => head.extend_from_slice(&block[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            // The next reading reports the error.
            Err(_) => break,
        }
    }
    if is_file {
        io::Seek::seek(&mut file, io::SeekFrom::Start(start))?;
    } else {
        PEEKED.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&head);
    }
    Ok((head, is_all))
}

/// The decompressed bytes of a file, for texts: a decoder with a fault is a read error.
///
/// # Errors
/// Errors of opening it, and of its first bytes.
#[cfg(not(target_family = "wasm"))]
pub fn open_decompressed(path: &std::path::Path) -> io::Result<impl Read + Send> {
    let mut bytes = PeekedReader::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    let compression = Compression::of(bytes.peek_frame()?);
    Ok(Guarded(stream(bytes, compression)?))
}

/// A reader whose panics are errors.
#[cfg(not(target_family = "wasm"))]
struct Guarded(Box<dyn Read + Send>);

#[cfg(not(target_family = "wasm"))]
impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = catch_unwind(AssertUnwindSafe(|| self.0.read(buffer)));
        read.unwrap_or_else(|_| Err(io::Error::other("the decoder has failed")))
    }
}

/// Standard input, without the buffer of [`io::stdin`] before it.
///
/// # Errors
/// When there is none.
#[cfg(unix)]
pub(crate) fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

/// Standard input, without the buffer of [`io::stdin`] before it.
///
/// # Errors
/// When there is none.
#[cfg(windows)]
pub(crate) fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    io::stdin().as_handle().try_clone_to_owned().map(File::from)
}

/// Standard input.
///
/// # Errors
/// Always: a browser gives none.
#[cfg(target_family = "wasm")]
pub(crate) fn stdin() -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Counts bytes read, records a read error, and waits for bytes that have not come yet.
struct Counted<R> {
    reader: R,
    raw: Arc<RawState>,
    stop: Stop,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Ok(read) => {
                    self.raw.read.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.raw.given.load(Ordering::Relaxed) && self.stop.is_asked() {
                        self.raw.unwanted.store(true, Ordering::Relaxed);
                    }
                    if self.raw.unwanted.load(Ordering::Relaxed) {
                        return Err(io::Error::other("nobody waits for it any longer"));
                    }
                }
                Err(error) => {
                    self.raw.failed.store(error.kind() != ErrorKind::Interrupted, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

/// The decompressed bytes.
fn stream(bytes: impl Read + Send + 'static, compression: Option<Compression>) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        None => Box::new(bytes),
        Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Some(Compression::Lz4) => Box::new(lz4::Frames::new(bytes)),
        #[cfg(not(target_family = "wasm"))]
        Some(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::new(bytes)?),
        #[cfg(not(target_family = "wasm"))]
        Some(Compression::Xz) => Box::new(xz::Streams::new(bytes)?),
        #[cfg(target_family = "wasm")]
        Some(Compression::Zstd) => Box::new(pure::ZstdFrames::new(bytes)),
        #[cfg(target_family = "wasm")]
        Some(Compression::Xz) => Box::new(pure::XzStreams::new(bytes)),
    })
}

#[cfg(test)]
mod tests;
