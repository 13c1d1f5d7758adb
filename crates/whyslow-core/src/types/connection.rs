//! Words for a connection: its two ends, where the capture stands, how it ended.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// Which end, of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The end that opened the connection.
    Client,
    /// The other.
    Server,
}

impl End {
    /// The other end.
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Its place in a `[client, server]` pair.
    pub fn index(self) -> usize {
        match self {
            Self::Client => 0,
            Self::Server => 1,
        }
    }
}

/// Where the capture stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// Next to the client.
    Client,
    /// Next to the server.
    Server,
    /// Between the two.
    Middle,
    /// It cannot be told.
    #[default]
    Unknown,
}

/// How a connection stood at its last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// SYNs, and no answer.
    Unanswered,
    /// A SYN was answered by a reset.
    Refused,
    /// Open when the capture ended.
    Open,
    /// One end has sent FIN, and it was acknowledged, and the other never answered with its own:
    /// CLOSE_WAIT there.
    HalfClosed,
    /// FINs from both ends.
    Closed,
    /// Ended by a reset.
    Reset,
}

impl State {
    /// Its public name, as in the JSON.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Unanswered => "unanswered",
            Self::Refused => "refused",
            Self::Open => "open",
            Self::HalfClosed => "half-closed",
            Self::Closed => "closed",
            Self::Reset => "reset",
        }
    }
}
