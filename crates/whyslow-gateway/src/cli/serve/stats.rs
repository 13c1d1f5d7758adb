//! [`Stats`]: the last requests, the slowest ones, and totals, for people.

use super::row::{LimitTime, Row};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// Number of recent requests that are kept.
const RECENT: usize = 200;
/// Number of slowest transfers to the storage that are kept.
const SLOWEST: usize = 50;

/// The version of the contract.
pub(crate) const SCHEMA: &str = "whyslow-gateway-stats/1";

/// Collects requests.
pub(super) struct Stats {
    began: Instant,
    since: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    totals: Totals,
    limits: BTreeMap<String, f64>,
    recent: VecDeque<Row>,
    slowest: Vec<Row>,
}

/// Totals of all requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub requests: u64,
    /// Requests with a status of 500 and above, or without an answer.
    pub failed: u64,
    /// Requests with a status of 400 to 499.
    pub refused: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Transfers to the storage and from it.
    pub transfers: u64,
}

/// The answer of the administrator's endpoint at `/stats`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub schema: String,
    /// When the gateway began, ISO 8601 in UTC.
    pub since: String,
    pub uptime_s: f64,
    pub totals: Totals,
    /// Time by limit over all transfers, longest first.
    pub limits: Vec<LimitTime>,
    pub storage: Storage,
    pub memory: Memory,
    /// The slowest transfers, slowest first.
    pub slowest: Vec<Row>,
    /// The last requests, newest first.
    pub recent: Vec<Row>,
}

/// The connections to the storage.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Storage {
    pub store: String,
    /// How idle connections keep their windows; `None` if the storage is not on a network.
    pub windows_kept_by: Option<String>,
    pub open: u64,
    pub idle: u64,
    pub waiting: u64,
    pub opened: u64,
    pub reused: u64,
    pub closed_idle: u64,
    pub replayed: u64,
    pub retried: u64,
    pub refused: u64,
    pub stalled: u64,
    pub heartbeats: u64,
    pub bursts: u64,
    pub burst_bytes: u64,
    pub window_misses: u64,
    pub sent: u64,
    pub received: u64,
}

/// Memory of requests, bytes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub in_use: u64,
    pub peak: u64,
    pub limit: u64,
}

impl Stats {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), since: super::row::utc(SystemTime::now()), state: Mutex::default() }
    }

    pub(super) fn add(&self, row: Row) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let totals = &mut state.totals;
        totals.requests += 1;
        totals.failed += u64::from(row.status.is_none_or(|status| status >= 500));
        totals.refused += u64::from(row.status.is_some_and(|status| (400..500).contains(&status)));
        totals.bytes_in += row.bytes_in;
        totals.bytes_out += row.bytes_out;
        if let Some(way) = &row.storage {
            totals.transfers += 1;
            for share in &way.limits {
                *state.limits.entry(share.limit.clone()).or_default() += share.seconds;
            }
            let place = state.slowest.partition_point(|other| other.took_s >= row.took_s);
            if place < SLOWEST {
                state.slowest.insert(place, row.clone());
                state.slowest.truncate(SLOWEST);
            }
        }
        if state.recent.len() == RECENT {
            state.recent.pop_back();
        }
        state.recent.push_front(row);
    }

    pub(super) fn report(&self, storage: Storage, memory: Memory) -> Report {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let share = |(limit, seconds): (&String, &f64)| LimitTime { limit: limit.clone(), seconds: *seconds };
        let mut limits: Vec<_> = state.limits.iter().map(share).collect();
        limits.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        Report {
            schema: SCHEMA.to_owned(),
            since: self.since.clone(),
            uptime_s: self.began.elapsed().as_secs_f64(),
            totals: state.totals.clone(),
            limits,
            storage,
            memory,
            slowest: state.slowest.clone(),
            recent: state.recent.iter().cloned().collect(),
        }
    }
}
