//! Complete, truncated and damaged captures are analysed or rejected with a reason: never a panic,
//! and the figures are consistent. Uses 2,000 damaged copies of the bundled samples
//! (WHYSLOW_MUTATIONS changes that), and 24 of every capture in a collection (next to the
//! repository, or in the folder WHYSLOW_CAPTURES).

use crate::harness::setting;
use crate::meter::peak_during;
use std::path::{Path, PathBuf};
use whyslow_analysis::Analysis;
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::Explainer;

/// Only this many bytes of larger files are used.
const MUTATED: usize = 256 * 1024;
/// Peak memory of the analysis of one file, bytes.
const MAX_MEMORY: usize = 500_000_000;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn explain(bytes: &[u8]) -> Result<Analysis, String> {
    let mut explainer = Explainer::new();
    explainer.begin_capture("input");
    let mut reader = Reader::new();
    reader.push(bytes, &mut explainer).map_err(|error| error.to_string())?;
    let summary = reader.finish(&mut explainer).map_err(|error| error.to_string())?;
    explainer.end_capture(summary);
    Ok(explainer.finish())
}

fn check(analysis: &Analysis) {
    for connection in &analysis.connections {
        assert!(connection.duration_s.0 >= 0);
        for transfer in &connection.transfers {
            let held: i64 = transfer.limits.iter().map(|limit| limit.seconds.0).sum();
            assert_eq!(held, transfer.duration_s.0);
            let shares: f64 = transfer.limits.iter().map(|limit| limit.share).sum();
            assert!(transfer.limits.is_empty() || (shares - 1.0).abs() < 1e-6);
            for finding in transfer.findings.iter().chain(&connection.findings) {
                assert!((0.0..=1.0).contains(&finding.confidence) && finding.cost_s.0 >= 0);
                assert!(finding.evidence.iter().all(|evidence| evidence.value.is_finite()));
            }
        }
    }
}

/// A repeatable sequence of numbers (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Analyses the bytes; returns whether they were read and not rejected.
#[track_caller]
fn holds_together(bytes: &[u8], whose: &Path) -> bool {
    let (outcome, peak) = peak_during(|| explain(bytes));
    assert!(peak < MAX_MEMORY, "{}: {peak} bytes of memory", whose.display());
    match outcome {
        Ok(analysis) => check(&analysis),
        Err(reason) => {
            assert!(reason.len() > 20, "{}: refused without a reason: {reason}", whose.display());
            return false;
        }
    }
    true
}

/// Tests each complete file, and `copies` damaged copies in total: half of them truncated, the
/// others with one byte in 500 changed.
fn over_all(found: &[PathBuf], copies: usize) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut read_of_copies) = (0, 0);
    for (index, path) in found.iter().enumerate() {
        let bytes = std::fs::read(path).unwrap();
        read += usize::from(holds_together(&bytes, path));
        let part = &bytes[..bytes.len().min(MUTATED)];
        for copy in copies * index / found.len()..copies * (index + 1) / found.len() {
            let damaged = if copy % 2 == 0 {
                part[..numbers.below(part.len() + 1)].to_vec()
            } else {
                let mut damaged = part.to_vec();
                for _ in 0..1 + damaged.len() / 500 {
                    let at = numbers.below(damaged.len());
                    if let Some(byte) = damaged.get_mut(at) {
                        *byte = numbers.below(256) as u8;
                    }
                }
                damaged
            };
            read_of_copies += usize::from(holds_together(&damaged, path));
        }
    }
    println!("{read} of {} files read, {read_of_copies} of {copies} damaged copies; the others refused", found.len());
    assert!(read > found.len() / 2 && read_of_copies > copies / 4, "hardly anything was read");
}

#[test]
fn samples_and_damaged_copies_are_consistent() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples"), &mut found);
    found.retain(|path| path.extension().is_some_and(|extension| extension == "pcap"));
    found.sort();
    assert!(found.len() > 60, "{} samples", found.len());
    over_all(
        &found,
        setting("WHYSLOW_MUTATIONS").unwrap_or(if whyslow_testing::soaks() { 2_000 } else { 500 }) as usize,
    );
}

#[test]
fn collected_captures_are_consistent() {
    let Some(folder) = whyslow_testing::captures() else { return };
    let mut found = Vec::new();
    files(&folder, &mut found);
    found.sort();
    let found = whyslow_testing::part_of(found);
    over_all(&found, 24 * found.len());
}
