//! Large packets vanish on the way while small ones pass: the path takes less in a packet than the
//! sender believes.
//!
//! ## What it is
//! A link in the path (a tunnel, PPPoE, a VPN) carries smaller packets than both ends do. Its
//! router should say so by ICMP ("fragmentation needed", "packet too big"); where a firewall drops
//! that message, the sender repeats the same large segment, which vanishes each time. The handshake
//! and small requests pass, so the connection looks fine until the first large answer.
//!
//! ## How it is recognised
//! At the sender's side: the timer sends a segment again, two times or more, that is larger than
//! any that was ever acknowledged in this direction, while the connection's small packets were
//! answered, or smaller segments pass afterwards. Where a segment of that size passes in the end,
//! three times or more. Where the router's ICMP error comes past the capture, it says how much
//! passes, and the copies say that the sender does not heed it. Next to the receiver the large
//! segments never existed: there is a silence, which looks like a server that thinks. But the
//! sender's IP numbers go on during it, by two or more for packets that never came, and no segment
//! behind it is as large as both ends had agreed on.
//!
//! ## What it is confused with
//! - an outage of the whole path that begins with the first large segment: small packets would be
//!   lost as well.
//! - `timeout`: segments of the same size had passed before, or pass when the timer sends them the
//!   second time (a first flight into a queue that others have filled is lost as a whole, and so
//!   may be the first copy); or, next to the receiver, full-size ones come when the silence is
//!   over.
//! - `server-think`: no number is missing, for the server has sent nothing.
//! - path MTU discovery that works: the error comes, the sender sends shorter segments a round trip
//!   later, and nobody waits for a timer.
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

use super::black_hole::{Unseen, is_black_hole, is_seen, unseen, waits};
use super::case::TransferCase;
use super::icmp;
use super::rule::{Check, Rule};
use super::say::{confirm, count, evidence, finding, fix, thousands, time};
use crate::analysis::{Actor, Finding, LossStatement, Unit};
use crate::cause::Cause;
use crate::tcp::facts::{Fate, Notice};
use crate::types::{Limit, ModelChange};
use crate::units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::MtuBlackHole, Check::Transfer(check))
    .shown_by(is_black_hole)
    .remedied_by(&[ModelChange::NoLosses, ModelChange::NoSilence(Limit::Unknown)]);

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    if is_seen(case) { report_seen(case) } else { unseen(case).and_then(|unseen| report_unseen(case, &unseen)) }
}

fn report_unseen(case: &TransferCase<'_>, unseen: &Unseen) -> Option<Finding> {
    if !case.matters(unseen.waited, 0.1) {
        return None;
    }
    let (largest, mss) = (case.direction().largest_len, case.direction().mss);
    let summary = format!(
        "segments of more than {} B did not come here, though both ends had agreed on {} B: {} of silence, in which the sender sent {} that never came",
        thousands(largest),
        thousands(mss),
        time(unseen.waited),
        count(unseen.packets, "packet"),
    );
    let mut found = finding(Cause::MtuBlackHole, unseen.waited, case.trust(0.7), summary);
    found.evidence.push(evidence(
        "packets of the sender that never came here, by its IP numbers",
        unseen.packets as f64,
        Unit::Packets,
        &unseen.frames,
    ));
    found.evidence.push(evidence("largest segment that came", largest as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence("segments that both ends agreed on", mss as f64, Unit::Bytes, &[]));
    add_fix(case, &mut found, mss);
    Some(found)
}

fn report_seen(case: &TransferCase<'_>) -> Option<Finding> {
    let lost: Nanos = waits(case).map(|gap| gap.end - gap.start).sum();
    if !case.matters(lost, 0.1) {
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
    let mut found = finding(Cause::MtuBlackHole, lost, case.trust(0.75), summary);
    let frames: Vec<_> = case.transfer.retransmitted_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence("payload of the segment that vanished", size as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence("retransmitted by the timer", number as f64, Unit::Times, &frames));
    add_fix(case, &mut found, size);
    Some(found)
}

/// What is to be done, and how to make sure: a segment of `size` bytes does not pass.
fn add_fix(case: &TransferCase<'_>, found: &mut Finding, size: u64) {
    let said: Vec<&Notice> =
        icmp::notices_about(case.facts, case.sender, |fate| matches!(fate, Fate::TooBig(_))).collect();
    found.evidence.extend(said.iter().map(|notice| icmp::as_evidence(notice)));
    // Of several the narrowest link counts.
    let narrowest = said.iter().filter_map(|notice| Some((*notice, icmp::mtu(notice)?))).min_by_key(|&(_, mtu)| mtu);
    if let Some((notice, mtu)) = narrowest
        && icmp::was_heeded(case.facts, notice) != Some(true)
    {
        return add_unheeded_fix(case, found, notice, mtu);
    }
    found.remedies = fix(
        Actor::Network,
        "let ICMP \"fragmentation needed\" and \"packet too big\" pass, or clamp the MSS at the tunnel; on the sender, MTU probing helps",
        Some(PROBE.into()),
    );
    let is_v6 = case.facts.endpoints[case.sender].0.is_ipv6();
    let packet = size + icmp::headers(case.facts, case.sender);
    found.to_confirm = confirm(format!(
        "ping with packets of that size that may not be fragmented: `ping -M do -s {}` must fail where `ping -M do -s 1000` passes",
        packet.saturating_sub(ping_headers(is_v6))
    ));
}

const PROBE: &str = "sysctl -w net.ipv4.tcp_mtu_probing=1";

/// IP's and ICMP's.
const fn ping_headers(is_v6: bool) -> u64 {
    if is_v6 { 48 } else { 28 }
}

/// The error passed here, and did not help: the sender did not get it, or does not heed it.
fn add_unheeded_fix(case: &TransferCase<'_>, found: &mut Finding, notice: &Notice, mtu: u32) {
    let by = notice.by;
    let end = if case.sender == case.facts.client { "client" } else { "server" };
    found.details.push(LossStatement::SizeIgnored { by: by.to_string(), mtu }.into());
    found.confidence = case.trust(0.95);
    let v6 = case.facts.endpoints[case.sender].0.is_ipv6();
    let clamp = thousands(u64::from(mtu).saturating_sub(if v6 { 60 } else { 40 }));
    found.remedies = if case.near_sender() {
        fix(
            Actor::Sender,
            format!(
                "let the {end}'s host take the ICMP errors of {by}, which come to it: a firewall drops them, or its reverse-path filter, if it has no route to {by}; or clamp the MSS to {clamp} B"
            ),
            Some(PROBE.into()),
        )
    } else {
        fix(
            Actor::Network,
            format!(
                "let the ICMP errors of {by} pass on to the {end}, for they come as far as this capture, and let its host take them; or clamp the MSS to {clamp} B"
            ),
            Some(PROBE.into()),
        )
    };
    let passes = u64::from(mtu).saturating_sub(ping_headers(v6));
    found.to_confirm = confirm(format!(
        "from the {end}, `ping -M do -s {passes}` must pass, and `ping -M do -s {}` must fail; a capture at the {end}'s own device tells whether the errors get there",
        passes + 1
    ));
}

#[cfg(test)]
mod tests;
