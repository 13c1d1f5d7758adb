//! Every capture of a collection (beside the repository, or where WHYSLOW_CAPTURES says), whole, cut short, and with bytes
//! changed: explained or refused, never a panic, and the figures hold together.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use whyslow_core::analysis::Analysis;
use whyslow_core::capture::Reader;
use whyslow_core::explain::Explainer;

/// Larger files are mutated in their first part only.
const MUTATED: usize = 256 * 1024;

fn captures() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let folder = std::env::var_os("WHYSLOW_CAPTURES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no collection of captures at {}", folder.display());
    None
}

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
                assert!((0.0..=1.0).contains(&finding.confidence) && finding.seconds.0 >= 0);
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

#[test]
fn whatever_is_read_holds_together() {
    let Some(folder) = captures() else { return };
    let mut found = Vec::new();
    files(&folder, &mut found);
    found.sort();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for path in &found {
        let bytes = std::fs::read(path).unwrap();
        match explain(&bytes) {
            Ok(analysis) => {
                read += 1;
                check(&analysis);
            }
            Err(reason) => {
                refused += 1;
                assert!(reason.len() > 20, "{}: refused without a reason: {reason}", path.display());
            }
        }
        let part = &bytes[..bytes.len().min(MUTATED)];
        for _ in 0..12 {
            if let Ok(analysis) = explain(&part[..numbers.below(part.len() + 1)]) {
                check(&analysis);
            }
            let mut damaged = part.to_vec();
            for _ in 0..1 + damaged.len() / 500 {
                let at = numbers.below(damaged.len());
                if let Some(byte) = damaged.get_mut(at) {
                    *byte = numbers.below(256) as u8;
                }
            }
            if let Ok(analysis) = explain(&damaged) {
                check(&analysis);
            }
        }
    }
    println!("{} files: {read} read, {refused} refused with a reason", found.len());
    assert!(read > found.len() / 2);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    assert!(peak.is_none_or(|peak| peak < 600_000), "{peak:?} kB of memory at most");
}
