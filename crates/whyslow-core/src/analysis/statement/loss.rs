//! Statements about lost, repeated and reordered packets.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A statement about lost, repeated and reordered packets.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossStatement {
    /// A router's ICMP error said which size passes, and the sender ignored it.
    SizeIgnored {
        /// Who sent the error.
        by: String,
        /// The longest packet that passes, bytes.
        mtu: u32,
    },
}

impl From<LossStatement> for super::Statement {
    fn from(statement: LossStatement) -> Self {
        Self::Loss(statement)
    }
}

impl LossStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::SizeIgnored { by, .. } => act(by),
        }
    }
}
