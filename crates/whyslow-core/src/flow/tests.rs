#![allow(clippy::unwrap_used)]

use super::*;
use crate::wire::{Checksum, FlowKey, Options};
use std::net::IpAddr;
use whyslow_units::{SeqNumber, Time};

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

/// A table with connections numbered in order, and the evicted ones.
struct Flow {
    table: FlowTable<()>,
    next: u64,
    evicted: Evicted<()>,
}

impl Flow {
    fn new(expiry: FlowTimeouts) -> Self {
        Self { table: FlowTable::new(expiry, HashSeed::default()), next: 0, evicted: Evicted::new() }
    }

    /// The connection's number, the segment's sender, and whether the connection is new.
    fn route(&mut self, segment: Segment<'_>, time: Time) -> (u64, Side, bool) {
        self.advance_time(time);
        let next = ConnectionId(self.next);
        let routed = self.table.route(&segment, &FlowKey::of(&segment).into(), next, || ());
        let routed = (routed.id.0, routed.from, routed.new);
        self.next += u64::from(routed.2);
        self.evicted.extend(self.table.take_evicted());
        routed
    }

    fn advance_time(&mut self, time: Time) {
        self.table.advance_time(time);
        self.evicted.extend(self.table.take_evicted());
    }

    fn evicted(&self) -> Vec<u64> {
        self.evicted.iter().map(|entry| entry.id.0).collect()
    }
}

fn seconds(seconds: i64) -> Time {
    Time::from_millis(seconds * 1000)
}

#[test]
fn both_directions_are_one_connection() {
    let mut flow = Flow::new(FlowTimeouts::default());
    assert_eq!(flow.route(segment(5000, 80, 1, Flags::SYN), seconds(0)), (0, Side::A, true));
    assert_eq!(flow.route(segment(80, 5000, 9, SYN_ACK), seconds(0)), (0, Side::B, false));
    assert!(flow.evicted.is_empty());
}

#[test]
fn syn_with_a_new_sequence_number_is_another_connection() {
    let mut flow = Flow::new(FlowTimeouts::default());
    flow.route(segment(5000, 80, 1, Flags::SYN), seconds(0));
    assert_eq!(flow.route(segment(5000, 80, 1, Flags::SYN), seconds(1)), (0, Side::A, false));
    flow.route(segment(80, 5000, 9, SYN_ACK), seconds(1));
    assert_eq!(flow.route(segment(5000, 80, 77, Flags::SYN), seconds(2)), (1, Side::A, true));
    assert_eq!(flow.evicted(), [0]);
    assert_eq!(flow.route(segment(80, 5000, 10, SYN_ACK), seconds(2)), (1, Side::B, false));
}

#[test]
fn syns_from_both_ends_open_one_connection() {
    let mut flow = Flow::new(FlowTimeouts::default());
    flow.route(segment(5000, 80, 1, Flags::SYN), seconds(0));
    assert_eq!(flow.route(segment(80, 5000, 9, Flags::SYN), seconds(0)), (0, Side::B, false));
}

#[test]
fn a_syn_after_a_mid_stream_start_is_a_new_connection() {
    let mut flow = Flow::new(FlowTimeouts::default());
    flow.route(segment(5000, 80, 1, Flags::ACK), seconds(0));
    assert!(flow.route(segment(5000, 80, 50, Flags::SYN), seconds(1)).2);
}

#[test]
fn timeouts_depend_on_the_state() {
    let mut flow = Flow::new(FlowTimeouts::default());
    flow.route(segment(5000, 80, 1, Flags::ACK | Flags::RST), seconds(0));
    flow.route(segment(5001, 80, 1, Flags::SYN), seconds(0));
    flow.route(segment(5002, 80, 1, Flags::ACK), seconds(0));
    flow.route(segment(5003, 80, 1, Flags::ACK), seconds(90));
    assert_eq!(flow.evicted(), [0], "the reset one");
    flow.route(segment(5003, 80, 1, Flags::ACK), seconds(200));
    assert_eq!(flow.evicted(), [0, 1], "the one that never opened");
    assert_eq!(flow.table.evicted, 1, "a closed one is not counted as let go");
    flow.route(segment(5003, 80, 1, Flags::ACK), seconds(7_500));
    assert_eq!(flow.table.count(), 1, "the idle one has left, the active one stays");
}

#[test]
fn single_segment_connections_use_half_of_the_table() {
    let most = 64 * SHARDS;
    let mut flow = Flow::new(FlowTimeouts { connections: most, ..FlowTimeouts::default() });
    // Some connections with several segments, then a flood of SYNs.
    for port in 0..500u16 {
        flow.route(segment(2_000 + port, 80, 1, Flags::SYN), seconds(0));
        flow.route(segment(80, 2_000 + port, 1, Flags::SYN | Flags::ACK), seconds(1));
    }
    for port in 0..30_000u16 {
        flow.route(segment(20_000 + port, 80, 1, Flags::SYN), Time(2_000_000_000 + i64::from(port)));
        assert!(flow.table.count() <= 500 + most / 2 + most / 16 + SHARDS, "{}", flow.table.count());
    }
    assert!(flow.table.count() > most / 2, "{}", flow.table.count());
    // Connections of the flood are evicted first, the oldest before others.
    let evicted = flow.evicted();
    assert!(evicted.iter().all(|id| *id >= 500));
    assert_eq!(flow.table.evicted, evicted.len() as u64);
    let newest = evicted.into_iter().max().unwrap();
    assert!(flow.table.drain().iter().all(|entry| entry.id.0 < 500 || entry.id.0 + 3000 > newest));
}

#[test]
fn a_flood_does_not_grow_the_table() {
    let most = 256;
    let mut flow = Flow::new(FlowTimeouts { connections: most, ..FlowTimeouts::default() });
    for port in 0..10_000u16 {
        flow.route(segment(20_000 + port, 80, 1, Flags::SYN), Time(2 * i64::from(port)));
        flow.route(segment(80, 20_000 + port, 1, Flags::SYN | Flags::ACK), Time(2 * i64::from(port) + 1));
        assert!(flow.table.count() <= most);
    }
    assert!(flow.table.count() > most / 2, "{} are stored: the shards have equal capacity", flow.table.count());
    assert_eq!(flow.table.count() + flow.evicted.len(), 10_000);
    assert_eq!(flow.table.evicted, flow.evicted.len() as u64);
    let newest = flow.evicted().into_iter().max().unwrap();
    let rest = flow.table.drain();
    assert!(rest.is_sorted_by_key(|entry| entry.id) && flow.table.count() == 0);
    assert!(rest.iter().all(|entry| entry.id.0 + 1000 > newest), "the idlest leave first");
}

#[test]
fn distributed_shards_agree_with_one_table() {
    let expiry = FlowTimeouts { connections: 2 * SHARDS, ..FlowTimeouts::default() };
    let (mut one, mut two) = (Flow::new(expiry), [Flow::new(expiry), Flow::new(expiry)]);
    let mut routed = Vec::new();
    for step in 0..20_000u32 {
        // Ports that repeat, with pauses in which connections expire.
        let port = 10_000 + (step.wrapping_mul(2_654_435_761) >> 22) as u16;
        let flags = [Flags::SYN, Flags::ACK, Flags::FIN, Flags::RST][step as usize % 4];
        let segment = segment(port, 80, step / 700, flags);
        let time = Time::from_millis(i64::from(step) * 37 + i64::from(step / 5_000) * 100_000);
        let ends = FlowKey::of(&segment);
        let share = shard_of(ends.hash()) % 2;
        two[1 - share].table.advance_time(time);
        two[1 - share].table.take_evicted();
        let next = one.next;
        let alone = one.route(segment, time);
        two[share].next = next;
        routed.push((alone, two[share].route(segment, time)));
    }
    assert!(routed.iter().all(|(alone, shared)| alone == shared));
    assert!(one.table.evicted > 1000 && one.next > 5000, "{} of {}", one.table.evicted, one.next);
    assert_eq!(one.table.count(), two.iter().map(|flow| flow.table.count()).sum::<usize>());
}

/// The fast paths (plain segments, cached raw keys) give the same result as the slow path, even if
/// the cached connection was evicted or replaced.
#[test]
fn fast_paths_agree_with_the_slow_path() {
    let expiry = FlowTimeouts { connections: 2 * SHARDS, ..FlowTimeouts::default() };
    let (mut long, mut short, mut by_heading) = (Flow::new(expiry), Flow::new(expiry), Flow::new(expiry));
    let (mut found, mut recalled, mut forgotten, mut step) = (0, 0, 0, 0u32);
    while step < 20_000 {
        // Each port is reused after others, and sometimes immediately.
        let port = 10_000 + ((step / 3).wrapping_mul(2_654_435_761) >> 24) as u16;
        let flags = [Flags::SYN, Flags::ACK, Flags::ACK, Flags::FIN, Flags::ACK, Flags::RST][step as usize % 6];
        let segment = if step % 4 < 2 { segment(port, 80, step / 700, flags) } else { segment(80, port, 1, flags) };
        let time = Time::from_millis(i64::from(step) * 37 + i64::from(step / 5_000) * 100_000);
        let by_long = long.route(segment, time);
        let (ends, raw_key) = (HashedKey::from(FlowKey::of(&segment)), RawFlowKey::of(&segment));
        short.advance_time(time);
        match short.table.find(&ends) {
            Some(there) if flags == Flags::ACK => {
                found += 1;
                assert_eq!((there.id().0, there.from, false), by_long);
                there.on_plain_segment(time);
            }
            _ => assert_eq!(short.route(segment, time), by_long),
        }
        by_heading.advance_time(time);
        match by_heading.table.lookup_cached(&raw_key) {
            CacheLookup::Here(_, there) if flags == Flags::ACK => {
                recalled += 1;
                assert_eq!((there.id().0, there.from, false), by_long);
                there.on_plain_segment(time);
            }
            CacheLookup::OtherTable(_) => panic!("there is but one table"),
            _ => {
                forgotten += u32::from(by_heading.table.find_and_cache(&raw_key, &ends).is_some());
                assert_eq!(by_heading.route(segment, time), by_long);
            }
        }
        assert!(long.evicted() == short.evicted() && long.evicted() == by_heading.evicted());
        step += 1;
    }
    assert!(long.table.evicted == short.table.evicted && long.table.evicted == by_heading.table.evicted);
    assert!(long.table.evicted > 100, "{} left", long.table.evicted);
    assert!(found > 1_000 && recalled > 500 && forgotten > 1_000, "{found}, {recalled}, {forgotten}");
}

#[test]
fn keys_of_another_table_are_cached() {
    let mut flow = Flow::new(FlowTimeouts::default());
    let here = segment(5000, 80, 1, Flags::ACK);
    let there = segment(5001, 80, 1, Flags::ACK);
    flow.table.cache_as_other_tables(&RawFlowKey::of(&there), FlowKey::of(&there).hash());
    assert!(
        matches!(flow.table.lookup_cached(&RawFlowKey::of(&there)), CacheLookup::OtherTable(shard) if shard == shard_of(FlowKey::of(&there).hash()))
    );
    assert!(matches!(flow.table.lookup_cached(&RawFlowKey::of(&here)), CacheLookup::Unknown));
    let id = flow.route(here, seconds(0)).0;
    flow.table.find_and_cache(&RawFlowKey::of(&here), &FlowKey::of(&here).into()).unwrap();
    assert!(
        matches!(flow.table.lookup_cached(&RawFlowKey::of(&here)), CacheLookup::Here(_, found) if found.id().0 == id)
    );
    // Nothing is cached for any key, not even for one of zeros.
    let nothing = RawFlowKey::default();
    assert!(matches!(flow.table.lookup_cached(&nothing), CacheLookup::Unknown));
}

/// Lookup steps for connections between IPv6 addresses that have the same unkeyed hash.
fn steps_of_colliding(connections: u16) -> u64 {
    let mut flow = Flow::new(FlowTimeouts::default());
    let lesser = IpAddr::from([0x157c, 0x4a7f, 0xb979, 0x379e, 0, 0, 0, 1]);
    let mut hashes = Vec::new();
    let steps = whyslow_units::steps::steps_during(|| {
        for i in 0..connections {
            let other = IpAddr::from([0x2001, 0, 0, i, 0, 0, 0, 2]);
            let syn = Segment { src: lesser, dst: other, ..segment(4000, 80, 1, Flags::SYN) };
            hashes.push(FlowKey::of(&syn).hash());
            flow.route(syn, seconds(0));
        }
    })
    .1;
    hashes.dedup();
    assert_eq!((hashes.len(), flow.next), (1, u64::from(connections)));
    steps
}

#[test]
fn equal_unkeyed_hashes_need_no_more_steps() {
    let [one, four] = [2_000, 8_000].map(steps_of_colliding);
    assert!(four <= 4 * 100 + 8 * one.max(100), "{one} {four}");
}

/// The evicted connections and their order do not depend on the seed.
#[test]
fn seed_changes_no_result() {
    let run = |seed: HashSeed| {
        let timeouts = FlowTimeouts { connections: 64 * SHARDS, ..FlowTimeouts::default() };
        let mut flow = Flow { table: FlowTable::new(timeouts, seed), next: 0, evicted: Evicted::new() };
        for i in 0..20_000u16 {
            flow.route(segment(1_024 + i, 80, i.into(), Flags::SYN), seconds(i64::from(i) / 100));
        }
        flow.evicted.extend(flow.table.drain());
        flow.evicted()
    };
    let expected = run(HashSeed::default());
    assert_eq!(expected.len(), 20_000);
    for number in [1, 2, u64::MAX] {
        assert_eq!(run(HashSeed::new(number)), expected);
    }
}
