//! Open questions about windows, segments and ACKs.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

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
    /// Round trips had grown while the window was full: was the link full as well?
    WindowFullInQueue {
        /// The minimum round trip.
        least_s: Nanos,
        /// The typical round trip then.
        typical_s: Nanos,
    },
    /// The handshake was not captured: what is the unit of the windows?
    WindowUnitUnknown,
    /// Is the application slow, or the host busy?
    SlowReaderOrBusyHost,
    /// Which buffer or window stops the sender?
    WhichCap {
        /// Rounds that show it.
        rounds: u64,
        /// Whether the receiver's window is known.
        window_known: bool,
    },
    /// Does the application keep a window, or does it answer each piece?
    WindowOrAnswers {
        /// Amount after which a message follows.
        after: Amount,
    },
    /// Does the sender count its congestion window in segments?
    WindowInSegments,
    /// Was the initial window one or two segments?
    TinyInitialWindow,
    /// Does the sender pace, or is the network slow?
    SenderOrNetworkRate,
    /// Which initial window does the server use?
    ServerInitialWindow,
}

/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// Segments.
    Segments(u64),
    /// Bytes.
    Bytes(u64),
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
            Self::FlightsEndShort
            | Self::WindowFullInQueue { .. }
            | Self::WindowUnitUnknown
            | Self::SlowReaderOrBusyHost
            | Self::WhichCap { .. }
            | Self::WindowOrAnswers { .. }
            | Self::WindowInSegments
            | Self::TinyInitialWindow
            | Self::SenderOrNetworkRate
            | Self::ServerInitialWindow => {}
        }
    }
}
