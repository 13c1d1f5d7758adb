//! A UDP datagram that may be of QUIC.

use crate::capture::Packet;
use std::net::{IpAddr, Ipv4Addr};

/// Where a datagram lies in its packet, and who sent it to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Datagram {
    /// Who sent it.
    pub from: (IpAddr, u16),
    /// To whom.
    pub to: (IpAddr, u16),
    /// Of its payload, in the packet.
    pub(super) offset: u32,
    /// Payload bytes that were captured.
    pub(super) captured: u32,
    /// Payload bytes on the wire.
    pub wire: u32,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// The two ECN bits.
    pub ecn: u8,
}

impl Datagram {
    /// What all of them are counted as.
    pub(crate) const ANY: Self = Self {
        from: (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        to: (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        offset: 0,
        captured: 0,
        wire: 0,
        ttl: 0,
        ecn: 0,
    };

    /// The payload that was captured, of the packet that it was found in.
    pub fn payload<'a>(&self, packet: &Packet<'a>) -> &'a [u8] {
        let rest = packet.data.get(self.offset as usize..).unwrap_or_default();
        rest.get(..self.captured as usize).unwrap_or(rest)
    }
}
