//! An ICMP error about a TCP segment.

use super::flow_key::FlowKey;
use std::net::IpAddr;
use whyslow_analysis::types::Fate;

/// An error about a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Icmp {
    /// Why the segment was not delivered.
    pub fate: Fate,
    /// The message's type and code; their meaning depends on the IP version.
    pub kind: (u8, u8),
    /// The sender of the error.
    pub by: IpAddr,
    /// The sender of the segment, …
    pub from: (IpAddr, u16),
    /// … and its receiver.
    pub to: (IpAddr, u16),
    /// The segment's sequence number.
    pub seq: u32,
    /// Length of its packet with the IP header; `None` if unknown.
    pub size: Option<u32>,
}

impl Icmp {
    /// The key of the segment's connection.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::between(self.from, self.to)
    }
}

/// The protocol numbers of ICMP in both IP versions.
pub(super) const V4: u8 = 1;

pub(super) const V6: u8 = 58;
