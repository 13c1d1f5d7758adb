//! Remedies for causes about applications, requests and connections.

use crate::types::ModelChange;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A remedy for a cause about applications, requests and connections.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum ExchangeAction {
    /// An example of the family.
    Placeholder,
}

impl From<ExchangeAction> for super::Action {
    fn from(action: ExchangeAction) -> Self {
        Self::Exchange(action)
    }
}

impl ExchangeAction {
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
