//! [`Wire`]: a client's socket. A client that does not read the answer is cut. If it still sends
//! when the connection closes, its bytes are read for a moment, so that no reset overtakes the
//! answer.

use super::options::Limits;
use super::pace::Pace;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use whyslow_tcpinfo::tcp_info;

/// Time and bytes for which a closing connection is still read.
const LINGER: (Duration, u64) = (Duration::from_secs(2), 1 << 20);

/// A client's connection.
pub(super) struct Wire {
    stream: TcpStream,
    pace: Pace,
    /// Acknowledged bytes when the waiting began.
    acked: Option<u64>,
    /// Whether the client has not sent all of its request.
    unread: Arc<AtomicBool>,
    closing: Option<(Pin<Box<Sleep>>, u64)>,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, limits: &Limits, unread: Arc<AtomicBool>) -> Self {
        Self { stream, pace: Pace::new(limits), acked: None, unread, closing: None }
    }

    fn acked(&self) -> Option<u64> {
        tcp_info::of(&self.stream)?.bytes_acked
    }

    /// Limits the wait of a write. Bytes count when the client has taken them: a large buffer
    /// rarely has room.
    fn watch<T>(&mut self, cx: &mut Context<'_>, found: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if found.is_ready() {
            self.pace.moved(0);
            return found;
        }
        if self.acked.is_none() {
            self.acked = self.acked();
        }
        while self.pace.poll_wait(cx).is_ready() {
            let now = self.acked();
            let taken = now.zip(self.acked).map(|(now, before)| now.saturating_sub(before));
            // If the kernel does not report it, the client is not cut.
            if taken.is_some_and(|taken| !self.pace.is_enough(taken)) {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client does not read the answer",
                )));
            }
            self.acked = now;
            self.pace.restart();
        }
        Poll::Pending
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let found = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, found)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let found = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watch(cx, found)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let found = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, found)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            if !this.unread.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let (sleep, left) = this.closing.get_or_insert_with(|| (Box::pin(sleep(LINGER.0)), LINGER.1));
        let mut bytes = [0; 16 << 10];
        loop {
            if *left == 0 || sleep.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut this.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => *left = left.saturating_sub(buffer.filled().len() as u64),
                // The body has ended, or the client has left.
                Ok(()) | Err(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}
