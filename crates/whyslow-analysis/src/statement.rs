//! [`Statement`]: the statement of a finding, with its quantities. A file per family of causes.

mod common;
mod exchange;
mod link;
mod loss;
mod sending;

pub use common::CommonStatement;
pub use exchange::{
    CloseKind, ClosedFirst, ExchangeStatement, FirstReply, MessageKind, Opening, Pauses, UnansweredRequest,
    Undelivered, WaitEnd,
};
pub use link::{CommonEnds, Excess, LinkStatement, PolicerEvidence, QueueRise, QueueSight, SharedBottleneck};
pub use loss::{LossStatement, TailRepair};
pub use sending::{SendingStatement, SmallSegmentReason};

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// The statement of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(untagged)]
pub enum Statement {
    /// About several causes.
    Common(CommonStatement),
    /// About applications, requests and connections.
    Exchange(ExchangeStatement),
    /// About the rate of the link and its queue.
    Link(LinkStatement),
    /// About lost, repeated and reordered packets.
    Loss(LossStatement),
    /// About windows, segments and ACKs.
    Sending(SendingStatement),
}

impl Statement {
    /// Applies `act` to every host that it names.
    pub fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::Common(statement) => statement.each_host(act),
            Self::Exchange(statement) => statement.each_host(act),
            Self::Link(statement) => statement.each_host(act),
            Self::Loss(statement) => statement.each_host(act),
            Self::Sending(statement) => statement.each_host(act),
        }
    }
}

/// Connections that have an end in common.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Group {
    /// All connections to one server.
    Server {
        /// The server, with its port.
        server: String,
    },
    /// All connections between two hosts.
    Hosts {
        /// The client's address.
        client: String,
        /// The server's name or address.
        server: String,
    },
}

/// A cost of several connections: elapsed time first, then the sum where it differs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct SpreadCost {
    /// Time during which at least one connection waited.
    pub elapsed_s: Nanos,
    /// The costs of all connections, summed.
    pub summed_s: Nanos,
}
