//! An ACK covers bytes that are not in the capture: the capture lost packets, not the network.
//!
//! ## What it is
//! A capturing host that cannot keep up, or a mirror port that is too slow, leaves packets out.
//! Analysis that takes them for lost on the path blames the network for nothing.
//!
//! ## How it is recognised
//! The receiver acknowledged bytes that were never captured. A packet that was lost on the path is
//! never acknowledged before it is retransmitted.
//!
//! ## What it is confused with
//! `loss`: there the bytes come again. `elided-text`: packets left out of a pasted text.
//!
//! ## The fix
//! Capture less of each packet (`tcpdump -s 96`), give the capture a larger buffer (`-B 65536`),
//! write to a fast disk, filter by host; look at the number "dropped by kernel" when tcpdump ends.
//!
//! ## References
//! Paxson, "Automated Packet Trace Analysis of TCP Implementations", 1997.

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Problem, ProblemDetail};
use whyslow_core::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::CaptureLoss, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let defects = &facts.capture_defects;
    if defects.unseen_bytes == 0 || facts.is_text || defects.one_direction {
        return None;
    }
    let first = defects.first_unseen.unwrap_or_default();
    let detail = ProblemDetail::BytesNotCaptured { bytes: defects.unseen_bytes, first };
    Some(Problem::new(RULE.cause.slug(), defects.unseen_stretches, detail))
}
