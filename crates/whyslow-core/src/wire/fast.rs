//! The short way for nearly every packet of nearly every capture: Ethernet without tags, IPv4
//! without options or IPv6 without extension headers, whole TCP.
//!
//! It knows nothing that the other modules do not, and gives what they give; whatever it does not
//! know at first sight it leaves to them.

mod plain;

pub use plain::PlainSegment;

use super::context::{DecodeContext, Decoded};
use super::flow_key::{FlowKey, RawFlowKey};
use super::ip_header::{Addresses, Header};
use super::segment::Flags;
use super::view::View;
use super::{checksum, tcp};
use crate::capture::{LinkType, Packet};

/// The lengths of the headers.
const LINK: usize = 14;
const V4: usize = 20;
const V6: usize = 40;
const TCP: usize = 20;
/// More than any frame has behind its packet: padding up to 60 bytes, a checksum, what a tap adds.
/// A length field of which more is left over may be damaged.
const MAX_TRAILER: usize = 64;

/// An ordinary packet: its IP header was looked at, and its TCP header is there but for options.
/// The two IP versions are told apart, so that who matches them has code that is built for each.
#[derive(Clone, Copy, Debug)]
pub enum FastPacket<'a> {
    /// IPv4.
    V4(OrdinaryPacket<'a, { LINK + V4 + TCP }>),
    /// IPv6.
    V6(OrdinaryPacket<'a, { LINK + V6 + TCP }>),
}

/// An ordinary packet whose headers without TCP's options take `HEADERS` bytes.
#[derive(Clone, Copy, Debug)]
pub struct OrdinaryPacket<'a, const HEADERS: usize> {
    head: &'a [u8; HEADERS],
    /// All that was captured, padding included.
    data: &'a [u8],
    /// The IP header's length field: not less than it counts of these headers.
    length: u16,
}

impl<'a> FastPacket<'a> {
    /// Its ends.
    #[inline(always)]
    pub fn flow_key(&self) -> FlowKey {
        match self {
            Self::V4(packet) => FlowKey::v4(packet.part::<26, 8>(), packet.part::<34, 4>()),
            Self::V6(packet) => FlowKey::v6(packet.part::<22, 32>(), packet.part::<54, 4>()),
        }
    }

    /// Its ends as they stand there.
    #[inline(always)]
    pub fn raw_flow_key(&self) -> RawFlowKey {
        match self {
            Self::V4(packet) => RawFlowKey::v4(packet.part::<26, 8>(), packet.part::<34, 4>()),
            Self::V6(packet) => RawFlowKey::v6(packet.part::<22, 32>(), packet.part::<54, 4>()),
        }
    }

    /// Its segment, if that is a plain one. All others must be [decoded](super::decode).
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

    /// Its segment, as the layers would give it. Two calls, each for its IP version, so that the
    /// segment is built in place.
    #[inline(always)]
    pub(super) fn decode(&self, context: DecodeContext) -> Decoded<'a> {
        match self {
            Self::V4(packet) => tcp::decode(context, packet.v4(), packet.view()),
            Self::V6(packet) => tcp::decode(context, packet.v6(), packet.view()),
        }
    }
}

/// Where a packet's IP header has its number, its time to live and its ECN bits, as
/// [`PlainSegment`] keeps them.
#[derive(Clone, Copy, Debug)]
struct IpFields<'a> {
    id: Option<&'a [u8; 2]>,
    ttl: &'a u8,
    ecn: (&'a u8, u8),
}

/// A look at a packet that is enough to tell its connection, for nearly every packet of nearly
/// every capture. None when the packet is of another kind; [`decode`](super::decode) must look at
/// it then.
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
    /// An ordinary packet of IPv4; none if it is not one.
    #[inline(always)]
    fn is_v4(packet: &Packet<'a>) -> Option<Self> {
        let head: &[u8; LINK + V4 + TCP] = packet.data.first_chunk()?;
        let this = Self { head, data: packet.data, length: u16::from_be_bytes([head[16], head[17]]) };
        // Version 4 and five words of header behind the link's type, then the protocol, and neither
        // more fragments nor an offset. No byte that is asked for again is among these: it would be
        // kept from here on.
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

    /// What its IP header says.
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
    /// An ordinary packet of IPv6; none if it is not one.
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

    /// What its IP header says.
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

/// Of the TCP header's length and flags: that, and the flags that make a segment do more.
const CHECKED_BITS: u16 = 0xf000 | Flags::ACK.0 | Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0;
/// An ACK that does no more, without options, and with 12 bytes of them.
const BARE_ACK: u16 = 0x5000 | Flags::ACK.0;
const ACK_WITH_TIMESTAMPS: u16 = 0x8000 | Flags::ACK.0;
/// How those 12 bytes begin in nearly every segment: two for padding, and the timestamps.
const TIMESTAMP_PREFIX: [u8; 4] = [1, 1, 8, 10];

impl<'a, const HEADERS: usize> OrdinaryPacket<'a, HEADERS> {
    /// What its length field counts of these headers: IPv4's all but the link's, IPv6's TCP's
    /// alone.
    const COUNTED: usize = if HEADERS == LINK + V4 + TCP { V4 + TCP } else { TCP };

    /// How much there was on the wire behind the packet, of which so much stands before what its
    /// length field counts; more than there can be if the packet claims to be longer than its
    /// frame.
    #[inline(always)]
    fn trailer(&self, frame: u32, before: usize) -> usize {
        (frame as usize).wrapping_sub(before + usize::from(self.length))
    }

    /// How much there was on the wire behind the headers, without padding: TCP's options and
    /// payload.
    #[inline(always)]
    fn wire(&self) -> usize {
        usize::from(self.length).saturating_sub(Self::COUNTED)
    }

    /// The `N` bytes of the headers at `AT`.
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

    /// How much payload there was on the wire behind this list of options. None if the list is
    /// longer than its segment, or the checksum is wrong; it is looked at without payload alone,
    /// and then all of the segment was captured.
    #[inline(always)]
    fn without_list<const LIST: usize>(&self, addresses: Addresses<'a>, list: &[u8; LIST]) -> Option<usize> {
        let payload_len = usize::from(self.length).checked_sub(Self::COUNTED + LIST)?;
        let is_fine = payload_len > 0
            || checksum::is_valid(addresses, self.tcp(), list)
            || self.leaves_checksum_to_card(addresses, TCP + LIST);
        is_fine.then_some(payload_len)
    }

    /// Whether a segment of so many bytes whose checksum is not right was merely captured before
    /// the network card finished it.
    #[cold]
    fn leaves_checksum_to_card(&self, addresses: Addresses<'a>, length: usize) -> bool {
        let is_damaged = Self::COUNTED > TCP && checksum::is_damaged(self.part::<LINK, V4>());
        !is_damaged && checksum::is_partial(addresses, length, [self.tcp()[16], self.tcp()[17]])
    }
}

#[cfg(test)]
mod tests;
