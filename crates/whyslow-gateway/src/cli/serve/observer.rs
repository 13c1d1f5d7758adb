//! [`Observer`]: the gateway's events, for the log, the metrics and the statistics.

use super::super::backend::Backend;
use super::admin::Status;
use super::log::Log;
use super::metrics::{Metrics, Now};
use super::row::Row;
use super::settings::Settings;
use super::stats::{self, Report, Stats};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use whyslow_gateway::front::{Record, Sink};
use whyslow_gateway::memory::Memory;
use whyslow_gateway::pool::{Counts, Pool, WindowKeeping};

/// Time between two checks of the store, for any number of clients.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// The store counts as gone if it does not answer within this time.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Starting,
    Serving,
    Ending,
}

/// Everything that operators see.
pub(super) struct Observer {
    log: Log,
    stats: Stats,
    metrics: Metrics,
    view: Arc<View>,
    stage: Mutex<Stage>,
    /// Time of the last check of the store, and the reason if it could not be used.
    asked: tokio::sync::Mutex<Option<(Instant, Option<String>)>>,
}

/// Values that are read for each answer.
struct View {
    backend: Arc<Backend>,
    memory: Memory,
}

impl Observer {
    /// # Errors
    /// When the log cannot be opened.
    pub(super) fn new(settings: &Settings, backend: Arc<Backend>) -> anyhow::Result<Self> {
        let view = Arc::new(View { backend, memory: settings.memory.clone() });
        Ok(Self {
            log: Log::open(settings.log.as_deref(), settings.log_format)?,
            stats: Stats::new(),
            metrics: Metrics::new(Arc::clone(&view) as _),
            view,
            stage: Mutex::new(Stage::Starting),
            asked: tokio::sync::Mutex::default(),
        })
    }

    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// Called when requests are served.
    pub(super) fn begin(&self) {
        self.set(Stage::Serving);
    }

    /// Called when no new requests are accepted.
    pub(super) fn end(&self) {
        self.set(Stage::Ending);
    }

    /// Called when the log's file was moved away.
    pub(super) fn reopen_log(&self) {
        self.log.reopen();
    }

    /// Writes the waiting lines.
    pub(super) fn finish(&self) {
        self.log.end();
    }
}

impl Sink for Observer {
    fn record(&self, record: &Record) {
        self.metrics.add(record);
        let row = Row::new(record);
        self.log.write(&row);
        self.stats.add(row);
    }
}

#[async_trait::async_trait]
impl Status for Observer {
    fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn report(&self) -> Report {
        self.stats.report(self.view.storage(), self.view.memory())
    }

    async fn unready(&self) -> Option<String> {
        match *self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Starting => return Some("it is starting".to_owned()),
            Stage::Ending => return Some("it is ending".to_owned()),
            Stage::Serving => {}
        }
        let mut asked = self.asked.lock().await;
        if let Some((at, why)) = &*asked
            && at.elapsed() < ASK_EVERY
        {
            return why.clone();
        }
        let why = match tokio::time::timeout(PATIENCE, self.view.backend.check()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(_) => Some(format!("the store did not answer within {} s", PATIENCE.as_secs())),
        };
        *asked = Some((Instant::now(), why.clone()));
        why
    }
}

impl Now for View {
    fn storage(&self) -> stats::Storage {
        let mut all = stats::Storage { store: self.backend.name.clone(), ..stats::Storage::default() };
        let Some(s3) = &self.backend.s3 else { return all };
        all.retried = s3.retried();
        for pool in s3.pools() {
            let (open, idle) = pool.connections();
            all.open += open as u64;
            all.idle += idle as u64;
            all.waiting += pool.waiting() as u64;
            all.windows_kept_by = Some(kept_by(&pool).to_owned());
            add(&mut all, &pool.counts());
        }
        all
    }

    fn memory(&self) -> stats::Memory {
        let memory = &self.memory;
        stats::Memory { in_use: memory.in_use(), peak: memory.peak(), limit: memory.limit() }
    }
}

fn kept_by(pool: &Pool) -> &'static str {
    if pool.closes_after_answers() {
        return "nothing: the store closes each connection with its answer";
    }
    match pool.keeping() {
        WindowKeeping::Sysctl => "tcp_slow_start_after_idle=0",
        WindowKeeping::Bbr => "BBR",
        WindowKeeping::OnDemand => "nothing: they are opened when an upload announces itself",
    }
}

fn add(all: &mut stats::Storage, counts: &Counts) {
    all.opened += counts.opened;
    all.reused += counts.reused;
    all.closed_idle += counts.closed_idle;
    all.replayed += counts.replayed;
    all.refused += counts.refused;
    all.stalled += counts.stalled;
    all.heartbeats += counts.heartbeats;
    all.bursts += counts.bursts;
    all.burst_bytes += counts.burst_bytes;
    all.window_misses += counts.window_misses;
    all.sent += counts.sent;
    all.received += counts.received;
}
