//! Open questions about the rate of the link and its queue.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question about the rate of the link and its queue.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LinkQuestion {
    /// An example of the family.
    Placeholder,
}

impl From<LinkQuestion> for super::Question {
    fn from(question: LinkQuestion) -> Self {
        Self::Link(question)
    }
}

impl LinkQuestion {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::Placeholder => {}
        }
    }
}
