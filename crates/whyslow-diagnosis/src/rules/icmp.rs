//! ICMP errors about a connection's packets, as evidence and as data.

use super::parts::{evidence, remedy};
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Actor, ExchangeAction, IcmpError, Measure, Measurement, Remedy, Undelivered, Unit};
use whyslow_core::tcp::facts::{Facts, Fate, Notice};
use whyslow_units::{Nanos, Time};

/// How much longer than a round trip it may take until a sender reacts to an error, on a busy host.
/// Follows from the least delay that is noticed (`NOTICEABLE_WAIT`). Half and twice change none of
/// 2,061 captures.
const SLACK: Nanos = Nanos::from_millis(50);
/// After this time senders try long packets again (RFC 8201 section 4: 5 minutes at least; Linux
/// `mtu_expires`: 10).
const REMEMBERED: Nanos = Nanos::from_millis(300_000);

/// All of them, for the connection's entry; times count from `first`.
pub(crate) fn describe_all(facts: &Facts, first: Time) -> Vec<IcmpError> {
    let one = |notice: &Notice| IcmpError {
        kind: notice.fate,
        message: notice.kind.0,
        code: notice.kind.1,
        by: notice.by.to_string(),
        about: facts.end_of(notice.about),
        size: notice.size,
        mtu: mtu(notice),
        obeyed: was_heeded(facts, notice),
        count: notice.count,
        time_s: notice.time - first,
        last_s: notice.last - first,
        frame: notice.frame,
    };
    facts.notices.list.iter().map(one).collect()
}

pub(super) fn mtu(notice: &Notice) -> Option<u32> {
    if let Fate::TooBig(mtu) = notice.fate { mtu } else { None }
}

/// ICMP errors of this kind about a side's packets.
pub(super) fn notices_about(facts: &Facts, about: Side, is: impl Fn(Fate) -> bool) -> impl Iterator<Item = &Notice> {
    facts.notices.list.iter().filter(move |notice| notice.about == about && is(notice.fate))
}

/// ICMP errors that explain why a side's packets do not arrive, except those that are only too
/// long.
pub(super) fn undelivered(facts: &Facts, about: Side) -> impl Iterator<Item = &Notice> {
    notices_about(facts, about, |fate| !matches!(fate, Fate::TooBig(_)))
}

/// As evidence: the longest packet that passes, or the number of errors.
pub(super) fn as_evidence(notice: &Notice) -> Measurement {
    let kind = match notice.fate {
        Fate::TooBig(Some(mtu)) => return evidence(Measure::IcmpPathMtu, mtu.into(), Unit::Bytes, &[notice.frame]),
        Fate::TooBig(None) => Measure::IcmpTooBig,
        Fate::NetworkUnreachable => Measure::IcmpNetworkUnreachable,
        Fate::HostUnreachable => Measure::IcmpHostUnreachable,
        Fate::ProtocolUnreachable => Measure::IcmpProtocolUnreachable,
        Fate::PortUnreachable => Measure::IcmpPortUnreachable,
        Fate::Prohibited => Measure::IcmpProhibited,
        Fate::TimeExceeded => Measure::IcmpTimeExceeded,
    };
    evidence(kind, notice.count as f64, Unit::Times, &[notice.frame])
}

/// Whether a sender that got a "packet too big" error keeps to the size from then on. Packets that
/// it sent before the error can have arrived do not count. Returns `None` if the capture does not
/// show it: the retransmissions of the packet that was too long are the best evidence.
pub(super) fn was_heeded(facts: &Facts, notice: &Notice) -> Option<bool> {
    let mtu = u64::from(mtu(notice)?);
    let direction = &facts.directions[notice.about];
    let headers = headers(facts, notice.about);
    let fits = mtu.saturating_sub(headers);
    // A packet longer than a segment was cut behind the place that quotes it, or will be.
    let size =
        notice.size.map_or(direction.mss, |size| u64::from(size).saturating_sub(headers)).min(direction.mss).max(fits);
    // A packet that the sending host hands to its card at once may be cut into packets that pass.
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
    // Errors about packets that were on their way when the first error came arrive here a round
    // trip later.
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

/// Why packets to `peer` do not arrive, according to an error.
pub(super) fn reason(notice: &Notice, peer: (IpAddr, u16)) -> Undelivered {
    let (host, port) = peer;
    Undelivered { fate: notice.fate, by: notice.by.to_string(), host: host.to_string(), port }
}

/// Remedies for packets that do not arrive.
pub(super) fn fix_undelivered(notice: &Notice, peer: (IpAddr, u16)) -> Vec<Remedy> {
    let Undelivered { fate, by, host, port } = reason(notice, peer);
    let allow = |at: String| {
        let host = host.clone();
        Remedy::new(Actor::Network, ExchangeAction::AllowPort { at, host, port })
    };
    match fate {
        Fate::TooBig(_) => Vec::new(),
        Fate::NetworkUnreachable => remedy(Actor::Network, ExchangeAction::AddRoute { at: by, to: host }),
        Fate::HostUnreachable => remedy(Actor::Network, ExchangeAction::CheckHost { host, router: by }),
        Fate::PortUnreachable | Fate::ProtocolUnreachable if by == host => {
            let start = ExchangeAction::StartService { host: host.clone(), port };
            vec![Remedy::new(Actor::Application, start), allow(by)]
        }
        Fate::PortUnreachable | Fate::ProtocolUnreachable | Fate::Prohibited => vec![allow(by)],
        Fate::TimeExceeded => remedy(Actor::Network, ExchangeAction::FindRoutingLoop { host, port }),
    }
}

#[cfg(test)]
pub(super) mod tests;
