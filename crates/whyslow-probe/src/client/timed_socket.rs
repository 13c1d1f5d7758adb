//! [`TimedSocket`]: a TCP connection that remembers when its bytes came.
//!
//! Under TLS it hands them over one record at a time and never more: a reader of plaintext above it
//! then knows that it came in the last record, and when the first and the last byte of that record
//! arrived. Without TLS the bytes of one read count as a record.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Bytes that are fetched from the kernel at once.
const FETCH: usize = 64 << 10;
/// The header of a TLS record (RFC 8446 section 5.1).
const HEADER: usize = 5;

/// When the record came that was handed over last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Its first byte.
    pub first: Instant,
    /// Its last byte: before it nothing of it can be read.
    pub last: Instant,
    /// Its length, header included.
    pub bytes: u64,
}

/// Data of both ends of the stack on a connection's bytes.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    record: Option<Arrival>,
    /// Bytes taken by the kernel.
    written: u64,
    /// Bytes got from it.
    read: u64,
}

/// Shared by the connection and its readers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedLedger(Arc<Mutex<Ledger>>);

impl SharedLedger {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the last record came that was handed over.
    pub(crate) fn record(&self) -> Option<Arrival> {
        self.lock().record
    }

    /// Bytes that the kernel has taken.
    pub(crate) fn written(&self) -> u64 {
        self.lock().written
    }

    /// Bytes that the kernel has given.
    pub(crate) fn read(&self) -> u64 {
        self.lock().read
    }
}

/// The record that is being handed over.
#[derive(Debug, Default)]
struct Record {
    header: [u8; HEADER],
    /// Bytes of it handed over.
    done: usize,
    first: Option<Instant>,
}

impl Record {
    /// How many bytes of it are to come, as far as is known.
    fn left(&self) -> usize {
        if self.done < HEADER { HEADER - self.done } else { self.total() - self.done }
    }

    fn total(&self) -> usize {
        HEADER + usize::from(u16::from_be_bytes([self.header[3], self.header[4]]))
    }
}

/// A connection under observation.
#[derive(Debug)]
pub(crate) struct TimedSocket {
    stream: TcpStream,
    ledger: SharedLedger,
    tls: bool,
    record: Record,
    fetched: VecDeque<u8>,
    /// When bytes were fetched: up to which one of `fetched`, oldest first.
    times: VecDeque<(usize, Instant)>,
}

impl TimedSocket {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            ledger: SharedLedger::default(),
            tls: false,
            record: Record::default(),
            fetched: VecDeque::new(),
            times: VecDeque::new(),
        }
    }

    pub(crate) fn ledger(&self) -> SharedLedger {
        self.ledger.clone()
    }

    /// From now on it carries TLS records.
    pub(crate) fn begin_tls(&mut self) {
        self.tls = true;
    }

    /// Gets what the kernel has. Returns whether there is anything.
    fn fetch(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut space = [0; FETCH];
        let mut buffer = ReadBuf::new(&mut space);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
        let now = Instant::now();
        let got = buffer.filled();
        self.fetched.extend(got);
        self.times.push_back((self.fetched.len(), now));
        self.ledger.lock().read += got.len() as u64;
        Poll::Ready(Ok(!got.is_empty()))
    }

    /// Hands over bytes of one record.
    fn hand_over(&mut self, buffer: &mut ReadBuf<'_>) {
        let most = buffer.remaining().min(self.fetched.len()).min(self.record.left());
        let bytes: Vec<u8> = self.fetched.drain(..most).collect();
        let first = self.times.front().map(|(_, at)| *at);
        let last = self.times.iter().find(|(end, _)| *end >= most).map(|(_, at)| *at);
        for (end, _) in &mut self.times {
            *end = end.saturating_sub(most);
        }
        while self.times.front().is_some_and(|(end, _)| *end == 0) {
            self.times.pop_front();
        }
        for (place, byte) in self.record.header.iter_mut().skip(self.record.done).zip(&bytes) {
            *place = *byte;
        }
        self.record.first = self.record.first.or(first);
        self.record.done += most;
        buffer.put_slice(&bytes);
        if self.record.done >= HEADER
            && self.record.left() == 0
            && let (Some(first), Some(last)) = (self.record.first, last)
        {
            self.ledger.lock().record = Some(Arrival { first, last, bytes: self.record.done as u64 });
            self.record = Record::default();
        }
    }
}

impl AsyncRead for TimedSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.tls {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
            let (now, bytes) = (Instant::now(), (buffer.filled().len() - before) as u64);
            let mut ledger = self.ledger.lock();
            ledger.read += bytes;
            ledger.record = Some(Arrival { first: now, last: now, bytes });
            return Poll::Ready(Ok(()));
        }
        if self.fetched.is_empty() && !ready!(self.fetch(cx))? {
            return Poll::Ready(Ok(()));
        }
        self.hand_over(buffer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TimedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let taken = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.ledger.lock().written += taken as u64;
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let taken = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bytes))?;
        self.ledger.lock().written += taken as u64;
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
