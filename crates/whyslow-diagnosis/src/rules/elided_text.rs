//! A text capture with packets left out.
//!
//! ## What it is
//! Articles and tickets often cut the uninteresting part of a capture. The rest still shows the
//! bytes (ACKs cover them) and most of the times, but not every round.
//!
//! ## How it is recognised
//! A text capture in which ACKs, or later segments, cover bytes that were never shown; in which a
//! segment echoes a timestamp (RFC 7323) that no segment of the other side in the text has; or with
//! lines of dots, `[snip]`, or missing numbers (`tcpdump -#`). No rounds, late ACKs or pauses are
//! concluded across such a gap; bytes, whole times and everything before it are reported.
//!
//! ## What it is confused with
//! `capture-loss`: the same in a binary capture.
//!
//! ## The fix
//! Ask for the whole text, or better for the capture file (`tcpdump -w`).
//!
//! ## References
//! None.

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Problem, ProblemDetail};
use whyslow_core::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::ElidedText, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let (places, bytes) = (facts.elided.len() as u64, facts.capture_defects.unseen_bytes);
    (places > 0).then(|| Problem::new(RULE.cause.slug(), places, ProblemDetail::LeftOutOfText { bytes }))
}
