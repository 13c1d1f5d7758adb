//! The fields of an IP header that the decoders of its payload need.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The fields of the IP header that the TCP decoder needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    pub(super) addresses: Addresses<'a>,
    pub(super) id: Option<u16>,
    pub(super) ttl: u8,
    pub(super) ecn: u8,
    pub(super) fragment: bool,
    /// Whether the segment's length and the final destination are known, so that its checksum can
    /// be computed.
    pub(super) summable: bool,
    /// Whether its own checksum is wrong.
    pub(super) damaged: bool,
}

/// Source and destination in header order. They are converted to addresses only when the segment is
/// built, to avoid copies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addresses<'a> {
    V4(&'a [u8; 8]),
    V6(&'a [u8; 32]),
}

impl Addresses<'_> {
    #[inline(always)]
    pub(super) fn src(self) -> IpAddr {
        match self {
            Self::V4(bytes) => v4_address(bytes, 0),
            Self::V6(bytes) => v6_address(bytes, 0),
        }
    }

    #[inline(always)]
    pub(super) fn dst(self) -> IpAddr {
        match self {
            Self::V4(bytes) => v4_address(bytes, 4),
            Self::V6(bytes) => v6_address(bytes, 16),
        }
    }
}

#[inline(always)]
fn v4_address(bytes: &[u8; 8], at: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]))
}

#[inline(always)]
fn v6_address(bytes: &[u8; 32], at: usize) -> IpAddr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&bytes[at..at + 16]);
    IpAddr::V6(Ipv6Addr::from(octets))
}
