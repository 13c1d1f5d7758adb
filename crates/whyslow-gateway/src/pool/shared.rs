//! [`Shared`]: the state that all parts of a pool share, and [`Lease`]: a connection in use.

use super::addresses::Addresses;
use super::body::Body;
use super::connection::{Connection, Opener};
use super::counters::Counters;
use super::error::PoolError;
use super::idle_limit::IdleLimit;
use super::options::{Endpoint, PoolOptions};
use super::rights::{Rights, WindowKeeping};
use super::warm_requests::WarmRequests;
use super::wire::WireView;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio_rustls::rustls::ClientConfig;
use whyslow_tcpinfo::tcp_info::TcpInfo;

/// Round trip from which on large windows may harm others, µs.
const LONG_PATH: u64 = 10_000;
/// Share of the send buffer that is in flight for bodies that are sent at the same time. Linux lets
/// a program write again when a third of the buffer is free (`sk_stream_is_writeable`): if all of
/// it were in flight, there would be no bytes to send when the first ACKs come.
pub(crate) const IN_FLIGHT: f64 = 0.6;
/// After the server closed a connection with its answer, no connection is kept warm for this time.
const UNKEPT: Duration = Duration::from_secs(600);
/// `TCP_INIT_CWND`, to which idle connections fall back.
const INITIAL_WINDOW: u32 = 10;

/// The state of a pool.
#[derive(Debug)]
pub(crate) struct Shared {
    pub endpoint: Endpoint,
    pub options: PoolOptions,
    pub rights: Rights,
    pub keeping: WindowKeeping,
    pub counters: Counters,
    tls: Option<Arc<ClientConfig>>,
    addresses: Addresses,
    /// A permit for each connection that is in use, or being opened. Idle ones have none: a request
    /// with a permit takes an idle connection or, if there is none, may open one.
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    next_id: AtomicU64,
    idle: Mutex<Vec<Connection>>,
    open: AtomicUsize,
    idle_limit: Mutex<IdleLimit>,
    last_request: Mutex<Instant>,
    /// Set once.
    warm_requests: OnceLock<Arc<dyn WarmRequests>>,
    is_closed: AtomicBool,
    /// Time when the server closed a connection with its answer to a heartbeat.
    closed_after_answer: Mutex<Option<Instant>>,
    /// Beginning of the hour in which bursts are counted, and their bytes.
    spent: Mutex<(Instant, u64)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(endpoint: Endpoint, options: PoolOptions, tls: Option<Arc<ClientConfig>>) -> Self {
        let mut rights = Rights::detect();
        let keeping = rights.keep_windows(&options.warmth);
        Self {
            addresses: Addresses::new(&endpoint, options.resolve_every),
            permits: Arc::new(Semaphore::new(options.max_connections)),
            idle_limit: Mutex::new(IdleLimit::new(options.warmth.idle_limit_guess, options.warmth.idle_cap)),
            endpoint,
            options,
            rights,
            keeping,
            counters: Counters::default(),
            tls,
            waiting: AtomicUsize::new(0),
            next_id: AtomicU64::new(1),
            idle: Mutex::new(Vec::new()),
            open: AtomicUsize::new(0),
            last_request: Mutex::new(Instant::now()),
            warm_requests: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            closed_after_answer: Mutex::default(),
            spent: Mutex::new((Instant::now(), 0)),
        }
    }

    /// Waits for its turn and takes an idle connection, or opens one.
    pub(crate) async fn lease(self: &Arc<Self>, size: u64, is_new_wanted: bool) -> Result<Lease, PoolError> {
        *lock(&self.last_request) = Instant::now();
        let permit = self.permit().await?;
        let taken = if is_new_wanted { None } else { self.take_idle(size) };
        let connection = match taken {
            Some(connection) => connection,
            None => self.open().await?,
        };
        Ok(Lease { connection: Some(connection), permit: Some(permit), shared: Arc::clone(self) })
    }

    async fn permit(self: &Arc<Self>) -> Result<OwnedSemaphorePermit, PoolError> {
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => return Ok(permit),
            Err(TryAcquireError::NoPermits | TryAcquireError::Closed) => {}
        }
        let turn = Turn::take(&self.waiting);
        if turn.before >= self.options.max_waiting {
            self.counters.count(|counts| counts.refused += 1);
            return Err(PoolError::Busy {
                waiting: turn.before,
                endpoint: self.endpoint.to_string(),
                retry_after: Duration::from_secs(1),
            });
        }
        let within = self.options.timeouts.queue;
        let acquired = tokio::time::timeout(within, Arc::clone(&self.permits).acquire_owned()).await;
        let late = || PoolError::NoConnection { endpoint: self.endpoint.to_string(), waited: within };
        acquired.map_err(|_| late())?.map_err(|_| late())
    }

    /// A permit for work that no request waits for.
    pub(crate) fn spare_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// A body goes to the connection with the widest window, and a request without one to the
    /// narrowest.
    fn take_idle(&self, size: u64) -> Option<Connection> {
        // They are dropped when the list is unlocked: their end may need the list.
        let mut unusable = Vec::new();
        let mut idle = lock(&self.idle);
        loop {
            let windows = idle.iter().map(|connection| self.window(&connection.view).unwrap_or(0));
            let place = if size > u64::from(INITIAL_WINDOW) * 1400 {
                windows.enumerate().max_by_key(|&(_, window)| window)
            } else {
                windows.enumerate().min_by_key(|&(_, window)| window)
            };
            let connection = idle.swap_remove(place?.0);
            if connection.is_usable() {
                drop(idle);
                return Some(connection);
            }
            unusable.push(connection);
        }
    }

    /// Takes an idle connection that fits.
    pub(crate) fn take_idle_if(&self, fits: impl Fn(&Connection) -> bool) -> Option<Connection> {
        let mut idle = lock(&self.idle);
        let place = idle.iter().position(fits)?;
        Some(idle.swap_remove(place))
    }

    /// Counts idle connections that fit.
    pub(crate) fn count_idle_if(&self, fits: impl Fn(&Connection) -> bool) -> usize {
        lock(&self.idle).iter().filter(|connection| fits(connection)).count()
    }

    pub(crate) fn put_idle(&self, connection: Connection) {
        if connection.is_usable() && !self.is_closed() {
            lock(&self.idle).push(connection);
        }
    }

    pub(crate) async fn open(self: &Arc<Self>) -> Result<Connection, PoolError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let opener = Opener {
            endpoint: &self.endpoint,
            addresses: &self.addresses,
            timeouts: &self.options.timeouts,
            tls: self.tls.as_ref(),
            is_bbr_wanted: self.keeping == WindowKeeping::Bbr,
        };
        let shared = Arc::downgrade(self);
        let counted = Counted::new(self);
        let connection = opener
            .open(id, move |view| {
                drop(counted);
                ended(&shared, id, view);
            })
            .await?;
        self.counters.count(|counts| counts.opened += 1);
        Ok(connection)
    }

    /// Connections whose socket is open, or about to be.
    pub(crate) fn open_count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_count(&self) -> usize {
        lock(&self.idle).len()
    }

    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_limit(&self) -> MutexGuard<'_, IdleLimit> {
        lock(&self.idle_limit)
    }

    pub(crate) fn since_last_request(&self) -> Duration {
        lock(&self.last_request).elapsed()
    }

    /// Bytes that a connection can send at once with the next request, by its congestion window and
    /// the peer's receive window. In idle time a CUBIC window decays by half each retransmission
    /// timeout (RFC 2861; Linux `tcp_cwnd_restart`).
    pub(crate) fn window(&self, view: &WireView) -> Option<u64> {
        let info = view.tcp_info()?;
        let decays = self.rights.slow_start_after_idle == Some(true) && !view.is_bbr();
        usable_window(&info, if decays { view.idle_for() } else { Duration::ZERO })
    }

    /// Bytes that idle connections can send at once, widest first.
    pub(crate) fn idle_windows(&self) -> Vec<u64> {
        let mut windows: Vec<_> =
            lock(&self.idle).iter().filter_map(|connection| self.window(&connection.view)).collect();
        windows.sort_unstable_by_key(|&window| std::cmp::Reverse(window));
        windows
    }

    /// The least smoothed round trip of the idle connections.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        let micros = lock(&self.idle).iter().filter_map(|connection| connection.view.tcp_info()?.rtt).min()?;
        Some(Duration::from_micros(micros.into()))
    }

    /// Idle connections, narrowest window first.
    pub(crate) fn idle_ids_by_window(&self) -> Vec<u64> {
        let idle = lock(&self.idle);
        let mut all: Vec<_> =
            idle.iter().map(|connection| (self.window(&connection.view).unwrap_or(0), connection.id)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Sets the requests that keep connections warm; returns false if they are set already.
    pub(crate) fn begin_warmth(&self, requests: Arc<dyn WarmRequests>) -> bool {
        self.warm_requests.set(requests).is_ok()
    }

    pub(crate) fn warm_requests(&self) -> Option<Arc<dyn WarmRequests>> {
        self.warm_requests.get().cloned()
    }

    /// Whether bursts may use this many bytes more.
    pub(crate) fn spend(&self, bytes: u64, hour: Duration) -> bool {
        let mut spent = lock(&self.spent);
        if spent.0.elapsed() >= hour {
            *spent = (Instant::now(), 0);
        }
        let is_within = spent.1 + bytes <= self.options.warmth.burst_bytes_an_hour;
        if is_within {
            spent.1 += bytes;
        }
        is_within
    }

    /// Notes that the server closes a connection with its answer: keeping it warm would be useless.
    pub(crate) fn note_close_after_answer(&self) {
        *lock(&self.closed_after_answer) = Some(Instant::now());
    }

    /// Whether that was recently.
    pub(crate) fn closes_after_answers(&self) -> bool {
        lock(&self.closed_after_answer).is_some_and(|at| at.elapsed() < UNKEPT)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// The rate for a body, bytes a second; `None` is unlimited. A body that fits the send buffer
    /// is sent at once. A larger one fills the buffer in each round trip: it is spread over it,
    /// since queues on the way overflow when all windows arrive together. Each of several bodies at
    /// the same time leaves a part of the buffer for the next bytes.
    pub(crate) fn pace(&self, view: &WireView, body: &Body) -> Option<u64> {
        let is_large = |buffer: &u64| body.len() > *buffer || body.is_one_of_many();
        let buffer = self.rights.max_send_buffer.filter(is_large)?;
        let rtt = u64::from(view.tcp_info()?.min_rtt.filter(|rtt| *rtt > 0)?);
        let share = if body.is_one_of_many() { IN_FLIGHT } else { 1.0 };
        let rate = buffer as f64 * share * 1e6 / rtt as f64;
        (rtt >= LONG_PATH && !view.is_bbr()).then_some(rate as u64)
    }

    /// Closes idle connections, and lets no other become one.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let idle = std::mem::take(&mut *lock(&self.idle));
        drop(idle);
    }
}

fn usable_window(info: &TcpInfo, idle: Duration) -> Option<u64> {
    let (mut cwnd, mss) = (info.snd_cwnd?, info.snd_mss?);
    let rto = Duration::from_micros(info.rto.unwrap_or(0).into());
    let mut left = idle.saturating_sub(rto);
    while !rto.is_zero() && !left.is_zero() && cwnd > INITIAL_WINDOW {
        cwnd = (cwnd / 2).max(INITIAL_WINDOW);
        left = left.saturating_sub(rto);
    }
    let congestion_window = u64::from(cwnd) * u64::from(mss);
    Some(info.snd_wnd.map_or(congestion_window, |peers| congestion_window.min(peers.into())))
}

/// Called when a socket is closed: it leaves the idle ones, and may show the server's idle limit.
fn ended(shared: &Weak<Shared>, id: u64, view: &WireView) {
    let Some(shared) = shared.upgrade() else { return };
    let gone = {
        let mut idle = lock(&shared.idle);
        let place = idle.iter().position(|connection| connection.id == id);
        place.map(|place| idle.swap_remove(place))
    };
    drop(gone);
    if let Some(idle) = view.closed_after() {
        shared.counters.count(|counts| counts.closed_idle += 1);
        shared.idle_limit().closed_after(idle);
    }
}

/// A socket that counts until it is closed, or was never open.
struct Counted(Weak<Shared>);

impl Counted {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::downgrade(shared))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A place in the queue.
struct Turn<'a> {
    waiting: &'a AtomicUsize,
    before: usize,
}

impl<'a> Turn<'a> {
    fn take(waiting: &'a AtomicUsize) -> Self {
        Self { waiting, before: waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection in use. Dropping it closes the connection; handed back, it waits for the next
/// request.
#[derive(Debug)]
pub(crate) struct Lease {
    connection: Option<Connection>,
    permit: Option<OwnedSemaphorePermit>,
    pub shared: Arc<Shared>,
}

impl Lease {
    pub(crate) fn new(connection: Connection, permit: OwnedSemaphorePermit, shared: &Arc<Shared>) -> Self {
        Self { connection: Some(connection), permit: Some(permit), shared: Arc::clone(shared) }
    }

    pub(crate) fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut()
    }

    /// Hands it back unchanged.
    pub(crate) fn hand_back_unused(mut self) {
        if let Some(connection) = self.connection.take() {
            self.shared.put_idle(connection);
        }
    }

    /// Hands it back when it can take the next request, which is at once if the answer was read to
    /// its end.
    pub(crate) fn poll_hand_back(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(()) };
        let ready = std::task::ready!(connection.sender.poll_ready(cx));
        if let (Ok(()), Some(mut connection)) = (ready, self.connection.take()) {
            connection.requests += 1;
            connection.opening = None;
            self.shared.put_idle(connection);
        }
        self.connection = None;
        self.permit = None;
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_window_decays_as_the_kernel_has_it() {
        let info = TcpInfo { snd_cwnd: Some(700), snd_mss: Some(1000), rto: Some(400_000), ..TcpInfo::default() };
        let window = |ms| usable_window(&info, Duration::from_millis(ms));
        assert_eq!(window(0), Some(700_000));
        assert_eq!(window(400), Some(700_000));
        assert_eq!(window(500), Some(350_000));
        assert_eq!(window(900), Some(175_000));
        assert_eq!(window(60_000), Some(10_000));
        assert_eq!(usable_window(&TcpInfo::default(), Duration::ZERO), None);
        let narrow = TcpInfo { snd_wnd: Some(65_535), ..info };
        assert_eq!(usable_window(&narrow, Duration::ZERO), Some(65_535));
    }
}
