//! Keeping connections open and their windows wide.
//!
//! - A kept connection gets a small request before the server's idle limit, and one burst after it
//!   was opened, for as long as its window is too small for an upload. If windows decay in idle
//!   time, no burst is made before it is needed.
//! - The server may close connections beyond those that are kept, which shows its idle limit. The
//!   same holds for the first one until the limit is known.

use super::answer::{Answer, Purpose};
use super::body::Body;
use super::connection::{Connection, Warmed};
use super::error::PoolError;
use super::exchange::exchange;
use super::rights::WindowKeeping;
use super::shared::{Lease, Shared};
use super::warm_requests::WarmRequests;
use super::wire::WireView;
use http::StatusCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Time between two checks of the connections.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Number of bursts after which a window counts as wide as the path permits.
const MOST_BURSTS: u32 = 6;
/// Another burst is worth its bytes if the one before widened the window by a fifth.
const WIDENS: (u64, u64) = (6, 5);
/// BBR paces: the window should be sent in this part of a round trip.
const PACED_IN: u64 = 4;
/// Pause after a connection could not be opened.
const PAUSE: Duration = Duration::from_secs(2);
const HOUR: Duration = Duration::from_secs(3600);
/// Maximum bytes of an answer to such a request.
const LONGEST_ANSWER: usize = 64 << 10;

/// Closes connections that have been idle for too long, as long as the pool lives.
pub(crate) fn retire_in_time(shared: &Arc<Shared>) {
    let shared = Arc::downgrade(shared);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY * 5).await;
            let Some(shared) = shared.upgrade() else { return };
            let cap = shared.options.warmth.idle_cap;
            while shared.take_idle_if(|connection| connection.view.idle_for() > cap).is_some() {}
        }
    });
}

/// Begins to keep connections.
pub(crate) fn keep(shared: &Arc<Shared>, requests: Arc<dyn WarmRequests>) {
    if shared.begin_warmth(Arc::clone(&requests)) {
        let keeper = Keeper { shared: Arc::downgrade(shared), requests, paused_until: None };
        tokio::spawn(keeper.run());
    }
}

/// See [`super::Pool::expect_upload`].
pub(crate) fn expect_upload(shared: &Arc<Shared>, size_hint: u64) {
    let Some(requests) = shared.warm_requests() else { return };
    if shared.idle_count() == 0 {
        open_one(shared);
        return;
    }
    if shared.keeping != WindowKeeping::OnDemand {
        return;
    }
    let wanted = size_hint.min(shared.options.warmth.window);
    // The widest one stays free for the upload itself, which may come first.
    if shared.idle_count() < 2 || shared.idle_windows().first().is_some_and(|&widest| widest >= wanted) {
        return;
    }
    let narrow = |connection: &Connection| shared.window(&connection.view).is_some_and(|window| window < wanted);
    if let Some(permit) = shared.spare_permit()
        && let Some(connection) = shared.take_idle_if(narrow)
    {
        spawn_burst(Lease::new(connection, permit, shared), requests, wanted);
    }
}

fn open_one(shared: &Arc<Shared>) {
    let Some(permit) = shared.spare_permit() else { return };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        if let Ok(connection) = shared.open().await {
            shared.put_idle(connection);
        }
        drop(permit);
    });
}

struct Keeper {
    shared: Weak<Shared>,
    requests: Arc<dyn WarmRequests>,
    paused_until: Option<Instant>,
}

impl Keeper {
    async fn run(mut self) {
        loop {
            {
                let Some(shared) = self.shared.upgrade() else { return };
                if shared.is_closed() {
                    return;
                }
                if shared.since_last_request() < shared.options.warmth.keep_for {
                    self.look(&shared).await;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&mut self, shared: &Arc<Shared>) {
        if shared.closes_after_answers() {
            return;
        }
        let wanted = shared.options.warmth.connections;
        if shared.open_count() < wanted && self.paused_until.is_none_or(|until| until < Instant::now()) {
            self.open(shared).await;
        }
        self.beat(shared, wanted);
        self.widen(shared);
    }

    /// Opens the missing connections, all at once.
    async fn open(&mut self, shared: &Arc<Shared>) {
        let missing = shared.options.warmth.connections.saturating_sub(shared.open_count());
        let permits: Vec<_> = (0..missing).filter_map(|_| shared.spare_permit()).collect();
        let opened = futures_util::future::join_all(permits.iter().map(|_| shared.open())).await;
        for result in opened {
            match result {
                Ok(connection) => shared.put_idle(connection),
                Err(_) => self.paused_until = Some(Instant::now() + PAUSE),
            }
        }
    }

    /// Keeps the requested number of connections, those with the widest windows, unless one of them
    /// has to find the server's idle limit.
    fn beat(&self, shared: &Arc<Shared>, wanted: usize) {
        let spare = usize::from(shared.idle_limit().learnt().is_none() && wanted > 1);
        let surplus = (shared.open_count().saturating_sub(wanted) + spare).min(shared.idle_count());
        let mut by_window = shared.idle_ids_by_window();
        let kept = by_window.split_off(surplus);
        let is_due = |connection: &Connection| {
            let rtt = connection.view.tcp_info().and_then(|info| info.rtt).unwrap_or(0);
            let within = shared.idle_limit().keep_within(Duration::from_micros(rtt.into()));
            kept.contains(&connection.id) && connection.view.idle_for() >= within.saturating_sub(LOOK_EVERY)
        };
        while let Some(permit) = shared.spare_permit()
            && let Some(connection) = shared.take_idle_if(is_due)
        {
            let lease = Lease::new(connection, permit, shared);
            let requests = Arc::clone(&self.requests);
            tokio::spawn(async move {
                let Some(request) = requests.heartbeat().await else { return };
                lease.shared.counters.count(|counts| counts.heartbeats += 1);
                let answer = exchange(lease, request, &Body::empty(), Duration::ZERO, Purpose::Warmth).await;
                let _ = drain(answer).await;
            });
        }
    }

    /// Opens windows that do not decay.
    fn widen(&self, shared: &Arc<Shared>) {
        if shared.keeping == WindowKeeping::OnDemand {
            return;
        }
        let wanted = shared.options.warmth.window;
        let is_narrow = |connection: &Connection| {
            !connection.warmed.is_done.load(Ordering::Relaxed) && !holds(shared, &connection.view, wanted)
        };
        // Connections in use may be as narrow: they are opened when they are idle.
        let in_use = shared.open_count().saturating_sub(shared.idle_count());
        let fine = shared.count_idle_if(|connection| !is_narrow(connection));
        for _ in (in_use + fine)..shared.options.warmth.connections {
            let Some(permit) = shared.spare_permit() else { return };
            let Some(connection) = shared.take_idle_if(is_narrow) else { return };
            // A round trip's bytes more than requested: the last round must fill the window.
            let bytes = if connection.view.is_bbr() { wanted * 3 } else { wanted + wanted / 4 };
            spawn_burst(Lease::new(connection, permit, shared), Arc::clone(&self.requests), bytes);
        }
    }
}

/// Whether about this many bytes can be sent at once.
fn holds(shared: &Shared, view: &WireView, wanted: u64) -> bool {
    let Some(window) = shared.window(view) else { return true };
    let is_paced_well = || {
        let info = view.tcp_info()?;
        Some(info.pacing_rate? * u64::from(info.rtt?) / 1_000_000 >= wanted * PACED_IN)
    };
    window >= wanted && (!view.is_bbr() || is_paced_well().unwrap_or(true))
}

/// The width of a connection, for comparison with itself.
fn width(shared: &Shared, view: &WireView) -> u64 {
    let window = shared.window(view).unwrap_or(0);
    if view.is_bbr() { view.tcp_info().and_then(|info| info.pacing_rate).unwrap_or(window) } else { window }
}

fn spawn_burst(mut lease: Lease, requests: Arc<dyn WarmRequests>, bytes: u64) {
    let shared = Arc::clone(&lease.shared);
    let Some(connection) = lease.connection() else { return };
    let (view, warmed) = (connection.view.clone(), Arc::clone(&connection.warmed));
    if !shared.spend(bytes, HOUR) {
        warmed.is_done.store(true, Ordering::Relaxed);
        lease.hand_back_unused();
        return;
    }
    tokio::spawn(async move {
        let Some((request, body)) = requests.burst(bytes).await else {
            warmed.is_done.store(true, Ordering::Relaxed);
            return lease.hand_back_unused();
        };
        let before = width(&shared, &view);
        shared.counters.count(|counts| {
            counts.bursts += 1;
            counts.burst_bytes += bytes;
        });
        let answer = exchange(lease, request, &body, Duration::ZERO, Purpose::Warmth).await;
        let is_through = drain(answer).await.is_ok_and(|status| status.is_success());
        if !is_through {
            requests.burst_refused().await;
        }
        note(&warmed, before, width(&shared, &view), is_through);
    });
}

/// Whether another burst would help.
fn note(warmed: &Warmed, before: u64, after: u64, is_through: bool) {
    let bursts = warmed.bursts.fetch_add(1, Ordering::Relaxed) + 1;
    let (times, of) = WIDENS;
    if !is_through || bursts >= MOST_BURSTS || after * of < before * times {
        warmed.is_done.store(true, Ordering::Relaxed);
    }
}

/// Reads an answer that is not needed.
async fn drain(answer: Result<Answer, PoolError>) -> Result<StatusCode, PoolError> {
    let mut answer = answer?;
    answer.read(LONGEST_ANSWER).await?;
    Ok(answer.status())
}
