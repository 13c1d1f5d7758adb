//! [`Remedy`]: one fix, who makes it, and the time that it promises.

mod action;
mod commands;

pub use action::*;

use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

/// One fix. Its action, its commands and its promise belong together.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Remedy {
    /// Who acts.
    pub actor: Actor,
    /// The change, with its parameters.
    pub action: Action,
    /// The time after this remedy. `None` if no model ran, or the model does not reproduce the
    /// capture.
    pub promise: Option<Promise>,
}

/// The time after a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Promise {
    /// Seconds.
    pub time_s: Nanos,
    /// The link must carry more than the capture shows for it. `None` if it need not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<Assumed>,
}

/// A rate that a promise needs and that the capture does not show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct Assumed {
    /// The link must carry more than this, payload bits per second.
    pub needed_bps: f64,
    /// The link was seen to carry this, within a round trip or on average.
    pub seen_bps: f64,
}

/// Who can remove a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The end that sends the payload.
    Sender,
    /// The end that receives it.
    Receiver,
    /// The operator of the network between the ends.
    Network,
    /// The application at one of the ends.
    Application,
    /// The person who captures.
    Capture,
}

impl Remedy {
    /// A remedy without a promise.
    pub fn new(actor: Actor, action: impl Into<Action>) -> Self {
        Self { actor, action: action.into(), promise: None }
    }
}

/// As `kind` and `parameters` of the action, `actor`, `commands` by platform, and `predicted_s`.
impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Commands {
            #[serde(skip_serializing_if = "Option::is_none")]
            linux: Option<String>,
        }
        #[derive(Serialize)]
        struct Row<'a> {
            #[serde(flatten)]
            action: &'a Action,
            actor: Actor,
            commands: Commands,
            predicted_s: Option<Nanos>,
            #[serde(skip_serializing_if = "Option::is_none")]
            predicted_assumes: Option<Assumed>,
        }
        let row = Row {
            action: &self.action,
            actor: self.actor,
            commands: Commands { linux: self.action.command() },
            predicted_s: self.promise.map(|promise| promise.time_s),
            predicted_assumes: self.promise.and_then(|promise| promise.assumed),
        };
        row.serialize(serializer)
    }
}
