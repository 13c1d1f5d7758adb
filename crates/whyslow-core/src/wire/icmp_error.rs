//! An ICMP error about a TCP segment.

use super::flow_key::FlowKey;
use crate::types::Fate;
use std::net::IpAddr;

/// An error about a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Icmp {
    /// What became of the segment.
    pub fate: Fate,
    /// The message's type and code, which mean another thing in each version.
    pub kind: (u8, u8),
    /// Who says so.
    pub by: IpAddr,
    /// Who sent the segment, …
    pub from: (IpAddr, u16),
    /// … and to whom.
    pub to: (IpAddr, u16),
    /// The segment's sequence number.
    pub seq: u32,
    /// How long its packet was, IP header included; none where it does not tell.
    pub size: Option<u32>,
}

impl Icmp {
    /// Those of the segment's connection.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::between(self.from, self.to)
    }
}

/// IP's numbers of both versions.
pub(super) const V4: u8 = 1;

pub(super) const V6: u8 = 58;
