//! Full-size segments vanish on the way while small ones pass: the path's MTU is smaller than the sender believes.
//!
//! ## What it is
//! A link in the path (a tunnel, PPPoE, a VPN) carries smaller packets than both ends do. Its router should say so by ICMP ("fragmentation
//! needed", "packet too big"); where a firewall drops that message, the sender repeats the same large segment, which vanishes each
//! time. The handshake and small requests pass, so the connection looks fine until the first large answer.
//!
//! ## How it is recognised
//! At the sender's side: the timer sends a segment again, two times or more, that is larger than any that was ever acknowledged in this
//! direction, while the connection's small packets were answered. Next to the receiver the large segments never existed: there is
//! only silence, which looks like a server that thinks.
//!
//! ## What it is confused with
//! - an outage of the whole path that begins with the first large segment: small packets would be lost as well.
//! - `timeout`: segments of the same size had passed before.
//! - offload at the sending host hides the size on the wire; the retransmissions are single segments all the same.
//!
//! ## The fix
//! Let ICMP pass, or clamp the MSS at the tunnel: `iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS
//! --clamp-mss-to-pmtu`; or let the sender search: `net.ipv4.tcp_mtu_probing=1`.
//!
//! ## References
//! RFC 2923 (TCP problems with path MTU discovery), RFC 4821 and RFC 8899 (packetization layer path MTU discovery), RFC 8201.

use super::say::{count, evidence, finding, fix, thousands, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding};
use crate::tcp::facts::{Gap, Release};
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "mtu-black-hole", source: include_str!("mtu_black_hole.rs"), check: Check::Transfer(check) };

/// As causes go, one loss is chance.
const LEAST: u64 = 2;

/// Whether large segments alone do not pass here.
pub(super) fn is_black_hole(case: &TransferCase<'_>) -> bool {
    // A handshake, so that small packets are known to pass both ways.
    case.transfer.stuck_large >= LEAST && case.facts.handshake.is_complete()
}

fn waits<'a>(case: &'a TransferCase<'_>) -> impl Iterator<Item = &'a Gap> {
    case.transfer.gaps.iter().filter(|gap| gap.release == Release::Timer)
}

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost: Nanos = waits(case).map(|gap| gap.end - gap.start).sum();
    if !is_black_hole(case) || !case.matters(lost, 0.1) {
        return None;
    }
    let size = case.transfer.stuck_size;
    let number = case.transfer.stuck_large;
    let summary = format!(
        "segments of {} B did not pass, {} in a row, though smaller packets did: {} of {} waiting for the timer",
        thousands(size),
        count(number, "time"),
        time(lost),
        time(case.duration()),
    );
    let mut found = finding("mtu-black-hole", lost, case.trust(0.75), summary);
    let frames: Vec<_> = case.transfer.resent_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence("payload of the segment that vanished", size as f64, "B", &frames));
    found.evidence.push(evidence("sent again by the timer", number as f64, "times", &frames));
    found.fix = fix(
        Actor::Network,
        "let ICMP \"fragmentation needed\" and \"packet too big\" pass, or clamp the MSS at the tunnel; on the sender, MTU probing helps",
        Some("sysctl -w net.ipv4.tcp_mtu_probing=1".into()),
    );
    let packet = size + 40 + if case.facts.handshake.offers.iter().flatten().all(|o| o.timestamps) { 12 } else { 0 };
    found.settle = Some(format!(
        "ping with packets of that size that may not be fragmented: `ping -M do -s {}` must fail where `ping -M do -s 1000` passes",
        packet.saturating_sub(28)
    ));
    Some(found)
}
