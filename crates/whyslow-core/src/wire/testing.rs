//! Builders of packets, for the tests of the layers.
#![allow(clippy::unwrap_used)]

use super::{Segment, Skip, decode, decode_verified};
use crate::capture::{LinkType, Packet};
use whyslow_units::Time;

pub(super) const SRC: &str = "192.0.2.1";
pub(super) const DST: &str = "192.0.2.2";
pub(super) const SRC_V6: &str = "2001:db8::1";
pub(super) const DST_V6: &str = "2001:db8::2";

/// A packet whose bytes were all captured.
pub(super) fn packet(link: u16, data: &[u8]) -> Packet<'_> {
    cut_packet(link, data, data.len())
}

/// A packet of `original_len` bytes, of which `data` was captured.
pub(super) fn cut_packet(link: u16, data: &[u8], original_len: usize) -> Packet<'_> {
    Packet { frame: 1, time: Time::ZERO, link: LinkType(link), data, original_len: original_len as u32 }
}

pub(super) fn read(link: u16, data: &[u8]) -> Result<Segment<'_>, Skip> {
    decode(&packet(link, data))
}

pub(super) fn read_verified(link: u16, data: &[u8]) -> Result<Segment<'_>, Skip> {
    decode_verified(&packet(link, data))
}

/// A segment of ten bytes with distinct values, which shows a shift by one byte.
pub(super) fn segment() -> Vec<u8> {
    tcp(&[], b"0123456789")
}

pub(super) fn tcp(options: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = (20 + options.len()).div_ceil(4);
    let mut bytes =
        vec![0x12, 0x34, 0x00, 0x50, 1, 2, 3, 4, 5, 6, 7, 8, (words << 4) as u8, 0x18, 0x02, 0x01, 9, 9, 0, 0];
    bytes.extend(options);
    bytes.resize(words * 4, 0);
    bytes.extend(payload);
    bytes
}

pub(super) fn ipv4(protocol: u8, inside: &[u8]) -> Vec<u8> {
    let [high, low] = ((20 + inside.len()) as u16).to_be_bytes();
    let mut bytes = vec![0x45, 0x02, high, low, 0xab, 0xcd, 0x40, 0, 61, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    bytes.extend(inside);
    bytes
}

pub(super) fn ipv6(next: u8, inside: &[u8]) -> Vec<u8> {
    let [high, low] = (inside.len() as u16).to_be_bytes();
    let mut bytes = vec![0x60, 0x20, 0, 0, high, low, next, 62];
    bytes.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    bytes.extend(inside);
    bytes
}

/// A datagram from a port without a meaning.
pub(super) fn udp(port: u16, inside: &[u8]) -> Vec<u8> {
    let mut bytes = 49_152u16.to_be_bytes().to_vec();
    bytes.extend(port.to_be_bytes());
    bytes.extend(((inside.len() + 8) as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(inside);
    bytes
}

pub(super) fn ethernet(kind: u16, inside: &[u8]) -> Vec<u8> {
    join(&[&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], &kind.to_be_bytes(), inside])
}

pub(super) fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// The checksum algorithm as in RFC 1071 section 1.
pub(super) fn slow_sum(bytes: &[u8]) -> u16 {
    let mut total = 0u64;
    for pair in bytes.chunks(2) {
        total += u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    }
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// Asserts that it is the segment of [`segment`] in IPv4 or IPv6, as built by [`ipv4`] and
/// [`ipv6`].
#[track_caller]
pub(super) fn assert_whole(read: Result<Segment<'_>, Skip>) {
    let segment = read.unwrap();
    assert_eq!((segment.src_port, segment.dst_port), (0x1234, 80));
    assert_eq!((segment.seq.0, segment.ack.0), (0x0102_0304, 0x0506_0708));
    assert_eq!((segment.flags.0, segment.window), (0x18, 0x0201));
    assert_eq!((segment.payload, segment.payload_len), (&b"0123456789"[..], 10));
    let (src, dst, ttl, ecn, id) = match segment.ip_id {
        Some(_) => (SRC, DST, 61, 2, Some(0xabcd)),
        None => (SRC_V6, DST_V6, 62, 2, None),
    };
    assert_eq!((segment.src.to_string().as_str(), segment.dst.to_string().as_str()), (src, dst));
    assert_eq!((segment.ttl, segment.ecn, segment.ip_id), (ttl, ecn, id));
    assert!(!segment.fragment);
}
