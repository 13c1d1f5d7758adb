#![allow(clippy::unwrap_used)]

use super::*;
use crate::wire::{Checksum, Options};

fn segment(from: u16, to: u16, seq: u32, flags: Flags) -> Segment<'static> {
    let address = |port: u16| IpAddr::from([192, 0, 2, if port >= 1024 { 1 } else { 2 }]);
    Segment {
        src: address(from),
        dst: address(to),
        src_port: from,
        dst_port: to,
        seq: SeqNumber(seq),
        ack: SeqNumber(0),
        flags,
        window: 1000,
        payload_len: 0,
        payload: &[],
        options: Options::default(),
        ip_id: None,
        ttl: 64,
        ecn: 0,
        checksum: Checksum::Unknown,
        fragment: false,
        tunnels: 0,
    }
}

const SYN_ACK: Flags = Flags(0x12);

fn seconds(seconds: i64) -> Nanos {
    Nanos::from_millis(seconds * 1000)
}

#[test]
fn both_directions_are_one_connection() {
    let mut table = Table::default();
    let mut gone = Vec::new();
    let first = table.route(&segment(5000, 80, 1, Flags::SYN), seconds(0), &mut gone);
    let answer = table.route(&segment(80, 5000, 9, SYN_ACK), seconds(0), &mut gone);
    assert_eq!(first, Routed { id: ConnectionId(0), from: 0, new: true });
    assert_eq!(answer, Routed { id: ConnectionId(0), from: 1, new: false });
    assert!(gone.is_empty());
}

#[test]
fn a_syn_sent_again_is_the_same_connection_and_a_new_number_another() {
    let mut table = Table::default();
    let mut gone = Vec::new();
    table.route(&segment(5000, 80, 1, Flags::SYN), seconds(0), &mut gone);
    assert!(!table.route(&segment(5000, 80, 1, Flags::SYN), seconds(1), &mut gone).new);
    table.route(&segment(80, 5000, 9, SYN_ACK), seconds(1), &mut gone);
    let reused = table.route(&segment(5000, 80, 77, Flags::SYN), seconds(2), &mut gone);
    assert_eq!(reused, Routed { id: ConnectionId(1), from: 0, new: true });
    assert_eq!(gone, [ConnectionId(0)]);
}

#[test]
fn syns_from_both_ends_open_one_connection() {
    let mut table = Table::default();
    let mut gone = Vec::new();
    table.route(&segment(5000, 80, 1, Flags::SYN), seconds(0), &mut gone);
    let other = table.route(&segment(80, 5000, 9, Flags::SYN), seconds(0), &mut gone);
    assert_eq!(other, Routed { id: ConnectionId(0), from: 1, new: false });
}

#[test]
fn a_syn_after_a_mid_stream_start_is_a_new_connection() {
    let mut table = Table::default();
    let mut gone = Vec::new();
    table.route(&segment(5000, 80, 1, Flags::ACK), seconds(0), &mut gone);
    assert!(table.route(&segment(5000, 80, 50, Flags::SYN), seconds(1), &mut gone).new);
}

#[test]
fn connections_leave_by_their_state() {
    let mut table = Table::default();
    let mut gone = Vec::new();
    table.route(&segment(5000, 80, 1, Flags::ACK | Flags::RST), seconds(0), &mut gone);
    table.route(&segment(5001, 80, 1, Flags::SYN), seconds(0), &mut gone);
    table.route(&segment(5002, 80, 1, Flags::ACK), seconds(0), &mut gone);
    table.route(&segment(5003, 80, 1, Flags::ACK), seconds(90), &mut gone);
    assert_eq!(gone, [ConnectionId(0)], "the reset one");
    table.route(&segment(5003, 80, 1, Flags::ACK), seconds(200), &mut gone);
    assert_eq!(gone, [ConnectionId(0), ConnectionId(1)], "the one that never opened");
    assert_eq!(table.evicted, 1, "a closed one is not counted as let go");
    table.route(&segment(5003, 80, 1, Flags::ACK), seconds(7_500), &mut gone);
    assert_eq!(table.len(), 1, "the idle one has left, the active one stays");
}

#[test]
fn a_flood_does_not_grow_the_table() {
    let most = 256;
    let mut table = Table::new(Expiry { connections: most, ..Expiry::default() });
    let mut gone = Vec::new();
    for port in 0..10_000u16 {
        table.route(&segment(20_000 + port, 80, 1, Flags::SYN), Nanos(i64::from(port)), &mut gone);
        assert!(table.len() <= most);
    }
    assert_eq!(table.len() as u64 + gone.len() as u64, 10_000);
    assert_eq!(table.evicted, gone.len() as u64);
    assert!(gone.is_sorted(), "the idlest leave first");
    let rest = table.drain();
    assert!(rest.is_sorted() && table.is_empty());
}
