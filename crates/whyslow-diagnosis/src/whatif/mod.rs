//! `whatif`: the same transfer with one limit removed.
//!
//! [`whyslow_model`] simulates a transfer; `replay` fits it to a captured one and predicts nothing
//! if the modelled time differs from the measured one; `remedy` maps each cause's fix to changes of
//! the model, `carried_window` estimates the window that earlier transfers leave; `replay_queue`
//! decides which transfer is simulated next, and when to stop.

mod carried_window;
mod remedy;
mod replay;
mod replay_queue;
mod window;
mod work;

pub use replay::{EarlierTransfers, Replay};
pub(crate) use replay_queue::ReplayInput;
pub use replay_queue::{ReplayJob, ReplayQueue, ReplayResult};
pub(crate) use work::MIN_GAIN;

use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_units::Nanos;

/// Maximum number of replays to keep: of the transfers that lost the most time.
pub const MAX_REPLAYS: usize = 64;

/// The replays of the transfers that lost the most time, worst first.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Replays {
    kept: Vec<RankedReplay>,
}

/// A replay, and the position of its transfer.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct RankedReplay {
    cost: Nanos,
    /// The connection's id.
    pub(crate) connection: u64,
    /// When the transfer began, by the analysis' clock.
    pub(crate) start: Nanos,
    pub(crate) replay: Replay,
}

impl Replays {
    /// Returns whether a transfer with this cost would be kept.
    pub fn wants(&self, lost: Nanos, connection: u64) -> bool {
        let least = self.kept.last().filter(|_| self.kept.len() >= MAX_REPLAYS);
        lost > Nanos::ZERO && least.is_none_or(|least| (least.cost, least.connection) < (lost, connection))
    }

    /// Keeps a replay of a transfer that began at `start`, counted from the first packet of all.
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
        // Transfers of one connection are newest first.
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

    /// Returns them, worst first.
    pub(crate) fn ranked(&self) -> &[RankedReplay] {
        &self.kept
    }
}

#[cfg(test)]
pub(crate) mod tests;
