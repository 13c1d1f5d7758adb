//! A deterministic, packet-level model of one TCP transfer over one path.
//!
//! It models the mechanisms that decide a transfer's time: slow start and its early ends, three
//! congestion controllers, loss recovery with SACK, RACK and tail probes, the retransmission timer,
//! the receiver's window, a cap in the sender, the rate and queue of the path, and an application
//! that pauses. It ignores rare ones: reordering, ECN, lost acknowledgements, several connections
//! that compete. Times are exact to the nanosecond of the model and depend only on the
//! [`Scenario`]: no clock, and chance only from a seed.
//!
//! Work is bounded by the number of simulated segments, whatever the scenario's figures are: a
//! transfer longer than [`MAX_SEGMENTS`] is extrapolated at the rate of its last quarter, and one
//! that takes more than [`MAX_STEPS`] (a window of one byte sends segments of one byte) at the rate
//! of the second half of those steps. The [`Outcome`] records it.
#![forbid(unsafe_code)]
#![warn(clippy::disallowed_methods)]

mod buffer;
mod congestion;
mod deliveries;
mod driver;
mod event_queue;
mod ledger;
mod link;
mod out_of_order;
pub mod plan;
mod receiver;
mod recovery;
mod ring;
mod rtt;
mod sender;
mod sender_settings;

pub use buffer::initial_buffer;
pub use driver::{Timed, simulate, time};
pub use sender_settings::{Algorithm, SenderSettings};

use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_analysis::types::LimitingFactor;
pub use whyslow_analysis::types::RTO_MIN;
use whyslow_units::{Nanos, Time};

/// Segments that are modelled one by one.
pub const MAX_SEGMENTS: u64 = 1 << 17;

/// Maximum number of steps of one simulation: packets that leave, and events. A segment usually
/// takes two (it leaves, and its ACK arrives), three if it is paced.
pub const MAX_STEPS: u64 = 4 * MAX_SEGMENTS;

/// Linux' least delayed acknowledgement (`TCP_DELACK_MIN`).
pub const DELACK_MIN: Nanos = Nanos::from_millis(40);

/// No time that is modelled is later than this and a round trip: some decades. So times can be
/// added without care.
const MAX_TIME: Time = Time(1 << 60);
/// The longest time that is modelled.
const MAX_LENGTH: Nanos = Nanos(1 << 60);

/// A transfer to be modelled.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Scenario {
    /// Payload, bytes.
    pub bytes: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Round trip without any queue.
    pub rtt: Nanos,
    /// Rate of the narrowest link, payload bits per second; `None` if it is never a limit.
    pub rate: Option<f64>,
    /// Size of the queue before that link, payload bytes; more is lost. `None`: unbounded.
    pub queue: Option<u64>,
    /// Other losses on the path.
    pub losses: Losses,
    /// The sending host.
    pub sender: SenderSettings,
    /// The receiving host.
    pub receiver: ReceiverSettings,
    /// The sender's silences, in the order of the bytes.
    pub pauses: Vec<Pause>,
}

/// Loss that no queue causes.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum Losses {
    /// The first copies of the segments that hold these bytes, ascending.
    At(Vec<u64>),
    /// Each packet with this probability, drawn from the seed.
    Random {
        /// 0–1.
        probability: f64,
        /// Seed of the draws.
        seed: u64,
    },
}

impl Losses {
    /// No losses.
    pub const NONE: Self = Self::At(Vec::new());
}

/// How the receiving host receives.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct ReceiverSettings {
    /// Its window.
    pub window: Window,
    /// How long it delays the ACK of a single segment.
    pub ack_delay: Nanos,
}

/// A receive window.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum Window {
    /// Never full.
    Unlimited,
    /// It starts small and follows the bytes of a round trip up to a bound (Linux' `tcp_rmem`),
    /// bytes.
    Autotuned {
        /// At first.
        initial: u64,
        /// At most.
        most: u64,
    },
    /// As captured: from a number of delivered bytes on, a window in bytes; ascending.
    Advertised(Vec<(u64, u64)>),
}

/// A silence of the sender.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Pause {
    /// Number of bytes that were sent for the first time.
    pub at: u64,
    /// Length of the silence.
    pub length: Nanos,
    /// Why.
    pub kind: PauseKind,
}

/// Why a sender is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum PauseKind {
    /// The program has nothing to send (or its peer, or a small segment, is waited for).
    Program,
    /// The program has nothing to send for so long that the window starts over (RFC 5681 section
    /// 4.1).
    Idle,
    /// The retransmission timer runs: afterwards the window is one segment.
    Timer,
}

/// Result of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// From the first byte sent to the ACK of the last at the sender.
    pub duration: Nanos,
    /// From the first byte sent to the last byte's arrival.
    pub delivered: Nanos,
    /// When each round began, and the new bytes sent in it; the first rounds.
    pub rounds: Vec<(Nanos, u64)>,
    /// How many rounds there were.
    pub rounds_total: u64,
    /// Time by limit of the sender; largest first. They sum to `duration`.
    pub limits: Vec<(LimitingFactor, Nanos)>,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Window at the end, segments.
    pub cwnd: f64,
    /// Slow start's threshold at the end, segments.
    pub ssthresh: f64,
    /// Payload that the kernel's send buffer holds at the end, bytes.
    pub buffer: Option<u64>,
    /// The timer at the end, by which idle time is counted.
    pub rto: Nanos,
    /// The end was extrapolated from the rate of the last part that was simulated.
    pub extrapolated: bool,
    /// Packets and events that were simulated.
    pub steps: u64,
}

/// Maximum number of rounds that an outcome lists.
const MAX_ROUNDS: usize = 64;

#[cfg(test)]
mod tests;
