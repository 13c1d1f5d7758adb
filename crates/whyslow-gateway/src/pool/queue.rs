//! [`Pool`]: a request gets a connection in its turn, and another one if that one is closed.

use super::answer::{Answer, Purpose};
use super::body::Body;
use super::counters::Counts;
use super::error::{PoolError, Sent};
use super::exchange::exchange;
use super::options::{Endpoint, PoolOptions};
use super::rights::{Rights, WindowKeeping};
use super::shared::Shared;
use super::tls::{self, TlsError};
use super::transfer::Transfer;
use super::warm;
use super::warm_requests::WarmRequests;
use http::Request;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of attempts of a request when idle connections are closed.
const ATTEMPTS: u32 = 3;

/// Whether a request may reach the server twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// Twice has the same effect as once.
    Idempotent,
    /// It is sent again only if the server cannot have acted on it.
    Once,
}

/// Connections to one server. Clones are the same pool; dropping the last one closes its
/// connections.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

impl Pool {
    /// Makes a pool, which opens nothing before the first request, or [`Pool::keep_warm`]. It must
    /// be made inside a tokio runtime.
    ///
    /// # Errors
    /// If no certificate authority can be read.
    pub fn new(endpoint: Endpoint, options: PoolOptions) -> Result<Self, TlsError> {
        let tls = endpoint.is_tls.then(|| tls::config(&options.trust)).transpose()?;
        let shared = Arc::new(Shared::new(endpoint, options, tls));
        warm::retire_in_time(&shared);
        Ok(Self { shared })
    }

    /// Keeps connections open and their windows wide from now on, with these requests.
    pub fn keep_warm(&self, requests: Arc<dyn WarmRequests>) {
        warm::keep(&self.shared, requests);
    }

    /// Announces an upload of about `size_hint` bytes: opens a connection if none is free and, if
    /// windows decay, begins to open one. Returns at once.
    pub fn expect_upload(&self, size_hint: u64) {
        warm::expect_upload(&self.shared, size_hint);
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// If the server is closing the connection, the request goes to another one, with the same
    /// bytes, if `safety`, the body and the bytes sent until then allow it.
    ///
    /// # Errors
    /// If there is no answer. [`PoolError::sent`] has the bytes that can have arrived.
    pub async fn send(&self, request: Request<()>, body: &Body, safety: Safety) -> Result<Answer, PoolError> {
        let began = Instant::now();
        let mut attempt = 1;
        loop {
            let lease = self.shared.lease(body.len(), attempt > 1).await?;
            let result = exchange(lease, request.clone(), body, began.elapsed(), Purpose::Request).await;
            let Err(error) = result else { return result };
            let is_safe = error.sent() != Sent::All || safety == Safety::Idempotent;
            if !(error.is_stale_connection() && is_safe && body.can_begin() && attempt < ATTEMPTS) {
                return Err(error);
            }
            attempt += 1;
            self.shared.counters.count(|counts| counts.replayed += 1);
        }
    }

    /// The server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// The rights of this process on its windows.
    pub fn rights(&self) -> &Rights {
        &self.shared.rights
    }

    /// How idle connections keep their windows.
    pub fn keeping(&self) -> WindowKeeping {
        self.shared.keeping
    }

    /// Whether the server closed a connection with its answer in the last ten minutes, so that none
    /// is kept warm.
    pub fn closes_after_answers(&self) -> bool {
        self.shared.closes_after_answers()
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.shared.counters.counts()
    }

    /// The last transfers, oldest first.
    pub fn recent(&self) -> Vec<Transfer> {
        self.shared.counters.recent()
    }

    /// Number of open connections, and of idle ones among them.
    pub fn connections(&self) -> (usize, usize) {
        (self.shared.open_count(), self.shared.idle_count())
    }

    /// Requests that wait for a connection.
    pub fn waiting(&self) -> usize {
        self.shared.waiting_count()
    }

    /// The server's idle limit, if observed.
    pub fn idle_limit(&self) -> Option<Duration> {
        self.shared.idle_limit().learnt()
    }

    /// The smallest smoothed round trip of the idle connections; `None` without idle connections.
    pub fn rtt(&self) -> Option<Duration> {
        self.shared.rtt()
    }

    /// Maximum number of connections at once.
    pub fn max_connections(&self) -> usize {
        self.shared.options.max_connections
    }

    /// Bytes that idle connections can send at once, widest first.
    pub fn windows(&self) -> Vec<u64> {
        self.shared.idle_windows()
    }

    /// Closes idle connections, and keeps no more connections warm.
    pub fn close(&self) {
        self.shared.close();
    }
}
