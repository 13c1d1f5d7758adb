//! [`Answer`]: a response, from memory or from a file.

use super::connection_limit::Busy;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use std::fs::File;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};
use whyslow_report::text::harmless;

/// A response.
pub(crate) type Answer = Response<Content>;

/// Bytes of a file in memory at once.
const PIECE: usize = 256 << 10;

/// The body of a response.
pub(crate) struct Content {
    from: From,
    /// Holds the connection's slot while this is sent.
    busy: Option<Busy>,
}

enum From {
    Memory(Bytes),
    File { left: u64, next: JoinHandle<io::Result<(File, Bytes)>> },
}

impl Content {
    /// The rest of a file, from its current position.
    pub(crate) fn file(file: File, bytes: u64) -> Self {
        Self { from: From::File { left: bytes, next: read(file, bytes) }, busy: None }
    }

    /// Holds the connection's slot until the body is sent.
    pub(crate) fn held(mut self, busy: Busy) -> Self {
        self.busy = Some(busy);
        self
    }
}

impl std::convert::From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self { from: From::Memory(bytes), busy: None }
    }
}

/// Reads the next piece on a thread that may wait for the disk.
fn read(mut file: File, left: u64) -> JoinHandle<io::Result<(File, Bytes)>> {
    spawn_blocking(move || {
        let mut piece = vec![0; left.min(PIECE as u64) as usize];
        file.read_exact(&mut piece)?;
        Ok((file, piece.into()))
    })
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match &mut self.from {
            From::Memory(bytes) => std::mem::take(bytes),
            From::File { left: 0, .. } => Bytes::new(),
            From::File { left, next } => {
                match ready!(Pin::new(&mut *next).poll(cx)).map_err(io::Error::other).flatten() {
                    Ok((file, piece)) => {
                        *left = left.saturating_sub(piece.len() as u64);
                        if *left > 0 {
                            *next = read(file, *left);
                        }
                        piece
                    }
                    Err(error) => return Poll::Ready(Some(Err(error))),
                }
            }
        };
        Poll::Ready((!piece.is_empty()).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match &self.from {
            From::Memory(bytes) => bytes.len() as u64,
            From::File { left, .. } => *left,
        })
    }
}

/// A response of this content type.
pub(crate) fn of(kind: &'static str, content: impl Into<Content>) -> Answer {
    let mut answer = Response::new(content.into());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("Cross-Origin-Resource-Policy", HeaderValue::from_static("same-origin"));
    answer
}

/// A response of one sentence, which may quote a request or a capture.
pub(crate) fn text(status: StatusCode, sentence: &str) -> Answer {
    let body = format!("{}\n", harmless(sentence));
    let mut answer = of("text/plain; charset=utf-8", Bytes::from(body));
    *answer.status_mut() = status;
    answer
}

/// A response of one sentence that closes the connection.
pub(crate) fn refusal(status: StatusCode, sentence: &str) -> Answer {
    let mut answer = text(status, sentence);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}
