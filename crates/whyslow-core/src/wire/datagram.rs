//! A UDP datagram that may be of QUIC.

use crate::capture::Packet;
use std::net::{IpAddr, Ipv4Addr};

/// The first byte and the longest connection id (RFC 9000 section 17.2).
const SHORT_HEADER: u32 = 21;
/// Less is read of no packet.
const LEAST: u32 = 6;

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

    /// Bytes of its packet up to the last one that is read of it: of packets with long headers all,
    /// of the others the connection id.
    pub fn held(&self, packet: &Packet<'_>) -> usize {
        let is_long = self.payload(packet).first().is_some_and(|first| first & 0x80 != 0);
        let read = if is_long { self.captured } else { self.captured.min(SHORT_HEADER) };
        self.offset.saturating_add(read) as usize
    }

    /// Too little of it was captured to read anything: a packet has 21 bytes at least (RFC 9001
    /// section 5.4.2).
    pub fn is_cut(&self) -> bool {
        self.captured < LEAST
    }

    /// Whether another is the same, whatever was captured of its payload.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { captured: other.captured, ..*self } == *other
    }

    /// The payload that was captured, of the packet that it was found in.
    pub fn payload<'a>(&self, packet: &Packet<'a>) -> &'a [u8] {
        let rest = packet.data.get(self.offset as usize..).unwrap_or_default();
        rest.get(..self.captured as usize).unwrap_or(rest)
    }
}
