//! The opening of the connection is not in the capture.
//!
//! ## What it is
//! Window scale, MSS, SACK and timestamps are negotiated in the SYNs only. Without them the windows
//! in the capture have an unknown unit. A closed window is visible at any scale. Whether an open
//! one was full is visible only if the bytes in flight show its unit: no sender has more in flight
//! than its window, which bounds the unit from below. If the window is then full whenever ACKs
//! come, the bound is taken as the unit.
//!
//! ## How it is recognised
//! No SYN, or only one of the two, or SYNs whose options were cut when they were captured
//! (`short-snaplen`).
//!
//! ## What it is confused with
//! Nothing.
//!
//! ## The fix
//! Start the capture before the connection is opened; restart the client or the pool if it keeps
//! connections.
//!
//! ## References
//! RFC 7323 section 2.

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{MissingHandshake, Problem, ProblemDetail};
use whyslow_core::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::NoHandshake, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let handshake = &facts.handshake;
    if handshake.is_complete() || facts.directions.iter().all(|direction| direction.bytes == 0) {
        return None;
    }
    let seen = handshake.offers.iter().flatten().count();
    let missing = if handshake.unreadable.contains(&true) {
        MissingHandshake::Options
    } else if seen == 0 {
        MissingHandshake::BothSyns
    } else {
        MissingHandshake::OneSyn
    };
    let shift = facts.directions.iter().find_map(|direction| direction.assumed_shift);
    let detail = ProblemDetail::HandshakeIncomplete { missing, window_unit: shift.map(|shift| 1 << shift) };
    Some(Problem::new(RULE.cause.slug(), 2 - seen as u64, detail))
}
