//! Names that steer a terminal, turn the reading order round or cannot be seen: of hosts, and of
//! files.

use crate::{Folder, pcap, whyslow};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Characters that a name block, or a file's name, may contain. No `/`: it would be a folder.
const HOSTILE: &str = "x\u{202e}fdp.exe\u{1b}[2J\u{9b}31m\u{200b}\u{2067}\u{feff}\u{7f}&#8238;";
/// The same as it is shown.
const SHOWN: &str = r"x\u{202e}fdp.exe\u{1b}[2J\u{9b}31m\u{200b}\u{2067}\u{feff}\u{7f}&#8238;";

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// pcapng (draft-ietf-opsawg-pcapng) of two downloads, with a name block that names both ends.
fn capture() -> Vec<u8> {
    let mut out = block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    out.extend(block(1, &[1, 0, 0, 0, 0, 0, 4, 0]));
    let mut names = Vec::new();
    for address in [[192, 0, 2, 7], [198, 51, 100, 1]] {
        let mut record = [&address[..], HOSTILE.as_bytes(), &[0]].concat();
        names.extend([1, 0]);
        names.extend((record.len() as u16).to_le_bytes());
        record.resize(record.len().next_multiple_of(4), 0);
        names.extend(record);
    }
    names.extend([0; 4]);
    out.extend(block(4, &names));
    let start = 1_700_000_000_000_000;
    for packet in pcap::merged([pcap::slow_on(40_000, start), pcap::slow_on(40_001, start + 2_000_000)]) {
        let length = (packet.bytes.len() as u32).to_le_bytes();
        let time = [(packet.time >> 32) as u32, packet.time as u32].map(u32::to_le_bytes).concat();
        out.extend(block(6, &[&[0; 4][..], &time, &length, &length, &packet.bytes].concat()));
    }
    out
}

/// Text that is shown: nothing hidden in it but line feeds, and the name is there.
#[track_caller]
fn is_shown(what: &str, bytes: &[u8], shown: &str) {
    let text = std::str::from_utf8(bytes).unwrap();
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    assert!(!text.contains(hidden), "{what}: {text:?}");
    assert!(text.contains(shown), "{what}: no {shown} in {text}");
}

fn run(args: &[&str], file: &Path) -> (Vec<u8>, Vec<u8>) {
    let output = whyslow().args(args).arg(file).assert().code(0).get_output().clone();
    (output.stdout, output.stderr)
}

fn put(folder: &Folder) -> PathBuf {
    folder.put(format!("{HOSTILE}.pcapng"), &capture())
}

#[test]
fn names_are_shown_and_steer_nothing() {
    let folder = Folder::new();
    let file = put(&folder);
    is_shown("terminal", &run(&["--color", "never"], &file).0, SHOWN);
    let markdown = run(&["export", "--markdown"], &file).0;
    // What is code stands as it is; elsewhere a backslash, and what would be an entity, are
    // escaped.
    is_shown("markdown", &markdown, &format!("`{SHOWN}.pcapng`"));
    is_shown("markdown", &markdown, r"x\\u{202e}fdp.exe\\u{1b}\[2J");
    is_shown("markdown", &markdown, r"&amp;\#8238;:80");
    is_shown("svg", &run(&["export", "--svg"], &file).0, &SHOWN.replace('&', "&amp;"));
    let csv = String::from_utf8(run(&["export", "--csv"], &file).0).unwrap();
    assert!(csv.is_ascii() && !csv.contains("fdp"), "a table of packets has no names");
    let graphs = folder.0.path().join("graphs");
    let output =
        whyslow().args(["export", "--xplot", "-o"]).args([&graphs, &file]).assert().code(0).get_output().clone();
    is_shown("stderr", &output.stderr, &format!("{SHOWN}.pcapng.1.c2s_tsg.xpl"));
    for entry in fs::read_dir(&graphs).unwrap() {
        let path = entry.unwrap().path();
        is_shown("xplot", &fs::read(&path).unwrap(), &format!("title\n{SHOWN}:40000 to {SHOWN}:80 ("));
    }
}

#[test]
fn json_can_be_printed_and_its_path_opens_the_file() {
    let folder = Folder::new();
    let file = put(&folder);
    let escaped = SHOWN.replace('\\', r"\\");
    for args in [&["--json"][..], &["--jsonl"]] {
        let out = run(args, &file).0;
        is_shown("json", &out, &escaped);
        let text = String::from_utf8(out).unwrap();
        let captures: Vec<Value> = match args {
            ["--json"] => serde_json::from_str::<Value>(&text).unwrap()["captures"].as_array().unwrap().clone(),
            _ => text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["capture"].clone()).collect(),
        };
        assert_eq!(captures[0]["path"], file.to_str().unwrap());
        assert!(Path::new(captures[0]["path"].as_str().unwrap()).exists());
    }
    let one = format!("{}#1", file.display());
    let two = format!("{}#2", file.display());
    let output = whyslow().args(["compare", &one, &two, "--json"]).assert().code(0).get_output().stdout.clone();
    is_shown("compare --json", &output, &escaped);
    let both: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(both["transfers"][0]["path"], file.to_str().unwrap());
    assert_eq!(both["transfers"][0]["ends"][1], format!("{SHOWN}:80"));
    let output =
        whyslow().args(["compare", &one, &two, "--color", "never"]).assert().code(0).get_output().stdout.clone();
    is_shown("compare", &output, SHOWN);
}

#[test]
fn messages_about_a_file_have_no_control_characters() {
    let folder = Folder::new();
    let missing = folder.0.path().join(HOSTILE);
    let output = folder.0.path().join(HOSTILE).join("out");
    let empty = folder.put(format!("{HOSTILE}.empty"), b"");
    let file = put(&folder);
    let cases: [&[&Path]; 6] = [
        &[&missing],
        &[&empty],
        &["export".as_ref(), &missing, "--csv".as_ref()],
        &["export".as_ref(), &file, "--csv".as_ref(), "-o".as_ref(), &output],
        &["export".as_ref(), &file, "--csv".as_ref(), "-o".as_ref(), &file],
        &["lab".as_ref(), "run".as_ref(), &missing],
    ];
    for args in cases {
        // As on a terminal, where nothing is left out.
        let command = &mut whyslow();
        let output = command.env("CLICOLOR_FORCE", "1").args(args).assert().code(2).stdout("").get_output().clone();
        is_shown("stderr", &output.stderr, SHOWN);
    }
}
