#![allow(clippy::unwrap_used)]

//! Shares of the connections, merged, are the whole.

use super::*;
use crate::omitted::tests::capture;
use crate::scan::scan_shares;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_analysis::{Analysis, MAX_CONNECTIONS};

fn options() -> ExplainOptions {
    ExplainOptions { threads: NonZero::<usize>::MIN, path_rate: None, keys: None, messages: true }
}

/// The rows of each shard of captures, the captures in another order.
fn shares(inputs: &[Input], of: usize, every: bool) -> Vec<Vec<Vec<u8>>> {
    let mut condensed: Vec<_> = (0..of).map(|_| RowFiles::default()).collect();
    for (number, input) in inputs.iter().enumerate().rev() {
        let mut rows = vec![Vec::new(); of];
        let mut give = |share: usize, row| {
            rows[share].push(row);
            Ok(())
        };
        scan_shares(input, of, &Stop::default(), &mut |_| (), &mut give).unwrap();
        for (files, rows) in condensed.iter_mut().zip(rows) {
            rows.iter().for_each(|row| files.push(&number.to_string(), row).unwrap());
        }
    }
    let account = |files: RowFiles| {
        let mut rows = Vec::new();
        let mut give = |row: Vec<u8>| {
            assert!(row.len() <= MAX_ROW);
            rows.push(row);
            Ok(())
        };
        files.account_share(options(), every, &Stop::default(), &mut give).unwrap();
        rows
    };
    condensed.into_iter().map(account).collect()
}

fn merged(shares: &[Vec<Vec<u8>>], every: bool) -> Result<(Reading, OmittedConnections), Error> {
    let mut files = RowFiles::default();
    for (number, rows) in shares.iter().enumerate().rev() {
        rows.iter().for_each(|row| files.push(&number.to_string(), row).unwrap());
    }
    files.merge(options(), every, &Stop::default(), &mut |_| ())
}

/// Without messages, which shares do not send.
fn explained(inputs: &[Input]) -> Analysis {
    let options = ExplainOptions { messages: false, ..options() };
    crate::explain_on(options, inputs, &Stop::default(), &mut |_| ()).unwrap()
}

fn assert_whole(inputs: &[Input], of: usize) {
    let expected = format!("{:#?}", explained(inputs));
    let found = format!("{:#?}", merged(&shares(inputs, of, false), false).unwrap().0.analysis);
    if let Some(at) = expected.lines().zip(found.lines()).position(|(one, other)| one != other) {
        let around = |all: &str| all.lines().skip(at.saturating_sub(4)).take(12).collect::<Vec<_>>().join("\n");
        panic!("{of} shares of {}:\n{}\n\n{}", inputs[0].name(), around(&expected), around(&found));
    }
    assert!(expected == found, "{of} shares of {}", inputs[0].name());
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).with_extension("pcap")
}

fn all_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { all_files(&path, files) } else { files.push(path) }
    }
}

/// Each `step`th capture of a folder in a number of shares; returns how many were read.
fn assert_all_whole(folder: &Path, step: usize) -> usize {
    let mut files = Vec::new();
    all_files(folder, &mut files);
    let mut read = 0;
    for (place, path) in files.into_iter().step_by(step).enumerate() {
        let input = Input::Path(path);
        if crate::explain(std::slice::from_ref(&input), &Stop::default(), &mut |_| ()).is_ok() {
            read += 1;
            assert_whole(&[input], [2, 7, 64, 3][place % 4]);
        }
    }
    read
}

#[test]
fn samples_in_shares_are_the_samples() {
    assert!(assert_all_whole(sample("loss-client").parent().unwrap(), 4) > 10);
}

#[test]
fn real_captures_in_shares_are_the_captures() {
    let Some(captures) = whyslow_testing::captures() else { return };
    // All of them take minutes.
    let step = if std::env::var_os("ALL_CAPTURES").is_some() { 1 } else { 20 };
    let read = assert_all_whole(&captures, step);
    assert!(read > 1_000 / step);
}

#[test]
fn both_ends_in_shares_are_compared() {
    for name in ["loss", "tls", "reordering", "zero-window", "nagle-delayed-ack"] {
        let inputs = ["client", "server"].map(|end| Input::Path(sample(&format!("{name}-{end}"))));
        assert!(!explained(&inputs).pairs.is_empty());
        for of in [1, 2, 5] {
            assert_whole(&inputs, of);
        }
    }
}

#[test]
fn every_connection_of_many_comes_once() {
    let folder = TempDir::new().unwrap();
    let count = MAX_CONNECTIONS as u32 + 1_700;
    let paths = ["a.pcap0", "a.pcap1"].map(|name| folder.path().join(name));
    let whole = capture(count, 0);
    // Cut between two of the records, which are 70 bytes long.
    let half = 24 + (whole.len() - 24) / 70 / 2 * 70;
    fs::write(&paths[0], &whole[..half]).unwrap();
    fs::write(&paths[1], [&whole[..24], &whole[half..]].concat()).unwrap();
    let inputs = paths.map(Input::Path);
    let (reading, omitted) = crate::read_every(options(), &[&inputs], &Stop::default(), &mut |_| ()).unwrap();
    let (found, every) = merged(&shares(&inputs, 3, true), true).unwrap();
    assert!(format!("{:?}", found.analysis) == format!("{:?}", reading.analysis));
    let mut all = every.with_listed(&found.analysis).unwrap();
    for expected in omitted.with_listed(&reading.analysis).unwrap() {
        assert_eq!(format!("{:?}", all.next().unwrap().unwrap()), format!("{:?}", expected.unwrap()));
    }
    assert!(all.next().is_none());
}

#[test]
fn missing_repeated_or_damaged_shares_are_reported() {
    let inputs = [Input::Path(sample("loss-client"))];
    let all = shares(&inputs, 3, false);
    let why = |shares: &[Vec<Vec<u8>>]| merged(shares, false).unwrap_err().to_string();
    assert!(why(&all[..2]).contains("shard 2 of 3 is missing"), "{}", why(&all[..2]));
    let twice = [all[0].clone(), all[1].clone(), all[1].clone()];
    assert!(why(&twice).contains("it came before"), "{}", why(&twice));
    let other = [all[0].clone(), shares(&inputs, 2, false)[1].clone()];
    assert!(why(&other).contains("another number of shards"), "{}", why(&other));
    assert!(why(&[]).contains("there is none"));
    assert!(merged(&all, true).unwrap_err().to_string().contains("not sent every connection"));
    let mut torn = all.clone();
    torn[1][0].pop();
    assert!(merged(&torn, false).is_err());
    let mut damaged = all;
    let middle = damaged[1][0].len() / 2;
    damaged[1][0][middle] ^= 4;
    assert!(merged(&damaged, false).is_err());
    damaged[1][0][7] ^= 4;
    assert!(why(&damaged).contains("use one everywhere"), "{}", why(&damaged));
}

#[test]
fn an_invalid_capture_gives_no_row() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("none.pcap");
    fs::write(&path, b"no capture at all").unwrap();
    let mut given = 0;
    let give = &mut |_, _| {
        given += 1;
        Ok(())
    };
    assert!(scan_shares(&Input::Path(path), 2, &Stop::default(), &mut |_| (), give).is_err());
    assert_eq!(given, 0);
}

#[test]
fn a_share_alone_is_not_a_capture() {
    let input = Input::Path(sample("loss-client"));
    let mut files = [RowFiles::default(), RowFiles::default()];
    let mut give = |share: usize, row: Vec<u8>| files[share].push("one", &row);
    scan_shares(&input, 2, &Stop::default(), &mut |_| (), &mut give).unwrap();
    let [one, other] = files;
    let error = one.explain(options(), &Stop::default(), &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("holds shard 0 of 2 alone"), "{error}");
    let Input::Path(path) = &other.inputs()[0] else { unreachable!("rows are kept in files") };
    let scanned = crate::scan(&Input::Path(path.clone()), &Stop::default(), &mut |_| (), &mut |_| Ok(()));
    assert!(scanned.unwrap_err().to_string().contains("holds shard 1 of 2 alone"));
}
