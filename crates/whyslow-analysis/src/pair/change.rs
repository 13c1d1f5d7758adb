//! Changes to packets between two captures.

use crate::{End, Frame};
use serde::Serialize;

/// Something that was changed between the two captures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The end whose packets were changed; null for both.
    pub from: Option<End>,
    /// Number of changed packets.
    pub count: u64,
    /// Kind of the change.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// A change to packets between two captures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The address or the port of an end.
    Addresses {
        /// Address and port near the client.
        near_client: (String, u16),
        /// Address and port near the server.
        near_server: (String, u16),
    },
    /// Packets were marked as congested.
    CeMarks,
    /// Other ECN bits.
    Ecn,
    /// IP identification.
    IpId,
    /// Several segments arrived as one.
    Merged {
        /// The place of the change.
        place: Resegmentation,
    },
    /// The maximum segment size that a SYN offers.
    Mss(OptionChange<u16>),
    /// Resets arrived that the sender did not send.
    Resets {
        /// The first one.
        first: Frame,
    },
    /// The SACK option of a SYN.
    Sack {
        /// Added or removed.
        edit: OptionEdit,
    },
    /// The initial sequence numbers.
    SequenceNumbers,
    /// Segments arrived as several.
    Split {
        /// The place of the change.
        place: Resegmentation,
    },
    /// The values of the timestamps.
    TimestampValues,
    /// The timestamps option of a SYN.
    Timestamps {
        /// Added or removed.
        edit: OptionEdit,
    },
    /// The time to live.
    Ttl {
        /// The value as sent.
        sent: u8,
        /// The value as received.
        arrived: u8,
    },
    /// The window of packets without payload.
    Window,
    /// The window scale that a SYN offers.
    WindowScale(OptionChange<u8>),
}

/// The value of an option here and there; null if it was missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OptionChange<T> {
    /// The value as sent.
    pub sent: Option<T>,
    /// The value as received.
    pub arrived: Option<T>,
}

/// Change to an option without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionEdit {
    /// A packet or option was added.
    Added,
    /// A packet or option was removed.
    Removed,
}

/// The place where segments got other boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "at", rename_all = "kebab-case")]
pub enum Resegmentation {
    /// In a host, by offload: behind the sender's capture (TSO), or before the receiver's (GRO).
    Host,
    /// In the network, because no packet is larger than a segment on the wire.
    Network {
        /// That size, bytes.
        mss: u32,
    },
}

impl ChangeKind {
    /// The frame that it names.
    pub(super) fn frame_mut(&mut self) -> Option<&mut Frame> {
        match self {
            Self::Resets { first } => Some(first),
            _ => None,
        }
    }
}
