//! [`Remedy`]: one fix, the party that makes it, and the time that it promises.

mod action;
mod commands;
mod products;
mod programs;
mod step;

pub use action::*;
pub use step::{Form, Step};

use crate::types::{End, Platform, Product};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use whyslow_units::Nanos;

/// One fix. Its action, its commands and its promise belong together.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Remedy {
    /// Party that has to act.
    pub actor: Actor,
    /// The change, with its parameters.
    pub action: Action,
    /// The time after this remedy. `None` if no model ran, or the model does not reproduce the
    /// capture.
    pub promise: Option<Promise>,
    /// The host that has to act, if the capture shows it.
    pub host: Host,
}

/// Known properties of a host that has to act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Host {
    /// Its platform.
    pub platform: Option<Platform>,
    /// Its program.
    pub product: Option<Product>,
}

/// The time after a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Promise {
    /// Seconds.
    pub time_s: Nanos,
    /// Nine of ten such times lie between these, seconds. `None` if no model gave the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_s: Option<[Nanos; 2]>,
    /// The link must carry more than the capture shows for it. `None` if it need not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<Assumed>,
}

/// A rate that a promise needs and that the capture does not show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Assumed {
    /// The link must carry more than this, payload bits per second.
    pub needed_bps: f64,
    /// The link was seen to carry this, within a round trip or on average.
    pub seen_bps: f64,
}

/// Party that can remove a cause.
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
        Self { actor, action: action.into(), promise: None, host: Host::default() }
    }

    /// The end that has to act; `None` for the network, or if no transfer shows the sender.
    pub fn acts_at(&self, sender: Option<End>) -> Option<End> {
        match (self.action.runs_on(), self.actor) {
            (Some(end), _) => Some(end),
            (None, Actor::Sender) => sender,
            (None, Actor::Receiver) => sender.map(End::other),
            (None, Actor::Application) => programs::end(&self.action, sender),
            (None, Actor::Network | Actor::Capture) => None,
        }
    }

    /// The platform and the command that are printed: those of the host, or of Linux if the host's
    /// platform is unknown.
    pub fn printed(&self) -> Option<(Platform, Form)> {
        let platform = self.host.platform.unwrap_or(Platform::Linux);
        Some((platform, self.action.form(platform)?))
    }

    /// The line that makes the change in the product of the host.
    pub fn product_line(&self) -> Option<(Product, &'static str)> {
        let product = self.host.product?;
        Some((product, products::line(&self.action, product)?))
    }
}

/// As `kind` and `parameters` of the action, `actor`, `platform` and `product` of the host,
/// `commands` by platform, and `predicted_s` with its range.
impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Commands {
            #[serde(skip_serializing_if = "Option::is_none")]
            linux: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            windows: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            macos: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            freebsd: Option<String>,
        }
        #[derive(Serialize)]
        struct InProduct {
            name: Product,
            line: &'static str,
        }
        #[derive(Serialize)]
        struct Row<'a> {
            #[serde(flatten)]
            action: &'a Action,
            actor: Actor,
            #[serde(skip_serializing_if = "Option::is_none")]
            platform: Option<Platform>,
            commands: Commands,
            #[serde(skip_serializing_if = "Option::is_none")]
            product: Option<InProduct>,
            predicted_s: Option<Nanos>,
            #[serde(skip_serializing_if = "Option::is_none")]
            predicted_range_s: Option<[Nanos; 2]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            predicted_assumes: Option<Assumed>,
        }
        let command = |platform| self.action.form(platform).and_then(Form::command);
        let row = Row {
            action: &self.action,
            actor: self.actor,
            platform: self.host.platform,
            commands: Commands {
                linux: command(Platform::Linux),
                windows: command(Platform::Windows),
                macos: command(Platform::Macos),
                freebsd: command(Platform::Freebsd),
            },
            product: self.product_line().map(|(name, line)| InProduct { name, line }),
            predicted_s: self.promise.map(|promise| promise.time_s),
            predicted_range_s: self.promise.and_then(|promise| promise.range_s),
            predicted_assumes: self.promise.and_then(|promise| promise.assumed),
        };
        row.serialize(serializer)
    }
}
