//! Headers as the kernel writes them, by hand.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

/// A `tpacket3_hdr` with its `sockaddr_ll`, and a packet at `start`.
fn frame(start: usize, packet: &[u8], status: u32) -> Vec<u8> {
    let mut out = vec![0; start];
    let put = |out: &mut Vec<u8>, at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(&mut out, 4, &7_u32.to_ne_bytes());
    put(&mut out, 8, &9_u32.to_ne_bytes());
    put(&mut out, 12, &(packet.len() as u32).to_ne_bytes());
    put(&mut out, 16, &1500_u32.to_ne_bytes());
    put(&mut out, 20, &status.to_ne_bytes());
    put(&mut out, 24, &(start as u16).to_ne_bytes());
    put(&mut out, 32, &0x2007_u32.to_ne_bytes());
    put(&mut out, 36, &0x88a8_u16.to_ne_bytes());
    put(&mut out, ADDRESS, &[17, 0, 0x08, 0x00, 5, 0, 0, 0, 1, 0, libc::PACKET_OUTGOING, 6, 1, 2, 3, 4, 5, 6, 0, 0]);
    out.extend(packet);
    out
}

#[test]
fn a_packet_has_its_time_its_lengths_and_its_interface() {
    let mut space = frame(92, b"0123456789abcdef", 0);
    let packet = packet(&mut space, Header::Ethernet { vnet: false }).unwrap();
    assert_eq!(packet.time_ns, 7_000_000_009);
    assert_eq!((packet.length, packet.bytes), (1500, &b"0123456789abcdef"[..]));
    assert_eq!((packet.interface, packet.outgoing, packet.link_type), (5, true, ETHERNET));
    assert_eq!(packet.segment_size, None);
}

#[test]
fn a_vlan_tag_is_put_back() {
    let both = libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID;
    let mut space = frame(92, b"ddddddssssss\x08\x00rest", both);
    let tagged = packet(&mut space, Header::Ethernet { vnet: true }).unwrap();
    assert_eq!(tagged.bytes, b"ddddddssssss\x88\xa8\x20\x07\x08\x00rest");
    assert_eq!(tagged.length, 1504);
    let mut space = frame(92, b"ddddddssssss\x08\x00rest", libc::TP_STATUS_VLAN_VALID);
    let tagged = packet(&mut space, Header::Ethernet { vnet: false }).unwrap();
    assert_eq!(tagged.bytes[12..16], *b"\x81\x00\x20\x07");
}

#[test]
fn a_merged_packet_has_the_size_of_its_segments() {
    let mut space = frame(92, b"0123456789abcdef", 0);
    space[82..92].copy_from_slice(&[0, 1, 54, 0, 0xa8, 0x05, 0, 0, 0, 0]);
    let merged = packet(&mut space, Header::Ethernet { vnet: true }).unwrap();
    assert_eq!(merged.segment_size, Some(0x05a8));
    space[83] = NO_GSO;
    assert_eq!(packet(&mut space, Header::Ethernet { vnet: true }).unwrap().segment_size, None);
}

#[test]
fn a_cooked_packet_has_a_cooked_header() {
    let mut space = frame(96, b"\x45rest", 0);
    let cooked = packet(&mut space, Header::Cooked).unwrap();
    let header = [8, 0, 0, 0, 0, 0, 0, 5, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0];
    assert_eq!(cooked.bytes, [&header[..], b"\x45rest"].concat());
    assert_eq!((cooked.length, cooked.link_type), (1520, LINUX_SLL2));
}

proptest! {
    #[test]
    fn no_header_panics(mut space in prop::collection::vec(any::<u8>(), 0..200), at in 0_u16..220, kept in 0_u32..220) {
        if space.len() > 26 {
            space[24..26].copy_from_slice(&at.to_ne_bytes());
            space[12..16].copy_from_slice(&kept.to_ne_bytes());
        }
        for header in [Header::Cooked, Header::Ethernet { vnet: true }, Header::Ethernet { vnet: false }] {
            let _ = packet(&mut space, header);
        }
    }
}
