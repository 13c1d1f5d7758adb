#![allow(clippy::unwrap_used)]

use super::{fold, sum};
use crate::wire::testing::{cut_packet, ipv4, ipv6, read, read_verified, slow_sum, tcp};
use crate::wire::{Checksum, decode_verified};
use proptest::prelude::*;

/// LINKTYPE_RAW.
const RAW: u16 = 101;

/// A segment in an IPv4 and in an IPv6 packet; `fill` computes each checksum field from the
/// pseudo-header's sum and the complete sum.
fn packets(payload: &[u8], fill: fn(u16, u16) -> u16) -> [Vec<u8>; 2] {
    let segment = tcp(&[], payload);
    [(12, ipv4(6, &segment)), (8, ipv6(6, &segment))].map(|(addresses, mut packet)| {
        let start = packet.len() - segment.len();
        let at = start + 16;
        packet[at..at + 2].fill(0);
        let mut pseudo = packet[addresses..addresses + if addresses == 12 { 8 } else { 32 }].to_vec();
        pseudo.extend([0, 6]);
        pseudo.extend((segment.len() as u32).to_be_bytes());
        let all = slow_sum(&[&pseudo, &packet[start..]].concat());
        packet[at..at + 2].copy_from_slice(&fill(slow_sum(&pseudo), all).to_be_bytes());
        packet
    })
}

#[test]
fn checksum_is_good_bad_or_partial() {
    for payload in [&b""[..], b"even", b"odd", &[0xff; 1000]] {
        for (fill, expected) in [
            ((|_, all| !all) as fn(u16, u16) -> u16, Checksum::Good),
            (|_, all| !all ^ 0x0100, Checksum::Bad(0)),
            (|pseudo, _| pseudo, Checksum::Partial),
            (|_, _| 0, Checksum::Partial),
        ] {
            for packet in packets(payload, fill) {
                let found = match read_verified(RAW, &packet).unwrap().checksum {
                    Checksum::Bad(by) => {
                        assert_ne!(by, 0);
                        Checksum::Bad(0)
                    }
                    found => found,
                };
                assert_eq!(found, expected, "{} bytes", payload.len());
            }
        }
    }
}

#[test]
fn checksum_without_the_length_is_partial() {
    for mut packet in packets(b"payload", |_, _| 0) {
        let (addresses, start) = if packet[0] == 0x45 { (12..20, 20) } else { (8..40, 40) };
        let field = slow_sum(&[&packet[addresses], &[0, 6]].concat());
        packet[start + 16..start + 18].copy_from_slice(&field.to_be_bytes());
        assert_eq!(read_verified(RAW, &packet).unwrap().checksum, Checksum::Partial);
    }
}

#[test]
fn checksum_with_payload_is_verified_only_on_request() {
    for packet in packets(b"payload", |_, all| !all) {
        assert_eq!(read(RAW, &packet).unwrap().checksum, Checksum::Unknown);
    }
    for packet in packets(b"", |_, all| !all) {
        assert_eq!(read(RAW, &packet).unwrap().checksum, Checksum::Good);
    }
    for packet in packets(b"payload", |pseudo, _| pseudo) {
        assert_eq!(read(RAW, &packet).unwrap().checksum, Checksum::Partial);
    }
}

#[test]
fn checksum_of_a_truncated_segment_is_unknown() {
    for packet in packets(b"payload", |_, all| !all ^ 1) {
        let cut = decode_verified(&cut_packet(RAW, &packet[..packet.len() - 1], packet.len())).unwrap();
        assert_eq!(cut.checksum, Checksum::Unknown);
    }
}

proptest! {
    #[test]
    fn sum_agrees_with_rfc_1071(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(u16::from_be_bytes(fold(sum(&bytes)).to_ne_bytes()), slow_sum(&bytes));
    }
}
