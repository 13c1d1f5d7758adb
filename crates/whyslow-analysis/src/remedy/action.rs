//! [`Action`]: the change of a remedy, with its parameters. A file per family of causes.

mod exchange;
mod link;
mod loss;
mod sending;

pub use exchange::{ClientState, ExchangeAction, LogTopic};
pub use link::LinkAction;
pub use loss::{LossAction, RepairSpeed};
pub use sending::{BufferNeed, FirstWindow, RateSource, SendingAction, SizedBy, UsualCap};

use super::step::{Form, Step};
use crate::types::{End, ModelChange, Platform};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// The change of a remedy.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(untagged)]
pub enum Action {
    /// About applications, requests and connections.
    Exchange(ExchangeAction),
    /// About the rate of the link and its queue.
    Link(LinkAction),
    /// About lost, repeated and reordered packets.
    Loss(LossAction),
    /// About windows, segments and ACKs.
    Sending(SendingAction),
}

impl Action {
    /// The command that makes the change on Linux, to be pasted whole; `None` if no command does.
    pub fn command(&self) -> Option<String> {
        self.form(Platform::Linux)?.command()
    }

    /// Its form on a platform; `None` if no command does it.
    pub fn form(&self, platform: Platform) -> Option<Form> {
        self.step().map(|step| step.form(platform))
    }

    /// The setting or check on the host; `None` if no command does it.
    pub fn step(&self) -> Option<Step> {
        match self {
            Self::Exchange(action) => action.step(),
            Self::Link(action) => action.step(),
            Self::Loss(action) => action.step(),
            Self::Sending(action) => action.step(),
        }
    }

    /// The end on which the command runs, if it is not the one of the remedy's actor.
    pub fn runs_on(&self) -> Option<End> {
        match self {
            Self::Loss(action) => action.runs_on(),
            Self::Sending(action) => action.runs_on(),
            _ => None,
        }
    }

    /// Changes to the model of a transfer; `None` if the model cannot show them.
    pub fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            Self::Exchange(action) => action.changes(),
            Self::Link(action) => action.changes(),
            Self::Loss(action) => action.changes(),
            Self::Sending(action) => action.changes(),
        }
    }

    /// Applies `act` to every host that it names.
    pub fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::Exchange(action) => action.each_host(act),
            Self::Link(action) => action.each_host(act),
            Self::Loss(action) => action.each_host(act),
            Self::Sending(action) => action.each_host(act),
        }
    }
}
