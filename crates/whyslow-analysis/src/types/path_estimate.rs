//! Quantities of a transfer's path that a capture shows or hides.

use super::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A quantity of a transfer's path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathEstimate {
    /// The packets show it.
    Known {
        /// The estimate.
        value: f64,
        /// Lower end of its range.
        low: f64,
        /// Upper end of its range.
        high: f64,
        /// The first and the last frame that it comes from.
        frames: [Frame; 2],
    },
    /// They do not.
    Hidden {
        /// Why.
        reason: HiddenReason,
    },
}

impl PathEstimate {
    /// The estimate, if known.
    pub const fn value(&self) -> Option<f64> {
        match self {
            Self::Known { value, .. } => Some(*value),
            Self::Hidden { .. } => None,
        }
    }
}

impl Default for PathEstimate {
    fn default() -> Self {
        Self::Hidden { reason: HiddenReason::default() }
    }
}

/// Why a capture does not show a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HiddenReason {
    /// Too few segments and their ACKs were captured to measure it.
    #[default]
    NoRoundTrip,
    /// One direction was captured.
    OneDirection,
    /// Acknowledgements and losses are encrypted (QUIC).
    Encrypted,
    /// Packets were left out of the text.
    PacketsLeftOut,
    /// At the receiver the ACKs leave at once, and no timestamps show when the sender gets them.
    AtTheReceiver,
    /// The transfer never filled the link.
    NeverFull,
}

/// What a capture shows of the path of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct PathEstimates {
    /// Round trip without queues, milliseconds. Its range is the accuracy of the capture's times.
    pub round_trip_ms: PathEstimate,
    /// Time in the queues of the path, milliseconds: the median over the rounds, from the lower to
    /// the upper tenth.
    pub queue_ms: PathEstimate,
    /// Rate of the link when this transfer filled it, payload bits per second, from the lower to
    /// the upper tenth.
    pub rate_bps: PathEstimate,
    /// Episodes of loss: losses of one round trip are one.
    pub loss_episodes: PathEstimate,
}

impl PathEstimates {
    /// Applies `act` to every frame number.
    pub fn for_each_frame(&mut self, act: impl Fn(&mut Frame)) {
        for estimate in [&mut self.round_trip_ms, &mut self.queue_ms, &mut self.rate_bps, &mut self.loss_episodes] {
            if let PathEstimate::Known { frames, .. } = estimate {
                frames.iter_mut().for_each(&act);
            }
        }
    }
}
