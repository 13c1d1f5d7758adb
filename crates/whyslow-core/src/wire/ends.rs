//! The two ends of a segment in a form that is quickly compared and hashed.

use super::Segment;
use std::net::IpAddr;

/// Both ends of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Who sent it.
    pub from: End,
    /// To whom.
    pub to: End,
}

/// An address and a port; an IPv4 address is none of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    high: u64,
    low: u64,
    /// The port, and behind it whether the address is of IPv6.
    port: u32,
}

/// What is added to an IPv6 end's port.
const V6: u32 = 1 << 16;

impl End {
    #[inline(always)]
    pub(super) fn v4(address: [u8; 4], port: u16) -> Self {
        Self { high: 0, low: u64::from(u32::from_be_bytes(address)), port: u32::from(port) }
    }

    #[inline(always)]
    pub(super) fn v6(address: [u8; 16], port: u16) -> Self {
        let address = u128::from_be_bytes(address);
        Self { high: (address >> 64) as u64, low: address as u64, port: V6 | u32::from(port) }
    }

    fn new(address: IpAddr, port: u16) -> Self {
        match address {
            IpAddr::V4(address) => Self::v4(address.octets(), port),
            IpAddr::V6(address) => Self::v6(address.octets(), port),
        }
    }

    /// The address and the port.
    pub fn told(self) -> (IpAddr, u16) {
        let address = match self.port & V6 {
            0 => IpAddr::from((self.low as u32).to_be_bytes()),
            _ => IpAddr::from((u128::from(self.high) << 64 | u128::from(self.low)).to_be_bytes()),
        };
        (address, self.port as u16)
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        fold(self.low ^ 0x9e37_79b9_7f4a_7c15, self.high ^ u64::from(self.port).wrapping_mul(0xd6e8_feb8_6659_fd93))
    }
}

impl Ends {
    /// Of a segment.
    pub fn of(segment: &Segment<'_>) -> Self {
        Self { from: End::new(segment.src, segment.src_port), to: End::new(segment.dst, segment.dst_port) }
    }

    /// The same for both directions.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        fold(self.from.hash().wrapping_add(self.to.hash()) ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db)
    }
}

/// Mixes two numbers: both halves of their product, as wyhash and foldhash do.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn both_directions_hash_alike_and_few_others_do() {
        let end = |n: u32| End::v4(n.to_be_bytes(), 443);
        let mut seen = HashSet::new();
        for client in 0..1000u32 {
            for port in 0..100u16 {
                let client = End::v4((0x0a00_0000 + client).to_be_bytes(), 50_000 + port);
                let there = Ends { from: client, to: end(1) };
                let back = Ends { from: end(1), to: client };
                assert_eq!(there.hash(), back.hash());
                seen.insert(there.hash() & 0xffff_ffff);
            }
        }
        // Of 100,000 numbers of 32 bits one pair is expected to be alike.
        assert!(seen.len() > 99_990, "{}", seen.len());
    }

    #[test]
    fn an_end_is_told_as_it_was() {
        for address in ["192.0.2.1", "::192.0.2.1", "2001:db8::1", "255.255.255.255", "::"] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(End::new(address, 65_535).told(), (address, 65_535));
        }
    }

    #[test]
    fn an_ipv4_address_is_not_the_ipv6_address_of_the_same_number() {
        let mut address = [0; 16];
        address[12..].copy_from_slice(&[192, 0, 2, 1]);
        assert_ne!(End::v4([192, 0, 2, 1], 80), End::v6(address, 80));
        assert_ne!(End::v4([192, 0, 2, 1], 80), End::v4([192, 0, 2, 1], 81));
    }
}
