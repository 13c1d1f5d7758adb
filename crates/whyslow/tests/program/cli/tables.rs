//! `whyslow export` of tables: what it writes, where, and what it refuses.

use crate::{Folder, complaint, json, whyslow};
use std::fs;
use std::path::PathBuf;

fn sample(name: &str) -> String {
    format!("{}/../../samples/{name}.pcap", env!("CARGO_MANIFEST_DIR"))
}

fn exported(args: &[&str]) -> Vec<u8> {
    whyslow().arg("export").args(args).assert().code(0).stderr("").get_output().stdout.clone()
}

/// Lines of cells, the names first.
fn rows(args: &[&str]) -> Vec<Vec<String>> {
    let text = String::from_utf8(exported(args)).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn lines_have_the_figures_of_the_json() {
    let file = sample("loss-client");
    let document = json(&[PathBuf::from(&file)]);
    let transfers = document["connections"][0]["transfers"].as_array().unwrap();
    let rows = rows(&[&file, "--tsv"]);
    let cell = |row: usize, name: &str| {
        let place = rows[0].iter().position(|title| title == name).unwrap();
        rows[row][place].clone()
    };
    assert_eq!(rows.len(), 1 + transfers.len());
    for (row, transfer) in (1..).zip(transfers) {
        assert_eq!(cell(row, "bytes"), transfer["bytes"].to_string());
        assert_eq!(cell(row, "duration_s").parse::<f64>().unwrap(), transfer["duration_s"].as_f64().unwrap());
        assert_eq!(cell(row, "verdict"), transfer["verdict"].as_str().unwrap());
        let cause = transfer["findings"].get(0).map_or("", |finding| finding["cause"].as_str().unwrap());
        assert_eq!(cell(row, "cause"), cause);
    }
    assert_eq!(cell(1, "first_frame"), "1");
    assert_eq!(cell(1, "start").len(), "2026-11-21T02:56:03.508655000Z".len());
}

#[test]
fn captures_of_two_places_have_frames_of_their_own_files() {
    let files = [sample("loss-client"), sample("loss-server")];
    let rows = rows(&[&files[0], &files[1], "--tsv", "--of", "findings"]);
    let place = |name: &str| rows[0].iter().position(|title| title == name).unwrap();
    for row in &rows[1..] {
        let file = files.iter().position(|file| *file == row[place("file")]).unwrap().to_string();
        assert!(!row[place("frames")].is_empty());
        assert!(row[place("frame_files")].split(',').all(|of| of == file), "{row:?}");
    }
    let named: Vec<_> = rows[1..].iter().map(|row| &row[place("file")]).collect();
    assert!(files.iter().all(|file| named.contains(&file)), "both have findings");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_a_folder_or_a_file_and_all_of_it_or_nothing() {
    let folder = Folder::new();
    let (file, at) = (sample("loss-client"), folder.0.path().join("new/day"));
    let is_parquet = |path: PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")
    };
    assert_eq!(exported(&[&file, "--parquet", at.to_str().unwrap()]), b"");
    for table in ["connections", "transfers", "findings", "files", "problems"] {
        assert!(is_parquet(at.join(format!("{table}.parquet"))), "{table}");
    }
    assert_eq!(fs::read_dir(&at).unwrap().count(), 5);
    let one = folder.0.path().join("rounds.parquet");
    exported(&[&file, "--parquet", one.to_str().unwrap(), "--of", "rounds"]);
    let first = fs::read(&one).unwrap();
    assert!(is_parquet(one.clone()));
    exported(&[&file, "--parquet", one.to_str().unwrap(), "--of", "rounds"]);
    assert_eq!(fs::read(&one).unwrap(), first, "equal captures give equal files");

    let missing = folder.0.path().join("other/day");
    complaint(whyslow().args(["export", "no-such.pcap", "--parquet", missing.to_str().unwrap()]));
    assert!(!missing.exists());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let file = sample("loss-client");
    let refused = |args: &[&str]| complaint(whyslow().arg("export").arg(&file).args(args));
    assert!(refused(&["--tsv", "--of", "client"]).contains("--of names a table here"));
    assert!(refused(&["--svg", "--of", "rounds"]).contains("--of rounds is for tables"));
    assert!(refused(&["--tsv", "--connection", "1"]).contains("tables hold all connections"));
    assert!(refused(&["--tsv", "--of", "packets"]).contains("possible values"));
}
