//! Open questions about applications, requests and connections.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question about applications, requests and connections.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExchangeQuestion {
    /// An example of the family.
    Placeholder,
}

impl From<ExchangeQuestion> for super::Question {
    fn from(question: ExchangeQuestion) -> Self {
        Self::Exchange(question)
    }
}

impl ExchangeQuestion {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::Placeholder => {}
        }
    }
}
