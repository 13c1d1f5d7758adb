//! The short way for nearly every packet of nearly every capture: Ethernet without tags, IPv4 without options or IPv6
//! without extension headers, whole TCP.
//!
//! It knows nothing that the other modules do not, and gives what they give; whatever it does not know at first sight
//! it leaves to them.

use super::ends::Ends;
use super::ip::{Addresses, Header};
use super::view::View;
use super::{Around, Checksum, Decoded, Flags, Plain, Segment, SeqNumber, Skip, checksum, tcp};
use crate::capture::Packet;

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// The lengths of the headers.
const LINK: usize = 14;
const V4: usize = 20;
const V6: usize = 40;
const TCP: usize = 20;

/// An ordinary packet: its IP header was looked at, and its TCP header is there but for options. The two IP versions are told
/// apart, so that who matches them has code that is built for each.
#[derive(Clone, Copy, Debug)]
pub enum Glance<'a> {
    /// IPv4.
    V4(Ordinary<'a, { LINK + V4 + TCP }>),
    /// IPv6.
    V6(Ordinary<'a, { LINK + V6 + TCP }>),
}

/// An ordinary packet whose headers without TCP's options take `HEADERS` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ordinary<'a, const HEADERS: usize> {
    head: &'a [u8; HEADERS],
    /// All that was captured, padding included.
    data: &'a [u8],
    /// How much there was on the wire behind the headers, without padding: TCP's options and payload.
    wire: usize,
}

impl<'a> Glance<'a> {
    /// Its ends.
    #[inline(always)]
    pub fn ends(&self) -> Ends {
        match self {
            Self::V4(packet) => Ends::v4(packet.part::<26, 8>(), packet.part::<34, 4>()),
            Self::V6(packet) => Ends::v6(packet.part::<22, 32>(), packet.part::<54, 4>()),
        }
    }

    /// Its segment, if that is a plain one. For every other packet [`decode_to`](Self::decode_to) must be asked.
    #[inline(always)]
    pub fn plain(&self) -> Option<Plain<'a>> {
        match self {
            Self::V4(packet) => packet.plain(packet.v4()),
            Self::V6(packet) => packet.plain(packet.v6()),
        }
    }

    /// Gives its segment to `take`, or says why there is none; as [`decode`](super::decode), and nothing is moved.
    ///
    /// # Errors
    /// When the TCP header is cut or contradicts itself.
    #[inline(always)]
    pub fn decode_to<T>(&self, take: impl FnOnce(&Segment<'a>) -> T) -> Result<T, Skip> {
        match self {
            Self::V4(packet) => tcp::decode_to(Around::default(), packet.v4(), packet.view(), take),
            Self::V6(packet) => tcp::decode_to(Around::default(), packet.v6(), packet.view(), take),
        }
    }

    #[inline(always)]
    pub(super) fn decode_with(&self, around: Around) -> Decoded<'a> {
        // Two calls, each inlined for its IP version, so that the segment is built in place.
        match self {
            Self::V4(packet) => tcp::decode(around, packet.v4(), packet.view()),
            Self::V6(packet) => tcp::decode(around, packet.v6(), packet.view()),
        }
    }
}

/// See [`super::glance`].
#[inline(always)]
pub(super) fn glance<'a>(packet: &Packet<'a>) -> Option<Glance<'a>> {
    if packet.link.0 != ETHERNET {
        return None;
    }
    match Ordinary::is_v4(packet) {
        Some(packet) => Some(Glance::V4(packet)),
        None => Ordinary::is_v6(packet).map(Glance::V6),
    }
}

impl<'a> Ordinary<'a, { LINK + V4 + TCP }> {
    /// An ordinary packet of IPv4; none if it is not one.
    #[inline(always)]
    fn is_v4(packet: &Packet<'a>) -> Option<Self> {
        let head: &[u8; LINK + V4 + TCP] = packet.data.first_chunk()?;
        // Version 4 and five words of header.
        let kind = u32::from_be_bytes([head[12], head[13], head[14], head[15]]) & 0xffff_ff00;
        // Neither more fragments nor an offset; time to live; protocol.
        let kept = u32::from_be_bytes([head[20], head[21], head[22], head[23]]) & 0x3fff_00ff;
        let length = usize::from(u16::from_be_bytes([head[16], head[17]]));
        let ordinary =
            kind == 0x0800_4500 && kept == 6 && length >= V4 + TCP && LINK + length <= packet.original_len as usize;
        ordinary.then(|| Self { head, data: packet.data, wire: length - V4 - TCP })
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
        }
    }
}

impl<'a> Ordinary<'a, { LINK + V6 + TCP }> {
    /// An ordinary packet of IPv6; none if it is not one.
    #[inline(always)]
    fn is_v6(packet: &Packet<'a>) -> Option<Self> {
        let head: &[u8; LINK + V6 + TCP] = packet.data.first_chunk()?;
        let kind = u32::from_be_bytes([head[12], head[13], head[14], head[15]]) & 0xffff_f000;
        let length = usize::from(u16::from_be_bytes([head[18], head[19]]));
        let ordinary =
            kind == 0x86dd_6000 && head[20] == 6 && length >= TCP && LINK + V6 + length <= packet.original_len as usize;
        ordinary.then(|| Self { head, data: packet.data, wire: length - TCP })
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
        }
    }
}

/// The list that nearly every segment has: two for padding, and the timestamps.
const STAMPS: [u8; 4] = [1, 1, 8, 10];

impl<'a, const HEADERS: usize> Ordinary<'a, HEADERS> {
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
        let captured = self.data.get(..HEADERS + self.wire).unwrap_or(self.data);
        View::new(captured.get(HEADERS - TCP..).unwrap_or_default(), TCP + self.wire)
    }

    #[inline(always)]
    fn plain(&self, ip: Header<'a>) -> Option<Plain<'a>> {
        let tcp = self.tcp();
        let number = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        // The header's length in words, three bits for nobody, the flags, the window.
        let middle = number(12);
        let flags = Flags((middle >> 16) as u16 & 0x1ff);
        let telling = Flags::ACK | Flags::SYN | Flags::FIN | Flags::RST;
        if flags.0 & telling.0 != Flags::ACK.0 {
            return None;
        }
        let rest = self.data.get(HEADERS..)?;
        let (list, timestamps, rest) = match middle >> 28 {
            5 => (&[][..], None, rest),
            8 => {
                let (list, rest) = rest.split_first_chunk::<12>()?;
                let [k0, k1, k2, k3, a, b, c, d, e, f, g, h] = *list;
                if [k0, k1, k2, k3] != STAMPS {
                    return None;
                }
                let stamps = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                (&list[..], Some(stamps), rest)
            }
            _ => return None,
        };
        let payload_len = self.wire.checked_sub(list.len())?;
        // Without payload it was captured whole.
        if payload_len == 0 && !checksum::adds_up(ip.addresses, tcp, list) && self.is_bad(ip) {
            return None;
        }
        Some(Plain {
            seq: SeqNumber(number(4)),
            ack: SeqNumber(number(8)),
            flags,
            window: middle as u16,
            payload_len: payload_len as u32,
            payload: rest.get(..payload_len).unwrap_or(rest),
            timestamps,
            ip_id: ip.id,
            ttl: ip.ttl,
            ecn: ip.ecn,
        })
    }

    /// Of a segment whose checksum is not right: whether it was not merely left to the network card.
    #[cold]
    fn is_bad(self, ip: Header<'a>) -> bool {
        let tcp = self.tcp();
        checksum::of(&ip, self.view(), [tcp[16], tcp[17]], true) == Checksum::Bad
    }
}

#[cfg(test)]
mod tests;
