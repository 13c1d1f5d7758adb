#![allow(clippy::unwrap_used)]

use crate::wire::testing::{assert_whole, cut_packet, ethernet, ipv4, ipv6, join, read, read_verified, segment, tcp};
use crate::wire::{Checksum, Skip, decode};

/// LINKTYPE_RAW.
const RAW: u16 = 101;

#[test]
fn both_versions() {
    assert_whole(read(RAW, &ipv4(6, &segment())));
    assert_whole(read(RAW, &ipv6(6, &segment())));
    assert!(matches!(read(RAW, &[0x55; 60]), Err(Skip::Malformed(_))));
    assert!(matches!(read(RAW, &[]), Err(Skip::Malformed(_))));
}

#[test]
fn ipv4_options_are_skipped() {
    let mut packet = ipv4(6, &join(&[&[7, 3, 4, 0], &segment()]));
    packet[0] = 0x46;
    assert_whole(read(RAW, &packet));
    packet[0] = 0x44;
    assert!(matches!(read(RAW, &packet), Err(Skip::Malformed(_))));
    packet[0] = 0x4f;
    packet[3] = 40;
    assert!(matches!(read(RAW, &packet), Err(Skip::Malformed(_))));
}

#[test]
fn trailing_bytes_are_not_payload() {
    for (kind, packet) in [(0x0800, ipv4(6, &tcp(&[], b""))), (0x86dd, ipv6(6, &tcp(&[], b"")))] {
        let frame = ethernet(kind, &join(&[&packet, &[0xee; 10]]));
        let segment = read(1, &frame).unwrap();
        assert_eq!((segment.payload_len, segment.payload), (0, &b""[..]));
    }
}

#[test]
fn ip_length_of_zero_means_the_whole_frame() {
    let mut v4 = ipv4(6, &segment());
    v4[2..4].fill(0);
    let mut v6 = ipv6(6, &segment());
    v6[4..6].fill(0);
    for packet in [v4, v6] {
        assert_whole(read(RAW, &packet));
        let cut = decode(&cut_packet(RAW, &packet[..packet.len() - 4], 80_000)).unwrap();
        assert_eq!(cut.payload_len as usize, 80_000 - (packet.len() - 10));
        assert_eq!(cut.payload, b"012345");
    }
}

#[test]
fn ip_length_beyond_the_wire_is_ignored() {
    let mut v4 = ipv4(6, &segment());
    v4[2] = 0x20;
    assert_whole(read(RAW, &v4));
    let mut v6 = ipv6(6, &segment());
    v6[4] = 0x20;
    assert_whole(read(RAW, &v6));
}

#[test]
fn jumbo_payload_option_gives_the_length() {
    // Padding of each kind before the option, and a frame check sequence after the packet.
    let length = (16 + segment().len()) as u32;
    let options = join(&[&[6, 1, 0, 1, 1, 0, 0xc2, 4], &length.to_be_bytes(), &[1, 2, 0, 0]]);
    let mut packet = ipv6(0, &join(&[&options, &segment(), &[0xee; 4]]));
    packet[4..6].fill(0);
    assert_whole(read(RAW, &packet));
}

#[test]
fn first_fragments_are_used_and_later_ones_are_not() {
    let mut packet = ipv4(6, &segment());
    packet[6] = 0x20;
    let first = read(RAW, &packet).unwrap();
    assert!(first.fragment);
    assert_eq!(first.payload_len, 10);
    packet[7] = 1;
    assert_eq!(read(RAW, &packet), Err(Skip::Fragment));

    let fragment = |offset_and_more: u8| ipv6(44, &join(&[&[6, 0, 0, offset_and_more, 0, 0, 0, 1], &segment()]));
    assert!(read(RAW, &fragment(1)).unwrap().fragment);
    assert_eq!(read(RAW, &fragment(0x09)), Err(Skip::Fragment));
    // An atomic fragment (RFC 6946) is a complete packet.
    assert_whole(read(RAW, &fragment(0)));
}

#[test]
fn first_fragment_with_a_partial_header_is_reported() {
    for length in [8, 18] {
        let mut packet = ipv4(6, &segment()[..length]);
        packet[6] = 0x20;
        assert_eq!(read(RAW, &packet), Err(Skip::Fragment));
    }
}

#[test]
fn extension_headers_are_skipped() {
    // Hop-by-hop, destination options, routing, authentication.
    let headers = join(&[
        &[60, 0, 1, 4, 0, 0, 0, 0],
        &[43, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[51, 0, 4, 0, 0, 0, 0, 0],
        &[6, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 7, 7, 7, 7],
    ]);
    assert_whole(read(RAW, &ipv6(0, &join(&[&headers, &segment()]))));
    // Destination options may follow authentication.
    let reordered = [60, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 6, 0, 1, 4, 0, 0, 0, 0];
    assert_whole(read(RAW, &ipv6(51, &join(&[&reordered, &segment()]))));
    assert_whole(read(RAW, &ipv4(51, &join(&[&[6, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2], &segment()]))));
}

#[test]
fn unfinished_route_makes_the_checksum_unverifiable() {
    let routed = |left: u8| ipv6(43, &join(&[&[6, 0, 4, left, 0, 0, 0, 0], &segment()]));
    assert!(read_verified(RAW, &routed(0)).unwrap().checksum.is_wrong());
    assert_eq!(read_verified(RAW, &routed(1)).unwrap().checksum, Checksum::Unknown);
}

#[test]
fn other_protocols_are_named() {
    for protocol in [1, 50, 58, 59, 132, 200] {
        assert_eq!(read(RAW, &ipv4(protocol, &segment())), Err(Skip::NotTcp(protocol)));
        assert_eq!(read(RAW, &ipv6(protocol, &segment())), Err(Skip::NotTcp(protocol)));
    }
}
