#![allow(clippy::unwrap_used)]

//! Points emitted early, in addition to those that wait until the end.

use super::*;
use std::collections::BTreeMap;
use whyslow_core::capture::Reader;

/// The points emitted for each connection when up to `waiting` segments wait, and the number of
/// late verdicts.
fn given(capture: &[u8], waiting: usize) -> (BTreeMap<u64, Vec<TracedPoints>>, u64) {
    let mut all: BTreeMap<u64, Vec<TracedPoints>> = BTreeMap::new();
    let mut give = |id, points| all.entry(id).or_default().push(points);
    let mut every = EveryPacketReader { waiting, ..EveryPacketReader::new(&mut give) };
    let mut reader = Reader::new();
    reader.push(capture, &mut every).unwrap();
    reader.finish(&mut every).unwrap();
    let late = every.finish();
    (all, late)
}

fn points(pieces: &[TracedPoints]) -> Vec<Point> {
    pieces.iter().flat_map(|piece| piece.points.clone()).collect()
}

#[test]
fn early_points_are_complete_and_in_order() {
    for capture in [
        &include_bytes!("../../../../../samples/loss-server.pcap")[..],
        include_bytes!("../../../../../samples/shared-bottleneck-server.pcap"),
    ] {
        let (whole, late) = given(capture, usize::MAX);
        assert_eq!(late, 0);
        assert!(whole.values().all(|pieces| pieces.iter().all(|piece| piece.points.len() <= CHUNK)));
        for waiting in [1, 7, 64, 400] {
            let (pieces, _) = given(capture, waiting);
            assert_eq!(pieces.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
            for (id, pieces) in &pieces {
                assert!(pieces.len() > 1, "{waiting}");
                assert!(pieces.iter().zip(0..).all(|(piece, place)| piece.number() == place));
                let frames = |points: Vec<Point>| points.iter().map(|point| point.frame).collect::<Vec<_>>();
                assert_eq!(frames(points(pieces)), frames(points(&whole[id])));
            }
        }
    }
}

#[test]
fn late_verdict_is_counted() {
    let capture = include_bytes!("../../../../../samples/loss-server.pcap");
    let (whole, _) = given(capture, usize::MAX);
    let (soon, late) = given(capture, 1);
    assert!(late > 0);
    assert!(whole.iter().any(|(id, pieces)| points(pieces) != points(&soon[id])));
    // A round trip has fewer segments than this.
    let (enough, late) = given(capture, 400);
    assert_eq!(late, 0);
    assert!(whole.iter().all(|(id, pieces)| points(pieces) == points(&enough[id])));
}
