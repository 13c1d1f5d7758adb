//! Packets arrive damaged: their TCP checksum is wrong, and they are dropped.
//!
//! ## What it is
//! A segment whose checksum does not fit is dropped without a word, and the sender must find out.
//! Links have sums of their own, so this is memory or a device on the path that damages what it
//! copies, or an offload that computes wrongly.
//!
//! ## How it is recognised
//! `Tcp.InCsumErrors` is one in 10,000 of `Tcp.InSegs` or more, ten at least. At that rate and
//! 100 ms a sender is held to about 14 Mbit/s (Mathis et al.).
//!
//! ## What it is confused with
//! - `bad-checksums` of captures: sums that were never finished, of packets that were good.
//!
//! ## The fix
//! See which device counts errors (`ethtool -S`), switch its checksum offload off to see whether it
//! is that, and replace what damages.
//!
//! ## To see that it worked
//! `nstat -az TcpInCsumErrors` does not rise.
//!
//! ## References
//! RFC 9293 section 3.1; Stone and Partridge, "When the CRC and TCP Checksum Disagree", 2000.

use super::counted::{Counted, DROPPED, part, passes, when};
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Who};
use crate::host::look::Look;
use whyslow_report::text::units;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let names = ("Tcp.InCsumErrors", "Tcp.InSegs");
    let Some(share) = passes(look, names, DROPPED) else { return Vec::new() };
    let summary = format!(
        "{} arrived damaged {}, {} of all, and were dropped",
        units::count(share.count, "segment"),
        when(share),
        part(share.value())
    );
    let fix = Fix {
        who: Who::Network,
        what: "find what damages packets: the counters of each device, then the path".to_owned(),
        command: Some(look.command("ip -s -s link")),
        verify: "`nstat -az TcpInCsumErrors` does not rise".to_owned(),
    };
    let names = (names.0.to_owned(), names.1);
    vec![
        Counted { cause: HostCause::ChecksumErrors, names, share, confidence: 0.9, summary, fix }
            .into_finding(look, None),
    ]
}
