//! Checksums are wrong throughout and are not evidence of damage: the packets were rewritten, or
//! captured before the network card had finished them.
//!
//! ## What it is
//! A TCP checksum covers the segment and the addresses around it. Tools that rewrite addresses or
//! payload in a capture often leave the checksums as they were; a host that captures its own
//! packets may see them before the network card has written the checksums. Such segments arrived
//! all the same, and the analysis uses them. (Real damage on the way is a finding of its
//! connection, `bad-checksum`: a wrong checksum, where the other checksums of that side are right,
//! in a segment that was not acknowledged.)
//!
//! ## How it is recognised
//! By the segments without payload, which are summed up: fewer than four of a side's sums are right
//! for each wrong one, or all of a connection's are off by the same amount, as rewriting addresses
//! alike makes them.
//!
//! ## What it is confused with
//! - `random-loss` by damage on a link: there few checksums are wrong, and their segments are
//!   retransmitted.
//!
//! ## The fix
//! None is needed. Tools that drop such packets can be configured not to: `tshark -o
//! tcp.check_checksum:FALSE`. A tool that rewrites captures can correct the checksums (`tcprewrite
//! --fixcsum`); `ethtool -K DEV tx-checksumming off` computes them before the capture.
//!
//! ## References
//! RFC 9293 section 3.1, RFC 1071; Wireshark User's Guide section 7.10 (checksums, and offloading).

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;

pub(super) const RULE: Rule = Rule::new(Cause::BadChecksums, Check::Reader);
