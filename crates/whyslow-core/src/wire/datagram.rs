//! A UDP datagram that may be QUIC.

use crate::capture::Packet;
use std::net::{IpAddr, Ipv4Addr};

/// The first byte and the longest connection ID (RFC 9000 section 17.2).
const SHORT_HEADER: u32 = 21;
/// Minimum number of bytes that are read from a packet.
const LEAST: u32 = 6;

/// Position of a datagram in its packet, and its endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Datagram {
    /// The sender.
    pub from: (IpAddr, u16),
    /// The receiver.
    pub to: (IpAddr, u16),
    /// Offset of its payload in the packet.
    pub(super) offset: u32,
    /// Captured payload bytes.
    pub(super) captured: u32,
    /// Payload bytes on the wire.
    pub wire: u32,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// The two ECN bits.
    pub ecn: u8,
}

impl Datagram {
    /// Placeholder that counts all datagrams together.
    pub const ANY: Self = Self {
        from: (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        to: (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        offset: 0,
        captured: 0,
        wire: 0,
        ttl: 0,
        ecn: 0,
    };

    /// Bytes of the packet up to the last one that the parser reads: all of a packet with a long
    /// header, otherwise up to the end of the connection ID.
    pub fn held(&self, packet: &Packet<'_>) -> usize {
        let is_long = self.payload(packet).first().is_some_and(|first| first & 0x80 != 0);
        let read = if is_long { self.captured } else { self.captured.min(SHORT_HEADER) };
        self.offset.saturating_add(read) as usize
    }

    /// Whether too few bytes were captured to read anything: a packet has at least 21 bytes (RFC
    /// 9001 section 5.4.2).
    pub fn is_cut(&self) -> bool {
        self.captured < LEAST
    }

    /// Whether another is equal, except for the number of captured payload bytes.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { captured: other.captured, ..*self } == *other
    }

    /// Position of the payload in the packet.
    pub fn payload_at(&self) -> usize {
        self.offset as usize
    }

    /// The captured payload; `packet` must be the packet of this datagram.
    pub fn payload<'a>(&self, packet: &Packet<'a>) -> &'a [u8] {
        let rest = packet.data.get(self.offset as usize..).unwrap_or_default();
        rest.get(..self.captured as usize).unwrap_or(rest)
    }
}
