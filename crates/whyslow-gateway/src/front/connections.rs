//! [`Connections`]: limits their number. One more closes the one that is idle for longest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The open connections.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// A counter that orders arrivals and changes.
    moment: u64,
    slots: BTreeMap<u64, State>,
}

#[derive(Debug)]
struct State {
    requests: u32,
    since: u64,
    close: Arc<Notify>,
}

/// A connection's place.
#[derive(Debug)]
pub(super) struct Slot {
    all: Arc<Connections>,
    arrival: u64,
    close: Arc<Notify>,
}

/// A request that runs on a connection.
#[derive(Debug)]
pub(super) struct Busy(Arc<Slot>);

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), inner: Mutex::default() })
    }

    /// A place for one more; `None` if all connections have running requests.
    pub(super) fn admit(self: &Arc<Self>) -> Option<Arc<Slot>> {
        let mut inner = self.lock();
        if inner.slots.len() >= self.most {
            let idle = inner.slots.iter().filter(|(_, state)| state.requests == 0);
            let longest = idle.min_by_key(|(_, state)| state.since).map(|(&arrival, _)| arrival)?;
            if let Some(state) = inner.slots.remove(&longest) {
                state.close.notify_one();
            }
        }
        inner.moment += 1;
        let (arrival, close) = (inner.moment, Arc::new(Notify::new()));
        inner.slots.insert(arrival, State { requests: 0, since: arrival, close: Arc::clone(&close) });
        Some(Arc::new(Slot { all: Arc::clone(self), arrival, close }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Returns when the place is needed.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }

    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.count(|requests| requests + 1);
        Busy(Arc::clone(self))
    }

    fn count(&self, change: impl Fn(u32) -> u32) {
        let mut inner = self.all.lock();
        inner.moment += 1;
        let since = inner.moment;
        if let Some(state) = inner.slots.get_mut(&self.arrival) {
            (state.requests, state.since) = (change(state.requests), since);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.count(|requests| requests.saturating_sub(1));
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.all.lock().slots.remove(&self.arrival);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn the_one_that_is_idle_for_longest_makes_room_and_no_busy_one() {
        let all = Connections::new(2);
        let (first, second) = (all.admit().unwrap(), all.admit().unwrap());
        drop(first.busy());
        let third = all.admit().unwrap();
        assert!(second.closed().now_or_never().is_some());
        assert!(first.closed().now_or_never().is_none());
        let (one, two) = (first.busy(), third.busy());
        assert!(all.admit().is_none());
        drop(one);
        assert!(all.admit().is_some());
        drop((two, second, third));
        assert!(all.lock().slots.len() <= 1);
    }
}
