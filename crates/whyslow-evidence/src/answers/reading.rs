//! [`Reading`]: what the kernel's figures show, and [`Outcome`]: whether that is the finding's.

use serde::Serialize;

/// Whether an account agrees with a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The account supports the finding.
    Confirms,
    /// The account shows something else.
    Contradicts,
}

/// The meaning of the kernel's figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reading {
    /// The peer's receive window held the sender.
    PeerWindow {
        /// For how long.
        limited_s: f64,
        /// Time with data to send.
        busy_s: f64,
    },
    /// The send buffer held the sender.
    SendBuffer {
        /// For how long.
        limited_s: f64,
        /// Time with data to send.
        busy_s: f64,
    },
    /// The sender had data all the time, and neither the peer's window nor the send buffer held it.
    NeitherBuffer {
        /// The time with data to send.
        busy_s: f64,
    },
    /// The sender had no data to send.
    NoData {
        /// For how long; `None` if only looks show it.
        idle_s: Option<f64>,
        /// Time of the transfer.
        of_s: f64,
    },
    /// The sender had data to send nearly all the time.
    DataReady {
        /// With data.
        busy_s: f64,
        /// Time of the transfer.
        of_s: f64,
    },
    /// A queue stands on the path.
    Queue {
        /// The round trip.
        rtt_s: f64,
        /// The least one.
        least_s: f64,
    },
    /// No queue stands on the path.
    NoQueue {
        /// The round trip.
        rtt_s: f64,
        /// The least one.
        least_s: f64,
    },
    /// The sender retransmitted.
    Retransmitted {
        /// Segments.
        segments: f64,
    },
    /// The sender retransmitted nothing.
    NotRetransmitted,
    /// Slow start ended at a threshold.
    Threshold {
        /// Segments.
        segments: f64,
    },
    /// Slow start never ended.
    NoThreshold {
        /// The congestion window, segments.
        window: f64,
    },
    /// The application or a setting limits the rate.
    Paced {
        /// Bits per second.
        rate_bps: f64,
    },
    /// The application at the receiver leaves data unread.
    Unread {
        /// Bytes.
        bytes: f64,
    },
}
