//! [`Server`]: the page on 127.0.0.1.
//!
//! Everything that a client sends has a limit before it is handed on: how many connect (`crowd`),
//! how long a head is and how long it takes, who may ask (`gate`), how long a file is and how
//! slowly it may come (`upload`), how long an answer may take to leave (`patient`). One thread
//! waits for all clients at once; work is done on a few others.

mod answer;
mod connection_limit;
mod site;
mod stall_guard;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod upload;

use crate::request_guard::RequestGuard;
use crate::{NoPage, Opening, page};
use connection_limit::{ConnectionLimit, Seat};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use site::Site;
use stall_guard::StallGuard;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::sync::{Notify, Semaphore};
use whyslow_io::{Reading, Scratch};

/// What takes long and is done at once: graphs, comparisons and slices. The page asks for one thing
/// at a time.
const WORKERS: usize = 4;
/// Threads beside them that read and write pieces of files.
const CLERKS: usize = 4;

/// What clients may do, and for how long.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Connections: a browser makes six, and many tabs are tens.
    connections: usize,
    /// Bytes of a request's head: room for a file's name, which has a few hundred.
    head: usize,
    /// Bytes of a connection that are in memory at once.
    buffer: usize,
    /// From the end of one request to the end of the next one's head.
    wait: Duration,
    /// For some of a file to come.
    upload: Duration,
    /// For some of an answer to leave: a browser's user may halt a download.
    answer: Duration,
}

const LIMITS: Limits = Limits {
    connections: 256,
    head: 16 << 10,
    buffer: 128 << 10,
    wait: Duration::from_secs(30),
    upload: Duration::from_secs(30),
    answer: Duration::from_secs(300),
};

/// How long what is under way may hold up the end.
const LAST: Duration = Duration::from_millis(500);
/// After a connection that could not be had, for lack of memory or descriptors.
const PAUSE: Duration = Duration::from_millis(10);

/// Why there is no server.
#[derive(Debug)]
pub enum ServerError {
    /// The program was built without the page.
    NoPage(NoPage),
    /// The port cannot be had.
    Bind(u16, io::Error),
    /// The system gives no random numbers.
    Random(getrandom::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPage(error) => error.fmt(f),
            Self::Bind(port, error) => write!(f, "cannot listen on 127.0.0.1, port {port}: {error}"),
            Self::Random(error) => write!(f, "the system gives no random numbers: {error}"),
        }
    }
}

impl std::error::Error for ServerError {}

/// The page on 127.0.0.1.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    site: Arc<Site>,
    stop: Arc<Notify>,
}

/// Ends a [`Server`], from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Ends [`Server::run`], be it before it begins.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Listens; port 0 is any free one. What is dropped on the page is kept in `scratch`.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn bind(port: u16, scratch: Scratch) -> Result<Self, ServerError> {
        Self::with(port, scratch, page().map_err(ServerError::NoPage)?, LIMITS)
    }

    fn with(port: u16, scratch: Scratch, page: &'static str, limits: Limits) -> Result<Self, ServerError> {
        let unbound = |error| ServerError::Bind(port, error);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WORKERS + CLERKS)
            .build()
            .map_err(unbound)?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port))).map_err(unbound)?;
        let port = listener.local_addr().map_err(unbound)?.port();
        let gate = RequestGuard::new(port).map_err(ServerError::Random)?;
        let work = Arc::new(Semaphore::new(WORKERS));
        let site = Arc::new(Site { gate, desk: Arc::default(), page, scratch, limits, work });
        Ok(Self { runtime, listener, site, stop: Arc::default() })
    }

    /// The page's address, secret included.
    pub fn url(&self) -> String {
        self.site.gate.url()
    }

    /// Begins to read captures; the page shows how far it has come.
    pub fn open(&self, opening: Opening) {
        self.site.desk.open(opening);
    }

    /// Shows captures that were read.
    pub fn show(&self, opening: Opening, reading: Reading) {
        self.site.desk.show(opening, reading);
    }

    /// What ends [`run`](Self::run).
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Answers until it is [stopped](Stopper::stop).
    pub fn run(self) {
        let Self { runtime, listener, site, stop } = self;
        runtime.spawn(welcome(listener, site));
        runtime.block_on(stop.notified());
        // Clients are left at once; what is read for them may go on until the program ends.
        runtime.shutdown_timeout(LAST);
    }
}

async fn welcome(listener: TcpListener, site: Arc<Site>) {
    let crowd = ConnectionLimit::new(site.limits.connections);
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let seat = crowd.enter();
                let task = tokio::spawn(serve(stream, Arc::clone(&site), Arc::clone(&seat)));
                seat.is_served_by(task.abort_handle());
            }
            Err(_) => {
                crowd.make_room();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Answers a connection's requests, one after the other.
async fn serve(stream: TcpStream, site: Arc<Site>, seat: Arc<Seat>) {
    let Limits { head, buffer, wait, answer, .. } = site.limits;
    let service = service_fn(|request| {
        let (site, seat) = (Arc::clone(&site), Arc::clone(&seat));
        async move { Ok::<_, Infallible>(site.answer(request, &seat).await) }
    });
    // Whoever asked may be gone.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(wait)
        .max_header_size(head)
        .max_buf_size(buffer)
        .half_close(true)
        .serve_connection(TokioIo::new(StallGuard::new(stream, answer)), service)
        .await;
}
