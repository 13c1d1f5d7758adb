//! `whatif`: the same transfer with one limit removed.
//!
//! [`model`] simulates a transfer; `replay` fits it to a captured one and predicts nothing if the
//! modelled time is not the measured one; `remedy` says what each cause's fix changes,
//! `carried_window` what window earlier transfers leave; `replay_queue` decides which transfer is
//! simulated next, and when it is enough; `waits` predicts for findings over connections, where
//! sums suffice; [`plan`] is a transfer that nobody has made yet (`whyslow predict`).

mod carried_window;
pub mod model;
pub mod plan;
mod remedy;
mod replay;
mod replay_queue;
mod waits;
mod window;
mod work;

pub use replay::{EarlierTransfers, Replay};
pub use replay_queue::{ReplayJob, ReplayQueue, ReplayResult};
pub use waits::promise;

use crate::analysis::Connection;
use crate::units::Nanos;

/// Most replays to keep: of the transfers that lost the most time.
pub const MAX_REPLAYS: usize = 64;
/// Most segments to simulate over all replays of an analysis: about a tenth of a second.
const MAX_WORK: u64 = 2_000_000;

/// The replays of the transfers that lost the most time, worst first.
#[derive(Debug, Default)]
pub struct Replays {
    kept: Vec<RankedReplay>,
}

#[derive(Debug)]
struct RankedReplay {
    cost: Nanos,
    /// Connection id and start of the transfer.
    connection: u64,
    start: Nanos,
    replay: Replay,
}

impl Replays {
    /// Returns whether a transfer with this cost would be kept.
    pub fn wants(&self, lost: Nanos, connection: u64) -> bool {
        let least = self.kept.last().filter(|_| self.kept.len() >= MAX_REPLAYS);
        lost > Nanos::ZERO && least.is_none_or(|least| (least.cost, least.connection) < (lost, connection))
    }

    /// Keeps a replay of a transfer that began at `start` (as its
    /// [`Transfer`](crate::analysis::Transfer) says).
    pub fn keep(&mut self, lost: Nanos, connection: u64, start: Nanos, replay: Replay) {
        self.put(RankedReplay { cost: lost, connection, start, replay });
    }

    /// The result does not depend on the order of connections.
    fn put(&mut self, new: RankedReplay) {
        let at = self.kept.partition_point(|kept| (kept.cost, kept.connection) > (new.cost, new.connection));
        self.kept.insert(at, new);
        self.kept.truncate(MAX_REPLAYS);
    }

    /// Adds the replays of another explainer.
    pub(crate) fn merge(&mut self, other: Self) {
        // Those of one connection are newest first.
        other.kept.into_iter().rev().for_each(|kept| self.put(kept));
    }

    /// Renumbers the connections in the same order and drops those without a new id.
    pub(crate) fn renumber(&mut self, id: impl Fn(u64) -> Option<u64>) {
        self.kept.retain_mut(|kept| id(kept.connection).map(|id| kept.connection = id).is_some());
    }

    /// Drops the replays of these transfers, given by connection and start.
    pub(crate) fn forget(&mut self, void: &[(u64, Nanos)]) {
        self.kept.retain(|kept| !void.contains(&(kept.connection, kept.start)));
    }

    /// Fills in predictions, worst transfer first, as far as the work allows. `play` takes jobs,
    /// one by one or several at a time, and puts back their results.
    pub fn predict(self, connections: &mut [Connection], play: impl FnOnce(&mut ReplayQueue<'_>)) {
        self.predict_within(MAX_WORK, connections, play);
    }

    fn predict_within(self, work: u64, connections: &mut [Connection], play: impl FnOnce(&mut ReplayQueue<'_>)) {
        let found = self.kept.iter().filter_map(|kept| Some((&kept.replay, kept.place(connections)?)));
        let (replays, places): (Vec<_>, Vec<_>) = found.unzip();
        let transfers = places.iter().map(|&(connection, transfer)| &connections[connection].transfers[transfer]);
        let mut plays = ReplayQueue::new(replays.into_iter().zip(transfers).collect(), work);
        play(&mut plays);
        for ((connection, transfer), played) in places.into_iter().zip(plays.into_played()) {
            played.write_to(&mut connections[connection].transfers[transfer]);
        }
    }
}

impl RankedReplay {
    /// Returns the indices of the connection and of its transfer.
    fn place(&self, connections: &[Connection]) -> Option<(usize, usize)> {
        let connection = connections.iter().position(|connection| connection.id == self.connection)?;
        let transfer = connections[connection].transfers.iter().position(|t| t.start_s == self.start)?;
        Some((connection, transfer))
    }
}

#[cfg(test)]
mod tests;
