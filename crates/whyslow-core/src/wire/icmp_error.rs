//! An ICMP error about a TCP segment.

use super::flow_key::FlowKey;
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

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// It was too large for the next link, and may not be fragmented. Packets of so many bytes
    /// pass, if that is told.
    TooBig(Option<u32>),
    /// No route leads to its network.
    NetworkUnreachable,
    /// Its host does not answer where it should be.
    HostUnreachable,
    /// Its host does not speak TCP.
    ProtocolUnreachable,
    /// Its host has nobody at that port, or a firewall says so.
    PortUnreachable,
    /// A rule forbids it.
    Prohibited,
    /// It went by more routers than it may: they send it round in a circle, or its time to live was
    /// too low.
    TimeExceeded,
}

impl Fate {
    /// Its public name.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::TooBig(_) => "too-big",
            Self::NetworkUnreachable => "network-unreachable",
            Self::HostUnreachable => "host-unreachable",
            Self::ProtocolUnreachable => "protocol-unreachable",
            Self::PortUnreachable => "port-unreachable",
            Self::Prohibited => "prohibited",
            Self::TimeExceeded => "time-exceeded",
        }
    }
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
