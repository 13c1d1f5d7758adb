#![allow(clippy::unwrap_used)]

use crate::capture::LinkType;
use crate::wire::testing::{assert_whole, ethernet, ipv4, ipv6, join, read, segment};
use crate::wire::{Skip, is_supported, link_type_name};

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

fn v4() -> Vec<u8> {
    ipv4(6, &segment())
}

fn v6() -> Vec<u8> {
    ipv6(6, &segment())
}

/// LLC and SNAP before an IPv4 packet.
fn snap() -> Vec<u8> {
    join(&[&[0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0], &v4()])
}

/// Both addresses of an Ethernet frame.
const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

#[test]
fn ethernet_with_tags_in_every_order() {
    assert_whole(read(ETHERNET, &ethernet(0x0800, &v4())));
    assert_whole(read(ETHERNET, &ethernet(0x86dd, &v6())));
    assert_whole(read(ETHERNET, &ethernet(0x8100, &join(&[&[0, 7, 0x08, 0], &v4()]))));
    assert_whole(read(ETHERNET, &ethernet(0x88a8, &join(&[&[0, 7, 0x81, 0, 0, 8, 0x86, 0xdd], &v6()]))));
    let three = [0, 7, 0x91, 0, 0, 8, 0x81, 0, 0, 9, 0x08, 0];
    assert_whole(read(ETHERNET, &ethernet(0x9100, &join(&[&three, &v4()]))));
    assert_whole(read(ETHERNET, &ethernet(0x893f, &join(&[&[0, 1, 0, 2, 0, 0, 0x08, 0], &v4()]))));
    assert_whole(read(ETHERNET, &ethernet(0x8926, &join(&[&[0, 1, 0, 2, 0x08, 0], &v4()]))));
    let backbone = join(&[&[0, 0, 0, 9], &ethernet(0x0800, &v4())]);
    assert_whole(read(ETHERNET, &ethernet(0x88e7, &backbone)));
    assert_eq!(read(ETHERNET, &ethernet(0x0806, &[0; 28])), Err(Skip::NotIp(0x0806)));
    assert_eq!(read(ETHERNET, &ethernet(0x8100, &[0, 7, 0x08, 0x06, 0, 0])), Err(Skip::NotIp(0x0806)));
}

#[test]
fn label_stacks() {
    for (packet, kind) in [(v4(), 0x8847), (v6(), 0x8848)] {
        let stack = join(&[&[0, 1, 0x10, 64, 0, 1, 0x11, 64], &packet]);
        assert_whole(read(ETHERNET, &ethernet(kind, &stack)));
        assert_whole(read(219, &stack));
    }
    let pseudowire = join(&[&[0, 1, 0x11, 64, 0, 0, 0, 0], &ethernet(0x0800, &v4())]);
    assert_whole(read(ETHERNET, &ethernet(0x8847, &pseudowire)));
    assert_eq!(read(ETHERNET, &ethernet(0x8847, &[0, 1, 0x11, 64, 0x10, 0, 0, 0])), Err(Skip::NotIp(0x8847)));
}

#[test]
fn frames_with_an_llc_header() {
    let length = |inside: &[u8]| ethernet(inside.len() as u16, inside);
    assert_whole(read(ETHERNET, &length(&snap())));
    assert_whole(read(ETHERNET, &length(&join(&[&[0x06, 0x06, 0x03], &v4()]))));
    assert_whole(read(ETHERNET, &ethernet(0x8100, &join(&[&[0, 7], &(snap().len() as u16).to_be_bytes(), &snap()]))));
    assert_eq!(read(ETHERNET, &length(&[0x42, 0x42, 0x03, 0, 0, 0])), Err(Skip::NotIp(0x42)));
    let cdp = [0xaa, 0xaa, 0x03, 0, 0, 0x0c, 0x20, 0, 1, 1];
    assert_eq!(read(ETHERNET, &length(&cdp)), Err(Skip::NotIp(0xaa)));
}

#[test]
fn nesting_of_tags_and_llc_headers_is_bounded() {
    // Each tag contains a length, and each LLC header the EtherType of the next tag.
    let layer = [0, 7, 0x05, 0xdc, 0xaa, 0xaa, 0x03, 0, 0, 0, 0x81, 0];
    assert!(matches!(read(ETHERNET, &ethernet(0x8100, &layer.repeat(5000))), Err(Skip::Malformed(_))));
}

#[test]
fn point_to_point() {
    for ppp in [
        join(&[&[0xff, 0x03, 0x00, 0x21], &v4()]),
        join(&[&[0x00, 0x21], &v4()]),
        join(&[&[0x21], &v4()]),
        join(&[&[0xff, 0x03, 0x00, 0x57], &v6()]),
        join(&[&[0xff, 0x03, 0x02, 0x81, 0, 1, 0x11, 64], &v4()]),
        join(&[&[0xff, 0x03, 0x00, 0x31, 0, 1], &ethernet(0x0800, &v4())]),
    ] {
        assert_whole(read(9, &ppp));
        assert_whole(read(204, &join(&[&[1], &ppp])));
        let length = (ppp.len() as u16).to_be_bytes();
        let session = join(&[&[0x11, 0, 0, 7], &length, &ppp, &[0xee; 6]]);
        assert_whole(read(51, &session));
        assert_whole(read(ETHERNET, &ethernet(0x8864, &session)));
    }
    assert_whole(read(50, &join(&[&[0x0f, 0x00, 0x08, 0x00], &v4()])));
    assert_whole(read(104, &join(&[&[0x8f, 0x00, 0x86, 0xdd], &v6()])));
    assert_whole(read(205, &join(&[&[0, 0x0f, 0x00, 0x08, 0x00], &v4()])));
    assert_whole(read(166, &join(&[&[1, 0x03, 0x00, 0x21], &v4()])));
    assert_eq!(read(9, &[0xff, 0x03, 0xc0, 0x21, 1, 1]), Err(Skip::NotIp(0xc021)));
    assert_eq!(read(ETHERNET, &ethernet(0x8863, &[0x11, 9, 0, 0, 0, 0])), Err(Skip::NotIp(0x8863)));
}

#[test]
fn linux_cooked() {
    let first = |hardware: u16, kind: u16, inside: &[u8]| {
        join(&[&[0, 4], &hardware.to_be_bytes(), &[0, 6, 1, 2, 3, 4, 5, 6, 0, 0], &kind.to_be_bytes(), inside])
    };
    let second = |hardware: u16, kind: u16, inside: &[u8]| {
        let [high, low] = hardware.to_be_bytes();
        join(&[&kind.to_be_bytes(), &[0, 0, 0, 0, 0, 2, high, low, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0], inside])
    };
    assert_whole(read(113, &first(1, 0x0800, &v4())));
    assert_whole(read(113, &first(1, 0x8100, &join(&[&[0, 7, 0x86, 0xdd], &v6()]))));
    assert_whole(read(113, &first(1, 4, &snap())));
    assert_whole(read(276, &second(1, 0x86dd, &v6())));
    assert_whole(read(276, &second(65534, 0x0800, &v4())));
    assert!(matches!(read(113, &first(824, 0, &[0; 20])), Err(Skip::NoPacket(_))));
    assert!(matches!(read(276, &second(824, 0x0800, &v4())), Err(Skip::NoPacket(_))));
}

#[test]
fn loopback_in_either_byte_order() {
    assert_whole(read(0, &join(&[&[2, 0, 0, 0], &v4()])));
    assert_whole(read(0, &join(&[&[0, 0, 0, 2], &v4()])));
    for family in [10, 23, 24, 28, 30] {
        assert_whole(read(0, &join(&[&[family, 0, 0, 0], &v6()])));
        assert_whole(read(108, &join(&[&[0, 0, 0, family], &v6()])));
    }
    assert_whole(read(0, &join(&[&[0, 0x08, 0, 0], &v4()])));
    assert_eq!(read(0, &[7, 0, 0, 0, 1, 2, 3, 4]), Err(Skip::NotIp(7)));
    assert_whole(read(109, &join(&[&[2, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0], &v4()])));
    // 61 bytes of header, padded to 64.
    assert_whole(read(117, &join(&[&[61, 2], &[9; 62], &v4()])));
}

#[test]
fn raw_ip_under_each_of_its_numbers() {
    for link in [12, 14, 101, 228, 229] {
        assert_whole(read(link, &v4()));
        assert_whole(read(link, &v6()));
    }
}

/// An 802.11 QoS data frame from an access point.
fn wireless(flags: u8, service: u8, inside: &[u8]) -> Vec<u8> {
    let extra: &[u8] = if flags & 0x03 == 0x03 { &[4; 6] } else { &[] };
    let control: &[u8] = if flags & 0x80 != 0 { &[0; 4] } else { &[] };
    join(&[&[0x88, flags, 0, 0], &[1; 6], &[2; 6], &[3; 6], &[0x10, 0], extra, &[service, 0], control, inside])
}

#[test]
fn wireless_data_frames() {
    assert_whole(read(105, &wireless(0x02, 0, &snap())));
    assert_whole(read(105, &wireless(0x03, 0, &snap())));
    assert_whole(read(105, &wireless(0x82, 0, &snap())));
    // Without QoS, then with a frame check sequence.
    let mut plain = wireless(0x02, 0, &[]);
    plain[0] = 0x08;
    plain.truncate(24);
    assert_whole(read(105, &join(&[&plain, &snap()])));
    assert_whole(read(105, &join(&[&plain, &snap(), &[0xee; 4]])));
}

#[test]
fn the_first_packet_of_a_wireless_aggregate() {
    let length = (snap().len() as u16).to_be_bytes();
    let subframe = join(&[&ADDRESSES, &length, &snap(), &[0; 2], &ADDRESSES, &length, &snap()]);
    assert_whole(read(105, &wireless(0x02, 0x80, &subframe)));
}

#[test]
fn wireless_frames_without_a_readable_packet() {
    let reason = |frame: &[u8]| match read(105, frame) {
        Err(Skip::NoPacket(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&[0x80, 0, 0, 0]), "an 802.11 management frame");
    assert_eq!(reason(&[0xd4, 0, 0, 0]), "an 802.11 control frame");
    assert_eq!(reason(&[0x48, 0, 0, 0]), "an 802.11 frame without data");
    assert_eq!(reason(&wireless(0x42, 0, &[0x99; 60])), "an encrypted 802.11 frame");
    assert!(matches!(read(105, &[0x89, 0, 0, 0]), Err(Skip::Malformed(_))));
    let mut fragment = wireless(0x02, 0, &snap());
    fragment[22] |= 0x01;
    assert_eq!(read(105, &fragment), Err(Skip::Fragment));
}

#[test]
fn wireless_frames_decrypted_by_the_card_are_read() {
    assert_whole(read(105, &wireless(0x42, 0, &snap())));
    assert_whole(read(105, &wireless(0x42, 0, &join(&[&[9; 8], &snap()]))));
    assert_whole(read(105, &wireless(0x42, 0, &join(&[&[9; 4], &snap()]))));
    // A frame of another station, recorded as an Ethernet frame by the Centrino driver.
    assert_whole(read(1, &join(&[&ADDRESSES, &[0x24, 0x52], &wireless(0x41, 0, &join(&[&[9; 4], &snap()]))])));
}

#[test]
fn headers_of_monitoring_drivers() {
    let frame = wireless(0x02, 0, &snap());
    // Timestamp and flags; then with a second word of fields and the padding of the 802.11 header.
    let radiotap = [&[0, 0, 18, 0, 3, 0, 0, 0][..], &[7; 8], &[0, 0]].concat();
    assert_whole(read(127, &join(&[&radiotap, &frame])));
    let padding = [&[0, 0, 26, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0][..], &[7; 8], &[0x20, 0]].concat();
    assert_whole(read(127, &join(&[&padding, &wireless(0x02, 0, &join(&[&[0, 0], &snap()]))])));
    assert_whole(read(127, &join(&[&[0, 0, 8, 0, 0, 0, 0, 0], &frame])));
    assert!(matches!(read(127, &join(&[&[0, 0, 8, 0, 2, 0, 0, 0], &frame])), Err(Skip::Malformed(_))));

    assert_whole(read(192, &join(&[&[0, 0, 12, 0, 105, 0, 0, 0, 1, 2, 3, 4], &frame])));
    assert_whole(read(192, &join(&[&[0, 0, 8, 0, 1, 0, 0, 0], &ethernet(0x0800, &v4())])));
    assert_eq!(read(192, &[0, 0, 8, 0, 187, 0, 0, 0, 1]), Err(Skip::LinkType(187)));

    assert_whole(read(119, &join(&[&[0x44, 0, 0, 0, 144, 0, 0, 0], &[0; 136], &frame])));
    assert_whole(read(119, &join(&[&[0, 0, 0, 0x44, 0, 0, 0, 144], &[0; 136], &frame])));
    let avs = [&[0x80, 0x21, 0x10, 0x01, 0, 0, 0, 64][..], &[0; 56]].concat();
    assert_whole(read(163, &join(&[&avs, &frame])));
    assert_whole(read(119, &join(&[&avs, &frame])));
}

#[test]
fn pktap_in_either_byte_order() {
    let little = |next: u8, link: u8| join(&[&[20, 0, 0, 0, next, 0, 0, 0, link, 0, 0, 0], &[9; 8]]);
    let big = join(&[&[0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 12], &[9; 8]]);
    for link in [258, 149] {
        assert_whole(read(link, &join(&[&little(1, 1), &ethernet(0x0800, &v4())])));
        assert_whole(read(link, &join(&[&big, &v6()])));
    }
    assert!(matches!(read(258, &join(&[&little(0, 1), &v4()])), Err(Skip::NoPacket(_))));
    assert_eq!(read(258, &join(&[&little(1, 187), &v4()])), Err(Skip::LinkType(187)));
    assert_eq!(read(149, &[0xee; 60]), Err(Skip::LinkType(149)), "someone else's use of the number");
    // It must not contain itself endlessly.
    assert!(matches!(read(258, &[12, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0].repeat(1000)), Err(Skip::Malformed(_))));
}

#[test]
fn nflog_in_either_byte_order() {
    let packet = v4();
    let length = (packet.len() + 4) as u16;
    let little =
        join(&[&[2, 0, 0, 0, 8, 0, 1, 0, 8, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0], &length.to_le_bytes(), &[9, 0]]);
    let big = join(&[&[2, 0, 0, 0, 0, 8, 0, 1, 8, 0, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0], &length.to_be_bytes(), &[0, 9]]);
    assert_whole(read(239, &join(&[&little, &packet])));
    assert_whole(read(239, &join(&[&big, &packet, &[0; 2]])));
    assert!(matches!(read(239, &little[..12]), Err(Skip::NoPacket(_))));
    assert!(matches!(read(239, &[2, 0, 0, 0, 0, 0, 1, 0, 0, 0]), Err(Skip::Malformed(_))));
}

#[test]
fn rare_links() {
    assert_whole(read(8, &join(&[&[0; 16], &v4()])));
    assert_whole(read(10, &join(&[&[0x50], &ADDRESSES, &snap()])));
    assert!(matches!(read(10, &[0xc0; 40]), Err(Skip::NoPacket(_))));
    assert_whole(read(6, &join(&[&[0x10, 0x40], &ADDRESSES, &snap()])));
    let routed = [0x10, 0x40, 2, 0, 0, 0, 0, 1, 0x82, 0, 0, 0, 0, 2, 0x04, 0, 1, 2];
    assert_whole(read(6, &join(&[&routed, &snap()])));
    assert_whole(read(7, &join(&[&[1, 2, 240], &v4()])));
    assert_whole(read(7, &join(&[&[1, 2, 212, 0, 0, 7], &v4()])));
    assert_whole(read(129, &join(&[&[1, 2, 0, 0, 240], &v4()])));
    assert_whole(read(129, &join(&[&[1, 2, 0, 0, 212, 0, 0, 7], &v4()])));
    assert_whole(read(129, &join(&[&[1, 2, 0, 0, 212, 0xff, 0, 7, 212, 0, 0, 7], &v4()])));
    assert_eq!(read(129, &join(&[&[1, 2, 0, 0, 212, 2, 0, 7], &v4()])), Err(Skip::Fragment));
    for link in [19, 100, 106] {
        assert_whole(read(link, &snap()));
        assert_whole(read(link, &v6()));
    }
    assert_whole(read(100, &join(&[&[0xfe, 0xfe, 0x03, 0xcc], &v4()])));
    let bridged = [0xaa, 0xaa, 0x03, 0, 0x80, 0xc2, 0, 7, 0, 0];
    assert_whole(read(100, &join(&[&bridged, &ethernet(0x0800, &v4())])));
    assert_whole(read(123, &join(&[&[2, 0, 0, 40], &snap()])));
    assert_whole(read(123, &join(&[&[1, 0, 0, 40, 0, 1], &ethernet(0x0800, &v4())])));
    assert_whole(read(107, &join(&[&[0x18, 0x41, 0x03, 0xcc], &v4()])));
    assert_whole(read(107, &join(&[&[0x18, 0x41, 0x03, 0x00, 0x80, 0, 0, 0, 0x86, 0xdd], &v6()])));
    assert_whole(read(206, &join(&[&[1, 0x18, 0x40, 0x40, 0x41, 0x08, 0x00], &v4()])));
    assert!(matches!(read(107, &[0; 20]), Err(Skip::Malformed(_))));
    assert_whole(read(122, &join(&[&[0; 16], &snap()])));
    assert_whole(read(138, &join(&[&[0; 16], &[0x08, 0], &v4()])));
    assert_whole(read(226, &join(&[&[0; 24], &v6()])));
    assert_whole(read(240, &join(&[&[0; 4], &ethernet(0x0800, &v4())])));
    assert_whole(read(241, &join(&[&[0; 12], &ethernet(0x0800, &v4())])));
    assert_whole(read(242, &join(&[&[0; 40], &[0x08, 0, 0, 0], &v4()])));
    assert_whole(read(274, &join(&[&[0x55; 8], &ethernet(0x0800, &v4())])));
}

#[test]
fn names() {
    for (value, name) in [
        (0, "NULL"),
        (1, "ETHERNET"),
        (101, "RAW"),
        (113, "LINUX_SLL"),
        (127, "IEEE802_11_RADIOTAP"),
        (276, "LINUX_SLL2"),
    ] {
        assert_eq!(link_type_name(LinkType(value)), name);
        assert!(is_supported(LinkType(value)), "{name}");
    }
    assert_eq!(link_type_name(LinkType(187)), "BLUETOOTH_HCI_H4");
    assert_eq!(link_type_name(LinkType(40_000)), "40000");
    assert!(!is_supported(LinkType(187)));
    assert!(!is_supported(LinkType(40_000)));
}

#[test]
fn every_supported_link_type_has_a_name() {
    for value in 0..u16::MAX {
        let name = link_type_name(LinkType(value));
        assert!(!is_supported(LinkType(value)) || name.parse::<u16>().is_err() || value == 19, "{value}");
    }
}
