//! Reads Ethernet frames for the emulator, and makes the few changes that a link makes to one.
//!
//! Understands Ethernet II, IPv4 and TCP; anything else is a packet of some size. Lengths in a
//! packet are never trusted.

use std::net::Ipv4Addr;
use std::ops::Range;

use crate::log::Meta;

/// Bytes of an Ethernet II header.
pub(crate) const ETHERNET: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The places of the parts of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The frame's data for the log.
    pub(crate) meta: Meta,
    /// The end of the IP header.
    pub(crate) transport: usize,
    /// TCP payload, empty for others.
    pub(crate) payload: Range<usize>,
    /// It is TCP over IPv4, whole and not a fragment.
    pub(crate) is_tcp: bool,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a frame; `None` when a link would not carry it: not IPv4, multicast, or not whole.
pub(crate) fn parse(frame: &[u8]) -> Option<Layout> {
    let is_multicast = frame.first()? & 1 == 1;
    if is_multicast || u16_at(frame, 12)? != 0x0800 {
        return None;
    }
    let ip = frame.get(ETHERNET..)?;
    let header = usize::from(ip.first()? & 0x0f) * 4;
    let total = usize::from(u16_at(ip, 2)?);
    if ip.first()? >> 4 != 4 || header < 20 || total < header || total > ip.len() {
        return None;
    }
    let transport = ETHERNET + header;
    let end = ETHERNET + total;
    let mut layout = Layout {
        meta: Meta {
            wire_bytes: end as u32,
            ip_bytes: total as u32,
            ecn_capable: matches!(ip.get(1)? & 3, 1 | 2),
            ..Meta::default()
        },
        transport,
        payload: end..end,
        is_tcp: false,
    };
    let protocol = *ip.get(9)?;
    let is_fragment = u16_at(ip, 6)? & 0x3fff != 0;
    if is_fragment || !matches!(protocol, TCP | UDP) {
        return Some(layout);
    }
    layout.meta.source_port = u16_at(frame, transport)?;
    layout.meta.destination_port = u16_at(frame, transport + 2)?;
    if protocol == TCP {
        let payload = transport + usize::from(frame.get(transport + 12)? >> 4) * 4;
        if payload < transport + 20 || payload > end {
            return None;
        }
        layout.meta.seq = u32_at(frame, transport + 4)?;
        layout.meta.ack = u32_at(frame, transport + 8)?;
        layout.meta.flags = *frame.get(transport + 13)?;
        layout.meta.payload_bytes = (end - payload) as u32;
        layout.payload = payload..end;
        layout.is_tcp = true;
    }
    Some(layout)
}

/// Flips the lowest bit of the middle byte of the payload, or of the transport header when there is
/// none, so that the transport checksum fails (a single flipped bit always shows in it). The IP
/// header stays right.
pub(crate) fn corrupt(frame: &mut [u8]) {
    let Some(layout) = parse(frame) else { return };
    let part = if layout.payload.is_empty() { layout.transport..layout.payload.end } else { layout.payload };
    if let Some(byte) = frame.get_mut(part.start + part.len() / 2).filter(|_| !part.is_empty()) {
        *byte ^= 1;
    }
}

/// Sets Congestion Experienced (RFC 3168 section 5) and updates the IP checksum.
pub(crate) fn mark(frame: &mut [u8]) {
    if let Some(tos) = frame.get_mut(ETHERNET + 1) {
        *tos |= 3;
        update_ip_checksum(frame);
    }
}

/// Writes the IPv4 header's checksum.
pub(crate) fn update_ip_checksum(frame: &mut [u8]) {
    let header = frame.get(ETHERNET).map_or(0, |first| usize::from(first & 0x0f) * 4);
    let Some(ip) = frame.get_mut(ETHERNET..ETHERNET + header).filter(|ip| ip.len() >= 20) else { return };
    ip[10..12].fill(0);
    let sum = !fold(sum(ip));
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Writes the TCP checksum of a TCP over IPv4 frame.
pub(crate) fn update_tcp_checksum(frame: &mut [u8], layout: &Layout) {
    put_pseudo_checksum(frame, layout);
    if let Some(frame) = frame.get_mut(..layout.payload.end) {
        complete_checksum(frame, layout.transport, layout.transport + 16);
    }
}

/// Writes the sum over the pseudo header where the TCP checksum goes: the device adds the rest.
pub(crate) fn put_pseudo_checksum(frame: &mut [u8], layout: &Layout) {
    let Some(addresses) = frame.get(ETHERNET + 12..ETHERNET + 20) else { return };
    let length = layout.payload.end - layout.transport;
    let pseudo = fold(sum(addresses) + u64::from(TCP) + length as u64);
    if let Some(place) = frame.get_mut(layout.transport + 16..layout.transport + 18) {
        place.copy_from_slice(&pseudo.to_be_bytes());
    }
}

/// Does what a device does for checksum offload: sums from `start`, the sum at `place` included,
/// and writes it there.
pub(crate) fn complete_checksum(frame: &mut [u8], start: usize, place: usize) {
    let Some(covered) = frame.get(start..) else { return };
    let checksum = !fold(sum(covered));
    if let Some(place) = frame.get_mut(place..place + 2) {
        place.copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Sum of big-endian 16-bit words (RFC 1071); an odd last byte is the high half of a word.
fn sum(bytes: &[u8]) -> u64 {
    // 32 bits at a time is the same sum modulo 2¹⁶ − 1, and twice as fast.
    let mut words = bytes.chunks_exact(4);
    let whole: u64 =
        words.by_ref().map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))).sum();
    let mut last = [0; 4];
    for (place, byte) in last.iter_mut().zip(words.remainder()) {
        *place = *byte;
    }
    whole + u64::from(u32::from_be_bytes(last))
}

/// Folds a sum to 16 bits.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// What a router answers to a packet that is too big (RFC 792, with the next hop's MTU as RFC 1191
/// section 4 has it): a frame back to its sender. `None` when the packet may not be answered.
pub(crate) fn too_big_answer(frame: &[u8], router: Ipv4Addr, mtu: u32) -> Option<Vec<u8>> {
    let layout = parse(frame)?;
    let quoted = frame.get(ETHERNET..layout.transport + 8)?;
    let total = 20 + 8 + quoted.len();
    let mut answer = Vec::with_capacity(ETHERNET + total);
    answer.extend_from_slice(frame.get(6..12)?);
    answer.extend_from_slice(frame.get(0..6)?);
    answer.extend_from_slice(&[0x08, 0x00]);
    // Precedence "internetwork control", as routers send it; TTL 64, protocol ICMP.
    answer.extend_from_slice(&[0x45, 0xc0]);
    answer.extend_from_slice(&u16::try_from(total).ok()?.to_be_bytes());
    answer.extend_from_slice(&[0, 0, 0, 0, 64, 1, 0, 0]);
    answer.extend_from_slice(&router.octets());
    answer.extend_from_slice(frame.get(ETHERNET + 12..ETHERNET + 16)?);
    let icmp = answer.len();
    answer.extend_from_slice(&[3, 4, 0, 0, 0, 0]);
    answer.extend_from_slice(&u16::try_from(mtu).unwrap_or(u16::MAX).to_be_bytes());
    answer.extend_from_slice(quoted);
    let checksum = !fold(sum(answer.get(icmp..)?));
    answer.get_mut(icmp + 2..icmp + 4)?.copy_from_slice(&checksum.to_be_bytes());
    update_ip_checksum(&mut answer);
    Some(answer)
}

#[cfg(test)]
pub(crate) mod tests;
