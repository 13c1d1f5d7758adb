//! One transfer seen from two places, in two captures of the same packets.

mod change;
mod statement;

pub use change::{Change, ChangeKind, OptionChange, OptionEdit, Resegmentation};
pub use statement::{PairCaveat, PairStatement, WayLoss, WayQueue};

use super::{End, Frame, Rtt};
use serde::Serialize;
use whyslow_units::Nanos;

/// Maximum number of pairs of captures listed.
pub const MAX_PAIRS: usize = 256;
/// Maximum number of frames listed of the packets that were lost in one direction.
pub const MAX_LOST_FRAMES: usize = 16;

/// One connection (or the two connections of a proxy) in two captures. Pairs are `[nearer to the
/// client, nearer to the server]`.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// Ids of the connection in the two captures.
    pub connections: [u64; 2],
    /// Indices in [`Analysis::captures`](super::Analysis::captures) of the (first) captures that
    /// hold them.
    pub captures: [usize; 2],
    /// The capture whose findings are shown on a single page: the one next to the end that
    /// sent the most.
    #[serde(rename = "told")]
    pub shown: u64,
    /// Evidence that they belong together.
    pub matched_by: MatchedBy,
    /// How the two clocks stand to each other; null where they jump.
    pub clock: Option<PairClock>,
    /// Client's, then server's.
    pub directions: Vec<PairDirection>,
    /// The parts of the path, from the client to the server.
    pub legs: Vec<Leg>,
    /// Differences between the two captures, except for time.
    pub changes: Vec<Change>,
    /// Behaviour of a proxy in the middle; null if there is none.
    pub proxy: Option<Proxy>,
    /// Conclusions.
    pub statements: Vec<PairStatement>,
    /// Limits of the comparison.
    pub caveats: Vec<PairCaveat>,
}

impl Pair {
    /// Applies `act` to every frame in it, for example to add the capture's number.
    pub fn for_each_frame(&mut self, act: impl Fn(&mut Frame) + Copy) {
        self.directions.iter_mut().flat_map(|direction| &mut direction.lost_frames).for_each(act);
        self.changes.iter_mut().filter_map(|change| change.kind.frame_mut()).for_each(act);
    }
}

/// The reason to regard two connections as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchedBy {
    /// Addresses, ports, and the initial sequence numbers if captured.
    Addresses,
    /// Both initial sequence numbers, though addresses or ports differ: address translation.
    InitialNumbers,
    /// Addresses and ports, and each SYN's timestamp, though the initial sequence numbers differ:
    /// they were rewritten.
    SynTimestamps,
    /// Sequence numbers and segment lengths in both directions, without a handshake, though
    /// addresses or ports differ.
    SequenceNumbers,
    /// The same amounts of payload both ways at the same time on two TCP connections: a proxy.
    Payload,
}

/// How the clocks of two captures stand to each other.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PairClock {
    /// How far the second clock is ahead when the connection begins, seconds. At this offset the
    /// minimum delay is the same both ways, which no capture can prove: an error of it moves delay
    /// from one way to the other.
    pub offset_s: Nanos,
    /// Growth of the offset, millionths; 0 if the captures show no drift, null if they are too
    /// short.
    pub drift_ppm: Option<f64>,
    /// How exact `drift_ppm` is, millionths to either side.
    pub drift_error_ppm: Option<f64>,
}

/// Losses and delays of one direction's packets between the two captures.
#[derive(Clone, Debug, Serialize)]
pub struct PairDirection {
    /// Sender of this direction.
    pub from: End,
    /// Packets that passed the first of the two captures and should have reached the second. A
    /// segment that is split on the way counts as its parts.
    pub sent: u64,
    /// Payload in them, bytes, retransmissions included.
    pub sent_bytes: u64,
    /// Packets that never reached the second.
    pub lost: u64,
    /// Lost packets with payload.
    pub lost_with_payload: u64,
    /// Payload in them, bytes.
    pub lost_bytes: u64,
    /// `lost` of `sent`, 0–1.
    pub lost_share: f64,
    /// The first ones, in the first capture; at most [`MAX_LOST_FRAMES`].
    pub lost_frames: Vec<Frame>,
    /// Packets that arrived with a wrong checksum: their receiver drops them, so they are among the
    /// lost ones.
    pub damaged: u64,
    /// Packets without a verdict: the second capture was not running, or the comparison had ended.
    pub unjudged: u64,
    /// Packets that are not in the second capture although their content was acknowledged there:
    /// that capture dropped them.
    pub uncaptured: u64,
    /// Packets in the second capture that the first does not have: it dropped them, or was not
    /// running.
    pub unseen_before: u64,
    /// Packets that arrived twice, though sent once.
    pub duplicated: u64,
    /// Packets that arrived after a packet sent later (RFC 4737).
    pub reordered: u64,
    /// Largest delay of a reordered packet, seconds.
    pub reordered_s: Nanos,
    /// Packets with payload that had been sent before.
    pub resent: u64,
    /// Retransmissions whose earlier copy was lost between the captures.
    pub resent_for_loss: u64,
    /// Segments that the first capture has only as retransmissions: lost between their
    /// sender and it.
    pub lost_before: u64,
    /// Time from the first capture to the second, milliseconds, with the clocks aligned by
    /// [`PairClock`].
    pub delay_ms: OneWay,
    /// `delay_ms` above its minimum: the time that packets waited.
    pub queue_ms: OneWay,
    /// The least delay by the clocks as they are; right where both follow the same reference. Null
    /// where there is none.
    pub uncorrected_ms: Option<f64>,
}

/// A distribution of one-way delays, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OneWay {
    /// Least.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// Number of packets in this distribution.
    pub samples: u64,
}

/// A part of the path.
#[derive(Clone, Debug, Serialize)]
pub struct Leg {
    /// The part of the path.
    pub place: PathPart,
    /// Round trips on it. On the outer legs they are from data to its ACK, including the end's ACK
    /// delay; between the captures they are the sums of both ways' figures.
    pub rtt_ms: Rtt,
}

/// Parts of a path that two captures divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathPart {
    /// From the client to the capture nearer to it.
    Client,
    /// Between the two captures.
    Between,
    /// From the other capture to the server.
    Server,
}

/// A proxy between two captures, for the transfer that carried most.
#[derive(Clone, Debug, Serialize)]
pub struct Proxy {
    /// Which leg makes the other one wait; null where neither clearly does.
    pub slower: Option<End>,
    /// Time that a byte waits on the leg that delivers it: from the capture there to the proxy's
    /// ACK of it, above the minimum of that time, in the median, milliseconds.
    pub before_ms: Option<f64>,
    /// Time that it waits in the proxy and on the leg that forwards it: from that ACK to the other
    /// capture, above the minimum of that time, in the median, milliseconds.
    pub behind_ms: Option<f64>,
    /// Share of the transfer's time for which the leg that brings the bytes found the proxy's
    /// window full, 0–1.
    pub full_share: f64,
    /// Share of the time for which the leg that takes them on had nothing to send, 0–1.
    pub empty_share: f64,
    /// Bytes that the proxy and the path between the captures held, in the median over the arriving
    /// ones.
    pub held_bytes: u64,
    /// The most that they held.
    pub held_most_bytes: u64,
}
