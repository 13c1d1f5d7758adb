//! Remedies for causes about lost, repeated and reordered packets.

use crate::types::ModelChange;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A remedy for a cause about lost, repeated and reordered packets.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum LossAction {
    /// An example of the family.
    Placeholder,
}

impl From<LossAction> for super::Action {
    fn from(action: LossAction) -> Self {
        Self::Loss(action)
    }
}

impl LossAction {
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
