//! A file that is dropped on the page: all of it, or nothing.
//!
//! The request must state its length, and there must be room for it; a body that is shorter is an
//! error. A slow client holds no thread: its bytes are written to disk in pieces.

use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use std::fmt;
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;
use std::time::Duration;
use tempfile::{NamedTempFile, TempPath};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use whyslow_io::Scratch;

/// Bytes written to disk at once.
const PIECE: usize = 256 << 10;
/// Bytes that must arrive within the time limit: a few hundred a second, slower than any disk or
/// share.
const MIN: u64 = 16 << 10;
/// The largest upload, if the free space is unknown.
const MAX: u64 = 1 << 40;

/// Why an upload failed.
#[derive(Debug)]
pub(super) enum Failure {
    NoLength,
    NoRoom {
        length: u64,
        room: u64,
    },
    /// The body ended early, or the connection broke.
    Torn {
        came: u64,
        length: u64,
    },
    Slow,
    Disk(io::Error),
}

impl Failure {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::NoLength => StatusCode::LENGTH_REQUIRED,
            Self::NoRoom { .. } => StatusCode::INSUFFICIENT_STORAGE,
            Self::Torn { .. } => StatusCode::BAD_REQUEST,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Disk(error) if error.kind() == io::ErrorKind::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
            Self::Disk(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLength => f.write_str("the request must say how long the file is"),
            Self::NoRoom { length, room } => {
                write!(f, "the file has {length} bytes, and the folder for temporary files has room for {room}")
            }
            Self::Torn { came, length } => write!(f, "of the file's {length} bytes {came} came"),
            Self::Slow => f.write_str("the file comes too slowly"),
            Self::Disk(error) => write!(f, "the file could not be kept: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// The length that the request's head states.
///
/// # Errors
/// When none is stated, or there is no room for it.
pub(super) fn length(headers: &HeaderMap, scratch: &Scratch) -> Result<u64, Failure> {
    // An invalid length, or two different ones, failed in the server's own reading
    // of the head. Chunks show their total only at the end, and a length next to them
    // is invalid (RFC 9112 section 6.3).
    if headers.contains_key(TRANSFER_ENCODING) {
        return Err(Failure::NoLength);
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let (length, room) = (length.ok_or(Failure::NoLength)?, scratch.room().unwrap_or(MAX));
    if length > room { Err(Failure::NoRoom { length, room }) } else { Ok(length) }
}

/// Receives a file of this length.
///
/// # Errors
/// When it is incomplete, arrives too slowly (little comes within `patience`), or cannot be
/// written.
pub(super) async fn receive<B>(
    mut body: B,
    length: u64,
    scratch: Scratch,
    patience: Duration,
) -> Result<TempPath, Failure>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut file = PartialFile(Some(blocking(move || scratch.file("")).await?));
    let (mut came, mut piece) = (0_u64, Vec::new());
    let (mut until, mut enough) = (Instant::now() + patience, MIN);
    while came < length {
        let frame = timeout_at(until, poll_fn(|cx| Pin::new(&mut body).poll_frame(cx))).await;
        let Some(Ok(frame)) = frame.map_err(|_| Failure::Slow)? else {
            return Err(Failure::Torn { came, length });
        };
        let Ok(data) = frame.into_data() else { continue };
        piece.extend_from_slice(&data);
        came += data.len() as u64;
        if came >= enough {
            (until, enough) = (Instant::now() + patience, came + MIN);
        }
        if piece.len() >= PIECE || came >= length {
            piece = file.write(piece).await?;
        }
    }
    Ok(file.finish()?)
}

/// A file that is being written. An unfinished one is removed on a thread that may wait for the
/// disk.
struct PartialFile(Option<NamedTempFile>);

impl PartialFile {
    /// Writes a piece and returns its buffer.
    async fn write(&mut self, mut piece: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut file = Self(self.0.take());
        let (file, piece) = blocking(move || {
            if let Some(file) = &mut file.0 {
                file.write_all(&piece)?;
            }
            piece.clear();
            Ok((file, piece))
        })
        .await?;
        *self = file;
        Ok(piece)
    }

    fn finish(mut self) -> io::Result<TempPath> {
        let file = self.0.take().ok_or_else(|| io::Error::other("it is lost"))?;
        Ok(file.into_temp_path())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let (Some(file), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            // Without a runtime, and at its end, it goes here and now.
            drop(runtime.spawn_blocking(move || drop(file)));
        }
    }
}

async fn blocking<T: Send + 'static>(job: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(job).await.map_err(io::Error::other).flatten()
}
