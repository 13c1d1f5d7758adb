//! [`Verdict`]: the conclusion from all findings of a transfer.

use crate::types::LimitingFactor;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use whyslow_units::Nanos;

/// The conclusion from all findings of a transfer.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Verdict {
    /// The first finding took half of the time, or twice as much as the next.
    Cause,
    /// Several findings took similar parts of the time.
    Mixed,
    /// Causes are known for a part of the time: packets were left out of a text.
    PartlyShown {
        /// The part that the text shows.
        shown: Nanos,
        /// The whole transfer.
        whole: Nanos,
    },
    /// Nothing slowed the transfer: all but round trips took less than two fifths of its time, or
    /// less than 10 ms.
    Healthy,
    /// The capture does not show why it was slow.
    Unknown,
    /// The capture does not show why, because packets were left out of a text.
    UnknownElided,
    /// Limits took the time, and no cause of them is proven.
    Unexplained {
        /// The limits that took most, with their times.
        limits: Vec<(LimitingFactor, Nanos)>,
        /// The whole transfer.
        whole: Nanos,
    },
    /// It waited for another connection between the same hosts.
    WaitedForOther,
    /// It stood in the queue of another transfer between the same hosts.
    QueuedBehindOther,
}

impl Verdict {
    /// Its public name.
    pub const fn slug(&self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Mixed => "mixed",
            Self::PartlyShown { .. } => "partly-shown",
            Self::Healthy => "healthy",
            Self::Unknown => "unknown",
            Self::UnknownElided => "unknown-elided",
            Self::Unexplained { .. } => "unexplained",
            Self::WaitedForOther => "waited-for-another-connection",
            Self::QueuedBehindOther => "queued-behind-another-transfer",
        }
    }

    /// Whether the capture does not show why the transfer was slow.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown | Self::UnknownElided)
    }
}

/// Serializes the public name.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}
