//! Remedies for causes about several causes.

use crate::types::ModelChange;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A remedy for a cause about several causes.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum CommonAction {
    /// Not converted yet.
    Text {
        /// The sentence.
        text: String,
        /// A command that does it.
        command: Option<String>,
    },
}

impl From<CommonAction> for super::Action {
    fn from(action: CommonAction) -> Self {
        Self::Common(action)
    }
}

impl CommonAction {
    /// See [`Action::command`](super::Action::command).
    pub(super) fn command(&self) -> Option<String> {
        match self {
            Self::Text { command, .. } => command.clone(),
        }
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            Self::Text { .. } => None,
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::Text { text, command } => {
                act(text);
                command.iter_mut().for_each(act);
            }
        }
    }
}
