//! [`Origin`]: where a connection begins, so that it is recognised in other tables and tools.

use crate::types::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::{SeqNumber, Time};

/// The first packet of a connection. The JSON has the first two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Origin {
    /// Its place, from 0, among the TCP connections of the captures that continue each other:
    /// Wireshark's `tcp.stream`. `None`, and left out, for QUIC.
    #[serde(rename = "tcp_stream", skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// The first packet.
    #[serde(rename = "first_frame")]
    pub frame: Frame,
    /// When that passed, since the epoch; since anything where the capture has no date.
    #[serde(skip)]
    pub time: Time,
    /// The client's initial sequence number; `None` if its SYN was not captured.
    #[serde(skip)]
    pub isn: Option<SeqNumber>,
}
