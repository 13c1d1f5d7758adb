//! Findings from the output of other tools, without packets.
//!
//! ```text
//!   bytes ─▶ text ─▶ ss, counters, iperf, curl, path ─▶ Subject ─▶ Report
//! ```
//!
//! Bytes in, data out: no file, socket, clock or environment, and no sentence. Each format is a
//! module that implements `Evidence`, recognises its text by content, and is a line in `KINDS`. A
//! text may hold several.
//! A fact that a source cannot show is a [`Limitation`]. An [`Answer`] is a kernel's account of a
//! capture's finding.
#![forbid(unsafe_code)]

mod answers;
mod counters;
mod curl;
mod curl_trace;
mod ethtool;
mod evidence;
mod har;
mod iperf;
mod json;
mod limits;
mod ndt;
mod netperf;
mod path;
mod report;
mod ss;
mod strace;
mod text;

pub use answers::{Answer, MatchedBy, Outcome, Reading, answers};
pub use limits::{
    DROPPED, ENOUGH, FEW, HELD_LEAST_US, HELD_SHARE, LOSSY, QUEUE_GROWTH_S, QUEUE_SEGMENTS, TIMEOUTS, in_queue,
};
pub use report::*;
pub use text::Text;

use evidence::Evidence;

/// Maximum bytes of one text that are read: a log of `ss` every second for an hour is smaller.
pub const MAX_BYTES: usize = 64 << 20;
/// Maximum number of subjects of one source.
const MAX_SUBJECTS: usize = 10_000;

/// Every kind of output; subjects that matter equally are in this order.
const KINDS: &[&dyn Evidence] = &[
    &ss::Ss,
    &ndt::Ndt,
    &counters::Counters,
    &ethtool::Ethtool,
    &iperf::Iperf,
    &netperf::Netperf,
    &curl::Curl,
    &curl_trace::CurlTrace,
    &har::Har,
    &strace::Strace,
    &path::Path,
];

/// Reads texts with their names. Returns `None` if none of them is evidence of a known kind.
pub fn read(inputs: &[(&str, &[u8])]) -> Option<Report> {
    let mut report = Report::default();
    for (index, (name, bytes)) in inputs.iter().enumerate() {
        let clean = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
        let clean = text::clean(&clean);
        let text = Text::new(&clean);
        let mut found: Vec<Subject> = KINDS.iter().flat_map(|kind| kind.read(&text)).collect();
        found.truncate(MAX_SUBJECTS);
        found.iter_mut().for_each(|subject| subject.input = index);
        report.inputs.push(Input { name: (*name).to_owned(), sources: sources(&found) });
        report.subjects.append(&mut found);
    }
    if report.subjects.is_empty() {
        return None;
    }
    KINDS.iter().for_each(|kind| kind.complete(&mut report.subjects));
    for subject in &mut report.subjects {
        let kind = KINDS.iter().find(|kind| kind.sources().contains(&subject.source));
        subject.conclude(kind.map_or(&[], |kind| kind.cannot_show()));
    }
    // The one with the longest wait, or the surest, first; the sort is stable.
    report.subjects.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    Some(report)
}

/// Whether a text is evidence and not a listing of packets.
pub fn is_evidence(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
    if head.contains('\0') {
        return false;
    }
    let is_packets = |line: &str| line.contains("Flags [") || (line.contains("Seq=") && line.contains("Win="));
    if head.lines().any(is_packets) {
        return false;
    }
    let clean = text::clean(&head);
    let text = Text::new(&clean);
    KINDS.iter().any(|kind| !kind.read(&text).is_empty())
}

fn sources(subjects: &[Subject]) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for subject in subjects {
        if !sources.contains(&subject.source) {
            sources.push(subject.source);
        }
    }
    sources
}

#[cfg(test)]
mod tests;
