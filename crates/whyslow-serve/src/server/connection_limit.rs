//! [`ConnectionLimit`]: who is connected. There is room for so many; whoever comes next takes the
//! place of whoever is least missed.
//!
//! It promises that nobody is kept out, however many connections are held open: first those leave
//! that have not shown the secret, then those between two requests, then the others; of each kind
//! the one that has been so for longest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// Connections, at most so many.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Counts what happened: the order of arrivals, and of changes.
    moment: u64,
    /// By their arrival.
    seats: BTreeMap<u64, TakenSeat>,
}

#[derive(Debug)]
struct TakenSeat {
    rank: Rank,
    since: u64,
    task: Option<AbortHandle>,
}

/// Who is missed least comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Has not shown the secret.
    Stranger,
    /// Has nothing to be answered now.
    Idle,
    /// Is sending, or waits for its answer.
    Busy,
}

/// A connection's place, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    crowd: Arc<ConnectionLimit>,
    arrival: u64,
}

/// A request that is answered, until it is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Seat>);

impl ConnectionLimit {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, inner: Mutex::default() })
    }

    /// A place for a connection that came.
    pub(crate) fn enter(self: &Arc<Self>) -> Arc<Seat> {
        let mut inner = self.lock();
        while inner.seats.len() >= self.most.max(1) {
            inner.send_one_away();
        }
        inner.moment += 1;
        let arrival = inner.moment;
        inner.seats.insert(arrival, TakenSeat { rank: Rank::Stranger, since: arrival, task: None });
        Arc::new(Seat { crowd: Arc::clone(self), arrival })
    }

    /// Frees a place: the system has no room for more.
    pub(crate) fn make_room(&self) {
        self.lock().send_one_away();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn send_one_away(&mut self) {
        let least = self.seats.iter().min_by_key(|(_, taken)| (taken.rank, taken.since)).map(|(arrival, _)| *arrival);
        let taken = least.and_then(|arrival| self.seats.remove(&arrival));
        if let Some(task) = taken.and_then(|taken| taken.task) {
            task.abort();
        }
    }
}

impl Seat {
    /// What ends the connection when its place is needed.
    pub(crate) fn is_served_by(&self, task: AbortHandle) {
        match self.crowd.lock().seats.get_mut(&self.arrival) {
            Some(taken) => taken.task = Some(task),
            None => task.abort(),
        }
    }

    /// Its request showed the secret.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.set(Rank::Busy);
        Busy(Arc::clone(self))
    }

    fn set(&self, rank: Rank) {
        let mut inner = self.crowd.lock();
        inner.moment += 1;
        let since = inner.moment;
        if let Some(taken) = inner.seats.get_mut(&self.arrival) {
            (taken.rank, taken.since) = (rank, since);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set(Rank::Idle);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.crowd.lock().seats.remove(&self.arrival);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn has(crowd: &ConnectionLimit, seat: &Seat) -> bool {
        crowd.lock().seats.contains_key(&seat.arrival)
    }

    #[test]
    fn strangers_leave_before_the_idle_and_these_before_the_busy() {
        let crowd = ConnectionLimit::new(3);
        let (busy, idle, stranger) = (crowd.enter(), crowd.enter(), crowd.enter());
        let request = busy.busy();
        drop(idle.busy());
        let newest = crowd.enter();
        assert!(has(&crowd, &busy) && has(&crowd, &idle) && !has(&crowd, &stranger) && has(&crowd, &newest));
        let _second = newest.busy();
        let last = crowd.enter();
        assert!(has(&crowd, &busy) && !has(&crowd, &idle) && has(&crowd, &last));
        let _third = last.busy();
        // All are busy: the first of them leaves, and what it does later changes nothing.
        let _new = crowd.enter();
        assert!(!has(&crowd, &busy));
        drop(request);
        assert!(!has(&crowd, &busy));
        assert_eq!(crowd.lock().seats.len(), 3);
    }

    #[test]
    fn of_one_kind_the_first_leaves() {
        let crowd = ConnectionLimit::new(2);
        let (a, b) = (crowd.enter(), crowd.enter());
        let c = crowd.enter();
        assert!(!has(&crowd, &a) && has(&crowd, &b) && has(&crowd, &c));
        crowd.make_room();
        assert!(!has(&crowd, &b) && has(&crowd, &c));
    }

    #[test]
    fn whoever_goes_leaves_the_place_free() {
        let crowd = ConnectionLimit::new(2);
        let (a, b) = (crowd.enter(), crowd.enter());
        drop(a);
        let c = crowd.enter();
        assert!(has(&crowd, &b) && has(&crowd, &c));
    }
}
