//! [`ConnectionLimit`]: a limit on open connections. When it is reached, a new connection closes an
//! older one.
//!
//! So no client is locked out, however many connections are open. First to be closed are those
//! that have not shown the secret, then those between two requests, then the others; among equals,
//! the one that has been so for longest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// The open connections, and how many there may be.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// A counter that orders arrivals and changes.
    moment: u64,
    /// By order of arrival.
    slots: BTreeMap<u64, SlotState>,
}

#[derive(Debug)]
struct SlotState {
    rank: Rank,
    since: u64,
    task: Option<AbortHandle>,
}

/// The lowest rank is closed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// No request with the secret yet.
    Stranger,
    /// Between two requests.
    Idle,
    /// A request is being read or answered.
    Busy,
}

/// A connection's slot, which is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    limit: Arc<ConnectionLimit>,
    arrival: u64,
}

/// A request that is being answered, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<ConnectionSlot>);

impl ConnectionLimit {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, inner: Mutex::default() })
    }

    /// Takes a slot for a new connection.
    pub(crate) fn admit(self: &Arc<Self>) -> Arc<ConnectionSlot> {
        let mut inner = self.lock();
        while inner.slots.len() >= self.most.max(1) {
            inner.close_one();
        }
        inner.moment += 1;
        let arrival = inner.moment;
        inner.slots.insert(arrival, SlotState { rank: Rank::Stranger, since: arrival, task: None });
        Arc::new(ConnectionSlot { limit: Arc::clone(self), arrival })
    }

    /// Closes a connection, because the system is out of resources.
    pub(crate) fn make_room(&self) {
        self.lock().close_one();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn close_one(&mut self) {
        let least = self.slots.iter().min_by_key(|(_, state)| (state.rank, state.since)).map(|(arrival, _)| *arrival);
        let state = least.and_then(|arrival| self.slots.remove(&arrival));
        if let Some(task) = state.and_then(|state| state.task) {
            task.abort();
        }
    }
}

impl ConnectionSlot {
    /// Sets the task to abort when the slot is needed.
    pub(crate) fn set_task(&self, task: AbortHandle) {
        match self.limit.lock().slots.get_mut(&self.arrival) {
            Some(state) => state.task = Some(task),
            None => task.abort(),
        }
    }

    /// Marks the connection as busy: a request showed the secret.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.set(Rank::Busy);
        Busy(Arc::clone(self))
    }

    fn set(&self, rank: Rank) {
        let mut inner = self.limit.lock();
        inner.moment += 1;
        let since = inner.moment;
        if let Some(state) = inner.slots.get_mut(&self.arrival) {
            (state.rank, state.since) = (rank, since);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set(Rank::Idle);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.limit.lock().slots.remove(&self.arrival);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn has(limit: &ConnectionLimit, slot: &ConnectionSlot) -> bool {
        limit.lock().slots.contains_key(&slot.arrival)
    }

    #[test]
    fn strangers_leave_before_the_idle_and_these_before_the_busy() {
        let limit = ConnectionLimit::new(3);
        let (busy, idle, stranger) = (limit.admit(), limit.admit(), limit.admit());
        let request = busy.busy();
        drop(idle.busy());
        let newest = limit.admit();
        assert!(has(&limit, &busy) && has(&limit, &idle) && !has(&limit, &stranger) && has(&limit, &newest));
        let _second = newest.busy();
        let last = limit.admit();
        assert!(has(&limit, &busy) && !has(&limit, &idle) && has(&limit, &last));
        let _third = last.busy();
        // All are busy: the first of them leaves, and its later requests have no effect.
        let _new = limit.admit();
        assert!(!has(&limit, &busy));
        drop(request);
        assert!(!has(&limit, &busy));
        assert_eq!(limit.lock().slots.len(), 3);
    }

    #[test]
    fn of_one_kind_the_first_leaves() {
        let limit = ConnectionLimit::new(2);
        let (a, b) = (limit.admit(), limit.admit());
        let c = limit.admit();
        assert!(!has(&limit, &a) && has(&limit, &b) && has(&limit, &c));
        limit.make_room();
        assert!(!has(&limit, &b) && has(&limit, &c));
    }

    #[test]
    fn a_closed_connection_frees_its_slot() {
        let limit = ConnectionLimit::new(2);
        let (a, b) = (limit.admit(), limit.admit());
        drop(a);
        let c = limit.admit();
        assert!(has(&limit, &b) && has(&limit, &c));
    }
}
