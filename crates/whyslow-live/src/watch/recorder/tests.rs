//! Compares a recorder's content with that of a list.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::watch::packet::LINUX_SLL2;
use crate::watch::segment::tests::{ipv4, sll2};
use proptest::prelude::*;
use std::collections::HashMap;

const SYN: u8 = Segment::SYN;
const ACK: u8 = Segment::ACK;

/// A packet of the connection of this port, with `extra` bytes of payload.
fn bytes(port: u16, from_client: bool, sequence: u32, flags: u8, extra: usize) -> Vec<u8> {
    let (client, server) = (format!("10.0.0.1:{port}"), "10.0.0.2:80".to_owned());
    let (from, to) = if from_client { (client, server) } else { (server, client) };
    let mut out = sll2(0x0800, &ipv4(&from, &to, sequence, flags));
    out.resize(out.len() + extra, 0x55);
    out
}

fn give(recorder: &mut Recorder, time_ns: u64, bytes: &[u8]) {
    let length = bytes.len() as u32;
    let link_type = LINUX_SLL2;
    recorder.record(
        &RingPacket { time_ns, link_type, interface: 3, length, bytes, segment_size: None, outgoing: false },
        7 * time_ns,
    );
}

fn connection(port: u16) -> Connection {
    Connection::new(([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into())
}

/// Times of the held packets of a connection, and the number of evicted ones.
fn held(recorder: &Recorder, port: u16) -> (Vec<u64>, u64) {
    let Some(holding) = recorder.holding(&connection(port)) else { return (Vec::new(), 0) };
    (recorder.packets(holding, 0).map(|held| held.time_ns).collect(), holding.evicted)
}

#[test]
fn the_handshake_stays_when_all_else_has_left() {
    let mut recorder = Recorder::new(LEAST).unwrap();
    give(&mut recorder, 1, &bytes(1000, true, 100, SYN, 0));
    // Retransmitted.
    give(&mut recorder, 2, &bytes(1000, true, 100, SYN, 0));
    give(&mut recorder, 3, &bytes(1000, false, 500, SYN | ACK, 0));
    give(&mut recorder, 4, &bytes(1000, true, 101, ACK, 0));
    for time in 5..20_000 {
        give(&mut recorder, time, &bytes(1000, true, 101, ACK, 80));
    }
    let (times, evicted) = held(&recorder, 1000);
    assert_eq!(times[..4], [1, 2, 3, 4]);
    assert_eq!(times[4..], (5 + evicted..20_000).collect::<Vec<_>>());
    assert!(evicted > 1000, "{evicted}");
    assert_eq!(recorder.counts().evicted, evicted);
}

#[test]
fn another_connection_of_the_same_ports_starts_over() {
    let mut recorder = Recorder::new(LEAST).unwrap();
    for (time, sequence) in [(1, 100), (10, 900)] {
        give(&mut recorder, time, &bytes(1000, true, sequence, SYN, 0));
        give(&mut recorder, time + 1, &bytes(1000, false, 1, SYN | ACK, 0));
        give(&mut recorder, time + 2, &bytes(1000, true, sequence + 1, ACK, 0));
        give(&mut recorder, time + 3, &bytes(1000, true, sequence + 1, ACK, 50));
    }
    assert_eq!(held(&recorder, 1000), (vec![10, 11, 12, 13], 0));
    assert_eq!(recorder.counts().connections, 1);
}

#[test]
fn a_connection_without_its_beginning_has_a_note() {
    let mut recorder = Recorder::new(LEAST).unwrap();
    give(&mut recorder, 1, &bytes(1000, true, 100, ACK, 10));
    assert!(!recorder.holding(&connection(1000)).unwrap().has_handshake);
    give(&mut recorder, 2, &bytes(1001, true, 100, SYN, 0));
    assert!(recorder.holding(&connection(1001)).unwrap().has_handshake);
    assert!(recorder.holding(&connection(1002)).is_none());
    // A SYN on the ports of the first: it is another one.
    give(&mut recorder, 3, &bytes(1000, true, 7, SYN, 0));
    assert_eq!(held(&recorder, 1000).0, [3]);
}

#[test]
fn a_flood_of_connections_replaces_the_most_silent_ones() {
    let mut recorder = Recorder::new(LEAST).unwrap();
    let memory = recorder.memory();
    assert!(memory <= LEAST && memory > LEAST - 4096, "{memory}");
    let capacity = Connections::capacity((LEAST - size_of::<Recorder>()) / PARTS);
    for port in 1..=60_000 {
        give(&mut recorder, u64::from(port), &bytes(port, true, 1, SYN, 0));
        give(&mut recorder, u64::from(port), &bytes(1, true, 2, ACK, 0));
    }
    let counts = recorder.counts();
    assert_eq!(counts.connections, capacity);
    assert_eq!(counts.forgotten, 60_000 - capacity as u64);
    // The first one was never silent.
    assert_eq!(held(&recorder, 1).0[0], 1);
    assert_eq!(held(&recorder, 60_000).0, [60_000]);
    assert_eq!(held(&recorder, 2).0, [0; 0]);
    assert_eq!(recorder.memory(), memory);
}

#[test]
fn what_cannot_be_held_is_counted() {
    assert_eq!(
        Recorder::new(LEAST - 1).unwrap_err().to_string(),
        "the memory for packets is 1048575 bytes: it must be at least 1048576 bytes"
    );
    let mut recorder = Recorder::new(LEAST).unwrap();
    give(&mut recorder, 1, &[0; 60]);
    give(&mut recorder, 2, &bytes(1000, true, 1, ACK, LEAST));
    let counts = recorder.counts();
    assert_eq!((counts.packets, counts.of_no_connection, counts.too_long, counts.connections), (2, 1, 1, 0));
}

/// The expected content for each connection: times of the handshake, and of the rest.
#[derive(Default)]
struct Expected {
    pinned: Vec<u64>,
    others: Vec<u64>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    // The held packets are the newest in the order of arrival; every packet is accounted for.
    #[test]
    fn what_is_held_is_the_newest(steps in prop::collection::vec((0_u16..12, 0_usize..4000), 1..2500)) {
        let mut recorder = Recorder::new(LEAST).unwrap();
        let memory = recorder.memory();
        let mut expected: HashMap<u16, Expected> = HashMap::new();
        for (time, (port, extra)) in (1..).zip(&steps) {
            let list = expected.entry(*port).or_default();
            let flags = match list.pinned.len() {
                // The recorder never sees the first one's SYN.
                _ if *port == 0 => ACK,
                0 => SYN,
                1 => SYN | ACK,
                _ => ACK,
            };
            let is_pinned = *port != 0 && (list.pinned.len() < 2 || list.pinned.len() == 2 && list.others.is_empty() && 60 + extra <= connections::PINNED_BYTES);
            let packet = bytes(*port, flags != SYN | ACK, 9, flags, if is_pinned && list.pinned.len() < 2 { 0 } else { *extra });
            give(&mut recorder, time, &packet);
            if is_pinned { list.pinned.push(time) } else { list.others.push(time) }
        }
        prop_assert_eq!(recorder.memory(), memory);
        prop_assert!(memory <= LEAST);
        let mut evicted_of_all = 0;
        for (port, list) in expected {
            let (times, evicted) = held(&recorder, port);
            let rest = &list.others[evicted as usize..];
            prop_assert_eq!(times, [&list.pinned[..], rest].concat());
            evicted_of_all += evicted;
        }
        prop_assert_eq!(recorder.counts().evicted, evicted_of_all);
        prop_assert_eq!(recorder.counts().forgotten, 0);
    }
}

#[test]
fn packets_are_given_with_their_numbers_the_newest_of_too_many() {
    let mut recorder = Recorder::new(LEAST).unwrap();
    give(&mut recorder, 1, &bytes(1000, true, 100, SYN, 0));
    give(&mut recorder, 2, &bytes(1000, false, 500, SYN | ACK, 0));
    give(&mut recorder, 3, &bytes(1000, true, 101, ACK, 0));
    (4..14).for_each(|time| give(&mut recorder, time, &bytes(1000, true, 101, ACK, 80)));
    give(&mut recorder, 14, &bytes(1001, true, 101, ACK, 80));
    let given = |port, most| {
        let mut given = Vec::new();
        let counts = recorder.for_each(&connection(port), most, |held| given.push((held.time_ns, held.frame)));
        (given, counts)
    };
    let numbers = |times: &[u64]| times.iter().map(|time| (*time, 7 * time)).collect::<Vec<_>>();
    let (all, counts) = given(1000, usize::MAX);
    assert_eq!(all, numbers(&(1..14).collect::<Vec<_>>()));
    assert_eq!(counts, Some(HeldCounts { missing: 0, has_handshake: true }));
    let size = bytes(1000, true, 101, ACK, 80).len();
    let (newest, counts) = given(1000, 2 * size + 1);
    assert_eq!(newest, numbers(&[1, 2, 3, 12, 13]));
    assert_eq!(counts, Some(HeldCounts { missing: 8, has_handshake: true }));
    assert_eq!(given(1001, 0).1, Some(HeldCounts { missing: 1, has_handshake: false }));
    assert_eq!(given(1002, 0), (Vec::new(), None));
}
