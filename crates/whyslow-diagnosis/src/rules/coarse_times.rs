//! A capture with times in whole seconds, from which nothing can be concluded.
//!
//! ## What it is
//! tcpdump prints microseconds. If it ran with `-t` (no times) and syslog, journald or a container
//! runtime took its lines, the only time left is the log's. That is often cut to seconds, and it is
//! the time at which the line was logged, not at which the packet passed. Round trips, pauses and
//! rates are thousands of times shorter. The report has bytes, windows and retransmissions, but no
//! times.
//!
//! ## How it is recognised
//! In text the first packet's time has no fraction of a second, and tcpdump's own time is nowhere
//! in the line. In a file no packet of twenty or more, over a second or more, has a fraction of a
//! millisecond or longer: a converter cut the times.
//!
//! ## What it is confused with
//! - `log-times`: the log's times have fractions. They are used, and may be late by as long as
//!   lines wait to be written.
//! - `unclear-times`: a few packets whose times may count from the first one (`-ttttt`) or each
//!   from the one before (`-ttt`).
//! - `no-times`: there are none (`-t`).
//!
//! ## The fix
//! Let tcpdump print its own time: leave `-t` out, or take `-tttt`. It goes before the log's.
//! Better, ask for the capture file (`tcpdump -w`).
//!
//! ## References
//! tcpdump(1); RFC 3164 section 4.1.2 (syslog's time); journalctl(1), `--output=short-precise`.

use super::rule::{Check, Rule};
use whyslow_analysis::cause::Cause;

pub(super) const RULE: Rule = Rule::new(Cause::CoarseTimes, Check::Reader);
