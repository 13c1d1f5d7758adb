#![allow(clippy::unwrap_used)]

use crate::wire::testing::{assert_whole, ethernet, ipv4, ipv6, join, read, segment, udp};
use crate::wire::{Datagram, Segment, Skip};

/// LINKTYPE_RAW.
const RAW: u16 = 101;

/// Decodes an outer IPv4 packet with this payload.
fn within(protocol: u8, inside: &[u8]) -> Result<u8, Skip> {
    let packet = ipv4(protocol, inside);
    tunnels(read(RAW, &packet))
}

#[track_caller]
fn tunnels(read: Result<Segment<'_>, Skip>) -> Result<u8, Skip> {
    if read.is_ok() {
        assert_whole(read);
    }
    read.map(|segment| segment.tunnels).map_err(Skip::counted)
}

fn inner() -> Vec<u8> {
    ipv4(6, &segment())
}

fn frame() -> Vec<u8> {
    ethernet(0x0800, &inner())
}

#[test]
fn ip_in_ip_of_every_kind() {
    let inner_v6 = ipv6(6, &segment());
    assert_eq!(within(4, &inner()), Ok(1));
    assert_eq!(within(94, &inner()), Ok(1));
    assert_eq!(within(41, &inner_v6), Ok(1));
    assert_eq!(tunnels(read(RAW, &ipv6(4, &inner()))), Ok(1));
    assert_eq!(tunnels(read(RAW, &ipv6(41, &ipv4(41, &inner_v6)))), Ok(2));
}

#[test]
fn other_protocols_that_carry_packets() {
    assert_eq!(within(97, &join(&[&[0x30, 0], &frame()])), Ok(1));
    assert_eq!(within(137, &join(&[&[0, 1, 0x11, 64], &inner()])), Ok(1));
}

#[test]
fn nesting_is_bounded() {
    let mut packet = inner();
    for _ in 0..15 {
        packet = ipv4(4, &packet);
    }
    assert_eq!(tunnels(read(RAW, &packet)), Ok(15));
    let deeper = ipv4(4, &packet);
    assert!(matches!(read(RAW, &deeper), Err(Skip::Malformed(_))));
}

#[test]
fn gre_with_every_optional_field() {
    assert_eq!(within(47, &join(&[&[0, 0, 0x08, 0], &inner()])), Ok(1));
    assert_eq!(within(47, &join(&[&[0x20, 0, 0x08, 0, 0, 0, 0, 9], &inner()])), Ok(1));
    let all = [0xb0, 0, 0x08, 0, 1, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1];
    assert_eq!(within(47, &join(&[&all, &inner()])), Ok(1));
    // A route of one entry, and its end.
    let route = [0x40, 0, 0x08, 0, 0, 0, 0, 0, 8, 0, 0, 4, 192, 0, 2, 9, 0, 0, 0, 0];
    assert_eq!(within(47, &join(&[&route, &inner()])), Ok(1));
    // NVGRE: an Ethernet frame, with the network's ID in the key.
    assert_eq!(within(47, &join(&[&[0x20, 0, 0x65, 0x58, 0, 0, 9, 0], &frame()])), Ok(1));
    assert_eq!(within(47, &[0, 0, 0x08, 0x06, 0, 1]), Err(Skip::NotIp(0x0806)));
}

#[test]
fn pptp() {
    let ppp = join(&[&[0xff, 0x03, 0x00, 0x21], &inner()]);
    assert_eq!(within(47, &join(&[&[0x30, 1, 0x88, 0x0b, 0, 40, 0, 7, 0, 0, 0, 1], &ppp])), Ok(1));
    assert_eq!(within(47, &join(&[&[0x30, 0x81, 0x88, 0x0b, 0, 40, 0, 7, 0, 0, 0, 1, 0, 0, 0, 9], &ppp])), Ok(1));
    let without_ppp = [0x30, 1, 0x08, 0, 0, 0, 0, 7, 0, 0, 0, 1];
    assert_eq!(within(47, &join(&[&without_ppp, &inner()])), Ok(1), "IP, in the form of PPTP");
    assert!(matches!(within(47, &[0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 7, 0, 0, 0, 9]), Err(Skip::NoPacket(_))));
}

#[test]
fn mirrored_frames() {
    assert_eq!(within(47, &join(&[&[0, 0, 0x88, 0xbe], &frame()])), Ok(1), "ERSPAN I");
    let second = [0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 1, 0, 0, 0, 1];
    assert_eq!(within(47, &join(&[&second, &frame()])), Ok(1), "ERSPAN II");
    let mut third = [0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(within(47, &join(&[&third, &frame()])), Ok(1), "ERSPAN III");
    third[18] = 2 << 2;
    assert_eq!(within(47, &join(&[&third, &inner()])), Ok(1), "ERSPAN III with a packet");
    third[18] = 0;
    third[19] = 1;
    assert_eq!(within(47, &join(&[&third, &[0; 8], &frame()])), Ok(1), "ERSPAN III with a subheader");
}

#[test]
fn wccp_with_and_without_its_header() {
    assert_eq!(within(47, &join(&[&[0, 0, 0x88, 0x3e], &inner()])), Ok(1));
    assert_eq!(within(47, &join(&[&[0, 0, 0x88, 0x3e, 0, 1, 2, 3], &inner()])), Ok(1));
}

#[test]
fn tunnels_over_udp() {
    let vxlan = join(&[&[0x08, 0, 0, 0, 0, 0, 9, 0], &frame()]);
    assert_eq!(within(17, &udp(4789, &vxlan)), Ok(1));
    assert_eq!(within(17, &udp(8472, &vxlan)), Ok(1));
    assert_eq!(within(17, &udp(4790, &join(&[&[0x0c, 0, 0, 1, 0, 0, 9, 0], &inner()]))), Ok(1));
    assert_eq!(within(17, &udp(4790, &vxlan)), Ok(1));
    let service = [0x0c, 0, 0, 4, 0, 0, 9, 0, 0x0f, 0xc3, 1, 3, 0, 0, 1, 255, 0, 0, 0, 0];
    assert_eq!(within(17, &udp(4790, &join(&[&service, &frame()]))), Ok(1), "a service header of three words");
    let geneve = [0x01, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 0];
    assert_eq!(within(17, &udp(6081, &join(&[&geneve, &frame()]))), Ok(1), "an option of one word");
    assert_eq!(within(17, &udp(6081, &join(&[&[0, 0, 0x08, 0, 0, 0, 9, 0], &inner()]))), Ok(1));
    assert_eq!(within(17, &udp(6635, &join(&[&[0, 1, 0x11, 64], &inner()]))), Ok(1));
    assert_eq!(within(17, &udp(4754, &join(&[&[0, 0, 0x08, 0], &inner()]))), Ok(1));
    assert_eq!(within(17, &udp(4341, &join(&[&[0; 8], &inner()]))), Ok(1));
}

#[test]
fn quic_differs_from_other_udp() {
    let long = |version: u32| join(&[&[0xc3], &version.to_be_bytes(), &[8, 1, 2, 3, 4, 5, 6, 7, 8]]);
    for version in [1, 0x6b33_43cf, 0xff00_001d, u32::from_be_bytes(*b"Q046")] {
        assert_eq!(within(17, &udp(4433, &long(version))), Err(Skip::Quic(Datagram::ANY)), "{version:x}");
    }
    assert_eq!(within(17, &udp(443, &long(0))), Err(Skip::Quic(Datagram::ANY)), "version negotiation");
    assert_eq!(within(17, &udp(443, &[0x4f; 20])), Err(Skip::Quic(Datagram::ANY)), "a short header");
    assert_eq!(within(17, &udp(5000, &[0x4f; 20])), Err(Skip::NotTcp(17)), "it is counted as other UDP");
    assert_eq!(within(17, &udp(443, &[23, 254, 253, 0, 1])), Err(Skip::NotTcp(17)), "DTLS");
    assert_eq!(within(17, &udp(443, &[])), Err(Skip::NotTcp(17)));
    assert_eq!(within(17, &udp(5000, &long(0x8000_0001))), Err(Skip::NotTcp(17)), "a stranger's version");
}

#[test]
fn mobile_networks() {
    assert_eq!(within(17, &udp(2152, &join(&[&[0x30, 0xff, 0, 0, 0, 0, 0, 1], &inner()]))), Ok(1));
    // A sequence number, then a PDU session container of one word.
    let extended = [0x34, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0];
    assert_eq!(within(17, &udp(2152, &join(&[&extended, &inner()]))), Ok(1));
    let endless = [0x34, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 0, 0, 9, 0];
    assert!(matches!(within(17, &udp(2152, &join(&[&endless, &inner()]))), Err(Skip::Malformed(_))));
    assert_eq!(within(17, &udp(2152, &[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0])), Err(Skip::NotTcp(17)), "an echo");
}

#[test]
fn layer_two_tunnels() {
    let ppp = join(&[&[0xff, 0x03, 0x00, 0x21], &inner()]);
    assert_eq!(within(17, &udp(1701, &join(&[&[0, 2, 0, 1, 0, 2], &ppp]))), Ok(1));
    // A length, sequence numbers, an offset of two bytes.
    let all = [0x4a, 2, 0, 99, 0, 1, 0, 2, 0, 3, 0, 4, 0, 2, 0, 0];
    assert_eq!(within(17, &udp(1701, &join(&[&all, &ppp]))), Ok(1));
    assert_eq!(within(17, &udp(1701, &[0xc8, 2, 0, 12, 0, 1, 0, 0, 0, 0, 0, 0])), Err(Skip::NotTcp(17)), "control");
}

#[test]
fn teredo_with_its_indications() {
    let inner = ipv6(6, &segment());
    let authentication = [0, 1, 1, 2, 9, 8, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    let origin = [0, 0, 1, 2, 3, 4, 5, 6];
    assert_eq!(within(17, &udp(3544, &inner)), Ok(1));
    assert_eq!(within(17, &udp(3544, &join(&[&origin, &inner]))), Ok(1));
    assert_eq!(within(17, &udp(3544, &join(&[&authentication, &origin, &inner]))), Ok(1));
    assert_eq!(within(17, &udp(3544, &ipv6(59, &[]))), Err(Skip::NotTcp(59)), "a bubble");
}

#[test]
fn other_datagrams_are_plain_udp() {
    assert_eq!(within(17, &udp(53, &frame())), Err(Skip::NotTcp(17)));
    assert_eq!(within(17, &udp(4789, &[0; 30])), Err(Skip::NotTcp(17)));
    assert_eq!(within(17, &udp(6081, &[0xff; 30])), Err(Skip::NotTcp(17)));
    assert_eq!(within(17, &udp(3544, &[0x55; 30])), Err(Skip::NotTcp(17)));
}

#[test]
fn fragmented_tunnel_keeps_the_inner_length() {
    let whole = ipv4(4, &inner());
    let mut fragment = ipv4(4, &inner()[..44]);
    fragment[6] = 0x20;
    let segment = read(RAW, &fragment).unwrap();
    assert_eq!((segment.payload_len, segment.payload), (10, &b"0123"[..]));
    assert!(!segment.fragment, "the segment itself is complete");
    // Without the flag, the inner length exceeds a complete packet and is ignored.
    assert_eq!(read(RAW, &whole[..64]).unwrap().payload_len, 4);
}
