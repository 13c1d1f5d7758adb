#![allow(clippy::unwrap_used)]

use super::*;

fn opening(name: &str, first: i64, syns: &[u64]) -> InputOpening {
    let syns = syns.iter().copied().collect();
    InputOpening {
        first: Some(Time::from_millis(first)),
        syns,
        family: family(name),
        packets: 0,
        share: ConnectionShard::ALL,
    }
}

/// Puts inputs (name, first and last packet in milliseconds, SYNs) into sets, and names the sets'
/// members.
fn sets(inputs: &[(&'static str, i64, i64, &[u64])]) -> Vec<Vec<&'static str>> {
    let mut inputs = inputs.to_vec();
    inputs.sort_by_key(|input| input.1);
    let mut sets: Vec<RotationSet> = Vec::new();
    let mut members: Vec<Vec<&'static str>> = Vec::new();
    for (name, first, last, syns) in inputs {
        let opening = opening(name, first, syns);
        let place = continued(sets.iter(), &opening).unwrap_or_else(|| {
            sets.push(RotationSet::default());
            members.push(Vec::new());
            sets.len() - 1
        });
        let summary = Summary { last_time: Some(Time::from_millis(last)), ..Summary::default() };
        sets[place].add(opening, &summary);
        members[place].push(name);
    }
    members
}

#[test]
fn what_follows_in_time_is_one_set() {
    assert_eq!(sets(&[("c", 21, 30, &[]), ("a", 0, 10, &[1]), ("b", 10, 20, &[2])]), [["a", "b", "c"]]);
}

#[test]
fn what_overlaps_is_kept_apart() {
    assert_eq!(sets(&[("client.pcap", 0, 10, &[]), ("server.pcap", 3, 14, &[])]), [["client.pcap"], ["server.pcap"]]);
}

#[test]
fn equal_packets_stay_separate_for_any_clocks() {
    assert_eq!(sets(&[("a", 0, 10, &[1, 2]), ("b", 500_000, 500_010, &[2, 3])]), [["a"], ["b"]]);
}

#[test]
fn two_rotation_sets_differ_by_their_names() {
    let inputs: [(_, _, _, &[u64]); 6] = [
        ("east-1.pcap.gz", 0, 1_000, &[1]),
        ("west-1.pcap", 10, 999, &[1]),
        ("west-2.pcap", 1_005, 2_000, &[2]),
        ("east-2.pcap", 1_001, 2_002, &[2]),
        ("east-10.pcap", 2_003, 2_900, &[]),
        ("west-10.pcap", 2_004, 3_000, &[]),
    ];
    assert_eq!(
        sets(&inputs),
        [["east-1.pcap.gz", "east-2.pcap", "east-10.pcap"], ["west-1.pcap", "west-2.pcap", "west-10.pcap"]]
    );
}

#[test]
fn a_rotation_set_may_be_a_little_out_of_step_and_others_may_not() {
    assert_eq!(sets(&[("a1", 0, 10_000, &[]), ("a2", 9_950, 20_000, &[])]), [["a1", "a2"]]);
    assert_eq!(sets(&[("a1", 0, 10_000, &[]), ("b", 9_950, 20_000, &[])]), [["a1"], ["b"]]);
    // A short capture that begins during another short one does not belong to it.
    assert_eq!(sets(&[("h1", 0, 10, &[]), ("h2", 5, 15, &[])]), [["h1"], ["h2"]]);
    // Nor is one packet seen at the same instant in both.
    assert_eq!(sets(&[("h1", 5, 5, &[9]), ("h2", 5, 5, &[9])]), [["h1"], ["h2"]]);
}

#[test]
fn without_a_date_every_input_is_on_its_own() {
    let dateless = InputOpening { first: None, ..opening("a", 0, &[]) };
    let mut set = RotationSet::default();
    set.add(dateless.clone(), &Summary::default());
    assert_eq!(continued([&set].into_iter(), &dateless), None);
    assert_eq!(continued([&set].into_iter(), &opening("a", 5, &[])), None);
}

#[test]
fn families_ignore_digits_and_compression() {
    assert_eq!(family("trace.pcap"), family("trace.pcap17"));
    assert_eq!(family("trace_00001_20240229.pcap.zst"), family("trace_00002_20240301.pcap"));
    assert_ne!(family("client.pcap"), family("server.pcap"));
}
