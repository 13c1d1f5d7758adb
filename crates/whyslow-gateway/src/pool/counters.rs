//! [`Counts`]: the actions of a pool, and their cost.

use super::transfer::{Limits, Transfer};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Transfers that are kept for later reports.
const RECENT: usize = 256;

/// Counts since the pool began.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Connections opened.
    pub opened: u64,
    /// Connections that the server closed while they were idle.
    pub closed_idle: u64,
    /// Requests that were answered, in whole or in part.
    pub requests: u64,
    /// Requests on a connection that had served others before.
    pub reused: u64,
    /// Requests sent again because an idle connection had been closed.
    pub replayed: u64,
    /// Requests refused because too many waited.
    pub refused: u64,
    /// Transfers given up because nothing moved.
    pub stalled: u64,
    /// Requests made only to keep connections open.
    pub heartbeats: u64,
    /// Requests made only to open windows.
    pub bursts: u64,
    /// Bytes of bursts.
    pub burst_bytes: u64,
    /// Uploads that were larger than the window of their connection.
    pub window_misses: u64,
    /// Bytes of requests' bodies.
    pub sent: u64,
    /// Bytes of answers' bodies.
    pub received: u64,
    /// Time by limit, of all transfers.
    pub limits: Limits,
}

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    recent: VecDeque<Transfer>,
}

/// Counts that all parts of a pool share.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<State>);

impl Counters {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.lock().counts);
    }

    /// Called when the transfer of a client's request has ended.
    pub(crate) fn record(&self, transfer: &Transfer) {
        let mut state = self.lock();
        let counts = &mut state.counts;
        counts.requests += 1;
        counts.reused += u64::from(transfer.is_reused);
        counts.window_misses += u64::from(transfer.outgrew_window());
        counts.sent += transfer.sent;
        counts.received += transfer.received;
        counts.limits.add_all(&transfer.limits);
        if state.recent.len() == RECENT {
            state.recent.pop_front();
        }
        state.recent.push_back(transfer.clone());
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts.clone()
    }

    pub(crate) fn recent(&self) -> Vec<Transfer> {
        self.lock().recent.iter().cloned().collect()
    }
}
