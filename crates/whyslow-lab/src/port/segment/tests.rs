#![allow(clippy::unwrap_used)]
use super::*;
use crate::port::frame::tests::{is_right, tcp};

fn large(payload: &[u8], segment: u16, flags: u8) -> SuperPacket {
    let mut bytes = tcp(payload, 0);
    bytes[34 + 13] = flags;
    let mut offload = [0; VNET_HEADER];
    offload[..2].copy_from_slice(&[1, 1]);
    offload[4..6].copy_from_slice(&segment.to_ne_bytes());
    let layout = frame::parse(&bytes).unwrap();
    SuperPacket::new(bytes, layout, &offload).unwrap()
}

#[test]
fn segments_are_whole_packets_that_make_up_the_super_packet() {
    let payload: Vec<u8> = (0..3500).map(|n| n as u8).collect();
    let whole = large(&payload, 1000, 0x99); // CWR, ACK, PSH, FIN
    assert_eq!(whole.segments(), 4);
    let mut out = Outgoing::default();
    let mut joined = Vec::new();
    for n in 0..4 {
        whole.write(n..n + 1, &mut out);
        assert_eq!(is_right(&out.bytes), (true, true), "segment {n}");
        let layout = frame::parse(&out.bytes).unwrap();
        assert_eq!(layout.meta, whole.meta(n));
        assert_eq!(layout.meta.seq, 1000 + 1000 * n as u32);
        joined.extend_from_slice(&out.bytes[layout.payload]);
    }
    assert_eq!(joined, payload);
    assert_eq!([0, 1, 3].map(|n| whole.meta(n).flags), [0x90, 0x10, 0x19]);
    assert_eq!(whole.meta(3).payload_bytes, 500);
}

#[test]
fn neighbours_leave_as_a_smaller_super_packet() {
    let whole = large(&[5; 3500], 1000, 0x18);
    let mut out = Outgoing::default();
    whole.write(1..3, &mut out);
    let layout = frame::parse(&out.bytes).unwrap();
    assert_eq!((layout.meta.seq, layout.meta.payload_bytes, layout.meta.flags), (2000, 2000, 0x10));
    let again = SuperPacket::new(out.bytes.clone(), layout, &out.offload).unwrap();
    assert_eq!(again.segments(), 2);
    // The device's part of the checksum makes it right.
    complete(&mut out.bytes, &out.offload);
    assert_eq!(is_right(&out.bytes), (true, true));
}

#[test]
fn a_packet_is_given_back() {
    let bytes = tcp(b"small", 0);
    let layout = frame::parse(&bytes).unwrap();
    assert_eq!(SuperPacket::new(bytes.clone(), layout, &[0; VNET_HEADER]).unwrap_err(), bytes);
}
