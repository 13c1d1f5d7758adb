//! Statements about the rate of the link and its queue.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A statement about the rate of the link and its queue.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LinkStatement {
    /// An example of the family.
    Placeholder,
}

impl From<LinkStatement> for super::Statement {
    fn from(statement: LinkStatement) -> Self {
        Self::Link(statement)
    }
}

impl LinkStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::Placeholder => {}
        }
    }
}
