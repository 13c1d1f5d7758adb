//! The short way for nearly every packet of nearly every capture: Ethernet without tags, IPv4 without options or IPv6
//! without extension headers, whole TCP.
//!
//! It knows nothing that the other modules do not, and gives what they give; whatever it does not know at first sight
//! it leaves to them.

use super::ip::{Addresses, Header};
use super::view::View;
use crate::capture::Packet;

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// The lengths of the headers.
const LINK: usize = 14;
const V4: usize = 20;
const V6: usize = 40;
const TCP: usize = 20;

/// What IPv4 says about an ordinary packet, and its segment; none if it is not one.
#[inline(always)]
pub(super) fn v4<'a>(packet: &Packet<'a>) -> Option<(Header<'a>, View<'a>)> {
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
pub(super) fn v6<'a>(packet: &Packet<'a>) -> Option<(Header<'a>, View<'a>)> {
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
