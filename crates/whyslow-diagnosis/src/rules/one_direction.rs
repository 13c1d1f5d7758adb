//! Only one direction of the connection is in the capture.
//!
//! ## What it is
//! A mirror port or a path that differs by direction shows the data without its ACKs, or the ACKs
//! without the data. The capture then does not show round trips, windows and kinds of
//! retransmission.
//!
//! ## How it is recognised
//! Packets of one end only, though payload was sent.
//!
//! ## What it is confused with
//! A server that does not answer: then there is no payload.
//!
//! ## The fix
//! Capture at one of the two hosts, or mirror both directions.
//!
//! ## References
//! None.

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Problem, ProblemDetail};
use whyslow_core::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::OneDirection, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let is_so = facts.capture_defects.one_direction;
    is_so.then(|| Problem::new(RULE.cause.slug(), 1, ProblemDetail::OneDirection))
}
