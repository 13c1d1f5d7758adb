#![allow(clippy::unwrap_used)]

//! A second reading must find what the first one did.

use crate::worker_pool::tests::capture;
use crate::{Error, Input, Reading, Stop, follow, pick, reading};
use std::fs::{self, OpenOptions};
use std::io::Write;
use whyslow_analysis::Connection;
use whyslow_units::Nanos;

const PACKETS: u32 = 40_000;
/// Bytes of the file's head, and of a small packet's record.
const HEAD: usize = 24;

/// The beginning of a record after about this byte.
fn cut(file: &[u8], near: usize) -> usize {
    let mut at = HEAD;
    while at < near {
        at += 16 + u32::from_le_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
    }
    at
}

fn read(inputs: &[Input]) -> Reading {
    crate::read(&[inputs], &Stop::default(), &mut |_| ()).unwrap()
}

/// The connection that is longest, and the error of following it now, with the bytes given by then.
fn followed(reading: &Reading) -> (u64, Result<u64, Error>) {
    let segments = |connection: &&Connection| reading::segments(connection);
    let longest = reading.analysis.connections.iter().max_by_key(segments).unwrap();
    let mut given = 0;
    let late = follow(&reading.place(longest).unwrap(), &mut |_| given += 1, &mut |_| ());
    (given, late)
}

#[test]
fn a_file_that_shrank_is_an_error_and_one_that_grew_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.pcap");
    let bytes = capture(PACKETS);
    let half = cut(&bytes, bytes.len() / 2);
    fs::write(&path, &bytes[..half]).unwrap();
    let input = Input::Path(path.clone());
    let reading = read(std::slice::from_ref(&input));
    let (all, late) = followed(&reading);
    assert!(late.is_ok() && all > 500, "{late:?}: {all}");
    // More has come: all that was there is there.
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&bytes[half..]).unwrap();
    let (more, late) = followed(&reading);
    assert!(late.is_ok() && more >= all, "{late:?}: {more} and {all}");
    assert!(reading.files().are_there().is_ok());
    // Shorter: the error comes before any data.
    let quarter = cut(&bytes, bytes.len() / 4);
    fs::write(&path, &bytes[..quarter]).unwrap();
    let (given, error) = followed(&reading);
    assert_eq!(given, 0);
    let message = format!("growing.pcap: has changed while it was read: {half} bytes at first, and {quarter} now");
    assert!(error.unwrap_err().to_string().ends_with(&message));
    assert!(reading.files().are_there().unwrap_err().to_string().ends_with(&message));
    let connection = &reading.analysis.connections[0];
    let place = reading.place(connection).unwrap();
    let whole = (Nanos::ZERO, Nanos(i64::MAX));
    assert!(matches!(pick(&place, whole, &mut |_| panic!("given")), Err(Error::Changed { what: "bytes", .. })));
    fs::remove_file(&path).unwrap();
    assert!(reading.files().are_there().is_err());
}

#[test]
fn fewer_packets_in_as_many_bytes_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replaced.pcap");
    let bytes = capture(PACKETS);
    fs::write(&path, &bytes).unwrap();
    let reading = read(&[Input::Path(path.clone())]);
    let half = cut(&bytes, bytes.len() / 2);
    let mut replaced = bytes[..half].to_vec();
    replaced.resize(bytes.len() + 1, 0xff);
    fs::write(&path, &replaced).unwrap();
    assert!(reading.files().are_there().is_ok());
    let (_, error) = followed(&reading);
    assert!(matches!(error, Err(Error::Changed { what: "packets", before, .. }) if before == u64::from(PACKETS)));
}

#[test]
fn another_file_of_as_many_packets_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.pcap");
    fs::write(&path, capture(PACKETS)).unwrap();
    let reading = read(&[Input::Path(path.clone())]);
    // One packet again and again: what there was of its connection is gone.
    let bytes = capture(PACKETS);
    let record = &bytes[HEAD..cut(&bytes, HEAD + 1)];
    let again = record.repeat(bytes.len() / record.len() + PACKETS as usize);
    fs::write(&path, [&bytes[..HEAD], &again].concat()).unwrap();
    let (_, error) = followed(&reading);
    assert!(matches!(error, Err(Error::Changed { what: "segments of the connection", .. })), "{error:?}");
}

#[test]
fn what_is_compared_packet_by_packet_must_not_shrink_either() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = capture(PACKETS);
    let paths = ["a.pcap", "b.pcap"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| fs::write(path, &bytes).unwrap());
    let inputs = paths.clone().map(Input::Path);
    let total = 2 * bytes.len() as u64;
    let half = cut(&bytes, bytes.len() / 2);
    let mut cut_short = false;
    // Both are read; before the second pass comes to them, the second one is cut short.
    let result = crate::explain(&inputs, &Stop::default(), &mut |progress| {
        if progress.read >= total && !cut_short {
            cut_short = true;
            fs::write(&paths[1], &bytes[..half]).unwrap();
        }
    });
    assert!(cut_short);
    let error = result.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("b.pcap: has changed while it was read: 40000 packets at first, and 2"), "{error:?}");
}
