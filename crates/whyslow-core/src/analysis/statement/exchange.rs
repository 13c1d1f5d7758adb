//! Statements about applications, requests and connections.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A statement about applications, requests and connections.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExchangeStatement {
    /// An example of the family.
    Placeholder,
}

impl From<ExchangeStatement> for super::Statement {
    fn from(statement: ExchangeStatement) -> Self {
        Self::Exchange(statement)
    }
}

impl ExchangeStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::Placeholder => {}
        }
    }
}
