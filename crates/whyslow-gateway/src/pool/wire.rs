//! [`Wire`]: the socket below TLS. It counts its bytes and notes its end.
//!
//! A write to a reset connection is not an error here: an unread answer may have the reason for the
//! reset. The bytes are dropped, and the next read returns the end.

use super::account::{Account, Stage};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use whyslow_tcpinfo::tcp_info::{self, TcpInfo};

/// Time between two samples of `TCP_INFO` while a body is sent.
const SAMPLE_EVERY: Duration = Duration::from_millis(5);

/// The state of the wire.
#[derive(Debug)]
struct State {
    written: u64,
    read: u64,
    /// Time of the last movement of a request or its answer.
    active: Instant,
    last_write: Instant,
    first_read: Option<Instant>,
    is_in_use: bool,
    /// Whether written bytes can no longer arrive.
    is_deaf: bool,
    /// Its idle time when the server closed it.
    closed_after: Option<Duration>,
    account: Option<Account>,
    /// Maximum rate, bytes a second.
    pace: Option<u64>,
}

/// A socket's state, for holders of no socket.
#[derive(Clone, Debug)]
pub(crate) struct WireView {
    state: Arc<Mutex<State>>,
    /// The socket closes when the wire is dropped, even if there are views.
    socket: Weak<TcpStream>,
    is_bbr: bool,
}

impl WireView {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel's account of the connection; `None` after it is closed.
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        tcp_info::of(&*self.socket.upgrade()?)
    }

    pub(crate) fn is_bbr(&self) -> bool {
        self.is_bbr
    }

    /// Begins a transfer; returns the bytes written and read so far.
    pub(crate) fn begin(&self) -> (u64, u64) {
        let info = self.tcp_info();
        let mut state = self.lock();
        let now = Instant::now();
        state.is_in_use = true;
        state.active = now;
        state.first_read = None;
        state.account = Some(Account::begin(now, info, self.is_bbr));
        (state.written, state.read)
    }

    /// Spaces the bytes so that they are sent no faster than `rate` bytes a second; `None` lifts
    /// the limit.
    pub(crate) fn limit_pacing(&self, rate: Option<u64>) {
        let mut state = self.lock();
        if state.pace == rate {
            return;
        }
        state.pace = rate;
        drop(state);
        if let Some(socket) = self.socket.upgrade() {
            limit_pacing(&socket, rate);
        }
    }

    /// Accounts for the time until now.
    pub(crate) fn sample(&self, stage: Stage) {
        let info = self.tcp_info();
        if let Some(account) = &mut self.lock().account {
            account.sample(Instant::now(), info, stage);
        }
    }

    /// Ends the transfer; returns its account.
    pub(crate) fn end(&self) -> Option<Account> {
        let mut state = self.lock();
        state.is_in_use = false;
        state.account.take()
    }

    /// Bytes written and read since the connection began.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.lock();
        (state.written, state.read)
    }

    /// Bytes that arrived: acknowledged by the peer, or received. If the kernel does not report
    /// them, those that it took.
    pub(crate) fn moved(&self) -> u64 {
        let told = self.tcp_info().and_then(|info| Some(info.bytes_acked? + info.bytes_received?));
        let (written, read) = self.counts();
        told.unwrap_or(written + read)
    }

    /// Time when the kernel took the last byte, and time of the answer's first byte.
    pub(crate) fn times(&self) -> (Instant, Option<Instant>) {
        let state = self.lock();
        (state.last_write, state.first_read)
    }

    /// Time without movement.
    pub(crate) fn idle_for(&self) -> Duration {
        self.lock().active.elapsed()
    }

    /// Notes that the peer reads no more, and that this side did not end it.
    pub(crate) fn note_closed(&self) {
        let mut state = self.lock();
        if !state.is_in_use && state.closed_after.is_none() {
            state.closed_after = Some(state.active.elapsed());
        }
    }

    /// The idle time after which the server closed it; `None` if it did not.
    pub(crate) fn closed_after(&self) -> Option<Duration> {
        self.lock().closed_after
    }

    /// Whether the kernel expects that the connection can carry another request: an idle one has
    /// nothing to read. TLS may have tickets there, which the driver reads.
    pub(crate) fn is_quiet(&self, is_tls: bool) -> bool {
        let Some(socket) = self.socket.upgrade() else { return false };
        if self.lock().is_deaf {
            return false;
        }
        let mut byte = [std::mem::MaybeUninit::uninit()];
        match socket2::SockRef::from(&*socket).peek(&mut byte) {
            Ok(0) => false,
            Ok(_) => is_tls,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }
}

#[cfg(target_os = "linux")]
fn limit_pacing(socket: &TcpStream, rate: Option<u64>) {
    use std::os::fd::AsFd;
    // A kernel without pacing sends without it.
    let _ = whyslow_tcpinfo::pacing::limit_pacing(socket.as_fd(), rate);
}

#[cfg(not(target_os = "linux"))]
fn limit_pacing(_: &TcpStream, _: Option<u64>) {}

/// The stream for TLS or hyper.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: Arc<TcpStream>,
    view: WireView,
}

impl Wire {
    pub(crate) fn new(socket: TcpStream, is_bbr: bool) -> Self {
        let socket = Arc::new(socket);
        let now = Instant::now();
        let state = State {
            written: 0,
            read: 0,
            active: now,
            last_write: now,
            first_read: None,
            is_in_use: true,
            is_deaf: false,
            closed_after: None,
            account: None,
            pace: None,
        };
        let view = WireView { state: Arc::new(Mutex::new(state)), socket: Arc::downgrade(&socket), is_bbr };
        Self { socket, view }
    }

    pub(crate) fn view(&self) -> WireView {
        self.view.clone()
    }

    fn note_read(&self, result: &io::Result<usize>) {
        let mut state = self.view.lock();
        let now = Instant::now();
        match result {
            Ok(read) if *read > 0 => {
                state.read += *read as u64;
                state.first_read.get_or_insert(now);
                // In idle time only tickets and alerts of TLS arrive.
                if state.is_in_use {
                    state.active = now;
                }
            }
            _ => state.is_deaf = true,
        }
    }

    /// The result of a write: bytes that the kernel took, or the end of the socket.
    fn note_written(&self, result: io::Result<usize>, offered: usize) -> io::Result<usize> {
        let mut state = self.view.lock();
        let now = Instant::now();
        match result {
            Ok(taken) => {
                state.written += taken as u64;
                state.last_write = now;
                if state.is_in_use {
                    state.active = now;
                }
                let is_due = |account: &Account| now.duration_since(account.sampled()) >= SAMPLE_EVERY;
                if state.account.as_ref().is_some_and(is_due) {
                    let info = tcp_info::of(&self.socket);
                    if let Some(account) = &mut state.account {
                        account.sample(now, info, Stage::Sending { is_starved: false });
                    }
                }
                Ok(taken)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                state.is_deaf = true;
                Ok(offered)
            }
            Err(error) => Err(error),
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.poll_read_ready(cx))?;
            match self.socket.try_read_buf(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => {
                    self.note_read(&result);
                    return Poll::Ready(result.map(|_| ()));
                }
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.socket.poll_write_ready(cx))?;
            match self.socket.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(self.note_written(result, bytes.len())),
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let offered = slices.iter().map(|slice| slice.len()).sum();
        loop {
            ready!(self.socket.poll_write_ready(cx))?;
            match self.socket.try_write_vectored(slices) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(self.note_written(result, offered)),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(match socket2::SockRef::from(&*self.socket).shutdown(std::net::Shutdown::Write) {
            Err(error) if error.kind() != io::ErrorKind::NotConnected => Err(error),
            _ => Ok(()),
        })
    }
}
