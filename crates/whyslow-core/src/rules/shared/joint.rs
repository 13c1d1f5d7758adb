//! What a shared bottleneck changes in what was said of each transfer: its part is told, what the
//! bottleneck explains is told no more, and nothing is promised of it that the others would pay
//! for.

use super::bottleneck::{Bottleneck, BottleneckShare};
use super::flows::Flow;
use crate::analysis::{
    Actor, CommonEnds, CommonQuestion, CommonStatement, Connection, CostSpan, Excess, Finding, Limit, LimitShare,
    LinkAction, LinkQuestion, LinkStatement, Measure, Remedy, SharedBottleneck, Transfer, Unit,
};
use crate::cause::Cause;
use crate::limit::{LimitTime, sum_by_limit};
use crate::rules::say::{evidence, finding};
use crate::timeline::{self, Stretch};
use crate::types::MIN_NOTICEABLE_DELAY;
use crate::units::Nanos;
use std::net::IpAddr;

/// What a full link makes of the transfers that share it.
const EXPLAINED: &[Cause] = &[
    Cause::Bandwidth,
    Cause::DelayedAck,
    Cause::EarlySlowStartExit,
    Cause::Ecn,
    Cause::HostCpu,
    Cause::Loss,
    Cause::LostRetransmission,
    Cause::Policer,
    Cause::RandomLoss,
    Cause::SenderCap,
    Cause::Shaper,
    Cause::TailLoss,
    Cause::Timeout,
];
/// What may be true of one of them, and mended would only take from the others.
const AT_OTHERS_COST: &[Cause] = &[
    Cause::NoSack,
    Cause::NoWindowScaling,
    Cause::Pacing,
    Cause::ReceiveWindow,
    Cause::SlowStart,
    Cause::SpuriousRetransmission,
];
/// As sure as it may be that mending such a cause would help.
const UNSURE: f64 = 0.5;
/// Limits that the bottleneck is behind.
const HELD: &[Limit] = &[
    Limit::AckDelay,
    Limit::CongestionAvoidance,
    Limit::LossRecovery,
    Limit::SenderCap,
    Limit::Timeout,
    Limit::Unknown,
];
/// Limits that hold a transfer below what the bottleneck would let it have.
const OTHERWISE: &[Limit] = &[
    Limit::Application,
    Limit::NagleDelayedAck,
    Limit::Pacing,
    Limit::ProtocolWindow,
    Limit::ReceiveWindow,
    Limit::ZeroWindow,
];
/// As sure as a policer is (see `policer`).
const POLICER: f64 = 0.65;
/// Of a transfer's time, what must have been shared to change what is said of it.
const MATTERS: f64 = 0.3;
/// And from so much on, all of it counts as shared.
const ALL: f64 = 0.9;
/// Of a transfer's time, what is too little to be left of a cause.
const LITTLE: f64 = 0.1;

/// The finding over all of them, and for each transfer whose promises are void its connection's
/// place and when it began. The findings of the transfers are changed. None where none of them is
/// held by it.
pub(super) fn apply(shared: &Bottleneck<'_>, connections: &mut [Connection]) -> Option<(Finding, Vec<(u64, Nanos)>)> {
    let ids = ids_of(shared);
    let places: Vec<(usize, usize, &BottleneckShare<'_>)> = shared
        .parts
        .iter()
        .filter_map(|part| {
            let place = connections.binary_search_by_key(&part.flow.connection, |connection| connection.id).ok()?;
            let is_it = |one: &Transfer| one.start_s == part.flow.start && one.from == part.flow.from;
            Some((place, connections[place].transfers.iter().position(is_it)?, part))
        })
        .collect();
    if !places.iter().any(|&(place, number, part)| is_held(&connections[place].transfers[number], shared, part)) {
        return None;
    }
    let mut void = Vec::new();
    for (place, number, part) in places {
        void.push((part.flow.connection, part.flow.start));
        change(&mut connections[place].transfers[number], shared, part, &ids);
    }
    Some((over_all(shared, ids), void))
}

/// For how long the bottleneck held a transfer.
fn held(transfer: &Transfer, shared: &Bottleneck<'_>, part: &BottleneckShare<'_>) -> Nanos {
    part.held(&shared.spans).min(transfer.duration_s)
}

/// Whether it held it, and nothing else did.
fn is_held(transfer: &Transfer, shared: &Bottleneck<'_>, part: &BottleneckShare<'_>) -> bool {
    let whole = transfer.duration_s;
    !part.keeps && held(transfer, shared, part) >= whole.scale(MATTERS) && otherwise(transfer) * 2 <= whole.0
}

fn change(transfer: &mut Transfer, shared: &Bottleneck<'_>, part: &BottleneckShare<'_>, ids: &[u64]) {
    transfer.model_skipped = false;
    if !is_held(transfer, shared, part) {
        lower(transfer);
        return;
    }
    let (whole, held) = (transfer.duration_s, held(transfer, shared, part));
    let share = held.0 as f64 / whole.0.max(1) as f64;
    let left = if share >= ALL { 0.0 } else { 1.0 - share };
    // Alone it may have filled the link as well.
    let own = transfer.findings.iter().find(|finding| finding.cause == cause(shared)).map(|finding| finding.cost_s);
    transfer.findings.retain_mut(|finding| {
        if !EXPLAINED.contains(&finding.cause) {
            return true;
        }
        let rest = finding.cost_s.scale(left);
        finding.details.push(CommonStatement::CostWhileLinkFull { time_s: finding.cost_s - rest }.into());
        timeline::reduce_to(finding, rest);
        finding.cause != cause(shared)
            && finding.cause != Cause::Bandwidth
            && rest >= whole.scale(LITTLE).max(MIN_NOTICEABLE_DELAY)
    });
    lower(transfer);
    if !shared.policed {
        let alone = [part.flow.span()];
        relabel(transfer, if part.fills { &alone } else { &shared.spans });
    }
    let mut found = finding(
        cause(shared),
        held.max(own.unwrap_or_default()).min(whole),
        sure(shared),
        LinkStatement::SharedLink { link: describe(shared), own_bps: part.rate },
    );
    let frames = [part.flow.frames.0, part.flow.frames.1];
    found.evidence.push(evidence(Measure::OwnRate, part.rate, Unit::BitsPerSecond, &frames));
    add(&mut found, shared);
    found.connections = ids.to_vec();
    transfer.findings.push(found);
    let time: Vec<Stretch> = time_of(transfer).collect();
    timeline::attribute(&mut transfer.findings, time);
    crate::rules::order::settle(&mut transfer.findings);
    if let Some(verdict) = crate::rules::verdict::verdict_of_findings(&transfer.findings, whole) {
        transfer.verdict = verdict;
    }
}

/// A transfer's time and that before it, as its entry has it.
fn time_of(transfer: &Transfer) -> impl Iterator<Item = Stretch> + '_ {
    let before = transfer.before.iter().map(|phase| (phase.limit, phase.seconds));
    let within = transfer.timeline.iter().map(|span| {
        let moments = CostSpan { start_s: span.start_s, seconds: span.seconds };
        Stretch { limit: span.limit, span: moments, is_before: false }
    });
    timeline::end_to_end(before, transfer.start_s).into_iter().chain(within)
}

/// Time under limits of its own, nanoseconds.
fn otherwise(transfer: &Transfer) -> i64 {
    transfer.limits.iter().filter(|share| OTHERWISE.contains(&share.limit)).map(|share| share.seconds.0).sum()
}

/// Nothing is sure to be gained where others have what one does not take.
fn lower(transfer: &mut Transfer) {
    for finding in transfer.findings.iter_mut().filter(|finding| AT_OTHERS_COST.contains(&finding.cause)) {
        finding.confidence = finding.confidence.min(UNSURE);
        finding.to_confirm.push(CommonQuestion::LinkShared.into());
    }
}

/// What held it while the link was full was the link.
fn relabel(transfer: &mut Transfer, spans: &[(Nanos, Nanos)]) {
    let within = |from: Nanos, length: Nanos| -> Nanos {
        let clip = |&(start, end): &(Nanos, Nanos)| (end.min(from + length) - start.max(from)).or_zero();
        spans.iter().map(clip).sum()
    };
    let mut moved: Vec<(Limit, f64)> = Vec::new();
    for &limit in HELD {
        let spans = || transfer.timeline.iter().filter(|span| span.limit == limit);
        let all: Nanos = spans().map(|span| span.seconds).sum();
        let full: Nanos = spans().map(|span| within(span.start_s, span.seconds)).sum();
        if full > Nanos::ZERO {
            moved.push((limit, full.0 as f64 / all.0.max(1) as f64));
        }
    }
    let mut times: Vec<LimitTime> = Vec::new();
    for share in &transfer.limits {
        let of_link = moved.iter().find(|(limit, _)| *limit == share.limit);
        let of_link = of_link.map_or(Nanos::ZERO, |(_, part)| share.seconds.scale(part.min(1.0)));
        times.push(LimitTime { limit: share.limit, time: share.seconds - of_link });
        times.push(LimitTime { limit: Limit::Bandwidth, time: of_link });
    }
    transfer.limits = LimitShare::of(&sum_by_limit(times.into_iter()));
    let is_held = |limit, from, length: Nanos| HELD.contains(&limit) && within(from, length).0 * 2 > length.0;
    for span in &mut transfer.timeline {
        if is_held(span.limit, span.start_s, span.seconds) {
            span.limit = Limit::Bandwidth;
        }
    }
    transfer.timeline.dedup_by(|next, last| {
        let same = next.limit == last.limit;
        if same {
            last.seconds += next.seconds;
        }
        same
    });
    for round in &mut transfer.rounds {
        if is_held(round.limit, round.start_s, round.duration_s) {
            round.limit = Limit::Bandwidth;
        }
    }
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

/// What the link carries beside the payload: IP and TCP headers with timestamps, Ethernet's header.
fn on_the_wire(shared: &Bottleneck<'_>) -> f64 {
    let mss = shared.parts.iter().map(|part| part.flow.mss).max().unwrap_or(1).max(1) as f64;
    shared.rate[1] * (mss + 66.0) / mss
}

/// What holds for each of them.
fn add(found: &mut Finding, shared: &Bottleneck<'_>) {
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
    let mut found = finding(cause(shared), shared.time(), sure(shared), statement);
    add(&mut found, shared);
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

#[cfg(test)]
mod tests;
