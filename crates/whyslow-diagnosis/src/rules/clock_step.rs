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
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Problem, ProblemDetail};
use whyslow_core::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::ClockStep, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let back = facts.capture_defects.backwards;
    (back > 0).then(|| Problem::new(RULE.cause.slug(), back, ProblemDetail::TimesGoBack))
}
