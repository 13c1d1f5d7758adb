#![allow(clippy::unwrap_used)]

//! The packets of all connections of a capture, compared with those of each connection alone.

use crate::{Input, PacketExport, Stop, follow, read};
use std::path::{Path, PathBuf};
use whyslow_analysis::Connection;
use whyslow_diagnosis::series::Point;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"))
}

fn inputs(paths: &[PathBuf]) -> Vec<Input> {
    paths.iter().cloned().map(Input::Path).collect()
}

/// All packets of a connection.
fn all(packets: &mut PacketExport<'_>, connection: &Connection) -> Vec<Point> {
    let mut points = Vec::new();
    loop {
        let some = packets.of(connection).unwrap();
        if some.is_empty() {
            return points;
        }
        points.extend(some);
    }
}

/// With times as [`follow`] counts them: from the connection's first packet here.
fn from_first(points: &[Point]) -> Vec<Point> {
    let first = points[0].time;
    let since = |point: &Point| Point {
        time: point.time - first,
        applied: point.applied.map(|(at, in_flight)| (at - first, in_flight)),
        ..*point
    };
    points.iter().map(since).collect()
}

fn same_as_alone(paths: &[PathBuf]) {
    let inputs = inputs(paths);
    let reading = read(&[&inputs], &Stop::default(), &mut |_| {}).unwrap();
    let mut ignored = |_| {};
    let mut packets = PacketExport::new(&reading, &Stop::default(), &mut ignored);
    assert!(!reading.analysis.connections.is_empty());
    for connection in &reading.analysis.connections {
        let mut alone = Vec::new();
        follow(&reading.place(connection).unwrap(), &mut |point| alone.push(point), &mut |_| {}).unwrap();
        let together = all(&mut packets, connection);
        assert_eq!(from_first(&together), from_first(&alone), "{paths:?} {}", connection.id);
        assert_eq!(together[0].time.0, connection.origin.time.0);
        assert_eq!(together[0].frame, connection.origin.frame);
    }
    assert_eq!(packets.late(), 0);
}

#[test]
fn packets_of_all_connections_are_those_of_each_alone() {
    for entry in std::fs::read_dir(sample("").parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "pcap" || end == "pcapng") {
            same_as_alone(&[path]);
        }
    }
}

#[test]
fn captures_of_several_places_are_read_one_after_the_other() {
    same_as_alone(&["loss-client", "loss-server", "shared-bottleneck-server"].map(sample));
}

#[test]
fn those_of_some_connections_can_be_left_out() {
    let inputs = inputs(&[sample("shared-bottleneck-server")]);
    let reading = read(&[&inputs], &Stop::default(), &mut |_| {}).unwrap();
    let mut ignored = |_| {};
    let (first, last) = (reading.analysis.connections.first().unwrap(), reading.analysis.connections.last().unwrap());
    assert_ne!(first.id, last.id);
    let mut packets = PacketExport::new(&reading, &Stop::default(), &mut ignored);
    let of_last = all(&mut packets, last);
    let counted: u64 = last.directions.iter().map(|half| half.packets).sum();
    assert_eq!(of_last.len() as u64, counted);
}
