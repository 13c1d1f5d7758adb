//! [`Connection`]: an open connection, which takes a request at a time, and how it was opened.

use super::addresses::{Addresses, InUse};
use super::body::SendBody;
use super::error::PoolError;
use super::options::{Endpoint, Timeouts};
use super::tls::{self, TlsError};
use super::wire::{Wire, WireView};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;

/// If an address has not answered by then, the next one is tried as well (RFC 8305 section 5, for
/// longer paths).
const HEAD_START: Duration = Duration::from_millis(700);
/// A connection ends if no byte is acknowledged for this time (`TCP_USER_TIMEOUT`).
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// The times of opening it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    pub resolve: Duration,
    pub connect: Duration,
    pub tls: Duration,
}

/// The effect of bursts on its window.
#[derive(Debug, Default)]
pub(crate) struct Warmed {
    /// Bursts so far.
    pub bursts: AtomicU32,
    /// Whether another burst would not help.
    pub is_done: AtomicBool,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub id: u64,
    /// Ends before the sender is dropped: if a driver ends by itself, the server ended it.
    _driver: Driver,
    pub sender: http1::SendRequest<SendBody>,
    pub view: WireView,
    pub is_tls: bool,
    /// Requests served so far.
    pub requests: u64,
    /// Kept until the first request takes it.
    pub opening: Option<Opening>,
    pub warmed: Arc<Warmed>,
}

impl Connection {
    /// Whether it can take a request, as far as this side knows.
    pub(crate) fn is_usable(&self) -> bool {
        !self.sender.is_closed() && self.view.is_quiet(self.is_tls)
    }
}

/// State that all connections of a pool share.
pub(crate) struct Opener<'a> {
    pub endpoint: &'a Endpoint,
    pub addresses: &'a Addresses,
    pub timeouts: &'a Timeouts,
    pub tls: Option<&'a Arc<ClientConfig>>,
    pub is_bbr_wanted: bool,
}

impl Opener<'_> {
    /// Opens a connection. `ended` is called when its socket is closed, by either side.
    pub(crate) async fn open<F>(&self, id: u64, ended: F) -> Result<Connection, PoolError>
    where
        F: FnOnce(&WireView) + Send + 'static,
    {
        let began = Instant::now();
        let addresses = self.addresses.in_order().await?;
        let resolve = began.elapsed();
        let (stream, address) = self.connect(&addresses).await?;
        let in_use = self.addresses.connected(address);
        let connect = began.elapsed() - resolve;
        let is_bbr = choose_bbr(&stream, self.is_bbr_wanted);
        let wire = Wire::new(stream, is_bbr);
        let view = wire.view();
        let (sender, tls) = match self.tls {
            None => (speak(wire, view.clone(), in_use, ended).await, Duration::ZERO),
            Some(config) => {
                let before = Instant::now();
                let secured = self.secure(config, wire).await;
                let wire = secured.map_err(|why| PoolError::Tls { endpoint: self.endpoint.to_string(), why })?;
                let took = before.elapsed();
                (speak(wire, view.clone(), in_use, ended).await, took)
            }
        };
        let (sender, driver) = sender.map_err(|error| self.not_connected(error.to_string()))?;
        view.end();
        let opening = Some(Opening { resolve, connect, tls });
        let is_tls = self.tls.is_some();
        Ok(Connection { id, sender, _driver: driver, view, is_tls, requests: 0, opening, warmed: Arc::default() })
    }

    /// Tries the addresses in turn; if one is slow, the next is tried at the same time.
    async fn connect(&self, addresses: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), PoolError> {
        let mut waiting = addresses.iter().copied();
        let mut running = FuturesUnordered::new();
        let mut failures = Vec::new();
        loop {
            if let Some(address) = waiting.next() {
                running.push(async move { (address, self.connect_one(address).await) });
            }
            let ended = tokio::select! {
                ended = running.next() => ended,
                () = tokio::time::sleep(HEAD_START), if waiting.len() > 0 => continue,
            };
            match ended {
                Some((address, Ok(stream))) => return Ok((stream, address)),
                Some((address, Err(error))) => {
                    self.addresses.failed(address);
                    failures.push(format!("{address}: {error}"));
                }
                None if waiting.len() == 0 => return Err(self.not_connected(failures.join("; "))),
                None => {}
            }
        }
    }

    async fn connect_one(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
        let connecting = TcpSocket::from_std_stream(socket.into()).connect(address);
        let connected = tokio::time::timeout(self.timeouts.connect, connecting).await;
        let late = || io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {:?}", self.timeouts.connect));
        connected.map_err(|_| late())?
    }

    async fn secure(
        &self,
        config: &Arc<ClientConfig>,
        wire: Wire,
    ) -> Result<tokio_rustls::client::TlsStream<Wire>, TlsError> {
        let name = tls::server_name(&self.endpoint.host)?;
        let handshake = TlsConnector::from(Arc::clone(config)).connect(name, wire);
        let ended = tokio::time::timeout(self.timeouts.tls, handshake).await;
        let ended = ended.map_err(|_| TlsError::TimedOut(self.timeouts.tls))?;
        ended.map_err(|error| TlsError::Handshake(error.to_string()))
    }

    fn not_connected(&self, why: String) -> PoolError {
        PoolError::Connect { endpoint: self.endpoint.to_string(), why }
    }
}

/// Chooses BBR, if requested; returns whether the connection has it. Only Linux has a choice.
#[cfg(target_os = "linux")]
fn choose_bbr(stream: &TcpStream, is_wanted: bool) -> bool {
    let socket = socket2::SockRef::from(stream);
    if is_wanted {
        // Set now, since a route may name its own (`congctl`) when the connection is made. If it is
        // not permitted, the system's own choice remains.
        let _ = socket.set_tcp_congestion(b"bbr");
    }
    socket.tcp_congestion().unwrap_or_default().starts_with(b"bbr")
}

#[cfg(not(target_os = "linux"))]
fn choose_bbr(_: &TcpStream, _: bool) -> bool {
    false
}

/// Begins HTTP. The driver owns the socket and closes it. It reads while the connection is idle, so
/// that it notices a FIN at once.
async fn speak<S, F>(stream: S, view: WireView, in_use: InUse, ended: F) -> hyper::Result<Speaking>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: FnOnce(&WireView) + Send + 'static,
{
    let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
    let at_end = AtEnd { view, in_use: Some(in_use), ended: Some(ended) };
    let task = tokio::spawn(async move {
        // It outlives the socket, also if the task is ended from outside.
        let at_end = at_end;
        let _ = driver.await;
        at_end.view.note_closed();
    });
    Ok((sender, Driver(task.abort_handle())))
}

type Speaking = (http1::SendRequest<SendBody>, Driver);

/// Ends with its connection. Otherwise a driver whose request was dropped would continue to write
/// for as long as the server does not read.
#[derive(Debug)]
pub(crate) struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The action when a socket is closed.
struct AtEnd<F: FnOnce(&WireView)> {
    view: WireView,
    in_use: Option<InUse>,
    ended: Option<F>,
}

impl<F: FnOnce(&WireView)> Drop for AtEnd<F> {
    fn drop(&mut self) {
        drop(self.in_use.take());
        if let Some(ended) = self.ended.take() {
            ended(&self.view);
        }
    }
}
