//! What ICMP errors said of a connection's packets, in words and as evidence.

use super::say::{evidence, fix, thousands};
use crate::analysis::{Actor, End, IcmpError, Measurement, Remedy, Unit};
use crate::tcp::facts::{Facts, Fate, Notice};
use crate::types::Side;
use crate::units::{Nanos, Time};
use std::net::IpAddr;

/// How much longer than a round trip it may take until a sender heeds an error: a host that is
/// busy.
const SLACK: Nanos = Nanos::from_millis(50);
/// After so long senders try long packets again (RFC 8201 section 4: 5 minutes at least; Linux
/// `mtu_expires`: 10).
const REMEMBERED: Nanos = Nanos::from_millis(300_000);

/// All of them, for the connection's entry; times are told from `first`.
pub(crate) fn describe_all(facts: &Facts, first: Time) -> Vec<IcmpError> {
    let one = |notice: &Notice| {
        let (about, whose) = match notice.about == facts.client {
            true => (End::Client, "client's"),
            false => (End::Server, "server's"),
        };
        let obeyed = was_heeded(facts, notice);
        IcmpError {
            kind: notice.fate.slug().into(),
            message: notice.kind.0,
            code: notice.kind.1,
            by: notice.by.to_string(),
            about,
            size: notice.size,
            mtu: mtu(notice),
            obeyed,
            count: notice.count,
            time_s: notice.time - first,
            last_s: notice.last - first,
            frame: notice.frame,
            detail: detail(notice, whose, obeyed),
        }
    };
    facts.notices.list.iter().map(one).collect()
}

fn detail(notice: &Notice, whose: &str, obeyed: Option<bool>) -> String {
    let size = notice.size.map(|size| format!(" of {} B", thousands(size.into())));
    let size = size.filter(|_| matches!(notice.fate, Fate::TooBig(_))).unwrap_or_default();
    let then = match obeyed {
        Some(true) => "; the sender sends shorter ones from then on",
        Some(false) => "; the sender does not heed it",
        None => "",
    };
    format!("{} says of the {whose} packets{size}: {}{then}", notice.by, fate_phrase(notice.fate))
}

pub(super) fn mtu(notice: &Notice) -> Option<u32> {
    if let Fate::TooBig(mtu) = notice.fate { mtu } else { None }
}

/// What is said, in a few words.
pub(super) fn fate_phrase(fate: Fate) -> String {
    match fate {
        Fate::TooBig(Some(mtu)) => format!("too long, {} B pass (fragmentation needed)", thousands(mtu.into())),
        Fate::TooBig(None) => "too long (fragmentation needed)".into(),
        Fate::NetworkUnreachable => "no route to their network".into(),
        Fate::HostUnreachable => "the host cannot be reached".into(),
        Fate::ProtocolUnreachable => "the host does not take TCP".into(),
        Fate::PortUnreachable => "the port is closed (port unreachable)".into(),
        Fate::Prohibited => "a filter forbids them (administratively prohibited)".into(),
        Fate::TimeExceeded => "time to live exceeded on the way".into(),
    }
}

/// What was said of a side's packets, where it is of this kind.
pub(super) fn notices_about(facts: &Facts, about: Side, is: impl Fn(Fate) -> bool) -> impl Iterator<Item = &Notice> {
    facts.notices.list.iter().filter(move |notice| notice.about == about && is(notice.fate))
}

/// Why packets do not arrive, if that is said of a side's, and not that they are too long alone.
pub(super) fn undelivered(facts: &Facts, about: Side) -> impl Iterator<Item = &Notice> {
    notices_about(facts, about, |fate| !matches!(fate, Fate::TooBig(_)))
}

/// As evidence: the size that passes, or how often it was said.
pub(super) fn as_evidence(notice: &Notice) -> Measurement {
    let figure = format!("ICMP: {}", fate_phrase(notice.fate));
    match mtu(notice) {
        Some(mtu) => evidence(figure, mtu.into(), Unit::Bytes, &[notice.frame]),
        None => evidence(figure, notice.count as f64, Unit::Times, &[notice.frame]),
    }
}

/// Whether a sender that was told how long packets may be keeps to it from then on. What was sent
/// before it can have known counts for nothing, and none where the capture cannot tell: the copies
/// of the packet that was too long are what tells most.
pub(super) fn was_heeded(facts: &Facts, notice: &Notice) -> Option<bool> {
    let mtu = u64::from(mtu(notice)?);
    let direction = &facts.directions[notice.about];
    let headers = headers(facts, notice.about);
    let fits = mtu.saturating_sub(headers);
    // What is longer than a segment was cut behind the place that quotes it, or is yet to be.
    let size =
        notice.size.map_or(direction.mss, |size| u64::from(size).saturating_sub(headers)).min(direction.mss).max(fits);
    // What the sending host hands to its card at once may be cut into packets that pass.
    let is_cut_later = facts.capture_defects.larger_than_mss > 0 && 2 * fits <= size;
    let known = notice.time + facts.vantage.loop_to(notice.about);
    let mut copies = direction
        .retransmissions
        .iter()
        .filter(|copy| (known..known + REMEMBERED).contains(&copy.time) && copy.bytes > 0);
    let (mut any, mut longer) = (false, false);
    for copy in &mut copies {
        any = true;
        longer |= copy.bytes > fits && copy.bytes <= size;
    }
    // Errors about what was on its way when the first one came are here a round trip later.
    let again = notice.last - notice.time;
    let goes_on = again > facts.rtt.p95.or(facts.rtt.min).unwrap_or_default() + SLACK && again < REMEMBERED;
    match (longer, goes_on) {
        (true, _) if is_cut_later && !goes_on => None,
        (true, _) | (_, true) => Some(false),
        _ => any.then_some(true),
    }
}

/// The least headers of a side's packets with payload.
pub(super) fn headers(facts: &Facts, sender: Side) -> u64 {
    let ip = if facts.endpoints[sender].0.is_ipv6() { 40 } else { 20 };
    let stamps = facts.handshake.offers.iter().flatten().filter(|offer| offer.timestamps).count() == 2;
    ip + 20 + if stamps { 12 } else { 0 }
}

/// Why packets to an end do not arrive, by what an error says of them.
pub(super) fn reason(notice: &Notice, (address, port): (IpAddr, u16)) -> String {
    let by = notice.by;
    match notice.fate {
        Fate::TooBig(_) => format!("{by} says that packets are too long"),
        Fate::NetworkUnreachable => format!("{by} has no route to {address}"),
        Fate::HostUnreachable => format!("{by} cannot reach {address}"),
        Fate::ProtocolUnreachable => format!("{by} says that {address} does not take TCP"),
        Fate::PortUnreachable => format!("{by} says that port {port} is closed"),
        Fate::Prohibited => format!("a filter at {by} forbids it"),
        Fate::TimeExceeded => format!("its packets expired on the way, at {by}"),
    }
}

/// What to do about packets that do not arrive.
pub(super) fn fix_undelivered(notice: &Notice, (address, port): (IpAddr, u16)) -> Vec<Remedy> {
    let by = notice.by;
    let (what, command) = match notice.fate {
        Fate::TooBig(_) => return Vec::new(),
        Fate::NetworkUnreachable => (
            format!("give {by} a route to {address}, or mend the one that it had"),
            format!("ip route get {address}   # at {by}"),
        ),
        Fate::HostUnreachable => (
            format!(
                "see whether {address} is up: {by}, the last router before it, gets no answer from it (ARP, neighbour discovery)"
            ),
            format!("ip neigh show {address}   # at {by}"),
        ),
        Fate::PortUnreachable | Fate::ProtocolUnreachable if by == address => {
            let what = format!("on {address}, start what should listen on port {port}, or let its firewall pass it");
            return fix(Actor::Application, what, Some(format!("ss -ltn 'sport = :{port}'")));
        }
        Fate::PortUnreachable | Fate::ProtocolUnreachable | Fate::Prohibited => (
            format!("let the filter at {by} pass packets to {address} port {port}"),
            format!("nft list ruleset   # at {by}"),
        ),
        Fate::TimeExceeded => (
            format!("look for routers that send packets to {address} back to each other: a routing loop"),
            format!("traceroute -n -T -p {port} {address}"),
        ),
    };
    fix(Actor::Network, what, Some(command))
}

#[cfg(test)]
pub(super) mod tests;
