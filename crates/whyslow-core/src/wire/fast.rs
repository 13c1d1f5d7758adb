//! The short way for nearly every packet of nearly every capture: Ethernet without tags, IPv4 without options or IPv6
//! without extension headers, whole TCP.
//!
//! It knows nothing that the other modules do not, and gives what they give; whatever it does not know at first sight
//! it leaves to them.

use super::ends::{End, Ends};
use super::ip::{Addresses, Header};
use super::view::View;
use super::{Around, Decoded, Segment, Skip, tcp};
use crate::capture::Packet;

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// The lengths of the headers.
const LINK: usize = 14;
const V4: usize = 20;
const V6: usize = 40;
const TCP: usize = 20;

/// An ordinary packet: its IP header was read, its segment is there at least to the ports.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a>(Version<'a>);

/// Told apart, so that each way is built for its own version.
#[derive(Clone, Copy, Debug)]
enum Version<'a> {
    V4(Header<'a>, View<'a>),
    V6(Header<'a>, View<'a>),
}

impl<'a> Glance<'a> {
    /// Its ends.
    #[inline(always)]
    pub fn ends(&self) -> Ends {
        let (Version::V4(header, view) | Version::V6(header, view)) = &self.0;
        // An ordinary packet holds a TCP header's 20 bytes.
        let ports = view.data().first_chunk().copied().unwrap_or_default();
        let [a, b, c, d] = ports;
        let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        match header.addresses {
            Addresses::V4(&[a, b, c, d, e, f, g, h]) => {
                Ends { from: End::v4([a, b, c, d], from), to: End::v4([e, f, g, h], to) }
            }
            Addresses::V6(bytes) => {
                let (source, destination) = bytes.split_at(16);
                let address = |bytes: &[u8]| bytes.first_chunk().copied().unwrap_or_default();
                Ends { from: End::v6(address(source), from), to: End::v6(address(destination), to) }
            }
        }
    }

    /// Gives its segment to `take`, or says why there is none; as [`decode`](super::decode), and nothing is moved.
    ///
    /// # Errors
    /// When the TCP header is cut or contradicts itself.
    #[inline(always)]
    pub fn decode_to<T>(&self, take: impl FnOnce(&Segment<'a>) -> T) -> Result<T, Skip> {
        match self.0 {
            Version::V4(header, view) => tcp::decode_to(Around::default(), header, view, take),
            Version::V6(header, view) => tcp::decode_to(Around::default(), header, view, take),
        }
    }

    #[inline(always)]
    pub(super) fn decode_with(&self, around: Around) -> Decoded<'a> {
        // Two calls, each inlined for its IP version, so that the segment is built in place.
        match self.0 {
            Version::V4(header, view) => tcp::decode(around, header, view),
            Version::V6(header, view) => tcp::decode(around, header, view),
        }
    }
}

/// See [`super::glance`].
#[inline(always)]
pub(super) fn glance<'a>(packet: &Packet<'a>) -> Option<Glance<'a>> {
    if let Some((header, view)) = v4(packet) {
        return Some(Glance(Version::V4(header, view)));
    }
    v6(packet).map(|(header, view)| Glance(Version::V6(header, view)))
}

/// What IPv4 says about an ordinary packet, and its segment; none if it is not one.
#[inline(always)]
fn v4<'a>(packet: &Packet<'a>) -> Option<(Header<'a>, View<'a>)> {
    let head: &[u8; LINK + V4 + TCP] = packet.data.first_chunk()?;
    let length = usize::from(u16::from_be_bytes([head[16], head[17]]));
    let ordinary = packet.link.0 == ETHERNET
        && [head[12], head[13]] == [0x08, 0x00]
        // Version 4 and five words of header, then TCP.
        && head[14] == 0x45
        && head[23] == 6
        // Neither more fragments nor an offset.
        && u16::from_be_bytes([head[20], head[21]]) & 0x3fff == 0
        && length >= V4 + TCP
        && LINK + length <= packet.original_len as usize;
    if !ordinary {
        return None;
    }
    let header = Header {
        addresses: Addresses::V4(head[26..].first_chunk()?),
        id: Some(u16::from_be_bytes([head[18], head[19]])),
        ttl: head[22],
        ecn: head[15] & 0x03,
        fragment: false,
        summable: true,
    };
    Some((header, between(packet.data, LINK + V4, LINK + length)?))
}

/// What IPv6 says about an ordinary packet, and its segment; none if it is not one.
#[inline(always)]
fn v6<'a>(packet: &Packet<'a>) -> Option<(Header<'a>, View<'a>)> {
    let head: &[u8; LINK + V6 + TCP] = packet.data.first_chunk()?;
    let length = usize::from(u16::from_be_bytes([head[18], head[19]]));
    let ordinary = packet.link.0 == ETHERNET
        && [head[12], head[13]] == [0x86, 0xdd]
        && head[14] >> 4 == 6
        && head[20] == 6
        && length >= TCP
        && LINK + V6 + length <= packet.original_len as usize;
    if !ordinary {
        return None;
    }
    let header = Header {
        addresses: Addresses::V6(head[22..].first_chunk()?),
        id: None,
        ttl: head[21],
        ecn: (head[15] >> 4) & 0x03,
        fragment: false,
        summable: true,
    };
    Some((header, between(packet.data, LINK + V6, LINK + V6 + length)?))
}

/// What was captured between two places in the packet.
#[inline(always)]
fn between(data: &[u8], from: usize, to: usize) -> Option<View<'_>> {
    Some(View::new(data.get(from..to.min(data.len()))?, to - from))
}
