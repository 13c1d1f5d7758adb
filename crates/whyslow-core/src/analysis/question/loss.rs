//! Open questions about lost, repeated and reordered packets.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question about lost, repeated and reordered packets.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossQuestion {
    /// An example of the family.
    Placeholder,
}

impl From<LossQuestion> for super::Question {
    fn from(question: LossQuestion) -> Self {
        Self::Loss(question)
    }
}

impl LossQuestion {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::Placeholder => {}
        }
    }
}
