//! The second pass and the first one agree: the packets' classes in the series add up to the
//! analysis' counts.

use crate::common;
use std::path::{Path, PathBuf};
use whyslow_analysis::{Connection, Direction, End};
use whyslow_diagnosis::series::{Flags, Kind, Mark, Point, SeriesBuilder, marks_of};
use whyslow_io::{Input, PacketSource, Stop};

fn points(input: &Input, connection: &Connection) -> Vec<Point> {
    let mut points = Vec::new();
    let late =
        whyslow_io::follow(&PacketSource::alone(input, connection), &mut |point| points.push(point), &mut |_| ())
            .unwrap();
    assert_eq!(late, 0);
    points
}

/// The sum of the points of one side's data, in the analysis' terms.
#[track_caller]
fn agrees(path: &Path, connection: &Connection, half: &Direction, points: &[Point]) {
    let own = || points.iter().filter(|point| point.from == half.from);
    let kinds = |kind| own().filter(|point| point.kind == kind).count() as u64;
    let marks =
        |mark| points.iter().flat_map(marks_of).filter(|sum| sum.of == half.from && sum.mark == mark).count() as u64;
    let at = || format!("{}, connection {}, {:?}", path.display(), connection.id, half.from);
    assert_eq!(own().count() as u64, half.packets, "{}", at());
    let resent = half.retransmitted;
    // New bytes behind a silence have their count there.
    assert_eq!(kinds(Kind::Fast), resent.fast, "{}", at());
    // The analysis counts a SYN that was retransmitted with the handshake.
    let is_syn = |point: &&Point| point.flags.has(Flags::SYN) && point.len == 0;
    let syns = own().filter(is_syn).filter(|point| point.kind == Kind::Timeout).count() as u64;
    assert_eq!(kinds(Kind::Timeout) - syns, resent.timeout, "{}", at());
    assert_eq!(kinds(Kind::TailProbe), resent.tail_probe, "{}", at());
    assert_eq!(kinds(Kind::Spurious), resent.spurious, "{}", at());
    assert_eq!(kinds(Kind::OutOfOrder), half.out_of_order, "{}", at());
    assert_eq!(kinds(Kind::WindowProbe), half.window_probes, "{}", at());
    assert_eq!(kinds(Kind::KeepAlive), half.keep_alives, "{}", at());
    assert_eq!(marks(Mark::DuplicateAck), half.duplicate_acks, "{}", at());
    // Over a stretch whose packets were left out of a text nothing is known to be in flight.
    if !connection.elided.is_empty() {
        return;
    }
    let flight = own().filter(|point| point.kind == Kind::New).filter_map(|point| point.in_flight).max();
    assert_eq!(flight.unwrap_or(0), half.max_in_flight, "{}", at());
}

fn check(path: &Path) -> usize {
    let input = Input::Path(path.to_owned());
    // A file that is not a capture has no packets.
    let Ok(analysis) = whyslow_io::explain(std::slice::from_ref(&input), &Stop::default(), &mut |_| ()) else {
        return 0;
    };
    for connection in analysis.connections.iter().take(4) {
        let points = points(&input, connection);
        assert!(points.is_sorted_by_key(|point| point.time), "{}", path.display());
        for half in &connection.directions {
            agrees(path, connection, half, &points);
        }
        let range = (connection.start_s, connection.start_s + connection.duration_s);
        let mut builder = SeriesBuilder::new(range, points.len() as u64);
        points.iter().for_each(|point| builder.push(point));
        let series = builder.finish();
        assert_eq!(series.packets(), points.len() as u64, "{}", path.display());
        let view = series.view(range.0, range.1, 200);
        let shown = |mark| view.marks.iter().filter(|sum| sum.mark == mark).map(|sum| sum.count).sum::<u64>();
        let counted = points.iter().filter(|point| point.kind == Kind::Fast).count() as u64;
        assert_eq!(shown(Mark::Segment(Kind::Fast)), counted, "{}", path.display());
    }
    analysis.connections.len()
}

#[test]
fn in_every_sample() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut connections = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pcap") {
            connections += check(&path);
        }
    }
    assert!(connections > 60, "{connections}");
}

#[test]
fn a_syn_sent_again_is_a_copy() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples/syn-loss-client.pcap");
    let input = Input::Path(path);
    let analysis = whyslow_io::explain(std::slice::from_ref(&input), &Stop::default(), &mut |_| ()).unwrap();
    let mut copies = 0;
    for connection in &analysis.connections {
        let points = points(&input, connection);
        let again = |end: End| {
            let of = |point: &&Point| point.from == end && point.flags.has(Flags::SYN) && point.kind == Kind::Timeout;
            points.iter().filter(of).count() as u64
        };
        let retries = connection.handshake.as_ref().unwrap().retries;
        assert_eq!([again(End::Client), again(End::Server)], retries, "connection {}", connection.id);
        copies += retries[0] + retries[1];
    }
    assert!(copies > 0);
}

/// Every file in a folder and those within it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn in_real_captures_however_odd() {
    let Some(folder) = whyslow_testing::captures() else { return };
    let (part, least) = (whyslow_testing::part_of(files(&folder)), if whyslow_testing::soaks() { 100 } else { 10 });
    let connections: usize = part.iter().map(|path| check(path)).sum();
    assert!(connections > least, "{connections}");
}

#[test]
fn round_trips_and_windows_are_those_of_the_analysis() {
    let input = Input::Path(common::sample("receive-window-client"));
    let analysis = whyslow_io::explain(std::slice::from_ref(&input), &Stop::default(), &mut |_| ()).unwrap();
    let connection = &analysis.connections[0];
    let points = points(&input, connection);
    let acks = || points.iter().filter(|point| point.from == End::Client);
    let largest = acks().filter_map(|point| point.window).max();
    assert_eq!(largest, connection.directions[1].max_window);
    let trips: Vec<f64> = acks().filter_map(|point| Some(point.rtt?.as_millis_f64())).collect();
    // From the client's side the data's ACKs arrive at once: a whole round trip is the time added
    // for the way to the sender and back.
    let least = connection.rtt_ms.min.unwrap();
    assert!(!trips.is_empty() && trips.iter().all(|trip| *trip >= least - 0.001), "{least}: {trips:?}");
}

#[test]
fn a_place_is_found_in_every_group() {
    let group = |names: &[&str]| names.iter().map(|name| Input::Path(common::sample(name))).collect::<Vec<_>>();
    let groups = [group(&["loss-client", "loss-server"]), group(&["slow-start-client"])];
    let groups: Vec<&[Input]> = groups.iter().map(Vec::as_slice).collect();
    let reading = whyslow_io::read(&groups, &Stop::default(), &mut |_| ()).unwrap();
    let analysis = &reading.analysis;
    assert_eq!(reading.groups(), [0..2, 2..3]);
    assert_eq!([reading.before(0), reading.before(1)], [0, 2]);
    assert_eq!(analysis.pairs.len(), 1, "what two captures of a group hold is compared");
    assert_eq!(analysis.connections.iter().map(|connection| connection.id).collect::<Vec<_>>(), [1, 2, 3]);
    for connection in &analysis.connections {
        let place = reading.place(connection).unwrap();
        let Some(Input::Path(path)) = place.files().next() else { panic!("it is a file") };
        assert_eq!(path.display().to_string(), analysis.captures[connection.capture].path);
        let mut points = Vec::new();
        whyslow_io::follow(&place, &mut |point| points.push(point), &mut |_| ()).unwrap();
        assert_eq!(points[0].time, connection.start_s);
        assert_eq!(points[0].frame.file, Some(connection.capture as u16));
        for half in &connection.directions {
            agrees(path, connection, half, &points);
        }
    }
}
