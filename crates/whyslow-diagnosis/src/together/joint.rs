//! Effects of a shared bottleneck on each of its transfers, and the finding over all of them.

use super::bottleneck::{Bottleneck, BottleneckShare};
use super::flows::Flow;
use super::influence::{Influence, SharedLink, Together};
use crate::estimate::HEADERS;
use crate::rules::parts::{evidence, finding};
use std::net::IpAddr;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, CommonEnds, Connection, Excess, Finding, LimitingFactor, LinkAction, LinkQuestion, LinkStatement, Measure,
    Remedy, SharedBottleneck, Transfer, Unit,
};
use whyslow_units::Nanos;

/// Limits that keep a transfer below its share of the bottleneck.
const BELOW_ITS_SHARE: &[LimitingFactor] = &[
    LimitingFactor::Application,
    LimitingFactor::NagleDelayedAck,
    LimitingFactor::Pacing,
    LimitingFactor::ProtocolWindow,
    LimitingFactor::ReceiveWindow,
    LimitingFactor::ZeroWindow,
];
/// Confidence in a shared policer, as in one of a single transfer (see `policer`). Half and twice
/// the distance to 1 change none of 2,061 captures.
const POLICER: f64 = 0.65;
/// Minimum share of a transfer's time on the shared link that changes its findings. Half and twice
/// change none of 2,061 captures.
const MATTERS: f64 = 0.3;
/// Share of a transfer's time on the shared link from which all of it counts. Half and twice the
/// distance to 1 change none of 2,061 captures.
const ALL: f64 = 0.9;

/// Finds the effects of the bottleneck on each of its transfers, and the finding over all of them.
/// If it limits none of them, nothing is added.
pub(super) fn find(shared: &Bottleneck<'_>, connections: &[Connection], together: &mut Together) {
    let ids = ids_of(shared);
    let places: Vec<((usize, usize), &Transfer, &BottleneckShare<'_>)> = shared
        .parts
        .iter()
        .filter_map(|part| {
            let place = connections.binary_search_by_key(&part.flow.connection, |connection| connection.id).ok()?;
            let is_it = |one: &Transfer| one.start_s == part.flow.start && one.from == part.flow.from;
            let transfers = &connections[place].transfers;
            let number = transfers.iter().position(is_it)?;
            Some(((place, number), &transfers[number], part))
        })
        .collect();
    if !places.iter().any(|(_, transfer, part)| is_held(transfer, shared, part)) {
        return;
    }
    for (place, transfer, part) in places {
        together.unpredictable.push((part.flow.connection, part.flow.start));
        let is_held = is_held(transfer, shared, part);
        let influence = if is_held { held_by_link(transfer, shared, part, &ids) } else { Influence::LinkNotFree };
        together.add(place, influence);
    }
    together.findings.push(over_all(shared, ids));
}

/// How long the bottleneck limited a transfer.
fn held(transfer: &Transfer, shared: &Bottleneck<'_>, part: &BottleneckShare<'_>) -> Nanos {
    part.held(&shared.spans).min(transfer.duration_s)
}

/// Whether it held it, and nothing else did.
fn is_held(transfer: &Transfer, shared: &Bottleneck<'_>, part: &BottleneckShare<'_>) -> bool {
    let whole = transfer.duration_s;
    !part.keeps && held(transfer, shared, part) >= whole.scale(MATTERS) && otherwise(transfer) * 2 <= whole.0
}

fn held_by_link(transfer: &Transfer, shared: &Bottleneck<'_>, part: &BottleneckShare<'_>, ids: &[u64]) -> Influence {
    let (whole, held) = (transfer.duration_s, held(transfer, shared, part));
    let share = held.0 as f64 / whole.0.max(1) as f64;
    // Alone it may have filled the link as well.
    let own = transfer.findings.iter().find(|finding| finding.cause == cause(shared)).map(|finding| finding.cost_s);
    let mut found = finding(
        cause(shared),
        held.max(own.unwrap_or_default()).min(whole),
        sure(shared),
        LinkStatement::SharedLink { link: describe(shared), own_bps: part.rate },
    );
    let frames = [part.flow.frames.0, part.flow.frames.1];
    found.evidence.push(evidence(Measure::OwnRate, part.rate, Unit::BitsPerSecond, &frames));
    let mut found = of_link(found, shared);
    found.connections = ids.to_vec();
    let full = match (shared.policed, part.fills) {
        (true, _) => Vec::new(),
        (false, true) => vec![part.flow.span()],
        (false, false) => shared.spans.clone(),
    };
    let left = if share >= ALL { 0.0 } else { 1.0 - share };
    Influence::SharedLink(Box::new(SharedLink { finding: found, left, full }))
}

/// Returns the time under the transfer's own limits, nanoseconds.
fn otherwise(transfer: &Transfer) -> i64 {
    transfer.limits.iter().filter(|share| BELOW_ITS_SHARE.contains(&share.limit)).map(|share| share.seconds.0).sum()
}

fn cause(shared: &Bottleneck<'_>) -> Cause {
    if shared.policed { Cause::Policer } else { Cause::Bandwidth }
}

/// A very short queue is nearly a policer.
fn sure(shared: &Bottleneck<'_>) -> f64 {
    if shared.policed { shared.sure.min(POLICER) } else { shared.sure }
}

/// The bottleneck as data. A connection's transfers follow each other.
fn describe(shared: &Bottleneck<'_>) -> SharedBottleneck {
    SharedBottleneck {
        excess: if shared.policed { Excess::Dropped } else { Excess::Queued },
        transfers: shared.parts.len() as u64,
        connections: ids_of(shared).len() as u64,
        payload_bps: shared.rate[1],
        wire_bps: on_the_wire(shared),
        time_s: shared.time(),
    }
}

/// The connections that share it.
fn ids_of(shared: &Bottleneck<'_>) -> Vec<u64> {
    let mut ids: Vec<u64> = shared.parts.iter().map(|part| part.flow.connection).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Bytes on the link in relation to the payload: IP and TCP headers with timestamps, Ethernet's
/// header.
fn on_the_wire(shared: &Bottleneck<'_>) -> f64 {
    let mss = shared.parts.iter().map(|part| part.flow.mss).max().unwrap_or(1).max(1) as f64;
    shared.rate[1] * (mss + HEADERS) / mss
}

/// Adds the details that each of the connections has.
fn of_link(mut found: Finding, shared: &Bottleneck<'_>) -> Finding {
    let [low, together, high] = shared.rate;
    found.evidence.push(evidence(Measure::JointRate, together, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::RateLowerTenth, low, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::RateUpperTenth, high, Unit::BitsPerSecond, &[]));
    let lost: u64 = shared.parts.iter().map(|part| part.flow.lost).sum();
    found.evidence.push(evidence(Measure::JointRetransmissions, lost as f64, Unit::Segments, &[]));
    found.remedies = remedies(shared);
    let mut open = vec![LinkQuestion::OtherTraffic];
    if shared.policed {
        open.push(LinkQuestion::ShortQueueOrPolicer);
    } else if shared.parts.iter().all(|part| part.flow.flat) {
        open.push(LinkQuestion::PolicerWithoutQueue);
    }
    if shared.let_go > 0 {
        open.push(LinkQuestion::NotCompared { transfers: shared.let_go });
    }
    found.to_confirm = open.into_iter().map(Into::into).collect();
    found
}

fn remedies(shared: &Bottleneck<'_>) -> Vec<Remedy> {
    let wire = on_the_wire(shared);
    if shared.policed {
        return vec![
            Remedy::new(Actor::Network, LinkAction::AskForShaping { rate_bps: wire }),
            Remedy::new(Actor::Network, LinkAction::ShapeTogether { rate_bps: wire }),
            Remedy::new(Actor::Network, LinkAction::RaisePolicedRate { from_bps: wire }),
        ];
    }
    vec![
        Remedy::new(Actor::Network, LinkAction::AddCapacity { beyond_bps: Some(wire) }),
        Remedy::new(Actor::Application, LinkAction::SendLess),
        Remedy::new(Actor::Application, LinkAction::RunInTurn),
    ]
}

fn over_all(shared: &Bottleneck<'_>, ids: Vec<u64>) -> Finding {
    let rates_bps = shared.parts.iter().map(|part| part.rate).collect();
    let link = describe(shared);
    let statement = LinkStatement::SharedLinkOfAll { link, ends: ends(shared), rates_bps };
    let mut found = of_link(finding(cause(shared), shared.time(), sure(shared), statement), shared);
    if let Some(first) = found.evidence.first_mut() {
        // Their first ones; of two the range, as two frames are one.
        first.frames = match shared.parts.as_slice() {
            [one, two] => vec![one.flow.frames.0.min(two.flow.frames.0), one.flow.frames.1.max(two.flow.frames.1)],
            parts => parts.iter().take(6).map(|part| part.flow.frames.0).collect(),
        };
        first.frames.sort_unstable();
    }
    found.connections = ids;
    found.shared = true;
    found
}

/// The hosts that all of them have in common; those of one path lead to one host at least.
fn ends(shared: &Bottleneck<'_>) -> CommonEnds {
    let all = |of: fn(&Flow) -> IpAddr| {
        let mut hosts = shared.parts.iter().map(|part| of(part.flow));
        hosts.next().filter(|first| hosts.all(|host| host == *first)).map(|host| host.to_string())
    };
    match (all(|flow| flow.sender), all(|flow| flow.receiver)) {
        (Some(sender), Some(receiver)) => CommonEnds::Both { sender, receiver },
        (Some(sender), None) => CommonEnds::Sender { sender },
        (None, receiver) => CommonEnds::Receiver { receiver: receiver.unwrap_or_default() },
    }
}
