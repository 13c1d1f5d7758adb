//! The connection that a packet belongs to, and the flags of its TCP header that concern the
//! handshake.
//!
//! Parses only as much as grouping by connection needs; their meaning is for the analysis. Packets
//! in a tunnel belong to no connection here.

use super::packet::{ETHERNET, LINUX_SLL2, RAW};
use std::net::{IpAddr, SocketAddr};

const TCP: u8 = 6;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// A real TCP header follows fewer tags or extension headers.
const MOST_HEADERS: usize = 8;

/// Both ends of a connection, the same for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection {
    low: SocketAddr,
    high: SocketAddr,
}

impl Connection {
    /// A connection of these two ends, in any order.
    #[must_use]
    pub fn new(one: SocketAddr, other: SocketAddr) -> Self {
        // Packets have no scope and no flow label, so an IPv6 address' ones are ignored.
        let plain = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
        let (one, other) = (plain(one), plain(other));
        if one <= other { Self { low: one, high: other } } else { Self { low: other, high: one } }
    }

    /// Both ends, the lower address first.
    #[must_use]
    pub fn ends(&self) -> [SocketAddr; 2] {
        [self.low, self.high]
    }
}

/// The connection's fields in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    /// The TCP header's sequence number and flags; none of an ICMP error, which belongs to the
    /// connection of the packet that it quotes.
    pub tcp: Option<(u32, u8)>,
}

impl Segment {
    pub(crate) const FIN: u8 = 0x01;
    pub(crate) const SYN: u8 = 0x02;
    pub(crate) const RST: u8 = 0x04;
    pub(crate) const ACK: u8 = 0x10;

    pub(crate) fn connection(&self) -> Connection {
        Connection::new(self.from, self.to)
    }

    /// Whether any of these flags is set.
    pub(crate) fn has(&self, flags: u8) -> bool {
        self.tcp.is_some_and(|(_, set)| set & flags != 0)
    }

    /// Reads a packet of this link type.
    pub(crate) fn parse(link_type: u16, bytes: &[u8]) -> Option<Self> {
        match link_type {
            ETHERNET => Self::network(u16_at(bytes, 12)?, bytes.get(14..)?),
            LINUX_SLL2 => Self::network(u16_at(bytes, 0)?, bytes.get(20..)?),
            RAW => Self::ip(bytes),
            _ => None,
        }
    }

    /// Behind an EtherType, and behind VLAN tags.
    fn network(mut kind: u16, mut bytes: &[u8]) -> Option<Self> {
        for _ in 0..MOST_HEADERS {
            match kind {
                0x0800 | 0x86dd => return Self::ip(bytes),
                0x8100 | 0x88a8 | 0x9100 => {
                    kind = u16_at(bytes, 2)?;
                    bytes = bytes.get(4..)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// Reads a packet that begins with its IP header.
    pub(crate) fn ip(bytes: &[u8]) -> Option<Self> {
        let (ends, protocol, inside) = ip(bytes)?;
        match protocol {
            TCP => Self::tcp(ends, inside),
            // The quoted packet went the other way.
            ICMP if matches!(inside.first()?, 3 | 4 | 11 | 12) => Self::quoted(inside.get(8..)?),
            ICMPV6 if *inside.first()? < 128 => Self::quoted(inside.get(8..)?),
            _ => None,
        }
    }

    fn tcp([from, to]: [IpAddr; 2], tcp: &[u8]) -> Option<Self> {
        let sequence = u32::from_be_bytes(*tcp.get(4..)?.first_chunk()?);
        let from = SocketAddr::new(from, u16_at(tcp, 0)?);
        let to = SocketAddr::new(to, u16_at(tcp, 2)?);
        Some(Self { from, to, tcp: Some((sequence, *tcp.get(13)?)) })
    }

    fn quoted(bytes: &[u8]) -> Option<Self> {
        let ([from, to], protocol, inside) = ip(bytes)?;
        let from = SocketAddr::new(from, u16_at(inside, 0)?);
        let to = SocketAddr::new(to, u16_at(inside, 2)?);
        (protocol == TCP).then_some(Self { from: to, to: from, tcp: None })
    }
}

/// Source and destination, the protocol inside, and the bytes behind the headers. Later fragments
/// have no ports.
fn ip(bytes: &[u8]) -> Option<([IpAddr; 2], u8, &[u8])> {
    match bytes.first()? >> 4 {
        4 => {
            let address = |at: usize| Some(IpAddr::from(*bytes.get(at..)?.first_chunk::<4>()?));
            let is_first = u16_at(bytes, 6)? & 0x1fff == 0;
            let inside = bytes.get(usize::from(bytes[0] & 0xf) * 4..)?;
            is_first.then_some(([address(12)?, address(16)?], *bytes.get(9)?, inside))
        }
        6 => {
            let address = |at: usize| Some(IpAddr::from(*bytes.get(at..)?.first_chunk::<16>()?));
            let ends = [address(8)?, address(24)?];
            let (mut protocol, mut inside) = (*bytes.get(6)?, bytes.get(40..)?);
            for _ in 0..MOST_HEADERS {
                let length = match protocol {
                    // Hop-by-hop options, routing, destination options.
                    0 | 43 | 60 => (usize::from(*inside.get(1)?) + 1) * 8,
                    44 if u16_at(inside, 2)? & 0xfff8 == 0 => 8,
                    44 => return None,
                    _ => return Some((ends, protocol, inside)),
                };
                protocol = *inside.first()?;
                inside = inside.get(length..)?;
            }
            None
        }
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
pub(super) mod tests;
