//! Time goes backwards, or jumps, in the capture.
//!
//! ## What it is
//! The capturing host set its clock while it captured, or several queues were noted out of order.
//! Every time difference over such a step is false, so all findings of the connection are less
//! sure.
//!
//! ## How it is recognised
//! Packets whose time is before that of the packet in front of them.
//!
//! ## What it is confused with
//! Files joined in the wrong order.
//!
//! ## The fix
//! `reordercap` for packets out of order; let NTP slew the clock and not step it.
//!
//! ## References
//! None.

use super::rule::{Check, Rule};
use super::say::count;
use crate::analysis::Problem;
use crate::cause::Cause;
use crate::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::ClockStep, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let back = facts.capture_defects.backwards;
    let packets = count(back, "packet");
    let detail = format!(
        "{packets} older than the one before; taken to be as late as that, and not used to measure round trips; findings are less sure"
    );
    (back > 0).then(|| Problem::new(RULE.cause.slug(), back, detail))
}
