#![allow(clippy::unwrap_used)]

use super::super::icmp_error::V6;
use super::*;
use crate::wire::decode;
use crate::wire::testing::{cut_packet, ethernet, ipv4, ipv6, join, read as decoded, tcp, udp};
use proptest::prelude::*;

/// The ICMP error in a frame; `None` if it is ICMP without a TCP segment.
#[track_caller]
fn icmp_of(frame: &[u8]) -> Option<Icmp> {
    match decoded(1, frame).unwrap_err() {
        Skip::Icmp(icmp) => Some(icmp),
        Skip::NotTcp(V4 | V6) => None,
        other => panic!("{other:?}"),
    }
}

fn v4_quoted() -> Vec<u8> {
    ipv4(TCP, &tcp(&[], b"payload"))
}

/// An error about a segment that quotes `quoted` bytes of its packet.
fn v4(head: [u8; 8], quoted: usize) -> Vec<u8> {
    ethernet(0x0800, &ipv4(V4, &join(&[&head, &v4_quoted()[..quoted]])))
}

fn v6_of(head: [u8; 8], quoted: &[u8]) -> Vec<u8> {
    ethernet(0x86dd, &ipv6(V6, &join(&[&head, quoted])))
}

fn v6(head: [u8; 8]) -> Vec<u8> {
    v6_of(head, &ipv6(TCP, &tcp(&[], b"payload")))
}

#[test]
fn error_gives_the_segment_and_its_fate() {
    let icmp = icmp_of(&v4([3, 4, 0, 0, 0, 0, 0x05, 0x78], 28)).unwrap();
    assert_eq!((icmp.fate, icmp.kind, icmp.size), (Fate::TooBig(Some(1400)), (3, 4), Some(47)));
    assert_eq!((icmp.from.0.to_string(), icmp.from.1), ("192.0.2.1".to_owned(), 0x1234));
    assert_eq!((icmp.to.0.to_string(), icmp.to.1), ("192.0.2.2".to_owned(), 80));
    assert_eq!((icmp.by.to_string(), icmp.seq), ("192.0.2.1".to_owned(), 0x0102_0304));
    let icmp = icmp_of(&v6([2, 0, 0, 0, 0, 0, 0x05, 0x00])).unwrap();
    assert_eq!((icmp.fate, icmp.kind, icmp.size), (Fate::TooBig(Some(1280)), (2, 0), Some(67)));
    assert_eq!((icmp.from.0.to_string(), icmp.from.1, icmp.seq), ("2001:db8::1".to_owned(), 0x1234, 0x0102_0304));
}

#[test]
fn every_fate() {
    let fates: [(u8, u8, Option<Fate>); 13] = [
        (3, 0, Some(Fate::NetworkUnreachable)),
        (3, 1, Some(Fate::HostUnreachable)),
        (3, 2, Some(Fate::ProtocolUnreachable)),
        (3, 3, Some(Fate::PortUnreachable)),
        (3, 4, Some(Fate::TooBig(None))),
        (3, 10, Some(Fate::Prohibited)),
        (3, 13, Some(Fate::Prohibited)),
        (3, 16, None),
        (11, 0, Some(Fate::TimeExceeded)),
        (11, 1, None),
        (8, 0, None),
        (0, 0, None),
        (5, 1, None),
    ];
    for (kind, code, fate) in fates {
        let icmp = icmp_of(&v4([kind, code, 0, 0, 0, 0, 0, 0], 47));
        assert_eq!(icmp.map(|icmp| icmp.fate), fate, "{kind}, {code}");
        assert!(icmp.is_none_or(|icmp| icmp.kind == (kind, code)));
    }
    for (kind, code, fate) in [
        (1, 0, Some(Fate::NetworkUnreachable)),
        (1, 1, Some(Fate::Prohibited)),
        (1, 3, Some(Fate::HostUnreachable)),
        (1, 4, Some(Fate::PortUnreachable)),
        (3, 0, Some(Fate::TimeExceeded)),
        (4, 1, Some(Fate::ProtocolUnreachable)),
        (128, 0, None),
    ] {
        let icmp = icmp_of(&v6([kind, code, 0, 0, 0, 0, 0, 0]));
        assert_eq!(icmp.map(|icmp| icmp.fate), fate, "{kind}, {code} of version 6");
    }
}

#[test]
fn truncated_or_unrelated_error_gives_no_segment() {
    let head = [3, 4, 0, 0, 0, 0, 5, 0];
    // The IP header shows whether the quoted packet is TCP.
    for quoted in 0..20 {
        assert_eq!(icmp_of(&v4(head, quoted)), None, "{quoted} bytes");
    }
    for quoted in 20..28 {
        assert_eq!(decoded(1, &v4(head, quoted)), Err(Skip::IcmpCut), "{quoted} bytes");
    }
    assert!(icmp_of(&v4(head, 28)).is_some());
    let about = |change: fn(&mut Vec<u8>)| {
        let mut packet = v4_quoted();
        change(&mut packet);
        icmp_of(&ethernet(0x0800, &ipv4(V4, &join(&[&head, &packet]))))
    };
    assert!(about(|_| ()).is_some());
    assert_eq!(about(|packet| packet[9] = 17), None, "UDP");
    assert_eq!(about(|packet| packet[7] = 3), None, "a later fragment");
    assert_eq!(about(|packet| packet[0] = 0x44), None, "a header of 16 bytes");
    assert_eq!(about(|packet| packet[0] = 0x65), None, "another version");
}

#[test]
fn truncated_frame_gives_the_error_if_the_ports_are_captured() {
    let frame = v4([3, 1, 0, 0, 0, 0, 0, 0], 47);
    // Ethernet, IPv4, ICMP, the quoted IPv4 header, ports and sequence number.
    let needed = 14 + 20 + 8 + 20 + 8;
    for length in 0..frame.len() {
        let given = decode(&cut_packet(1, &frame[..length], frame.len()));
        assert_eq!(matches!(given, Err(Skip::Icmp(_))), length >= needed, "{length}: {given:?}");
        assert_eq!(matches!(given, Err(Skip::IcmpCut)), (needed - 8..needed).contains(&length), "{length}: {given:?}");
    }
}

#[test]
fn error_inside_tags_tunnels_and_extension_headers_is_read() {
    let packet = ipv4(V4, &join(&[&[3, 1, 0, 0, 0, 0, 0, 0], &v4_quoted()]));
    let tagged = ethernet(0x8100, &join(&[&[0, 7, 0x08, 0], &packet]));
    let in_gre = ethernet(0x0800, &ipv4(47, &join(&[&[0, 0, 0x08, 0], &packet])));
    let in_vxlan =
        ethernet(0x0800, &ipv4(17, &udp(4789, &join(&[&[8, 0, 0, 0, 0, 0, 7, 0], &ethernet(0x0800, &packet)]))));
    for frame in [tagged, in_gre, in_vxlan] {
        assert_eq!(icmp_of(&frame).unwrap().fate, Fate::HostUnreachable);
    }
    // Hop-by-hop options before the quoted segment; a fragment header of the first and of a later
    // fragment.
    let head = [2, 0, 0, 0, 0, 0, 5, 0];
    let segment = tcp(&[], b"payload");
    let options = join(&[&[TCP, 0, 1, 4, 0, 0, 0, 0], &segment]);
    let first = join(&[&[TCP, 0, 0, 1, 0, 0, 0, 9], &segment]);
    let later = join(&[&[TCP, 0, 5, 0xa8, 0, 0, 0, 9], &segment]);
    assert_eq!(icmp_of(&v6_of(head, &ipv6(0, &options))).unwrap().from.1, 0x1234);
    assert_eq!(icmp_of(&v6_of(head, &ipv6(44, &first))).unwrap().from.1, 0x1234);
    assert_eq!(icmp_of(&v6_of(head, &ipv6(44, &later))), None);
    // More headers than any sender uses.
    let endless = [&[0, 0, 1, 4, 0, 0, 0, 0][..]; 20].concat();
    assert_eq!(icmp_of(&v6_of(head, &ipv6(0, &endless))), None);
}

#[test]
fn error_about_an_error_is_ignored() {
    // RFC 1122 section 3.2.2: there are no errors about errors. The quoted packet is ICMP and not a
    // segment.
    let inner = join(&[&[3, 1, 0, 0, 0, 0, 0, 0], &v4_quoted()]);
    let mut packet = ipv4(V4, &inner);
    for _ in 0..40 {
        packet = ipv4(V4, &join(&[&[3, 1, 0, 0, 0, 0, 0, 0], &packet]));
    }
    assert_eq!(icmp_of(&ethernet(0x0800, &packet)), None);
}

proptest! {
    #[test]
    fn any_quote_is_read_or_ignored(
        head in any::<[u8; 8]>(),
        quoted in prop::collection::vec(any::<u8>(), 0..120),
        version in prop_oneof![Just(0x45u8), Just(0x46), Just(0x60), any::<u8>()],
        protocol in prop_oneof![Just(TCP), any::<u8>()],
        kept in 0usize..200,
        six: bool,
    ) {
        let mut quoted = quoted;
        quoted.iter_mut().next().into_iter().for_each(|byte| *byte = version);
        quoted.get_mut(if six { 6 } else { 9 }).into_iter().for_each(|byte| *byte = protocol);
        let mut head = head;
        head[0] = if six { head[0] % 5 } else { head[0] % 13 };
        let inside = join(&[&head, &quoted]);
        let frame = if six { ethernet(0x86dd, &ipv6(V6, &inside)) } else { ethernet(0x0800, &ipv4(V4, &inside)) };
        let kept = kept.min(frame.len());
        let whole = decoded(1, &frame);
        prop_assert!(whole.is_err());
        // A truncated error contains less, but never another segment.
        if let Err(Skip::Icmp(icmp)) = decode(&cut_packet(1, &frame[..kept], frame.len())) {
            prop_assert_eq!(whole, Err(Skip::Icmp(icmp)));
            prop_assert_eq!(icmp.from.0.is_ipv6(), six);
            prop_assert_eq!(icmp.flow_key().to_endpoints().map(|(address, _)| address.is_ipv6()), [six; 2]);
        }
    }
}
