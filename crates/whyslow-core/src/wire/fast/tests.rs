//! The fast path agrees with the general decoder, and handles every plain packet.
#![allow(clippy::unwrap_used)]

use crate::wire::testing::{cut_packet, ethernet, ipv4, ipv6, packet, slow_sum, tcp};
use crate::wire::{Checksum, Flags, FlowKey, Options, decode, parse_fast};
use proptest::prelude::*;

const STAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];

/// Content of the checksum field.
#[derive(Clone, Copy, Debug)]
enum Field {
    Right,
    Zero,
    Pseudo,
    Noise(u16),
}

/// A packet of either IP version with these TCP options, flags, payload and checksum field.
fn frame(v6: bool, options: &[u8], flags: Flags, payload: &[u8], field: Field) -> Vec<u8> {
    let mut segment = tcp(options, payload);
    segment[12] = segment[12] & 0xf0 | (flags.0 >> 8) as u8;
    segment[13] = flags.0 as u8;
    segment[16..18].fill(0);
    let outside = if v6 { ethernet(0x86dd, &ipv6(6, &segment)) } else { ethernet(0x0800, &ipv4(6, &segment)) };
    let (addresses, start) = if v6 { (22..54, 54) } else { (26..34, 34) };
    let mut pseudo = outside[addresses].to_vec();
    pseudo.extend([0, 6]);
    pseudo.extend((segment.len() as u32).to_be_bytes());
    let sum = match field {
        Field::Right => !slow_sum(&[&pseudo, &segment[..]].concat()),
        Field::Zero => 0,
        Field::Pseudo => slow_sum(&pseudo),
        Field::Noise(noise) => noise,
    };
    let mut frame = outside;
    frame[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// Checks the invariants for any packet; returns whether it was a plain one.
#[track_caller]
fn agree(data: &[u8], original_len: usize) -> bool {
    let packet = cut_packet(1, data, original_len);
    let Some(fast) = parse_fast(&packet) else { return false };
    let read = decode(&packet);
    if let Ok(segment) = &read {
        let (ends, same) = (fast.flow_key(), FlowKey::of(segment));
        assert!(ends.same_connection(&same) && ends.same_sender(&same));
        assert_eq!(ends.hash(), same.hash());
    }
    let Some(plain) = fast.plain() else {
        // Then the packet must not be plain: its header is not one of the two common forms, or it
        // has other flags.
        if let Ok(segment) = read {
            let tcp = if segment.ip_id.is_some() { 34 } else { 54 };
            let list = match data[tcp + 12] >> 4 {
                5 => true,
                8 => data.get(tcp + 20..tcp + 24) == Some(&STAMPS[..4]),
                _ => false,
            };
            let quiet = segment.flags.0 & 0x17 == 0x10;
            let whole = !segment.options.malformed && !segment.checksum.is_wrong();
            assert!(!(list && quiet && whole), "{segment:?} should be plain");
        }
        return false;
    };
    let segment = read.unwrap();
    assert_eq!((plain.seq(), plain.ack()), (segment.seq, segment.ack));
    assert_eq!((plain.flags(), plain.window()), (segment.flags, segment.window));
    assert_eq!(plain.payload_len(), segment.payload_len);
    let rest = plain.rest();
    assert_eq!(rest.get(..segment.payload_len as usize).unwrap_or(rest), segment.payload);
    assert_eq!(segment.options, Options { timestamps: plain.timestamps(), ..Options::default() });
    assert_eq!((plain.ip_id(), plain.ttl(), plain.ecn()), (segment.ip_id, segment.ttl, segment.ecn));
    // With payload, the fast path does not verify the IP header's checksum.
    assert!(!matches!(segment.checksum, Checksum::Bad(_)) && (segment.payload_len > 0 || !segment.checksum.is_wrong()));
    assert!(!segment.fragment && segment.tunnels == 0);
    assert!(segment.flags.has(Flags::ACK));
    assert!([Flags::SYN, Flags::FIN, Flags::RST].iter().all(|flag| !segment.flags.has(*flag)));
    true
}

#[test]
fn every_ordinary_segment_is_plain() {
    for v6 in [false, true] {
        for options in [&[][..], &STAMPS] {
            for payload in [&b""[..], b"payload", &[7; 1448]] {
                for field in [Field::Right, Field::Zero, Field::Pseudo] {
                    for flags in [Flags::ACK, Flags::ACK | Flags::PSH, Flags::ACK | Flags::ECE | Flags::AE] {
                        let frame = frame(v6, options, flags, payload, field);
                        assert!(agree(&frame, frame.len()), "whole: {v6} {options:?} {flags:?} {field:?}");
                        let headers = frame.len() - payload.len();
                        assert!(agree(&frame[..headers], frame.len()), "its payload cut");
                        let padded = [&frame[..], &[0xee; 8]].concat();
                        assert!(agree(&padded, padded.len()), "padded");
                        if options.is_empty() {
                            continue;
                        }
                        assert!(!agree(&frame[..headers - 1], frame.len()), "its options cut");
                    }
                }
            }
        }
    }
}

#[test]
fn other_segments_are_not_plain() {
    let ack = Flags::ACK;
    let plain = |options: &[u8], flags: Flags, payload: &[u8], field: Field| {
        [false, true].map(|v6| {
            let frame = frame(v6, options, flags, payload, field);
            agree(&frame, frame.len())
        })
    };
    assert_eq!(plain(&STAMPS, ack, b"", Field::Right), [true; 2]);
    for flags in [Flags(0), Flags::PSH, Flags::SYN, ack | Flags::SYN, ack | Flags::FIN, ack | Flags::RST] {
        assert_eq!(plain(&STAMPS, flags, b"x", Field::Right), [false; 2], "{flags:?}");
    }
    let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9];
    let turned = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1];
    for options in [&sack[..], &turned, &[1; 4], &[&STAMPS[..], &sack].concat()] {
        assert_eq!(plain(options, ack, b"", Field::Right), [false; 2], "{options:?}");
    }
    assert_eq!(plain(&[], ack, b"", Field::Noise(0x1234)), [false; 2], "a wrong checksum");
    assert_eq!(plain(&[], ack, b"x", Field::Noise(0x1234)), [true; 2], "one that is not verified");
    let other = frame(false, &[], ack, b"", Field::Right);
    assert!(parse_fast(&packet(113, &other)).is_none(), "another link type");
}

proptest! {
    #[test]
    fn plain_segment_agrees_with_the_general_decoder(
        v6 in any::<bool>(),
        options in prop_oneof![
            2 => Just(vec![]),
            3 => any::<[u8; 8]>().prop_map(|stamps| [&[1, 1, 8, 10][..], &stamps].concat()),
            1 => proptest::collection::vec(any::<u8>(), 0..40),
        ],
        flags in prop_oneof![3 => Just(0x10u16), 1 => Just(0x11), 1 => 0u16..0x200],
        payload in prop_oneof![Just(vec![]), proptest::collection::vec(any::<u8>(), 0..40)],
        field in prop_oneof![
            3 => Just(Field::Right),
            1 => Just(Field::Zero),
            1 => Just(Field::Pseudo),
            1 => any::<u16>().prop_map(Field::Noise),
        ],
        changes in proptest::collection::vec((0usize..90, any::<u8>()), 0..3),
        kept in prop_oneof![2 => Just(usize::MAX), 1 => 0usize..120],
        more_on_the_wire in prop_oneof![Just(0usize), 0usize..40],
    ) {
        let mut frame = frame(v6, &options, Flags(flags), &payload, field);
        let whole = frame.len();
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        let captured = &frame[..kept.min(whole)];
        for original_len in [whole, captured.len() + more_on_the_wire, captured.len() / 2] {
            agree(captured, original_len);
        }
    }
}
