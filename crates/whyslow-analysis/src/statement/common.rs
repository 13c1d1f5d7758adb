//! Statements about several causes.

use super::{Group, SpreadCost, Statement};
use crate::cause::Cause;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A statement about several causes.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CommonStatement {
    /// A part of the cost fell into the time when a shared bottleneck was full.
    CostWhileLinkFull {
        /// That part.
        time_s: Nanos,
    },
    /// A part of the cost is counted under another cause.
    CountedUnder {
        /// That part.
        time_s: Nanos,
        /// The other cause.
        cause: Cause,
    },
    /// Several connections share the cause.
    Shared {
        /// Connections with the cause.
        sharing: u64,
        /// All connections of the group.
        of: u64,
        /// The group.
        group: Group,
        /// The cost.
        cost: SpreadCost,
        /// The statement of the costliest connection.
        worst: Option<Box<Statement>>,
    },
}

impl From<CommonStatement> for super::Statement {
    fn from(statement: CommonStatement) -> Self {
        Self::Common(statement)
    }
}

impl CommonStatement {
    /// The statement of the costliest of several connections.
    pub fn worst(&self) -> Option<&super::Statement> {
        match self {
            Self::Shared { worst, .. } => worst.as_deref(),
            Self::CostWhileLinkFull { .. } | Self::CountedUnder { .. } => None,
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::Shared { worst: Some(worst), .. } => worst.each_host(act),
            Self::CostWhileLinkFull { .. } | Self::CountedUnder { .. } | Self::Shared { .. } => {}
        }
    }
}
