//! Large packets disappear on the way while small ones pass: the path's largest packet is smaller
//! than the sender assumes.
//!
//! ## What it is
//! A link in the path (a tunnel, PPPoE, a VPN) carries smaller packets than both ends do. Its
//! router should report this by ICMP ("fragmentation needed", "packet too big"). If a firewall
//! drops that message, the sender repeats the same large segment, which is dropped each time. The
//! handshake and small requests pass, so the connection looks fine until the first large response.
//!
//! ## How it is recognised
//! At the sender's side: the timer retransmits a segment two times or more that is larger than any
//! that was ever acknowledged in this direction, while the connection's small packets were
//! acknowledged, or smaller segments pass afterwards. If a segment of that size passes in the end:
//! three times or more. If the router's ICMP error passes the capture point, it contains the size
//! that passes, and the retransmissions show that the sender ignores it. Next to the receiver the
//! large segments never appear: the silence looks like server processing time. But the sender's IP
//! numbers advance by two or more during it, for packets that never arrived, and no segment after
//! it is as large as both ends had agreed on.
//!
//! ## What it is confused with
//! - an outage of the whole path that begins with the first large segment: small packets would be
//!   lost as well.
//! - `timeout`: segments of the same size had passed before, or pass when the timer sends them the
//!   second time (a first flight into a queue that others have filled is lost as a whole, and so
//!   may be the first copy); or, next to the receiver, full-size ones come when the silence is
//!   over.
//! - `server-think`: no number is missing, for the server has sent nothing.
//! - path MTU discovery that works: the error arrives, the sender sends shorter segments a round
//!   trip later, and neither end waits for a timer.
//! - offload at the sending host hides the size on the wire; the retransmissions are single
//!   segments all the same.
//!
//! ## The fix
//! Let ICMP pass (also at the sender: errors of a router without a route back to it are dropped by
//! `rp_filter`), or clamp the MSS at the tunnel:
//! `iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS
//! --clamp-mss-to-pmtu`; or let the sender search: `net.ipv4.tcp_mtu_probing=1`.
//!
//! ## To see that it worked
//! `tracepath -n` towards the receiver names a `pmtu`, and the transfer gets past its first full
//! segment at once.
//!
//! ## References
//! RFC 1191 (path MTU discovery), RFC 2923 (TCP problems with path MTU discovery), RFC 4821 and RFC
//! 8899 (packetization layer path MTU discovery), RFC 8201.

use super::black_hole::{Unseen, is_seen, unseen, waits};
use super::icmp;
use super::loss_cost::end_of;
use super::parts::{confirm, evidence, finding};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LossAction, LossQuestion, LossStatement, Measure, Remedy, Unit};
use whyslow_core::tcp::facts::{Fate, Notice};
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::MtuBlackHole, Check::Transfer(check)).shown_by(|view| check(view).is_some());

fn check(view: &TransferView<'_>) -> Option<Finding> {
    if is_seen(view) { report_seen(view) } else { unseen(view).and_then(|unseen| report_unseen(view, &unseen)) }
}

fn report_unseen(view: &TransferView<'_>, unseen: &Unseen) -> Option<Finding> {
    if !view.matters(unseen.waited, 0.1) {
        return None;
    }
    let (largest, mss) = (view.direction().largest_len, view.direction().mss);
    let statement =
        LossStatement::LargeSegmentsMissing { largest, agreed: mss, silence_s: unseen.waited, packets: unseen.packets };
    let mut found = finding(Cause::MtuBlackHole, unseen.waited, view.trust(0.7), statement);
    let packets = unseen.packets as f64;
    found.evidence.push(evidence(Measure::PacketsMissingByIpId, packets, Unit::Packets, &unseen.frames));
    found.evidence.push(evidence(Measure::LargestSegment, largest as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::AgreedSegmentSize, mss as f64, Unit::Bytes, &[]));
    add_fix(view, &mut found, mss);
    Some(found)
}

fn report_seen(view: &TransferView<'_>) -> Option<Finding> {
    let lost: Nanos = waits(view).map(|gap| gap.end - gap.start).sum();
    if !view.matters(lost, 0.1) {
        return None;
    }
    let size = view.transfer.stuck_size;
    let number = view.transfer.stuck_large;
    let statement = LossStatement::LargeSegmentsStuck { size, times: number, cost_s: lost, whole_s: view.duration() };
    let mut found = finding(Cause::MtuBlackHole, lost, view.trust(0.75), statement);
    let frames: Vec<_> = view.transfer.retransmitted_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence(Measure::VanishedSegmentSize, size as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::TimerRetransmissions, number as f64, Unit::Times, &frames));
    add_fix(view, &mut found, size);
    Some(found)
}

/// The fix, and its check: a segment of `size` bytes does not pass.
fn add_fix(view: &TransferView<'_>, found: &mut Finding, size: u64) {
    let notices: Vec<&Notice> =
        icmp::notices_about(view.facts, view.sender, |fate| matches!(fate, Fate::TooBig(_))).collect();
    found.evidence.extend(notices.iter().map(|notice| icmp::as_evidence(notice)));
    // The narrowest of several links counts.
    let narrowest = notices.iter().filter_map(|notice| Some((*notice, icmp::mtu(notice)?))).min_by_key(|&(_, mtu)| mtu);
    if let Some((notice, mtu)) = narrowest
        && icmp::was_heeded(view.facts, notice) != Some(true)
    {
        return add_unheeded_fix(view, found, notice, mtu);
    }
    found.remedies = vec![
        Remedy::new(Actor::Network, LossAction::PassIcmp),
        Remedy::new(Actor::Network, LossAction::ClampMss { to: None }),
        Remedy::new(Actor::Sender, LossAction::ProbeMtu),
    ];
    let is_v6 = view.facts.endpoints[view.sender].0.is_ipv6();
    let packet = size + icmp::headers(view.facts, view.sender);
    found.to_confirm = confirm(LossQuestion::PingLarge { fails: packet.saturating_sub(ping_headers(is_v6)) });
}

/// IP's and ICMP's.
const fn ping_headers(is_v6: bool) -> u64 {
    if is_v6 { 48 } else { 28 }
}

/// The error passed here, and did not help: the sender did not get it, or ignores it.
fn add_unheeded_fix(view: &TransferView<'_>, found: &mut Finding, notice: &Notice, mtu: u32) {
    let from = notice.by.to_string();
    let end = end_of(view.facts, view.sender);
    found.details.push(LossStatement::SizeIgnored { by: from.clone(), mtu }.into());
    found.confidence = view.trust(0.95);
    let v6 = view.facts.endpoints[view.sender].0.is_ipv6();
    let clamp = u64::from(mtu).saturating_sub(if v6 { 60 } else { 40 });
    let first = if view.near_sender() {
        Remedy::new(Actor::Sender, LossAction::AcceptIcmp { from, on: end })
    } else {
        Remedy::new(Actor::Network, LossAction::PassIcmpOf { from, to: end })
    };
    found.remedies = vec![
        first,
        Remedy::new(Actor::Network, LossAction::ClampMss { to: Some(clamp) }),
        Remedy::new(Actor::Sender, LossAction::ProbeMtu),
    ];
    let passes = u64::from(mtu).saturating_sub(ping_headers(v6));
    found.to_confirm = confirm(LossQuestion::PingReportedSize { from: end, passes });
}

#[cfg(test)]
mod tests;
