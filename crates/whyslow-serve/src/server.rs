//! [`Server`]: the page on 127.0.0.1.
//!
//! Everything that a client sends is limited before it is passed on: the number of connections
//! (`connection_limit`), the length of a head and the time it takes, access (`request_guard`),
//! the size and pace of an upload (`upload`), the time an answer takes to leave (`stall_guard`).
//! One thread serves all clients; a few others do the work.

mod answer;
mod connection_limit;
mod limits;
mod live_site;
mod site;
mod stall_guard;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod upload;

use crate::live::Live;
use crate::request_guard::RequestGuard;
use crate::{NoPage, Opening, page};
use connection_limit::{ConnectionLimit, ConnectionSlot};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use limits::{LIMITS, Limits};
use site::Site;
use stall_guard::StallGuard;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fmt, io};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::sync::{Notify, Semaphore};
use whyslow_io::{Reading, Scratch};

/// Jobs that run at once: graphs, comparisons, slices. The page asks for one at a time.
const WORKERS: usize = 4;
/// Additional threads for reading and writing files.
const FILE_THREADS: usize = 4;

/// How long running work may delay the end.
const LAST: Duration = Duration::from_millis(500);
/// Pause after a connection that could not be accepted for lack of memory or descriptors.
const PAUSE: Duration = Duration::from_millis(10);

/// Why the server cannot start.
#[derive(Debug)]
pub enum ServerError {
    /// The program was built without the page.
    NoPage(NoPage),
    /// The port is not available.
    Bind(u16, io::Error),
    /// The system provides no random numbers.
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
    /// Ends [`Server::run`], even before it starts.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Listens on a port; 0 is any free one. Files dropped on the page are saved in `scratch`.
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
            .max_blocking_threads(WORKERS + FILE_THREADS)
            .build()
            .map_err(unbound)?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port))).map_err(unbound)?;
        let port = listener.local_addr().map_err(unbound)?.port();
        let guard = RequestGuard::new(port).map_err(ServerError::Random)?;
        let work = Arc::new(Semaphore::new(WORKERS));
        let site =
            Arc::new(Site { guard, session: Arc::default(), live: OnceLock::new(), page, scratch, limits, work });
        Ok(Self { runtime, listener, site, stop: Arc::default() })
    }

    /// The page's address, secret included.
    pub fn url(&self) -> String {
        self.site.guard.url()
    }

    /// Starts to read captures; the page shows the progress.
    pub fn open(&self, opening: Opening) {
        self.site.session.open(opening);
    }

    /// Shows captures that were read.
    pub fn show(&self, opening: Opening, reading: Reading) {
        self.site.session.show(opening, reading);
    }

    /// Shows transfers of packets that do not end, from now on, and nothing else.
    pub fn follow(&self, live: Arc<Live>) {
        let _ = self.site.live.set(live);
    }

    /// A handle that ends [`run`](Self::run).
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Serves until it is [stopped](Stopper::stop).
    pub fn run(self) {
        let Self { runtime, listener, site, stop } = self;
        runtime.spawn(accept_connections(listener, site));
        runtime.block_on(stop.notified());
        // Clients are dropped at once; a reading for them may go on until the program ends.
        runtime.shutdown_timeout(LAST);
    }
}

async fn accept_connections(listener: TcpListener, site: Arc<Site>) {
    let limit = ConnectionLimit::new(site.limits.connections);
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let slot = limit.admit();
                let task = tokio::spawn(serve(stream, Arc::clone(&site), Arc::clone(&slot)));
                slot.set_task(task.abort_handle());
            }
            Err(_) => {
                limit.make_room();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves a connection's requests one after the other.
async fn serve(stream: TcpStream, site: Arc<Site>, slot: Arc<ConnectionSlot>) {
    let Limits { head, buffer, wait, answer, .. } = site.limits;
    let service = service_fn(|request| {
        let (site, slot) = (Arc::clone(&site), Arc::clone(&slot));
        async move { Ok::<_, Infallible>(site.answer(request, &slot).await) }
    });
    // The client may be gone.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(wait)
        .max_header_size(head)
        .max_buf_size(buffer)
        .half_close(true)
        .serve_connection(TokioIo::new(StallGuard::new(stream, answer)), service)
        .await;
}
