//! What ICMP errors said of a connection's packets.

use super::{End, Fate, Frame};
use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// Errors of one router or host that say the same. They are evidence and no proof: anybody can send
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct IcmpError {
    /// What became of the packets: `too-big`, `network-unreachable`, `host-unreachable`,
    /// `protocol-unreachable`, `port-unreachable`, `prohibited`, `time-exceeded`.
    pub kind: Fate,
    /// The messages' type, which means another thing in each IP version.
    #[serde(rename = "type")]
    pub message: u8,
    /// The messages' code.
    pub code: u8,
    /// Who says so: an address.
    pub by: String,
    /// Who had sent the packets.
    pub about: End,
    /// The longest of these packets, bytes with its IP header; null where none tells.
    pub size: Option<u32>,
    /// The longest packet that passes, bytes with its IP header; null where that is not told.
    pub mtu: Option<u32>,
    /// Of `too-big`: whether their sender sends no longer packets from then on; null where that
    /// cannot be told.
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
