//! Statements about windows, segments and ACKs.

use super::SpreadCost;
use crate::types::End;
use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A statement about windows, segments and ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SendingStatement {
    /// The congestion window was growing from the initial window.
    SlowStart {
        /// Time in slow start.
        spent_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// The first flight, bytes; `None` if much of the transfer was not captured.
        first_flight: Option<u64>,
    },
    /// The sender left slow start although nothing was lost.
    EarlyExit {
        /// The flight at the exit, segments.
        segments: u64,
        /// The same, bytes.
        bytes: u64,
        /// The cost of the slow growth after it.
        cost_s: Nanos,
    },
    /// Several connections left slow start at the same flight.
    RememberedThreshold {
        /// How many connections.
        connections: u64,
        /// The sender.
        sender: String,
        /// The peer.
        peer: String,
        /// The flight at the exit, segments.
        segments: u64,
        /// The cost.
        cost: SpreadCost,
    },
    /// The window scale option was missing.
    NoWindowScaling {
        /// The SYNs without the option.
        missing: Vec<End>,
        /// The largest window, bytes.
        window: u64,
        /// The round trip.
        rtt_s: Nanos,
    },
}

impl From<SendingStatement> for super::Statement {
    fn from(statement: SendingStatement) -> Self {
        Self::Sending(statement)
    }
}

impl SendingStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::RememberedThreshold { sender, peer, .. } => {
                act(sender);
                act(peer);
            }
            Self::SlowStart { .. } | Self::EarlyExit { .. } | Self::NoWindowScaling { .. } => {}
        }
    }
}
