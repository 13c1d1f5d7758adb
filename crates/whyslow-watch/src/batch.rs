//! [`Batch`]: news on their way to an output.

use super::closed::ClosedConnection;
use super::record::Record;
use std::sync::mpsc::Sender;
use whyslow_analysis::{Connection, Finding, Problem};
use whyslow_serve::live::HeldPackets;
use whyslow_units::Time;

/// Packets and what of them is missing, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// TCP segments.
    pub segments: u64,
    /// Open connections.
    pub connections: usize,
    pub drops: Drops,
    /// Transfers that have ended and were not reported, because a connection had too many at once.
    pub unlisted: u64,
    /// Closed connections that are missing; `None` if they are not reported.
    pub closed_missed: Option<u64>,
}

/// Packets that did not arrive, or only in part, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drops {
    /// By the ring: this program was too slow.
    pub ring: u64,
    /// By an interface.
    pub interface: u64,
    /// Longer than the captured part of a packet.
    pub cut: u64,
}

/// The news since the last batch.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub records: Vec<Record>,
    /// What connections of a minute had in common.
    pub together: Vec<Finding>,
    /// Connections of this machine that have closed.
    pub closed: Vec<ClosedConnection>,
    /// When the first packet came, on the clock of the packets.
    pub first: Time,
    /// The time, on the same clock.
    pub now: Time,
    pub counts: Counts,
    /// Errors and other notes.
    pub notes: Vec<String>,
    /// Of all captures, at the end.
    pub problems: Vec<Problem>,
    /// Why it could not go on.
    pub failed: Option<anyhow::Error>,
    /// This is the last one.
    pub done: bool,
}

/// A request from an output.
#[derive(Debug)]
pub(crate) enum Order {
    /// Write the packets of this transfer's connection to a file of its own.
    Save(Box<Record>, std::path::PathBuf),
    /// Give copies of the packets of this connection, which a program on this machine may have.
    Packets(Box<Connection>, Option<String>, Sender<Result<HeldPackets, String>>),
}
