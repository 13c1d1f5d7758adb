//! ICMP errors about a connection's packets.

use super::{End, Fate, Frame};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// Equal errors of one router or host. They are evidence, not proof: any host can send one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct IcmpError {
    /// Fate of the packets: `too-big`, `network-unreachable`, `host-unreachable`,
    /// `protocol-unreachable`, `port-unreachable`, `prohibited`, `time-exceeded`.
    pub kind: Fate,
    /// The messages' type, which means another thing in each IP version.
    #[serde(rename = "type")]
    pub message: u8,
    /// The messages' code.
    pub code: u8,
    /// Address that sent the error.
    pub by: String,
    /// Sender of the packets.
    pub about: End,
    /// The longest of these packets, bytes with its IP header; null if no error quotes its length.
    pub size: Option<u32>,
    /// The longest packet that passes, bytes with its IP header; null if the error does not name
    /// it.
    pub mtu: Option<u32>,
    /// For `too-big`: whether the sender sends no longer packets from then on; null if the capture
    /// does not show it.
    pub obeyed: Option<bool>,
    /// How many errors came.
    pub count: u64,
    /// The first of them.
    pub time_s: Nanos,
    /// The last of them.
    pub last_s: Nanos,
    /// The first of them.
    pub frame: Frame,
}
