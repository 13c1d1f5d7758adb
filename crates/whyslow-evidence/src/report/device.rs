//! [`DeviceStatement`]: what a network card's counters show.

use serde::Serialize;

/// What a network card's counters show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DeviceStatement {
    /// The receive ring was full.
    RingFull {
        /// Packets dropped.
        packets: f64,
        /// Packets that came; `None` if unknown.
        of: Option<f64>,
        /// Packets dropped per second; `None` with only one reading.
        per_s: Option<f64>,
    },
    /// The send queue was full.
    SendDrops {
        /// Packets dropped.
        packets: f64,
        /// Packets sent; `None` if unknown.
        of: Option<f64>,
        /// Packets dropped per second; `None` with only one reading.
        per_s: Option<f64>,
    },
    /// Frames came damaged.
    DamagedFrames {
        /// How many.
        frames: f64,
        /// Packets that came; `None` if unknown.
        of: Option<f64>,
    },
    /// Pause frames stopped a sender.
    Paused {
        /// Pause frames.
        frames: f64,
        /// Number per second; `None` with only one reading.
        per_s: Option<f64>,
        /// Whether this card received pause frames; otherwise it sent them.
        is_told: bool,
    },
    /// A cloud's limit was exceeded.
    Allowance {
        /// Which.
        allowance: Allowance,
        /// Packets that were queued or dropped.
        packets: f64,
        /// Number per second; `None` with only one reading.
        per_s: Option<f64>,
    },
}

/// A limit of a cloud instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allowance {
    /// Bits received.
    BandwidthIn,
    /// Bits sent.
    BandwidthOut,
    /// Packets.
    Packets,
    /// Tracked connections.
    Connections,
    /// Packets to services of the cloud: DNS, metadata, time.
    LinkLocal,
}
