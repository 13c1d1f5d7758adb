#![allow(clippy::unwrap_used)]
use super::*;
use crate::scan::{scan, scan_into};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).with_extension("pcap")
}

/// A little-endian pcap file in parts, cut before these of its records.
fn cut(name: &str, cuts: &[usize], folder: &Path) -> Vec<Input> {
    let bytes = fs::read(sample(name)).unwrap();
    let (header, mut rest) = bytes.split_at(24);
    let mut records = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let length = 16 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        records.push(&rest[..length]);
        rest = &rest[length..];
    }
    let mut places: Vec<_> = cuts.iter().map(|cut| cut % records.len()).chain([0, records.len()]).collect();
    places.sort_unstable();
    places.dedup();
    let part = |(number, part): (usize, &[usize])| {
        let path = folder.join(format!("{name}.{number}"));
        fs::write(&path, [&[header], &records[part[0]..part[1]]].concat().concat()).unwrap();
        Input::Path(path)
    };
    places.windows(2).enumerate().map(part).collect()
}

fn explained(inputs: &[Input]) -> String {
    let analysis = crate::explain(inputs, &Stop::default(), &mut |_| ()).unwrap();
    format!("{analysis:#?}")
}

fn scanned(input: &Input) -> Input {
    let path = PathBuf::from(input.name() + ".condensed.zst");
    scan_into(input, &Stop::default(), &mut |_| (), File::create(&path).unwrap()).unwrap();
    Input::Path(path)
}

const PAIRS: [&str; 5] = ["loss", "tls", "reordering", "zero-window", "nagle-delayed-ack"];
const CUTS: [&[usize]; 4] = [&[], &[7], &[100, 101, 3_000], &[1, 50, 333, 334, 700, 9_999]];

#[test]
fn both_ends_in_parts_are_stitched_as_they_are_explained() {
    let mut pairs = 0;
    for name in PAIRS {
        for cuts in CUTS {
            let folder = TempDir::new().unwrap();
            let ends = ["client", "server"].map(|end| cut(&format!("{name}-{end}"), cuts, folder.path()));
            let inputs = ends.concat();
            let expected = explained(&inputs);
            // In another order, and from more threads.
            let mut condensed: Vec<_> = inputs.iter().map(scanned).collect();
            condensed.reverse();
            let analysis = stitch(ExplainOptions::default(), &condensed, &Stop::default(), &mut |_| ()).unwrap();
            pairs += analysis.pairs.len();
            assert!(format!("{analysis:#?}") == expected, "{name} cut before {cuts:?}");
        }
    }
    assert!(pairs >= PAIRS.len(), "{pairs} pairs");
}

#[test]
fn rows_of_a_task_are_explained_as_the_captures() {
    let inputs = ["client", "server"].map(|end| Input::Path(sample(&format!("loss-{end}"))));
    let mut files = RowFiles::default();
    for (number, input) in inputs.iter().enumerate() {
        let give = &mut |row: Vec<u8>| files.push(&number.to_string(), &row);
        let scanned = scan(input, &Stop::default(), &mut |_| (), give).unwrap();
        assert!(scanned.rows >= 3 && scanned.packets > 100, "{scanned:?}");
    }
    let analysis = files.explain(ExplainOptions::default(), &Stop::default(), &mut |_| ()).unwrap();
    assert!(!analysis.pairs.is_empty());
    assert!(format!("{analysis:#?}") == explained(&inputs));
}

#[test]
fn rows_without_the_first_cost_only_their_file() {
    let mut files = RowFiles::default();
    files.push("lost", &[]).unwrap();
    let input = Input::Path(sample("loss-client"));
    scan(&input, &Stop::default(), &mut |_| (), &mut |row| files.push("whole", &row)).unwrap();
    let analysis = files.explain(ExplainOptions::default(), &Stop::default(), &mut |_| ()).unwrap();
    let captures: Vec<_> =
        analysis.captures.iter().map(|capture| (&*capture.path, &*capture.problems[0].slug)).collect();
    assert_eq!(captures, [(&*input.name(), "short-snaplen"), ("lost", "unread")]);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let input = Input::Path(sample("loss-client"));
    let full = scan(&input, &Stop::default(), &mut |_| (), &mut |_| Err(io::Error::other("full")));
    assert!(full.unwrap_err().to_string().contains("cannot be written: full"));
}
