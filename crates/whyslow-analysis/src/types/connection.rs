//! Basic types of a connection: its two ends, the capture's position, its final state.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The end that opened the connection.
    Client,
    /// The end that accepted it.
    Server,
}

impl End {
    /// Both ends.
    pub const ALL: [Self; 2] = [Self::Client, Self::Server];

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

/// Position of the capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// Next to the client.
    Client,
    /// Next to the server.
    Server,
    /// Between the two, next to neither.
    Middle,
    /// Unknown.
    #[default]
    Unknown,
}

/// State of a connection at its last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Only SYNs, without a response.
    Unanswered,
    /// A SYN was answered by a reset.
    Refused,
    /// Open when the capture ended.
    Open,
    /// One end has sent FIN, which was acknowledged, and the other end never sent its own (it stays
    /// in CLOSE_WAIT).
    HalfClosed,
    /// Both ends sent FIN.
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
