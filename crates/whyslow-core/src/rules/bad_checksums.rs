//! Checksums are wrong throughout, and say nothing: the packets were rewritten, or captured
//! unfinished.
//!
//! ## What it is
//! A TCP checksum covers the segment and the addresses around it. Whoever rewrites addresses or
//! payload in a capture, to show it to others, often leaves the sums as they were; a host that
//! captures its own packets may see them before the network card has finished the sums. Such
//! segments arrived all the same, and are used like all others. (What was really damaged on the way
//! is told of its connection, as `bad-checksum`: a wrong sum where the other sums of that side are
//! right, of a segment that nobody answered.)
//!
//! ## How it is recognised
//! By the segments without payload, which are summed up: fewer than four of a side's sums are right
//! for each wrong one, or all of a connection's are off by the same amount, as rewriting addresses
//! alike makes them.
//!
//! ## What it is confused with
//! - `random-loss` by damage on a link: there few sums are wrong, and what they belong to is sent
//!   again.
//!
//! ## The fix
//! None is needed. Tools that drop such packets are told not to:
//! `tshark -o tcp.check_checksum:FALSE`. Who rewrites captures can let the tool mend the sums
//! (`tcprewrite --fixcsum`); `ethtool -K DEV tx-checksumming off` finishes them before the capture.
//!
//! ## References
//! RFC 9293 section 3.1, RFC 1071; Wireshark User's Guide section 7.10 (checksums, and offloading).

use super::rule::{Check, Rule};
use crate::cause::Cause;

pub(super) const RULE: Rule = Rule::new(Cause::BadChecksums, Check::Reader);
