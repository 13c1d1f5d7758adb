//! Remedies for causes about the rate of the link and its queue.

use crate::types::ModelChange;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A remedy for a cause about the rate of the link and its queue.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum LinkAction {
    /// An example of the family.
    Placeholder,
}

impl From<LinkAction> for super::Action {
    fn from(action: LinkAction) -> Self {
        Self::Link(action)
    }
}

impl LinkAction {
    /// See [`Action::command`](super::Action::command).
    pub(super) fn command(&self) -> Option<String> {
        match self {
            Self::Placeholder => None,
        }
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            Self::Placeholder => None,
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::Placeholder => {}
        }
    }
}
