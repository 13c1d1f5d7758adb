//! `whatif`: the same transfer with one limit removed.
//!
//! [`model`] plays a transfer through; `replay` fits it to a transfer that was captured, and
//! promises nothing where the modelled time is not the measured one; `remedy` says what each
//! cause's fix changes, `carried` what window earlier transfers leave; `plays` says which transfer
//! is played next, and when it is enough; `waits` promises for findings over connections, where
//! sums are enough; [`plan`] is a transfer that nobody has made yet (`whyslow predict`).

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

/// Replays that are kept: of the transfers that lost most.
pub const MAX_REPLAYS: usize = 64;
/// Segments that all replays of an analysis may model together: about a tenth of a second of work.
const MAX_WORK: u64 = 2_000_000;

/// The replays of the transfers that lost most time; a bounded list, worst first.
#[derive(Debug, Default)]
pub struct Replays {
    kept: Vec<RankedReplay>,
}

#[derive(Debug)]
struct RankedReplay {
    cost: Nanos,
    /// Which: the connection's id, and when its transfer began.
    connection: u64,
    start: Nanos,
    replay: Replay,
}

impl Replays {
    /// Whether a transfer of this connection that lost so much would be kept.
    pub fn wants(&self, lost: Nanos, connection: u64) -> bool {
        let least = self.kept.last().filter(|_| self.kept.len() >= MAX_REPLAYS);
        lost > Nanos::ZERO && least.is_none_or(|least| (least.cost, least.connection) < (lost, connection))
    }

    /// Keeps a replay of a transfer of this connection that began at `start` (as its
    /// [`Transfer`](crate::analysis::Transfer) says).
    pub fn keep(&mut self, lost: Nanos, connection: u64, start: Nanos, replay: Replay) {
        self.put(RankedReplay { cost: lost, connection, start, replay });
    }

    /// What is kept does not depend on the order of the connections.
    fn put(&mut self, new: RankedReplay) {
        let at = self.kept.partition_point(|kept| (kept.cost, kept.connection) > (new.cost, new.connection));
        self.kept.insert(at, new);
        self.kept.truncate(MAX_REPLAYS);
    }

    /// Takes over what another has kept, of other connections.
    pub(crate) fn merge(&mut self, other: Self) {
        // Those of one connection stand newest first.
        other.kept.into_iter().rev().for_each(|kept| self.put(kept));
    }

    /// Gives the connections other ids, in the same order, and lets go of those that get none.
    pub(crate) fn renumber(&mut self, id: impl Fn(u64) -> Option<u64>) {
        self.kept.retain_mut(|kept| id(kept.connection).map(|id| kept.connection = id).is_some());
    }

    /// Lets go of the replays of these transfers: of their connections, and when they began.
    pub(crate) fn forget(&mut self, void: &[(u64, Nanos)]) {
        self.kept.retain(|kept| !void.contains(&(kept.connection, kept.start)));
    }

    /// Fills in what the model says of the transfers, worst first, as far as the work allows:
    /// `play` takes them up, one after the other or several at the same time, and puts back what
    /// was played.
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
    /// Places of the connection and of its transfer.
    fn place(&self, connections: &[Connection]) -> Option<(usize, usize)> {
        let connection = connections.iter().position(|connection| connection.id == self.connection)?;
        let transfer = connections[connection].transfers.iter().position(|t| t.start_s == self.start)?;
        Some((connection, transfer))
    }
}

#[cfg(test)]
mod tests;
