//! Packets were cut when they were captured.
//!
//! ## What it is
//! With a snapshot length (`tcpdump -s 96`) only the first bytes of each packet are kept. That is
//! enough for the analysis of TCP, whose headers are whole, but names, TLS records and HTTP heads
//! may be missing, and checksums cannot be checked. Below about 74 bytes TCP options are cut too,
//! and with them SACK and timestamps.
//!
//! ## How it is recognised
//! The captured length is less than the original one.
//!
//! ## What it is confused with
//! Nothing.
//!
//! ## The fix
//! `tcpdump -s 0`, or 128 and more to keep all headers and the first line of a request.
//!
//! ## References
//! pcap-savefile(5).

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;

pub(super) const RULE: Rule = Rule::new(Cause::ShortSnaplen, Check::Reader);
