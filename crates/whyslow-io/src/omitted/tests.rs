#![allow(clippy::unwrap_used)]

//! Captures of more connections than an analysis lists.

use crate::{ExplainOptions, Input, Stop, read_every, read_on};
use std::fs;
use std::num::NonZero;
use std::path::Path;
use whyslow_analysis::{Analysis, Connection, MAX_CONNECTIONS};

/// A capture of this number of connections from clients of this network, in records of their
/// headers alone: a request and its answer each, which lets some wait. Some are open at a time.
pub(crate) fn capture(connections: u32, network: u8) -> Vec<u8> {
    const OPEN: u32 = 50;
    let mut file: Vec<u8> =
        [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 96, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut packet = |connection: u32, step: u32| {
        let (from_server, flags, seq, ack, len) = [
            (false, 0x02, 99, 0, 0u32),
            (true, 0x12, 499, 100, 0),
            (false, 0x18, 100, 500, 100),
            (true, 0x18, 500, 200, 1000 + connection % 7),
            (false, 0x11, 200, 1500 + connection % 7, 0),
            (true, 0x11, 1500 + connection % 7, 201, 0),
            (false, 0x10, 201, 1501 + connection % 7, 0),
        ][step as usize];
        let late = if step == 3 { u64::from(connection % 400) } else { 0 };
        let at = u64::from(connection / OPEN) * 10_000 + u64::from(step) * 1_000 + u64::from(connection % OPEN);
        let micros = 1_600_000_000_000_000 + at + late;
        let words = [(micros / 1_000_000) as u32, (micros % 1_000_000) as u32, 54, 54 + len];
        words.iter().for_each(|word| file.extend(word.to_le_bytes()));
        file.extend([0; 12]);
        file.extend([8, 0, 0x45, 0]);
        file.extend((40 + len as u16).to_be_bytes());
        file.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let client = [10, network, (connection >> 8) as u8, connection as u8];
        let ends = [(client, 40_000u16), ([10, 255, 1, 1], 443)];
        let order = if from_server { [1, 0] } else { [0, 1] };
        order.iter().for_each(|&end| file.extend(ends[end as usize].0));
        order.iter().for_each(|&end| file.extend(ends[end as usize].1.to_be_bytes()));
        file.extend(u32::to_be_bytes(seq));
        file.extend(u32::to_be_bytes(ack));
        file.extend([0x50, flags, 0xff, 0xff, 0x12, 0x34, 0, 0]);
    };
    for first in (0..connections).step_by(OPEN as usize) {
        for step in 0..7 {
            (first..connections.min(first + OPEN)).for_each(|connection| packet(connection, step));
        }
    }
    file
}

/// The listed connections, and all connections.
fn every(files: &[&Path], threads: usize) -> (Analysis, Vec<Connection>) {
    let inputs: Vec<_> = files.iter().map(|path| Input::Path(path.to_path_buf())).collect();
    let options =
        ExplainOptions { threads: NonZero::new(threads).unwrap(), path_rate: None, keys: None, messages: true };
    let (reading, omitted) = read_every(options.clone(), &[&inputs], &Stop::default(), &mut |_| {}).unwrap();
    let listed = read_on(options, &[&inputs], &Stop::default(), &mut |_| {}).unwrap().analysis;
    assert_eq!(format!("{:?}", reading.analysis), format!("{listed:?}"), "nothing else changes");
    let all = omitted.with_listed(&reading.analysis).unwrap().collect::<Result<_, _>>().unwrap();
    (reading.analysis, all)
}

#[test]
fn each_connection_comes_once_in_order_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.pcap");
    let count = MAX_CONNECTIONS as u32 + 1_700;
    fs::write(&path, capture(count, 0)).unwrap();
    let (listed, all) = every(&[&path], 1);
    assert_eq!(listed.connections.len(), MAX_CONNECTIONS);
    let ids: Vec<_> = all.iter().map(|connection| connection.id).collect();
    assert_eq!(ids, (1..=u64::from(count)).collect::<Vec<_>>());
    assert!(all.iter().all(|connection| connection.origin.stream == Some(connection.id - 1)));
    let bytes: Vec<_> = all.iter().map(|connection| connection.directions[1].bytes).collect();
    assert_eq!(bytes, (0..count).map(|place| u64::from(1000 + place % 7)).collect::<Vec<_>>());
    for connection in &listed.connections {
        let own = &all[connection.id as usize - 1];
        assert_eq!(format!("{own:?}"), format!("{connection:?}"));
    }
    let shared = every(&[&path], 2).1;
    assert!(all.iter().zip(&shared).all(|(one, other)| format!("{one:?}") == format!("{other:?}")));
    assert_eq!(shared.len(), all.len());
}

/// They were taken at the same time, and are numbered one behind the other.
#[test]
fn captures_that_overlap_have_connections_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.pcap", "b.pcap"].map(|name| folder.path().join(name));
    let counts = [MAX_CONNECTIONS as u32 + 300, 40];
    for ((path, count), network) in paths.iter().zip(counts).zip(0..) {
        fs::write(path, capture(count, network)).unwrap();
    }
    let (listed, all) = every(&[&paths[0], &paths[1]], 2);
    assert_eq!(listed.connections.len(), MAX_CONNECTIONS + 40);
    let of = |capture| all.iter().filter(move |connection| connection.capture == capture);
    assert_eq!(
        of(0).filter_map(|one| one.origin.stream).collect::<Vec<_>>(),
        (0..u64::from(counts[0])).collect::<Vec<_>>()
    );
    assert_eq!(of(1).filter_map(|one| one.origin.stream).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    assert!(all.iter().all(|one| one.origin.frame.file.map(usize::from) == Some(one.capture)));
    assert!(all.is_sorted_by_key(|one| one.capture));
}
