//! Every capture there is, whole and damaged: it is explained without contradicting itself, or
//! refused with a reason.
//!
//! Damage is the same on every run: its place depends on the file's name only.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod altered;
mod commands;
#[path = "../common/mod.rs"]
mod common;

use serde_json::Value;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use whyslow_io::{Input, Stop};
use whyslow_report::render::json;
use whyslow_testing::part_of;

/// Peak of this process. Most of it is this test's own tree of the largest JSON, which has 82 MB.
const MAX_MEMORY: u64 = 1_000 << 20;

/// Every file below a folder, in the order of names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { found.extend(files(&entry)) } else { found.push(entry) }
    }
    found
}

enum Outcome {
    Explained(Value),
    Refused(String),
}

/// Explains a file as the program does.
///
/// # Errors
/// A panic, or an explanation that contradicts itself.
fn explain(path: &Path) -> Result<Outcome, String> {
    let read = || whyslow_io::explain(&[Input::Path(path.to_owned())], &Stop::default(), &mut |_| ());
    match catch_unwind(AssertUnwindSafe(read)).map_err(|_| "a panic".to_owned())? {
        Ok(analysis) => {
            let mut printed = Vec::new();
            json::pretty(&analysis, &mut printed).map_err(|error| error.to_string())?;
            drop(analysis);
            let analysis = serde_json::from_slice(&printed).map_err(|error| error.to_string())?;
            common::consistent(&analysis)?;
            Ok(Outcome::Explained(analysis))
        }
        Err(error) => {
            let message = error.to_string();
            let name = path.display().to_string();
            let reason = message.strip_prefix(&name).unwrap_or_default();
            if reason.len() > 10 { Ok(Outcome::Refused(message)) } else { Err(format!("no reason: {message:?}")) }
        }
    }
}

/// Two tests at once would count each other's memory.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `check` over all captures; reports all returned errors together.
fn over_all(captures: &[PathBuf], mut check: impl FnMut(&Path) -> Result<(), String>) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let wrong: Vec<String> = captures
        .iter()
        .filter_map(|path| check(path).err().map(|error| format!("{}: {error}", path.display())))
        .collect();
    assert!(wrong.is_empty(), "{} of {} captures:\n{}", wrong.len(), captures.len(), wrong.join("\n"));
    if let Some(most) = most_memory() {
        println!("{} captures, at most {} MB in memory", captures.len(), most >> 20);
        assert!(most < MAX_MEMORY, "{most} bytes in memory");
    }
}

/// The most memory that this process has held, bytes; `None` if the system does not report it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[test]
fn every_capture_is_explained_or_refused_with_a_reason() {
    let Some(folder) = whyslow_testing::captures() else { return };
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/whyslow-2.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut refused = 0;
    over_all(&part_of(files(&folder)), |path| match explain(path)? {
        Outcome::Explained(analysis) => match schema.iter_errors(&analysis).next() {
            Some(error) => Err(format!("{}: {error}", error.instance_path())),
            None => Ok(()),
        },
        Outcome::Refused(reason) => {
            println!("{reason}");
            refused += 1;
            Ok(())
        }
    });
    println!("{refused} refused");
}

/// The content of the file, uncompressed.
fn content(path: &Path) -> Vec<u8> {
    let stored = std::fs::read(path).unwrap();
    if !stored.starts_with(&[0x1f, 0x8b]) {
        return stored;
    }
    let mut content = Vec::new();
    flate2::read::MultiGzDecoder::new(&stored[..]).read_to_end(&mut content).unwrap();
    content
}

/// The bundled captures.
fn samples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut all = files(&folder);
    all.retain(|path| path.extension().is_some_and(|end| end == "pcap"));
    all
}

/// Damaged copies: cut short at two places, a few bytes changed in the head, and a few in a
/// thousand anywhere.
fn damaged(path: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let name = path.file_name().unwrap().to_string_lossy();
    let seed = name.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut dice = fastrand::Rng::with_seed(seed);
    let whole = content(path);
    let cut = |dice: &mut fastrand::Rng, bytes: &[u8]| bytes[..dice.usize(..=bytes.len())].to_vec();
    let mut head = whole.clone();
    for _ in 0..4 {
        let reach = head.len().min(200);
        if reach > 0 {
            head[dice.usize(..reach)] = dice.u8(..);
        }
    }
    let mut anywhere = whole.clone();
    for _ in 0..(anywhere.len() / 300).clamp(1, 2_000) {
        if !anywhere.is_empty() {
            let place = dice.usize(..anywhere.len());
            anywhere[place] ^= 1 << dice.u8(..8);
        }
    }
    let mut copies = vec![
        ("cut", cut(&mut dice, &whole)),
        ("cut again", cut(&mut dice, &whole)),
        ("another head", head),
        ("bits flipped", anywhere),
    ];
    let stored = std::fs::read(path).unwrap();
    if stored != whole {
        copies.push(("cut, compressed", cut(&mut dice, &stored)));
    }
    copies
}

#[test]
fn damage_is_counted_and_never_fatal() {
    let Some(folder) = whyslow_testing::captures() else { return };
    let mut all = part_of(files(&folder));
    all.extend(part_of(samples()));
    let scratch = tempfile::tempdir().unwrap();
    over_all(&all, |path| {
        let name = path.to_string_lossy().replace('/', "_");
        damaged(path).into_iter().try_for_each(|(how, bytes)| {
            let copy = scratch.path().join(&name);
            std::fs::write(&copy, bytes).unwrap();
            let outcome = explain(&copy);
            std::fs::remove_file(&copy).unwrap();
            outcome.map(|_| ()).map_err(|error| format!("{how}: {error}"))
        })
    });
}
