//! [`Origin`]: where a connection begins, so that it is recognised in other tables and tools.

use crate::types::Frame;
use crate::units::{SeqNumber, Time};
use borsh::{BorshDeserialize, BorshSerialize};

/// The first packet of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Origin {
    /// Its place, from 0, among the connections of the captures that continue each other: what
    /// Wireshark calls `tcp.stream`.
    pub stream: u64,
    /// The first packet.
    pub frame: Frame,
    /// When that passed, since the epoch; since anything where the capture has no date.
    pub time: Time,
    /// The client's initial sequence number; none where its SYN was not captured.
    pub isn: Option<SeqNumber>,
}
