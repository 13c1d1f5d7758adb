//! [`Body`]: the body of a request. It can be sent again while it is held whole.

use super::chunks::{self, Chunks};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http_body::{Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::Notify;

/// Maximum bytes that the connection takes at once: they cannot be taken back.
const PIECE: usize = 64 << 10;

/// Bytes that come when there is room for them.
pub type ByteStream = BoxStream<'static, Result<Bytes, BodyError>>;

/// The reason why a body ended before its length.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BodyError {
    /// The source of the bytes failed.
    #[error("{0}")]
    Source(String),
    /// There are fewer, or more, than were announced.
    #[error("the body has {got} bytes or more, and {announced} were announced")]
    Length {
        /// The announced length.
        announced: u64,
        /// Bytes that arrived.
        got: u64,
    },
    /// Another attempt sends it now.
    #[error("the body is sent by another attempt")]
    Superseded,
}

/// Asks a body to release the bytes that it holds for another attempt: other requests need the
/// memory. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct LetGo(Arc<AtomicBool>);

impl LetGo {
    /// The body releases those bytes at its next poll, and holds no bytes afterwards.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request's body of known length. Clones are the same body.
#[derive(Clone)]
pub struct Body {
    length: u64,
    is_one_of_many: bool,
    is_chunked: bool,
    taken: Arc<Notify>,
    state: Arc<Mutex<State>>,
}

struct State {
    /// The beginning, while it contains all bytes that were taken.
    held: Vec<Bytes>,
    held_bytes: u64,
    /// Maximum bytes to hold.
    replay: u64,
    /// Whether bytes were released: the body cannot begin again.
    is_past: bool,
    rest: Option<ByteStream>,
    /// Bytes taken from `rest`, or held from the beginning.
    taken: u64,
    /// The attempt that may read.
    attempt: u64,
    error: Option<BodyError>,
    let_go: LetGo,
}

impl Body {
    /// A body without bytes.
    pub fn empty() -> Self {
        Self::chunks(Vec::new())
    }

    /// A body of existing bytes; they are held until the request is answered.
    pub fn chunks(chunks: Vec<Bytes>) -> Self {
        let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        Self::with(length, State { held_bytes: length, replay: length, taken: length, ..State::new(chunks, None) })
    }

    /// A body of exactly `length` bytes of a stream, taken as the connection has room for them. The
    /// first `replay` bytes are held: until more are taken, the body can be sent again.
    pub fn stream(length: u64, replay: u64, stream: ByteStream) -> Self {
        Self::with(length, State { replay, ..State::new(Vec::new(), Some(stream)) })
    }

    /// The same; the stream may set `let_go` while it waits for memory.
    pub fn stream_until(length: u64, replay: u64, stream: ByteStream, let_go: LetGo) -> Self {
        Self::with(length, State { replay, let_go, ..State::new(Vec::new(), Some(stream)) })
    }

    fn with(length: u64, state: State) -> Self {
        let (taken, state) = (Arc::default(), Arc::new(Mutex::new(state)));
        Self { length, is_one_of_many: false, is_chunked: false, taken, state }
    }

    /// Marks that other bodies are sent at the same time over connections of their own.
    #[must_use]
    pub fn one_of_many(self) -> Self {
        Self { is_one_of_many: true, ..self }
    }

    /// Sends it in chunks followed by a checksum (`aws-chunked`).
    #[must_use]
    pub(crate) fn in_chunks(&self) -> Self {
        Self { is_chunked: true, ..self.clone() }
    }

    pub(crate) fn is_chunked(&self) -> bool {
        self.is_chunked
    }

    /// Bytes to send.
    pub(crate) fn sent_len(&self) -> u64 {
        if self.is_chunked { chunks::coded(self.length) } else { self.length }
    }

    pub(crate) fn is_one_of_many(&self) -> bool {
        self.is_one_of_many
    }

    /// Waits until a connection has taken the last byte. Only one caller may wait.
    pub async fn taken(&self) {
        self.taken.notified().await;
    }

    /// Bytes in all.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether it can be sent from its beginning.
    pub fn can_begin(&self) -> bool {
        let state = self.lock();
        !state.is_past && state.error.is_none()
    }

    /// The error of its source, if it failed.
    pub fn error(&self) -> Option<BodyError> {
        self.lock().error.clone()
    }

    /// Begins an attempt; earlier attempts read no more.
    pub(crate) fn begin(&self) -> SendBody {
        let mut state = self.lock();
        state.attempt += 1;
        SendBody {
            body: self.clone(),
            attempt: state.attempt,
            next: 0,
            taken: 0,
            left_over: Bytes::new(),
            chunks: self.is_chunked.then(|| Chunks::new(self.length)),
            sent: 0,
            progress: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::chunks(vec![bytes])
    }
}

/// Its bytes are private.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("length", &self.length).finish_non_exhaustive()
    }
}

impl State {
    fn new(held: Vec<Bytes>, rest: Option<ByteStream>) -> Self {
        let (held_bytes, replay, taken) = (0, 0, 0);
        Self {
            held,
            held_bytes,
            replay,
            is_past: false,
            rest,
            taken,
            attempt: 0,
            error: None,
            let_go: LetGo::default(),
        }
    }

    fn hold(&mut self, chunk: &Bytes) {
        if self.is_past {
            return;
        }
        if self.held_bytes + chunk.len() as u64 > self.replay {
            self.forget();
            return;
        }
        self.held_bytes += chunk.len() as u64;
        self.held.push(chunk.clone());
    }

    fn forget(&mut self) {
        self.is_past = true;
        self.held = Vec::new();
    }

    fn poll(&mut self, length: u64, next: usize, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        if let Some(chunk) = self.held.get(next) {
            return Poll::Ready(Some(Ok(chunk.clone())));
        }
        if let Some(error) = &self.error {
            return Poll::Ready(Some(Err(error.clone())));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let polled = rest.poll_next_unpin(cx);
        if self.let_go.is_set() && self.taken > 0 {
            self.forget();
        }
        let found = match ready!(polled) {
            None if self.taken == length => return Poll::Ready(None),
            None => Err(BodyError::Length { announced: length, got: self.taken }),
            Some(Ok(chunk)) => {
                self.taken += chunk.len() as u64;
                if self.taken > length {
                    Err(BodyError::Length { announced: length, got: self.taken })
                } else {
                    self.hold(&chunk);
                    Ok(chunk)
                }
            }
            Some(Err(error)) => Err(error),
        };
        if let Err(error) = &found {
            self.error = Some(error.clone());
            self.rest = None;
        }
        Poll::Ready(Some(found))
    }
}

/// The progress of an attempt.
#[derive(Debug, Default)]
pub(crate) struct SendProgress {
    state: Mutex<(bool, bool)>,
}

impl SendProgress {
    /// Whether all of the body was handed to the connection.
    pub(crate) fn is_whole(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether the connection waits for the source of the bytes.
    pub(crate) fn is_starved(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    fn set(&self, whole: bool, starved: bool) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (whole, starved);
    }
}

/// One attempt to send a body.
#[derive(Debug)]
pub(crate) struct SendBody {
    body: Body,
    attempt: u64,
    next: usize,
    /// Bytes of the body that were taken.
    taken: u64,
    /// The rest of the last chunk.
    left_over: Bytes,
    chunks: Option<Chunks>,
    /// Bytes that were sent.
    sent: u64,
    progress: Arc<SendProgress>,
}

impl SendBody {
    pub(crate) fn len(&self) -> u64 {
        self.body.length
    }

    pub(crate) fn progress(&self) -> Arc<SendProgress> {
        Arc::clone(&self.progress)
    }

    /// Returns the next bytes of the body: at most [`PIECE`].
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, BodyError>> {
        let found = if self.left_over.is_empty() {
            let mut state = self.body.lock();
            if state.attempt == self.attempt {
                state.poll(self.body.length, self.next, cx)
            } else {
                Poll::Ready(Some(Err(BodyError::Superseded)))
            }
        } else {
            self.next -= 1;
            Poll::Ready(Some(Ok(std::mem::take(&mut self.left_over))))
        };
        self.progress.set(false, found.is_pending());
        let chunk = ready!(found).transpose()?;
        let Some(mut chunk) = chunk else {
            return Poll::Ready(Err(BodyError::Length { announced: self.body.length, got: self.taken }));
        };
        self.next += 1;
        if chunk.len() > PIECE {
            self.left_over = chunk.split_off(PIECE);
        }
        self.taken += chunk.len() as u64;
        Poll::Ready(Ok(chunk))
    }
}

impl http_body::Body for SendBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let piece = loop {
            if let Some(piece) = self.chunks.as_mut().and_then(Chunks::pop) {
                break piece;
            }
            let bytes = ready!(self.poll_body(cx))?;
            match &mut self.chunks {
                Some(chunks) => chunks.push(bytes),
                None => break bytes,
            }
        };
        self.sent += piece.len() as u64;
        let is_whole = self.sent == self.body.sent_len();
        self.progress.set(is_whole, false);
        if is_whole {
            self.body.taken.notify_one();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        let is_whole = self.sent == self.body.sent_len();
        if is_whole {
            self.progress.set(true, false);
        }
        is_whole
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.sent_len() - self.sent)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures_util::stream;
    use http_body_util::BodyExt;

    fn stream_of(chunks: &'static [&'static [u8]]) -> ByteStream {
        stream::iter(chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk)))).boxed()
    }

    async fn all(body: &Body) -> Result<Vec<u8>, BodyError> {
        Ok(body.begin().collect().await?.to_bytes().to_vec())
    }

    #[tokio::test]
    async fn a_body_begins_again_while_it_is_held() {
        let held = Body::stream(6, 6, stream_of(&[b"abc", b"def"]));
        for _ in 0..2 {
            assert!(held.can_begin());
            assert_eq!(all(&held).await.unwrap(), b"abcdef");
        }
        let large = Body::stream(6, 5, stream_of(&[b"abc", b"def"]));
        assert_eq!(all(&large).await.unwrap(), b"abcdef");
        assert!(!large.can_begin());
        let mut first = large.begin();
        assert!(first.frame().await.unwrap().is_err(), "what was let go is never sent in part");
    }

    #[tokio::test]
    async fn an_earlier_attempt_takes_nothing_from_a_later_one() {
        let body = Body::stream(6, 6, stream_of(&[b"abc", b"def"]));
        let mut earlier = body.begin();
        assert_eq!(earlier.frame().await.unwrap().unwrap().into_data().unwrap(), "abc");
        let later = body.begin();
        assert_eq!(earlier.frame().await.unwrap().unwrap_err(), BodyError::Superseded);
        assert_eq!(later.collect().await.unwrap().to_bytes(), "abcdef");
    }

    #[tokio::test]
    async fn a_wrong_length_is_an_error_and_never_a_whole_body() {
        for (length, got) in [(7, 6), (5, 6)] {
            let body = Body::stream(length, 100, stream_of(&[b"abc", b"def"]));
            assert_eq!(all(&body).await.unwrap_err(), BodyError::Length { announced: length, got });
            assert!(!body.can_begin() && body.error().is_some());
        }
        assert!(all(&Body::empty()).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn it_reports_the_bytes_it_gave() {
        let body = Body::stream(6, 0, stream_of(&[b"abc", b"def"]));
        let mut sending = body.begin();
        let progress = sending.progress();
        sending.frame().await.unwrap().unwrap();
        assert!(!progress.is_whole());
        sending.frame().await.unwrap().unwrap();
        assert!(progress.is_whole());
    }
}
