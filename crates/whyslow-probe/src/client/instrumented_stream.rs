//! [`InstrumentedStream`]: what hyper reads and writes, read along by a [`ResponseDetector`].

use crate::client::response_detector::ResponseDetector;
use crate::client::timed_socket::{Arrival, SharedLedger, TimedSocket};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

/// Reads in a row before others get their turn. HTTP reads for as long as there is something, and a
/// server that sends a byte a record, or a frame of one byte after the other, always has something:
/// without this no timer would be looked at.
const READS: u32 = 16;

/// The bytes below HTTP.
#[derive(Debug)]
pub(crate) enum Below {
    Plain(TimedSocket),
    Tls(Box<TlsStream<TimedSocket>>),
}

/// Observations of the running request.
#[derive(Debug)]
pub(crate) struct RequestProgress {
    spotter: ResponseDetector,
    /// When the kernel had taken all of the request, and how many bytes it had taken since the
    /// connection began.
    written: Option<(Instant, u64)>,
}

/// Shared by the connection and its readers.
#[derive(Clone, Debug)]
pub(crate) struct SharedProgress(Arc<Mutex<RequestProgress>>);

impl SharedProgress {
    pub(crate) fn new(spotter: ResponseDetector) -> Self {
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

    /// The time of the answer's beginning.
    pub(crate) fn answer(&self) -> Option<Arrival> {
        self.lock().spotter.answer()
    }

    /// Bytes of the request's body that were written.
    pub(crate) fn body_written(&self) -> u64 {
        self.lock().spotter.body_written()
    }

    /// The bytes of its head.
    pub(crate) fn head_bytes(&self) -> u64 {
        self.lock().spotter.head_bytes()
    }
}

/// A connection that is read along.
#[derive(Debug)]
pub(crate) struct InstrumentedStream {
    below: Below,
    ledger: SharedLedger,
    seen: SharedProgress,
    /// Reads in a row.
    reads: u32,
}

impl InstrumentedStream {
    pub(crate) fn new(below: Below, ledger: SharedLedger, seen: SharedProgress) -> Self {
        Self { below, ledger, seen, reads: 0 }
    }

    fn below(&mut self) -> Pin<&mut (dyn Both + '_)> {
        match &mut self.below {
            Below::Plain(wire) => Pin::new(wire),
            Below::Tls(tls) => Pin::new(tls.as_mut()),
        }
    }

    /// Bytes handed down have left when the whole request has.
    fn note_written(&self) {
        let mut seen = self.seen.lock();
        if seen.written.is_none() && seen.spotter.request_is_written() {
            seen.written = Some((Instant::now(), self.ledger.written()));
        }
    }
}

trait Both: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Both for T {}

impl AsyncRead for InstrumentedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.reads == READS {
            self.reads = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = self.below().poll_read(cx, buffer);
        self.reads = if read.is_pending() { 0 } else { self.reads + 1 };
        ready!(read)?;
        if let Some(arrival) = self.ledger.record() {
            let mut seen = self.seen.lock();
            seen.spotter.read(&buffer.filled()[before..], arrival);
            if let Some(why) = seen.spotter.excess() {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for InstrumentedStream {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::future::poll_fn;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    #[test]
    fn a_reader_lets_others_have_their_turn_while_there_is_more() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            server.write_all(&[b'a'; 1_000]).await.unwrap();
            client.readable().await.unwrap();
            let wire = TimedSocket::new(client);
            let (ledger, seen) = (wire.ledger(), SharedProgress::new(ResponseDetector::http1()));
            let mut watched = InstrumentedStream::new(Below::Plain(wire), ledger, seen);
            let mut runs = Vec::new();
            while runs.iter().sum::<u32>() < 100 {
                let run = poll_fn(|cx| {
                    let mut run = 0;
                    let mut byte = [0];
                    while Pin::new(&mut watched).poll_read(cx, &mut ReadBuf::new(&mut byte)).is_ready() {
                        run += 1;
                    }
                    Poll::Ready(run)
                });
                runs.push(run.await);
                tokio::task::yield_now().await;
            }
            assert!(runs.iter().all(|run| *run <= READS) && runs.contains(&READS), "{runs:?}");
        });
    }
}
