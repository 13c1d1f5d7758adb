//! Segments in the capture are larger than the network carries: offload at the capturing host.
//!
//! ## What it is
//! With segmentation offload (TSO, GSO) the sending host gives the network card large pieces,
//! captured before they are cut; with receive offload (GRO, LRO) the receiving host joins packets
//! before they are captured. Sizes and the spacing of single packets differ from those on the wire.
//! The connection itself is fine.
//!
//! ## How it is recognised
//! Payload larger than the MSS of the handshake (or than 1,460 bytes without one).
//!
//! ## What it is confused with
//! Jumbo frames: there the MSS of the handshake is large as well.
//!
//! ## The fix
//! None needed. To see single packets, `ethtool -K DEV tso off gso off gro off` while capturing.
//!
//! ## References
//! Linux networking/segmentation-offloads.

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Problem, ProblemDetail};
use whyslow_core::tcp::facts::Facts;

pub(super) const RULE: Rule = Rule::new(Cause::Offload, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    let large = facts.capture_defects.larger_than_mss;
    (large > 0).then(|| Problem::new(RULE.cause.slug(), large, ProblemDetail::LargerThanMss))
}
