//! Writes the fields of a line as the bytes of a packet, from the IP header on.
//!
//! Fields that tcpdump does not print without `-v` get neutral values: TTL 0; identification 0 with
//! "don't fragment", which RFC 6864 calls atomic. The checksum is the printed one. If none was
//! printed, it is correct for the known part of the segment, and differs from every unfinished
//! checksum, which would look like offload.

use super::tcp_line::IpLine;
use std::net::IpAddr;

/// LINKTYPE_RAW: packets that begin with their IP header.
pub(super) const RAW: u16 = 101;

/// A TCP segment to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentToWrite<'a> {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) src_port: u16,
    pub(super) dst_port: u16,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u16,
    pub(super) window: u16,
    pub(super) urgent: u16,
    /// Complete 32-bit words, at most 40 bytes.
    pub(super) options: &'a [u8],
    /// The known payload bytes, from the first.
    pub(super) payload: &'a [u8],
    pub(super) payload_len: u32,
    pub(super) checksum: Option<(u16, bool)>,
    pub(super) ip: IpLine,
}

/// Writes the segment to `out`; returns its length on the wire. Both ends have the same IP version.
pub(super) fn segment(out: &mut Vec<u8>, segment: &SegmentToWrite<'_>) -> u32 {
    let header = header_len(segment);
    let tcp_len = segment.payload_len.saturating_add(header as u32);
    out.clear();
    let pseudo = ip_header(out, segment, tcp_len);
    let start = out.len();
    out.extend(segment.src_port.to_be_bytes());
    out.extend(segment.dst_port.to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    out.extend(segment.ack.to_be_bytes());
    out.extend((((header as u16 / 4) << 12) | segment.flags).to_be_bytes());
    out.extend(segment.window.to_be_bytes());
    let at = out.len();
    out.extend([0, 0]);
    out.extend(segment.urgent.to_be_bytes());
    out.extend(segment.options);
    out.resize(start + header, 0);
    out.extend(segment.payload);
    let whole = segment.payload.len() == segment.payload_len as usize;
    let sum = match segment.checksum {
        Some((printed, right)) if !whole || !right => printed,
        _ => {
            let sum = !fold(pseudo.addresses + pseudo.length + sum(out.get(start..).unwrap_or(&[])));
            let unfinished = [0, fold(pseudo.addresses), fold(pseudo.addresses + pseudo.length)];
            let claims_nothing = |sum: &u16| whole || !unfinished.contains(sum);
            (0..=3).map(|step| sum.wrapping_add(step)).find(claims_nothing).unwrap_or(sum)
        }
    };
    if let Some(field) = out.get_mut(at..at + 2) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
    (start as u32).saturating_add(tcp_len)
}

/// Length of the TCP header: at least that of the options, or the length that follows from the IP
/// line if an option's contents were not printed.
fn header_len(segment: &SegmentToWrite<'_>) -> usize {
    let known = 20 + segment.options.len();
    let outer = if segment.src.is_ipv4() { 20 } else { 0 };
    let by_ip = segment.ip.length.and_then(|length| length.checked_sub(outer)?.checked_sub(segment.payload_len));
    match by_ip {
        Some(len @ 20..=60) if len % 4 == 0 && len as usize > known => len as usize,
        _ => known,
    }
}

/// Sums of the two parts of the pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1).
struct Pseudo {
    /// Sum of the addresses and the protocol.
    addresses: u32,
    /// Sum of the segment's length.
    length: u32,
}

/// Writes the IP header.
fn ip_header(out: &mut Vec<u8>, segment: &SegmentToWrite<'_>, tcp_len: u32) -> Pseudo {
    let addresses = ip_header_of(out, (segment.src, segment.dst), &segment.ip, 6, tcp_len);
    Pseudo { addresses: addresses + 6, length: (tcp_len >> 16) + (tcp_len & 0xffff) }
}

/// Writes the IP header around `length` bytes of any protocol; returns the sum of the addresses.
fn ip_header_of(out: &mut Vec<u8>, ends: (IpAddr, IpAddr), ip: &IpLine, protocol: u8, length: u32) -> u32 {
    match ends {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let start = out.len();
            let flags = u16::from(ip.dont_fragment || ip.ttl == 0) << 14 | u16::from(ip.more_fragments) << 13;
            v4_header(out, ip, flags, protocol, length.saturating_add(20));
            let [a, b] = [src.octets(), dst.octets()];
            out.extend(a);
            out.extend(b);
            finish_v4(out.get_mut(start..).unwrap_or_default());
            sum(&a) + sum(&b)
        }
        (src, dst) => {
            let [a, b] = [src, dst].map(|address| match address {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
                IpAddr::V6(v6) => v6.octets(),
            });
            out.extend((6 << 28 | u32::from(ip.tos) << 20).to_be_bytes());
            out.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
            out.extend([protocol, ip.ttl]);
            out.extend(a);
            out.extend(b);
            sum(&a) + sum(&b)
        }
    }
}

/// The first 12 bytes of an IPv4 header; a length beyond 16 bits becomes 0, as with segmentation
/// offload.
fn v4_header(out: &mut Vec<u8>, ip: &IpLine, flags: u16, protocol: u8, length: u32) {
    out.extend([0x45, ip.tos]);
    out.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
    out.extend(ip.id.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend([ip.ttl, protocol, 0, 0]);
}

fn finish_v4(out: &mut [u8]) {
    let sum = !fold(sum(out));
    if let Some(field) = out.get_mut(10..12) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

/// Writes a packet of another protocol over IP, or with protocol 6 a TCP segment without its
/// header; returns its length.
pub(super) fn bare_ip(out: &mut Vec<u8>, protocol: u8) -> u32 {
    let (length, shown) = match protocol {
        6 => (40, 20),
        // With its UDP header, because the data after the IP header may look like a tunnel.
        17 => (28, 28),
        _ => (20, 20),
    };
    out.clear();
    v4_header(out, &IpLine::default(), 0x4000, protocol, length);
    out.extend([0; 8]);
    finish_v4(out);
    if protocol == 17 {
        out.extend([0, 0, 0, 0, 0, 8]);
    }
    out.resize(shown, 0);
    length
}

/// An ICMP error to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct IcmpToWrite {
    pub(super) by: IpAddr,
    pub(super) to: IpAddr,
    /// Type and code.
    pub(super) kind: (u8, u8),
    /// MTU, or 0.
    pub(super) mtu: u32,
    /// Destination of the quoted segment.
    pub(super) about: IpAddr,
    /// Length of its packet, or 0.
    pub(super) size: u32,
    /// Its ports and its sequence number, if known.
    pub(super) segment: Option<([u16; 2], u32)>,
}

/// Writes the error to `out`, with the known fields of the segment's headers; returns its length.
/// All addresses have the same IP version.
pub(super) fn error(out: &mut Vec<u8>, error: &IcmpToWrite) -> u32 {
    let mut quoted = Vec::with_capacity(48);
    let ip = IpLine::default();
    let headers = if error.to.is_ipv4() { 20 } else { 40 };
    ip_header_of(&mut quoted, (error.to, error.about), &ip, 6, error.size.saturating_sub(headers));
    if error.size == 0 {
        // Like offload, leaves 0 for an unknown length.
        quoted.get_mut(if headers == 20 { 2..4 } else { 4..6 }).unwrap_or_default().fill(0);
    }
    if let Some((ports, seq)) = error.segment {
        ports.iter().for_each(|port| quoted.extend(port.to_be_bytes()));
        quoted.extend(seq.to_be_bytes());
    }
    let protocol = if error.to.is_ipv4() { 1 } else { 58 };
    let length = 8 + quoted.len() as u32;
    out.clear();
    ip_header_of(out, (error.by, error.to), &ip, protocol, length);
    // The checksum is not verified.
    out.extend([error.kind.0, error.kind.1, 0, 0]);
    out.extend(error.mtu.to_be_bytes());
    out.extend(quoted);
    out.len() as u32
}

/// Writes only an Ethernet header, for a packet that is not IP; returns its length.
pub(super) fn bare_ethernet(out: &mut Vec<u8>, ether_type: u16) -> u32 {
    out.clear();
    out.extend([0; 12]);
    out.extend(ether_type.to_be_bytes());
    14
}

/// Sum of 16-bit words, not folded; 64 KiB cannot overflow it.
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0))).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}
