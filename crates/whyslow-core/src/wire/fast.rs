//! The fast path for the most common packets: Ethernet without tags, IPv4 without options or IPv6
//! without extension headers, complete TCP.
//!
//! It gives the same results as the general decoder, and leaves all other packets to it.

mod plain;

pub use plain::PlainSegment;

use super::context::{DecodeContext, Decoded};
use super::flow_key::{FlowKey, RawFlowKey};
use super::ip_header::{Addresses, Header};
use super::segment::Flags;
use super::view::View;
use super::{checksum, tcp};
use crate::capture::{LinkType, Packet};

/// Lengths of the headers.
const LINK: usize = 14;
const V4: usize = 20;
const V6: usize = 40;
const TCP: usize = 20;
/// More than any frame has after its packet: padding up to 60 bytes, a checksum, data added by a
/// tap. If more bytes follow, the length field may be damaged.
const MAX_TRAILER: usize = 64;

/// A common packet: its IP header was verified, and its TCP header is complete except for the
/// options. The IP versions are separate variants, so that code that matches on them is compiled
/// for each.
#[derive(Clone, Copy, Debug)]
pub enum FastPacket<'a> {
    /// IPv4.
    V4(OrdinaryPacket<'a, { LINK + V4 + TCP }>),
    /// IPv6.
    V6(OrdinaryPacket<'a, { LINK + V6 + TCP }>),
}

/// A common packet; its headers without TCP options have `HEADERS` bytes.
#[derive(Clone, Copy, Debug)]
pub struct OrdinaryPacket<'a, const HEADERS: usize> {
    head: &'a [u8; HEADERS],
    /// All captured bytes, padding included.
    data: &'a [u8],
    /// The IP header's length field: at least the length of the headers that it includes.
    length: u16,
}

impl<'a> FastPacket<'a> {
    /// The normalised key of its connection.
    #[inline(always)]
    pub fn flow_key(&self) -> FlowKey {
        match self {
            Self::V4(packet) => FlowKey::v4(packet.part::<26, 8>(), packet.part::<34, 4>()),
            Self::V6(packet) => FlowKey::v6(packet.part::<22, 32>(), packet.part::<54, 4>()),
        }
    }

    /// The key of its connection in header order.
    #[inline(always)]
    pub fn raw_flow_key(&self) -> RawFlowKey {
        match self {
            Self::V4(packet) => RawFlowKey::v4(packet.part::<26, 8>(), packet.part::<34, 4>()),
            Self::V6(packet) => RawFlowKey::v6(packet.part::<22, 32>(), packet.part::<54, 4>()),
        }
    }

    /// Whether one of its ports is this one.
    #[inline(always)]
    pub fn has_port(&self, port: u16) -> bool {
        let ports = match self {
            Self::V4(packet) => packet.part::<34, 4>(),
            Self::V6(packet) => packet.part::<54, 4>(),
        };
        let [high, low] = port.to_be_bytes();
        [ports[0], ports[1]] == [high, low] || [ports[2], ports[3]] == [high, low]
    }

    /// Its segment, if it is plain. All others must be [decoded](super::decode).
    #[inline(always)]
    pub fn plain(&self) -> Option<PlainSegment<'a>> {
        match self {
            Self::V4(packet) => {
                let ip =
                    IpFields { id: Some(packet.part::<18, 2>()), ttl: &packet.head[22], ecn: (&packet.head[15], 0) };
                packet.plain(Addresses::V4(packet.part::<26, 8>()), ip)
            }
            Self::V6(packet) => {
                let ip = IpFields { id: None, ttl: &packet.head[21], ecn: (&packet.head[15], 4) };
                packet.plain(Addresses::V6(packet.part::<22, 32>()), ip)
            }
        }
    }

    /// Its segment, equal to that of the general decoder. There are two calls, one per IP version,
    /// so that the segment is built in place.
    #[inline(always)]
    pub(super) fn decode(&self, context: DecodeContext) -> Decoded<'a> {
        match self {
            Self::V4(packet) => tcp::decode(context, packet.v4(), packet.view()),
            Self::V6(packet) => tcp::decode(context, packet.v6(), packet.view()),
        }
    }
}

/// Positions of the IP header's identification, time to live and ECN bits, in the form of
/// [`PlainSegment`].
#[derive(Clone, Copy, Debug)]
struct IpFields<'a> {
    id: Option<&'a [u8; 2]>,
    ttl: &'a u8,
    ecn: (&'a u8, u8),
}

/// Parses as much of a packet as its connection needs. Returns `None` if the packet is not of the
/// most common kind; then call [`decode`](super::decode).
#[inline(always)]
pub fn parse_fast<'a>(packet: &Packet<'a>) -> Option<FastPacket<'a>> {
    if packet.link != LinkType::ETHERNET {
        return None;
    }
    match OrdinaryPacket::is_v4(packet) {
        Some(packet) => Some(FastPacket::V4(packet)),
        None => OrdinaryPacket::is_v6(packet).map(FastPacket::V6),
    }
}

impl<'a> OrdinaryPacket<'a, { LINK + V4 + TCP }> {
    /// The packet as IPv4; `None` if it is not a common IPv4 packet.
    #[inline(always)]
    fn is_v4(packet: &Packet<'a>) -> Option<Self> {
        let head: &[u8; LINK + V4 + TCP] = packet.data.first_chunk()?;
        let this = Self { head, data: packet.data, length: u16::from_be_bytes([head[16], head[17]]) };
        // Checks the EtherType, version 4 and a header of five words, then the protocol, and that
        // the packet is not a fragment. Avoids bytes that are needed again later, because the
        // compiler would keep them in registers.
        if *this.part::<12, 2>() != [0x08, 0x00]
            || this.head[14] != 0x45
            || this.head[23] != 6
            || u16::from_le_bytes(*this.part::<20, 2>()) & 0xff3f != 0
            || this.trailer(packet.original_len, LINK) > MAX_TRAILER
            || usize::from(this.length) < V4 + TCP
        {
            return None;
        }
        Some(this)
    }

    /// The fields of its IPv4 header.
    #[inline(always)]
    fn v4(&self) -> Header<'a> {
        Header {
            addresses: Addresses::V4(self.part::<26, 8>()),
            id: Some(u16::from_be_bytes([self.head[18], self.head[19]])),
            ttl: self.head[22],
            ecn: self.head[15] & 0x03,
            fragment: false,
            summable: true,
            damaged: checksum::is_damaged(self.part::<14, V4>()),
        }
    }
}

impl<'a> OrdinaryPacket<'a, { LINK + V6 + TCP }> {
    /// The packet as IPv6; `None` if it is not a common IPv6 packet.
    #[inline(always)]
    fn is_v6(packet: &Packet<'a>) -> Option<Self> {
        let head: &[u8; LINK + V6 + TCP] = packet.data.first_chunk()?;
        let this = Self { head, data: packet.data, length: u16::from_be_bytes([head[18], head[19]]) };
        let kind = u32::from_le_bytes(*this.part::<12, 4>()) & 0x00f0_ffff;
        let [next] = *this.part::<20, 1>();
        let is_short = this.trailer(packet.original_len, LINK + V6) <= MAX_TRAILER;
        if kind != 0x0060_dd86 || next != 6 || !is_short || usize::from(this.length) < TCP {
            return None;
        }
        Some(this)
    }

    /// The fields of its IPv6 header.
    #[inline(always)]
    fn v6(&self) -> Header<'a> {
        Header {
            addresses: Addresses::V6(self.part::<22, 32>()),
            id: None,
            ttl: self.head[21],
            ecn: (self.head[15] >> 4) & 0x03,
            fragment: false,
            summable: true,
            damaged: false,
        }
    }
}

/// Mask for the TCP header's length and for the flags that plain segments must not have.
const CHECKED_BITS: u16 = 0xf000 | Flags::ACK.0 | Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0;
/// Value for a plain ACK without options; with timestamps it has 12 bytes of options.
const BARE_ACK: u16 = 0x5000 | Flags::ACK.0;
const ACK_WITH_TIMESTAMPS: u16 = 0x8000 | Flags::ACK.0;
/// First bytes of the usual 12 bytes of options: two for padding, then the timestamps' kind and
/// length.
const TIMESTAMP_PREFIX: [u8; 4] = [1, 1, 8, 10];

impl<'a, const HEADERS: usize> OrdinaryPacket<'a, HEADERS> {
    /// The part of these headers that the length field includes: IPv4's includes all but the link
    /// layer, IPv6's includes only TCP.
    const COUNTED: usize = if HEADERS == LINK + V4 + TCP { V4 + TCP } else { TCP };

    /// Bytes on the wire after the packet; `before` is the length of the headers that the length
    /// field does not include. Exceeds [`MAX_TRAILER`] if the packet claims to be longer than its
    /// frame.
    #[inline(always)]
    fn trailer(&self, frame: u32, before: usize) -> usize {
        (frame as usize).wrapping_sub(before + usize::from(self.length))
    }

    /// Bytes on the wire after the headers, without padding: TCP's options and payload.
    #[inline(always)]
    fn wire(&self) -> usize {
        usize::from(self.length).saturating_sub(Self::COUNTED)
    }

    /// The `N` bytes at offset `AT` in the headers.
    #[inline(always)]
    fn part<const AT: usize, const N: usize>(&self) -> &'a [u8; N] {
        const { assert!(AT + N <= HEADERS) };
        self.head[AT..].first_chunk().unwrap_or(&[0; N])
    }

    /// TCP's header without options.
    #[inline(always)]
    fn tcp(&self) -> &'a [u8; TCP] {
        self.head.last_chunk().unwrap_or(&[0; TCP])
    }

    /// The segment's bytes.
    #[inline(always)]
    fn view(&self) -> View<'a> {
        let captured = self.data.get(..HEADERS + self.wire()).unwrap_or(self.data);
        View::new(captured.get(HEADERS - TCP..).unwrap_or_default(), TCP + self.wire())
    }

    #[inline(always)]
    fn plain(&self, addresses: Addresses<'a>, ip: IpFields<'a>) -> Option<PlainSegment<'a>> {
        let tcp = self.tcp();
        let length_and_flags = u16::from_be_bytes([tcp[12], tcp[13]]);
        let rest = self.data.get(HEADERS..)?;
        let (has_timestamps, stamps, payload_len, rest) = match length_and_flags & CHECKED_BITS {
            BARE_ACK => (false, &[0; 8], self.without_list(addresses, &[])?, rest),
            ACK_WITH_TIMESTAMPS => {
                let (list, rest) = rest.split_first_chunk::<12>()?;
                let (kind, stamps) = list.split_first_chunk()?;
                if *kind != TIMESTAMP_PREFIX {
                    return None;
                }
                (true, stamps.first_chunk()?, self.without_list(addresses, list)?, rest)
            }
            _ => return None,
        };
        let IpFields { id: ip_id, ttl, ecn } = ip;
        let payload_len = payload_len as u32;
        Some(PlainSegment { tcp, length_and_flags, has_timestamps, stamps, ip_id, ttl, ecn, payload_len, rest })
    }

    /// Payload length on the wire after this list of options. `None` if the list is longer than its
    /// segment, or the checksum is wrong. Verifies the checksum only for segments without payload
    /// that were captured completely.
    #[inline(always)]
    fn without_list<const LIST: usize>(&self, addresses: Addresses<'a>, list: &[u8; LIST]) -> Option<usize> {
        let payload_len = usize::from(self.length).checked_sub(Self::COUNTED + LIST)?;
        let is_fine = payload_len > 0
            || checksum::is_valid(addresses, self.tcp(), list)
            || self.leaves_checksum_to_card(addresses, TCP + LIST);
        is_fine.then_some(payload_len)
    }

    /// Whether a segment of this length with a wrong checksum was captured before the network card
    /// completed the checksum.
    #[cold]
    fn leaves_checksum_to_card(&self, addresses: Addresses<'a>, length: usize) -> bool {
        let is_damaged = Self::COUNTED > TCP && checksum::is_damaged(self.part::<LINK, V4>());
        !is_damaged && checksum::is_partial(addresses, length, [self.tcp()[16], self.tcp()[17]])
    }
}

#[cfg(test)]
mod tests;
