//! [`Transfers`]: several requests that together serve one request of a client.

use super::transfer::Transfer;
use std::sync::{Arc, Mutex, PoisonError};

/// Transfers that are added when they end. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Transfers(Arc<Mutex<Option<Transfer>>>);

impl Transfers {
    /// Adds a finished transfer.
    pub fn add(&self, transfer: Transfer) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = Some(match sum.take() {
            Some(sum) => sum.beside(transfer),
            None => transfer,
        });
    }

    /// The slowest of those that have ended, with the bytes and retransmissions of all of them;
    /// `None` if none went over the network.
    pub fn sum(&self) -> Option<Transfer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Transfer {
    /// The slower one, with the bytes and retransmissions of both; complete if both are.
    fn beside(self, other: Self) -> Self {
        let (mut slower, other) =
            if self.phases.total() > other.phases.total() { (self, other) } else { (other, self) };
        slower.sent += other.sent;
        slower.received += other.received;
        slower.retransmitted += other.retransmitted;
        slower.is_whole &= other.is_whole;
        slower
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Phases;
    use std::time::Duration;

    #[test]
    fn the_slowest_counts_with_the_bytes_of_all() {
        let all = Transfers::default();
        assert!(all.sum().is_none());
        for (connection, milliseconds, is_whole) in [(1, 20, true), (2, 300, true), (3, 10, false)] {
            let phases = Phases { receive: Duration::from_millis(milliseconds), ..Phases::default() };
            all.add(Transfer { connection, phases, received: 100, is_whole, ..Transfer::default() });
        }
        let sum = all.clone().sum().unwrap_or_default();
        assert_eq!((sum.connection, sum.received, sum.is_whole), (2, 300, false));
        assert_eq!(sum.phases.total(), Duration::from_millis(300));
    }
}
