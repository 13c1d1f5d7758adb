//! [`StallGuard`]: closes a connection whose client has read nothing for too long.
//!
//! The time that a request may take is limited where it is read; this limits the time that an
//! answer may take.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream whose writes fail with [`ErrorKind::TimedOut`] after this time without progress.
#[derive(Debug)]
pub(crate) struct StallGuard<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write makes no progress.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> StallGuard<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, stalled: None }
    }

    fn wait<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        stalled.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wait(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.wait(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(cx);
        self.wait(cx, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.wait(cx, done)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::future::poll_fn;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_stalled_client_is_dropped_and_a_reading_one_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for reads in [false, true] {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let mut other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                let stream = listener.accept().unwrap().0;
                stream.set_nonblocking(true).unwrap();
                let stream = tokio::net::TcpStream::from_std(stream).unwrap();
                let mut patient = StallGuard::new(stream, Duration::from_millis(if reads { 60_000 } else { 50 }));
                let reader = std::thread::spawn(move || {
                    if reads { drop(other.read_to_end(&mut Vec::new())) } else { std::thread::park() }
                });
                let mut left = 50_000_000_usize;
                let block = vec![0; 100_000];
                let end = loop {
                    match poll_fn(|cx| Pin::new(&mut patient).poll_write(cx, &block)).await {
                        Ok(written) if written < left => left -= written,
                        Ok(_) => break None,
                        Err(error) => break Some(error.kind()),
                    }
                };
                // No kernel buffers as much.
                assert_eq!(end, (!reads).then_some(ErrorKind::TimedOut));
                drop(patient);
                reader.thread().unpark();
                reader.join().unwrap();
            }
        });
    }
}
