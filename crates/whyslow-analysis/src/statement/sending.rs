//! Statements about windows, segments and ACKs.

use super::SpreadCost;
use crate::types::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A statement about windows, segments and ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SendingStatement {
    /// The congestion window was growing from the initial window.
    SlowStart {
        /// Time in slow start.
        spent_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// The first flight, bytes; `None` if much of the transfer was not captured.
        first_flight: Option<u64>,
    },
    /// The sender left slow start without a loss.
    EarlyExit {
        /// The flight at the exit, segments.
        segments: u64,
        /// The same value in bytes.
        bytes: u64,
        /// The cost of the slow growth after it.
        cost_s: Nanos,
    },
    /// Several connections left slow start at the same flight.
    RememberedThreshold {
        /// How many connections.
        connections: u64,
        /// The sender.
        sender: String,
        /// The peer.
        peer: String,
        /// The flight at the exit, segments.
        segments: u64,
        /// The cost.
        cost: SpreadCost,
    },
    /// The window scale option was missing.
    NoWindowScaling {
        /// The SYNs without the option.
        missing: Vec<End>,
        /// The largest window, bytes.
        window: u64,
        /// The round trip.
        rtt_s: Nanos,
    },
    /// The receiver's window was full.
    ReceiveWindowFull {
        /// The window, bytes.
        window: u64,
        /// Time with a full window.
        full_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// The round trip.
        rtt_s: Nanos,
    },
    /// The receiver's window was closed.
    WindowClosed {
        /// Time with a closed window.
        closed_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// The bytes in flight stayed below every window.
    SenderCap {
        /// The most in flight, or in two rounds, bytes.
        bytes: u64,
        /// A large and a small flight take turns, and `bytes` are both of them.
        alternating: bool,
        /// The window that the receiver offered, bytes; `None` if unknown.
        window: Option<u64>,
        /// The time of `bytes`.
        time_s: Nanos,
    },
    /// The sender stopped at a number of bytes in flight until the receiver's application sent a
    /// message.
    ProtocolWindow {
        /// Bytes in flight.
        bytes: u64,
        /// The round trip.
        rtt_s: Nanos,
    },
    /// The window of HTTP/2 that was used up, as the decrypted frames show it.
    FlowControlWindow {
        /// The stream; `None` for the connection's own window.
        stream: Option<u32>,
        /// How large the window was at most, bytes.
        bytes: u64,
        /// The end that grants it.
        granted_by: End,
        /// How often the sender waited for more.
        times: u64,
        /// Total time.
        waited_s: Nanos,
    },
    /// The sender stopped after each piece until the receiver's application sent a message.
    ProtocolTurns {
        /// Bytes of a piece.
        bytes: u64,
        /// How often.
        times: u64,
        /// The cost.
        cost_s: Nanos,
        /// The exchanges.
        whole_s: Nanos,
    },
    /// Segments were far smaller than the MSS.
    SmallSegments {
        /// The mean, bytes.
        mean: u64,
        /// The MSS, bytes.
        mss: u64,
        /// Why.
        reason: SmallSegmentReason,
    },
    /// Small segments waited for the ACK of the one before.
    NagleWaits {
        /// How many.
        segments: u64,
        /// The typical wait.
        typical_s: Nanos,
        /// The ACK was delayed.
        delayed_ack: bool,
    },
    /// The receiver delayed ACKs.
    DelayedAcks {
        /// How many.
        acks: u64,
        /// The typical delay.
        typical_s: Nanos,
    },
    /// The sender spaced its segments.
    Paced {
        /// The rate, payload bits per second.
        rate_bps: f64,
        /// Length.
        held_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// The most in flight, bytes.
        flight: u64,
    },
    /// A small request was answered by a large burst.
    Amplification {
        /// The request, bytes.
        request: u64,
        /// Sent before the first ACK, bytes.
        flight: u64,
        /// The burst filled the receiver's window.
        filled_window: bool,
        /// The burst, segments.
        segments: u64,
    },
    /// The sender went back to slow start.
    RestartAfterIdle {
        /// The silence before.
        idle_s: Nanos,
        /// The first flight after it, bytes.
        flight: u64,
        /// The largest flight before it, bytes.
        largest: u64,
        /// The cost.
        cost_s: Nanos,
    },
}

/// Why segments were small, and the cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum SmallSegmentReason {
    /// The receiver's window holds no full segment; the cost is the window's.
    Window {
        /// The largest window, bytes.
        window: u64,
    },
    /// The application's writes.
    Writes {
        /// Saving of full segments.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
}

impl From<SendingStatement> for super::Statement {
    fn from(statement: SendingStatement) -> Self {
        Self::Sending(statement)
    }
}

impl SendingStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::RememberedThreshold { sender, peer, .. } => {
                act(sender);
                act(peer);
            }
            Self::SlowStart { .. }
            | Self::EarlyExit { .. }
            | Self::NoWindowScaling { .. }
            | Self::ReceiveWindowFull { .. }
            | Self::WindowClosed { .. }
            | Self::SenderCap { .. }
            | Self::ProtocolWindow { .. }
            | Self::FlowControlWindow { .. }
            | Self::ProtocolTurns { .. }
            | Self::SmallSegments { .. }
            | Self::NagleWaits { .. }
            | Self::DelayedAcks { .. }
            | Self::Paced { .. }
            | Self::Amplification { .. }
            | Self::RestartAfterIdle { .. } => {}
        }
    }
}
