#![allow(clippy::unwrap_used)]

use crate::wire::testing::{cut_packet, ipv4, read, segment, tcp};
use crate::wire::{Flags, Options, Skip, decode};
use whyslow_units::SeqNumber;

/// LINKTYPE_IPV4.
const IPV4: u16 = 228;

fn options(list: &[u8]) -> Options {
    let packet = ipv4(6, &tcp(list, b"payload"));
    let segment = read(IPV4, &packet).unwrap();
    assert_eq!(segment.payload, b"payload");
    segment.options
}

fn block(left: u32, right: u32) -> [u8; 8] {
    [left.to_be_bytes(), right.to_be_bytes()].concat().try_into().unwrap()
}

#[test]
fn syn_options_are_read() {
    let read = options(&[2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7]);
    assert_eq!(
        read,
        Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 2)),
            ..Options::default()
        }
    );
}

#[test]
fn window_scale_above_14_is_kept() {
    assert_eq!(options(&[3, 3, 200, 0]).window_scale, Some(200));
}

#[test]
fn four_sack_blocks_in_their_order() {
    let blocks = [(30, 40), (10, 20), (50, 60), (u32::MAX, 5)];
    let mut list = vec![1, 1, 5, 34];
    blocks.iter().for_each(|(left, right)| list.extend(block(*left, *right)));
    let read = options(&list);
    let expected: Vec<_> = blocks.iter().map(|(left, right)| (SeqNumber(*left), SeqNumber(*right))).collect();
    assert_eq!(read.sack.as_slice(), expected);
    assert!(!read.malformed);
}

#[test]
fn truncated_sack_option_keeps_its_complete_blocks() {
    let mut list = vec![5, 12];
    list.extend(block(1, 2));
    list.extend([9, 9, 0, 0]);
    let read = options(&list);
    assert_eq!(read.sack.as_slice(), [(SeqNumber(1), SeqNumber(2))]);
    assert!(read.malformed);
}

#[test]
fn fast_open_and_mptcp_options_are_flags() {
    assert!(options(&[34, 2, 0, 0]).fast_open);
    assert!(options(&[34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0]).fast_open);
    assert!(options(&[254, 4, 0xf9, 0x89]).fast_open);
    assert!(options(&[253, 4, 0xf9, 0x89]).fast_open);
    assert!(!options(&[254, 4, 0xf9, 0x88]).fast_open);
    assert!(options(&[30, 4, 0, 0x81]).mptcp && !options(&[30, 4, 0, 0x81]).mptcp_join);
    assert!(options(&[30, 4, 0x10, 1]).mptcp_join);
    // Unknown options and MD5 signatures are skipped.
    let after_unknown = options(&[77, 3, 9, 19, 4, 0, 0, 3, 3, 2, 1, 1]);
    assert_eq!(after_unknown, Options { window_scale: Some(2), ..Options::default() });
}

#[test]
fn invalid_option_length_ends_the_list() {
    for bad in [[2, 0, 5, 0xb4], [2, 1, 5, 0xb4], [2, 5, 5, 0xb4], [1, 1, 1, 2]] {
        let read = options(&[&[3, 3, 7, 1], &bad[..]].concat());
        assert_eq!(read, Options { window_scale: Some(7), malformed: true, ..Options::default() }, "{bad:?}");
    }
}

#[test]
fn known_option_with_a_wrong_length_is_skipped() {
    let read = options(&[2, 3, 5, 3, 3, 7, 8, 6, 0, 0, 0, 1]);
    assert_eq!(read, Options { window_scale: Some(7), malformed: true, ..Options::default() });
}

#[test]
fn nothing_is_read_after_the_end_of_the_list() {
    assert_eq!(options(&[0, 3, 3, 7]), Options::default());
}

#[test]
fn flags_with_accurate_ecn_and_without_the_reserved_bits() {
    let mut bytes = segment();
    bytes[12] |= 0x0f;
    bytes[13] = 0xc2;
    let packet = ipv4(6, &bytes);
    let flags = read(IPV4, &packet).unwrap().flags;
    assert_eq!(flags, Flags::AE | Flags::CWR | Flags::ECE | Flags::SYN);
    assert!(flags.has(Flags::AE) && !flags.has(Flags::ACK));
}

#[test]
fn truncated_header_is_sufficient_from_the_window_on() {
    let whole = ipv4(6, &tcp(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], b"payload"));
    for captured in 0..whole.len() {
        let read = decode(&cut_packet(IPV4, &whole[..captured], whole.len()));
        if captured < 20 + 16 {
            assert_eq!(read, Err(Skip::Cut), "{captured}");
            continue;
        }
        let segment = read.unwrap();
        assert_eq!((segment.seq.0, segment.window), (0x0102_0304, 0x0201));
        assert_eq!(segment.payload_len, 7, "the true length, with {captured} bytes captured");
        assert_eq!(segment.payload.len(), captured.saturating_sub(52));
        assert_eq!(segment.options.malformed, captured < 52);
        assert_eq!(segment.options.timestamps, (captured >= 52).then_some((1, 2)));
    }
}

#[test]
fn truncated_list_keeps_the_captured_options() {
    let whole = ipv4(6, &tcp(&[2, 4, 0x05, 0xb4, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0], b""));
    let segment = decode(&cut_packet(IPV4, &whole[..48], whole.len())).unwrap();
    assert_eq!(segment.options, Options { mss: Some(1460), malformed: true, ..Options::default() });
}

#[test]
fn impossible_lengths_are_rejected() {
    let mut short = segment();
    short[12] = 0x40;
    assert!(matches!(read(IPV4, &ipv4(6, &short)), Err(Skip::Malformed(_))));
    let mut long = segment();
    long[12] = 0xf0;
    assert!(matches!(read(IPV4, &ipv4(6, &long)), Err(Skip::Malformed(_))));
    assert!(matches!(read(IPV4, &ipv4(6, &segment()[..12])), Err(Skip::Malformed(_))));
}
