//! `whyslow export` of tables: its output, the output's place, and its errors.

use crate::{Folder, complaint, json, json_with_words, whyslow};
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
    let words = json_with_words(&PathBuf::from(&file))["words"]["en"]["verdicts"].clone();
    assert_eq!(words.as_array().unwrap().len(), transfers.len());
    for (row, sentence) in (1..).zip(words.as_array().unwrap()) {
        assert_eq!(cell(row, "verdict"), sentence.as_str().unwrap());
    }
    for (row, transfer) in (1..).zip(transfers) {
        assert_eq!(cell(row, "bytes"), transfer["bytes"].to_string());
        assert_eq!(cell(row, "duration_s").parse::<f64>().unwrap(), transfer["duration_s"].as_f64().unwrap());
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

/// Each packet of each connection has the figures that `--csv` gives of it.
#[test]
fn packets_are_those_that_csv_gives_of_each_connection() {
    let file = sample("shared-bottleneck-server");
    let rows = rows(&[&file, "--tsv", "--of", "packets"]);
    let place = |name: &str| rows[0].iter().position(|title| title == name).unwrap();
    let connections = json(&[PathBuf::from(&file)])["connections"].as_array().unwrap().len();
    assert!(connections > 1);
    let mut left = rows[1..].iter();
    for connection in 1..=connections {
        let id = connection.to_string();
        let csv = String::from_utf8(exported(&[&file, "--csv", "--connection", &id])).unwrap();
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let titles = lines.next().unwrap();
        for (number, line) in lines.enumerate() {
            let row = left.next().unwrap();
            assert_eq!((&row[place("connection")], &row[place("packet_file")]), (&id, &file));
            for (title, cell) in titles.iter().zip(line) {
                let own = &row[place(title)];
                match *title {
                    "delta_s" if number == 0 => assert_eq!(own, ""),
                    "time_s" | "delta_s" => {
                        assert_eq!(format!("{:.9}", own.parse::<f64>().unwrap()), cell, "{title}");
                    }
                    _ => assert_eq!(own, cell, "{title} of frame {}", line_frame(&csv, number)),
                }
            }
        }
    }
    assert_eq!(left.next(), None);
}

fn line_frame(csv: &str, number: usize) -> &str {
    csv.lines().nth(number + 1).and_then(|line| line.split(',').next()).unwrap_or_default()
}

/// They are read twice: a pipe is kept.
#[test]
fn packets_come_through_a_pipe_too() {
    let file = sample("loss-client");
    let direct = exported(&[&file, "--tsv", "--of", "packets"]);
    let piped = whyslow()
        .args(["export", "-", "--tsv", "--of", "packets"])
        .pipe_stdin(&file)
        .unwrap()
        .assert()
        .code(0)
        .get_output()
        .stdout
        .clone();
    let named = String::from_utf8(direct).unwrap().replace(&file, "-");
    assert_eq!(String::from_utf8(piped).unwrap(), named);
}

/// The JSON lists 10,000 connections; the tables have them all.
#[test]
fn every_connection_has_a_row() {
    let folder = Folder::new();
    let path = folder.0.path().join("many.pcap");
    let count = 10_250_u32;
    let mut file: Vec<u8> =
        [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 96, 101].iter().flat_map(|word| word.to_le_bytes()).collect();
    for place in 0..count {
        [1_600_000_000 + place / 1000, place % 1000 * 1000, 40, 40].iter().for_each(|w| file.extend(w.to_le_bytes()));
        file.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, (place >> 8) as u8, place as u8, 10, 9, 9, 9]);
        file.extend([0x9c, 0x40, 1, 0xbb, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
    }
    fs::write(&path, file).unwrap();
    let file = path.to_str().unwrap();
    let of = |table: &str, name: &str| -> Vec<String> {
        let rows = rows(&[file, "--tsv", "--of", table]);
        let place = rows[0].iter().position(|title| title == name).unwrap();
        rows[1..].iter().map(|row| row[place].clone()).collect()
    };
    assert_eq!(of("connections", "connection"), (1..=count).map(|id| id.to_string()).collect::<Vec<_>>());
    assert_eq!(of("files", "connections"), [count.to_string()]);
    assert!(of("problems", "problem").contains(&"connections-not-listed".to_owned()));
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
    assert!(refused(&["--tsv", "--of", "cookies"]).contains("possible values"));
    assert!(refused(&["--svg", "--of", "packets"]).contains("--of packets is for tables"));
}
