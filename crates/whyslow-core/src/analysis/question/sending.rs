//! Open questions about windows, segments and ACKs.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question about windows, segments and ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SendingQuestion {
    /// Most flights end in a short segment: was the application limited?
    FlightsEndShort,
    /// Does the sender remember a threshold for this peer?
    RememberedThreshold {
        /// The peer; `None` for "this peer".
        peer: Option<String>,
        /// The threshold, segments.
        segments: u64,
    },
}

impl From<SendingQuestion> for super::Question {
    fn from(question: SendingQuestion) -> Self {
        Self::Sending(question)
    }
}

impl SendingQuestion {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::RememberedThreshold { peer, .. } => peer.iter_mut().for_each(act),
            Self::FlightsEndShort => {}
        }
    }
}
