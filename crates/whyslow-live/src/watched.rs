//! [`Watched`]: what hyper reads and writes, read along by a [`Spotter`].

use crate::spot::Spotter;
use crate::wire::{Arrival, SharedLedger, Wire};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

/// The bytes below HTTP.
#[derive(Debug)]
pub(crate) enum Below {
    Plain(Wire),
    Tls(Box<TlsStream<Wire>>),
}

/// What was seen of the request that is under way.
#[derive(Debug)]
pub(crate) struct RequestProgress {
    spotter: Spotter,
    /// When the kernel had taken all of the request, and how many bytes it had taken since the
    /// connection began.
    written: Option<(Instant, u64)>,
}

/// Shared by the connection and whoever asks about it.
#[derive(Clone, Debug)]
pub(crate) struct SharedProgress(Arc<Mutex<RequestProgress>>);

impl SharedProgress {
    pub(crate) fn new(spotter: Spotter) -> Self {
        Self(Arc::new(Mutex::new(RequestProgress { spotter, written: None })))
    }

    fn lock(&self) -> MutexGuard<'_, RequestProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request begins.
    pub(crate) fn begin(&self, body: u64) {
        let mut seen = self.lock();
        seen.spotter.begin(body);
        seen.written = None;
    }

    /// When all of the request was written, and up to which byte of the connection.
    pub(crate) fn written(&self) -> Option<(Instant, u64)> {
        self.lock().written
    }

    /// Where the answer began.
    pub(crate) fn answer(&self) -> Option<Arrival> {
        self.lock().spotter.answer()
    }

    /// The bytes of its head.
    pub(crate) fn head_bytes(&self) -> u64 {
        self.lock().spotter.head_bytes()
    }
}

/// A connection that is read along.
#[derive(Debug)]
pub(crate) struct Watched {
    below: Below,
    ledger: SharedLedger,
    seen: SharedProgress,
}

impl Watched {
    pub(crate) fn new(below: Below, ledger: SharedLedger, seen: SharedProgress) -> Self {
        Self { below, ledger, seen }
    }

    fn below(&mut self) -> Pin<&mut (dyn Both + '_)> {
        match &mut self.below {
            Below::Plain(wire) => Pin::new(wire),
            Below::Tls(tls) => Pin::new(tls.as_mut()),
        }
    }

    /// What was handed down has left, when all of the request was.
    fn note_written(&self) {
        let mut seen = self.seen.lock();
        if seen.written.is_none() && seen.spotter.request_is_written() {
            seen.written = Some((Instant::now(), self.ledger.written()));
        }
    }
}

trait Both: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Both for T {}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(self.below().poll_read(cx, buffer))?;
        if let Some(arrival) = self.ledger.record() {
            let mut seen = self.seen.lock();
            seen.spotter.read(&buffer.filled()[before..], arrival);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let taken = ready!(self.below().poll_write(cx, bytes))?;
        self.seen.lock().spotter.wrote(bytes.get(..taken).unwrap_or_default());
        let is_through = match &self.below {
            Below::Plain(_) => true,
            Below::Tls(tls) => !tls.get_ref().1.wants_write(),
        };
        if is_through {
            self.note_written();
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.below().poll_flush(cx))?;
        self.note_written();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.below().poll_shutdown(cx)
    }
}
