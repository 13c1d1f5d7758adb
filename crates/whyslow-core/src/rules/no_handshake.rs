//! The opening of the connection is not in the capture.
//!
//! ## What it is
//! Window scale, MSS, SACK and timestamps are agreed in the SYNs only. Without them the windows in
//! the capture have an unknown unit. That a window is closed shows at any scale; whether an open
//! one was full, only where what was in flight tells its unit: no sender has more in flight than
//! its window, so that this bounds the unit from below, and where the window is then full whenever
//! ACKs come, the bound is taken for the unit.
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
use super::say::count;
use crate::analysis::Problem;
use crate::cause::Cause;
use crate::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::NoHandshake, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let handshake = &facts.handshake;
    if handshake.is_complete() || facts.directions.iter().all(|direction| direction.bytes == 0) {
        return None;
    }
    let seen = handshake.offers.iter().flatten().count();
    let taken = facts.directions.iter().find_map(|direction| direction.assumed_shift).map(|shift| {
        let unit = count(1 << shift, "byte");
        format!("windows are taken to count in {unit}, which is the least that allows what was in flight, as they were full then again and again")
    });
    let so = taken.unwrap_or_else(|| "nothing is said about full windows".into());
    let detail = if handshake.unreadable.contains(&true) {
        format!("the options of the SYNs are cut or damaged: window scale and MSS are unknown, so {so}")
    } else if seen == 0 {
        format!("the connection was open before the capture began: window scale and MSS are unknown, so {so}")
    } else {
        "only one of the two SYNs was captured: the window scale in force is unknown unless that one lacks the option"
            .into()
    };
    Some(Problem::new(RULE.cause.slug(), 2 - seen as u64, detail))
}
