//! Hostile text for the readers of other tools' output: never a panic, a hang, or more memory than
//! the input explains. Settings: `crates/whyslow-diagnosis/tests/fuzz/README.md`.
#![allow(clippy::unwrap_used)]

#[path = "../../../whyslow-diagnosis/tests/fuzz/harness.rs"]
mod harness;
#[path = "../../../whyslow-diagnosis/tests/fuzz/meter.rs"]
mod meter;
#[path = "../../../whyslow-diagnosis/tests/fuzz/mutate.rs"]
mod mutate;
#[path = "lines.rs"]
mod packets;
mod seeds;

use harness::{fuzz, kind_of};
use meter::peak_during;
use std::time::{Duration, Instant};
use whyslow_evidence::{Report, is_evidence, read};

/// Bytes of memory for each byte of the input, and in any case: a word of `ss` becomes an entry of
/// a map, a line of strace a call.
const MEMORY: usize = 400;
const LEAST: usize = 4 << 20;
/// Time for each byte of the input, and in any case: builds without optimisation take 100 times as
/// long as the program that is delivered.
const TIME: Duration = Duration::from_micros(40);
const PATIENCE: Duration = Duration::from_secs(5);

fn check(report: &Report) -> u64 {
    let mut kinds = Vec::new();
    for subject in &report.subjects {
        let findings = &subject.findings;
        for finding in findings {
            assert!((0.0..=1.0).contains(&finding.confidence), "{finding:?}");
            assert!(finding.cost_s.is_none_or(|cost| cost.is_finite() && cost >= 0.0), "{finding:?}");
            assert!(finding.evidence.iter().all(|figure| figure.value.is_finite()), "{finding:?}");
        }
        assert!(subject.figures.iter().all(|figure| figure.value.is_finite()), "{subject:?}");
        assert!(!findings.is_empty() || !subject.gaps.is_empty(), "a verdict without its limits: {subject:?}");
        kinds.push((
            subject.source.slug(),
            findings.iter().map(|finding| finding.cause.map(|cause| cause.slug())).collect::<Vec<_>>(),
        ));
    }
    kinds.sort();
    kinds.dedup();
    kinds.truncate(8);
    kind_of(&kinds)
}

fn target(input: &[u8]) -> u64 {
    let since = Instant::now();
    let ((found, report), peak) = peak_during(|| (is_evidence(input), read(&[("input", input), ("other", b"")])));
    let allowed = LEAST + MEMORY * input.len();
    assert!(peak <= allowed, "{peak} bytes of memory for an input of {}", input.len());
    let took = since.elapsed();
    assert!(took <= PATIENCE + TIME * input.len() as u32, "{took:?} for an input of {}", input.len());
    // A listing of packets is left to the reader of captures.
    assert!(!found || report.is_some(), "recognised, and not read");
    report.as_ref().map_or(0, check)
}

#[test]
fn evidence() {
    fuzz("evidence", seeds::all(), target);
}

/// Each seed many times over: time and memory grow with the input, and no faster.
#[test]
fn long_inputs_take_time_in_proportion() {
    for seed in seeds::all() {
        let long: Vec<u8> = seed.iter().copied().cycle().take(400_000).collect();
        target(&long);
    }
}
