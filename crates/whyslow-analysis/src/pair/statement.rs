//! Conclusions from a pair of captures, and limits of their comparison, as data.

use crate::End;
use serde::Serialize;
use whyslow_units::Nanos;

/// A conclusion from two captures of one connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PairStatement {
    /// Packets came twice, late or damaged.
    Disorder {
        /// The end that they were sent to.
        to: End,
        /// Packets that arrived twice.
        duplicated: u64,
        /// Packets that arrived after ones sent later.
        reordered: u64,
        /// The largest delay of a reordered packet.
        reordered_s: Nanos,
        /// Packets that arrived with a wrong checksum.
        damaged: u64,
    },
    /// Packets were lost between the captures, or none was.
    Lost {
        /// The directions in which packets were lost.
        ways: Vec<WayLoss>,
    },
    /// Segments were lost between their sender and the capture nearer to it.
    LostBefore {
        /// The sender.
        from: End,
        /// How many segments.
        segments: u64,
    },
    /// A proxy stands between the captures.
    Proxied {
        /// The end whose leg makes the other wait; `None` if neither clearly does.
        slower: Option<End>,
        /// Median time that a byte waits before the proxy acknowledges it.
        before_s: Nanos,
        /// Wait of a byte after that, median.
        behind_s: Nanos,
        /// Share of the time for which the proxy's window was full, 0–1.
        full_share: f64,
        /// Bytes that the proxy and the network between the captures held, median.
        held_bytes: u64,
    },
    /// Packets waited between the captures.
    Queued {
        /// The direction with the longer wait first; the other one if packets waited there too.
        ways: Vec<WayQueue>,
    },
    /// Segments were sent again.
    Resent {
        /// The sender.
        from: End,
        /// How many segments.
        segments: u64,
        /// Repetitions of segments that were lost between the captures.
        for_loss: u64,
    },
    /// The part of the path with the round trip.
    RoundTrip {
        /// The minimum RTT of the connection.
        whole_s: Nanos,
        /// Part of the wait between the captures.
        between_s: Nanos,
        /// Its parts outside of the captures, on the client's side and on the server's; `None` if
        /// they are negligible.
        outside_s: Option<[Nanos; 2]>,
    },
    /// It is not known whether packets arrived, as the other capture was not running.
    Unjudged {
        /// The sender.
        from: End,
        /// How many packets.
        packets: u64,
    },
}

/// Losses in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WayLoss {
    /// The end that the packets were sent to.
    pub to: End,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// `lost` of `sent`, 0–1.
    pub share: f64,
}

/// Waits in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WayQueue {
    /// The end that the packets were sent to.
    pub to: End,
    /// The wait, median.
    pub p50_s: Nanos,
    /// The wait, 95th percentile.
    pub p95_s: Nanos,
}

/// A limit of the comparison of two captures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PairCaveat {
    /// A capture has packets twice.
    CapturedTwice {
        /// The end that the capture is nearer to.
        near: End,
        /// How many packets.
        packets: u64,
    },
    /// Only the first packets of a capture were compared.
    FirstPackets {
        /// The end that the capture is nearer to.
        near: End,
        /// How many packets.
        packets: u64,
    },
    /// Packets arrived that the capture nearer to their sender does not have.
    MissingAtSender {
        /// The sender.
        from: End,
        /// How many packets.
        packets: u64,
    },
    /// Packets were acknowledged that the capture nearer to their receiver does not have.
    MissingAtReceiver {
        /// The sender.
        from: End,
        /// How many packets.
        packets: u64,
    },
    /// Both captures were taken at the same place.
    OnePlace,
}
