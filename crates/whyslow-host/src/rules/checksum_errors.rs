//! Packets arrive damaged: their TCP checksum is wrong, and they are dropped.
//!
//! ## What it is
//! A segment with a wrong checksum is dropped silently, and the sender must detect the loss. Links
//! have checksums of their own, so the cause is memory or a device on the path that damages data
//! while copying, or an offload that computes wrongly.
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

use super::counted::{DROPPED, by_counter, passes};
use crate::finding::{Finding, HostAction, HostCause, HostCheck, HostStatement, Who, fix};
use crate::snapshot::Snapshot;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let names = ("Tcp.InCsumErrors", "Tcp.InSegs");
    let Some(share) = passes(snapshot, names, DROPPED) else { return Vec::new() };
    let statement = HostStatement::DamagedSegments { segments: share.counted() };
    vec![Finding {
        remedies: vec![fix(Who::Network, HostAction::FindDamage, Some(snapshot.command("ip -s -s link")))],
        verify: Some(HostCheck::Counters { names: &["TcpInCsumErrors"], slowly: false }),
        ..by_counter(snapshot, HostCause::ChecksumErrors, 0.9, statement, (names, share))
    }]
}
