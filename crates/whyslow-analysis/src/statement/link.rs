//! Statements about the rate of the link and its queue, and about the hosts at its ends.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A statement about the rate of the link and its queue, or about the hosts at its ends.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LinkStatement {
    /// The receiving host acknowledged late.
    LateAcks {
        /// Median time from data to its ACK.
        delay_s: Nanos,
        /// The round trip.
        rtt_s: Nanos,
        /// The cost.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// A queue marked packets (ECN), and the sender reduced its window.
    Marked {
        /// ACKs that echo the marks.
        echoes: u64,
        /// The flight before, bytes.
        before: u64,
        /// The flight after, bytes.
        after: u64,
        /// Time at the reduced window.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// A policer may have dropped packets above a rate.
    Policed {
        /// Segments lost.
        segments: u64,
        /// The evidence.
        shown: PolicerEvidence,
        /// The cost.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// A queue grew with the bytes in flight.
    QueueGrew {
        /// The least round trip.
        least_s: Nanos,
        /// The round trip with the queue.
        most_s: Nanos,
    },
    /// The sending host paused although nothing in the capture held it.
    SenderPaused {
        /// How often.
        times: u64,
        /// The pauses, summed.
        cost_s: Nanos,
    },
    /// A burst passed, and then a lower rate.
    Shaped {
        /// The burst beyond the rate, bytes.
        burst: u64,
        /// The rate of the burst, payload bits per second.
        burst_bps: f64,
        /// The rate after it, payload bits per second.
        rate_bps: f64,
        /// Round trips before and behind the bend; `None` if a queue cannot be seen at this
        /// vantage point.
        queue: Option<QueueRise>,
    },
    /// Transfers shared a link that was full; of one of them.
    SharedLink {
        /// The link.
        link: SharedBottleneck,
        /// The rate of this transfer, payload bits per second.
        own_bps: f64,
    },
    /// Transfers shared a link that was full; of all of them.
    SharedLinkOfAll {
        /// The link.
        link: SharedBottleneck,
        /// The hosts that they have in common.
        ends: CommonEnds,
        /// The rate of each, the largest first, payload bits per second.
        rates_bps: Vec<f64>,
    },
    /// One rate governed the transfer.
    SteadyRate {
        /// Payload bits per second.
        payload_bps: f64,
        /// The rate with headers, bits per second.
        wire_bps: f64,
        /// Length.
        held_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
}

/// Evidence for a policer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "sign", rename_all = "kebab-case")]
pub enum PolicerEvidence {
    /// The same rate passed between all losses.
    RateBetweenLosses {
        /// Payload bits per second.
        rate_bps: f64,
        /// Whether a queue grew.
        queue: QueueSight,
    },
    /// Packets above a rate were lost, and the rest did not wait in a queue.
    ExcessLost {
        /// The offered rate, payload bits per second.
        offered_bps: f64,
        /// The rate that passed, payload bits per second.
        passed_bps: f64,
    },
    /// Packets above a rate were lost, and the first flight came faster than that rate.
    FasterFirstFlight {
        /// The offered rate, payload bits per second.
        offered_bps: f64,
        /// The rate that passed, payload bits per second.
        passed_bps: f64,
    },
}

/// Whether the capture shows a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSight {
    /// A queue would be seen, and none grew.
    Absent,
    /// A queue cannot be seen at this vantage point.
    Hidden,
}

/// Round trips that rose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct QueueRise {
    /// Before.
    pub before_s: Nanos,
    /// After.
    pub after_s: Nanos,
}

/// A link that several transfers filled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct SharedBottleneck {
    /// Fate of packets above its rate.
    pub excess: Excess,
    /// How many transfers.
    pub transfers: u64,
    /// Number of connections.
    pub connections: u64,
    /// The rate of all together, payload bits per second.
    pub payload_bps: f64,
    /// The rate with headers, bits per second.
    pub wire_bps: f64,
    /// Time in which two or more ran.
    pub time_s: Nanos,
}

/// Fate of packets above a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// They wait in a queue, as at a link.
    Queued,
    /// They are dropped at once, as by a policer.
    Dropped,
}

/// Hosts that several transfers have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "common", rename_all = "kebab-case")]
pub enum CommonEnds {
    /// The sender and the receiver.
    Both {
        /// The sender's address.
        sender: String,
        /// The receiver's address.
        receiver: String,
    },
    /// The sender.
    Sender {
        /// Its address.
        sender: String,
    },
    /// The receiver.
    Receiver {
        /// Its address.
        receiver: String,
    },
}

impl From<LinkStatement> for super::Statement {
    fn from(statement: LinkStatement) -> Self {
        Self::Link(statement)
    }
}

impl LinkStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::SharedLinkOfAll { ends, .. } => ends.each_host(act),
            Self::LateAcks { .. }
            | Self::Marked { .. }
            | Self::Policed { .. }
            | Self::QueueGrew { .. }
            | Self::SenderPaused { .. }
            | Self::Shaped { .. }
            | Self::SharedLink { .. }
            | Self::SteadyRate { .. } => {}
        }
    }
}

impl CommonEnds {
    fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::Both { sender, receiver } => {
                act(sender);
                act(receiver);
            }
            Self::Sender { sender: host } | Self::Receiver { receiver: host } => act(host),
        }
    }
}
