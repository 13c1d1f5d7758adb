//! A text capture with packets left out.
//!
//! ## What it is
//! In an article or a ticket the dull part of a capture is often cut. What is left still tells the bytes (ACKs cover them)
//! and most of the times, but not every round.
//!
//! ## How it is recognised
//! A text capture in which ACKs, or later segments, cover bytes that were never shown; lines of dots count too.
//!
//! ## What it is confused with
//! `capture-loss`: the same in a binary capture.
//!
//! ## The fix
//! Ask for the whole text, or better for the capture file (`tcpdump -w`).
//!
//! ## References
//! None.

use super::say::thousands;
use super::{Check, Rule};
use crate::analysis::Problem;
use crate::tcp::facts::Facts;

pub(super) const RULE: Rule =
    Rule { slug: "elided-text", source: include_str!("elided_text.rs"), check: Check::Capture(check) };

fn check(facts: &Facts) -> Option<Problem> {
    let doubts = &facts.doubts;
    if doubts.unseen_bytes == 0 || !facts.is_text {
        return None;
    }
    Some(Problem {
        slug: RULE.slug.into(),
        count: doubts.unseen_stretches,
        detail: format!(
            "packets with {} B are not in the text, though later ones show that they were sent: bytes are counted, rounds may be missing",
            thousands(doubts.unseen_bytes),
        ),
    })
}
