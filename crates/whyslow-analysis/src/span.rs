//! Moments of a finding's cost, and of an exchange by the party that was waited for.

use super::grade::Grade;
use crate::types::LimitingFactor;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A stretch of time that belongs to one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct CostSpan {
    /// From.
    pub start_s: Nanos,
    /// Length.
    pub seconds: Nanos,
}

impl CostSpan {
    /// To.
    pub fn end(&self) -> Nanos {
        self.start_s + self.seconds
    }
}

/// Maximum number of spans listed of one finding.
pub const MAX_COST_SPANS: usize = 64;

/// A stretch of an exchange: the party that was waited for, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct WaitSpan {
    /// Time until then, as the client experiences it.
    pub start_s: Nanos,
    /// Length.
    pub seconds: Nanos,
    /// Party that was waited for.
    pub party: Party,
    /// Why.
    pub reason: LimitingFactor,
    /// The evidence: single packets, or the shape of flights and rates.
    pub grade: Grade,
}

/// Maximum number of spans listed of one exchange: the shortest ones are added to their neighbours.
pub const MAX_WAIT_SPANS: usize = 32;

/// Party that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    /// The client: its program, or its TCP.
    Client,
    /// The server: its program, or its TCP.
    Server,
    /// The path between them: distance, capacity, losses.
    Network,
    /// Neither side has anything to send.
    Nobody,
    /// The capture does not show it.
    Unknown,
}

impl Party {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Client, Self::Server, Self::Network, Self::Nobody, Self::Unknown];

    /// Its name in JSON.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Network => "network",
            Self::Nobody => "nobody",
            Self::Unknown => "unknown",
        }
    }
}
