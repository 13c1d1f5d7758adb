//! The opening of the connection is not in the capture.
//!
//! ## What it is
//! Window scale, MSS, SACK and timestamps are agreed in the SYNs only. Without them the windows in the capture have an unknown
//! unit, and whether the receive window was full cannot be said.
//!
//! ## How it is recognised
//! No SYN, or only one of the two, or SYNs whose options were cut when they were captured (`short-snaplen`).
//!
//! ## What it is confused with
//! Nothing.
//!
//! ## The fix
//! Start the capture before the connection is opened; restart the client or the pool if it keeps connections.
//!
//! ## References
//! RFC 7323 section 2.

use super::{Check, Rule};
use crate::analysis::Problem;
use crate::tcp::facts::Facts;

pub(super) const RULE: Rule =
    Rule { slug: "no-handshake", source: include_str!("no_handshake.rs"), check: Check::Capture(check) };

fn check(facts: &Facts) -> Option<Problem> {
    let handshake = &facts.handshake;
    if handshake.is_complete() || facts.halves.iter().all(|half| half.bytes == 0) {
        return None;
    }
    let seen = handshake.offers.iter().flatten().count();
    Some(Problem {
        slug: RULE.slug.into(),
        count: 2 - seen as u64,
        detail: if handshake.unreadable.contains(&true) {
            "the options of the SYNs are cut or damaged: window scale and MSS are unknown, so nothing is said about full windows".into()
        } else if seen == 0 {
            "the connection was open before the capture began: window scale and MSS are unknown, so nothing is said about full windows".into()
        } else {
            "only one of the two SYNs was captured: the window scale in force is unknown unless that one lacks the option".into()
        },
    })
}
