//! [`Question`]: an open question, and the observation that would answer it. A file per family of
//! causes.

mod common;
mod exchange;
mod link;
mod loss;
mod sending;

pub use common::CommonQuestion;
pub use exchange::ExchangeQuestion;
pub use link::LinkQuestion;
pub use loss::LossQuestion;
pub use sending::{Amount, SendingQuestion};

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(untagged)]
pub enum Question {
    /// About several causes.
    Common(CommonQuestion),
    /// About applications, requests and connections.
    Exchange(ExchangeQuestion),
    /// About the rate of the link and its queue.
    Link(LinkQuestion),
    /// About lost, repeated and reordered packets.
    Loss(LossQuestion),
    /// About windows, segments and ACKs.
    Sending(SendingQuestion),
}

impl Question {
    /// Applies `act` to every host that it names.
    pub fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::Common(question) => question.each_host(act),
            Self::Exchange(question) => question.each_host(act),
            Self::Link(question) => question.each_host(act),
            Self::Loss(question) => question.each_host(act),
            Self::Sending(question) => question.each_host(act),
        }
    }
}
