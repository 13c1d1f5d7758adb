//! What a shared bottleneck changes in what was said of each transfer: its part is told, what the
//! bottleneck explains is told no more, and nothing is promised of it that the others would pay
//! for.

use super::bottleneck::{Bottleneck, BottleneckShare};
use crate::analysis::{Actor, CommonQuestion, CommonStatement, Connection, Finding, Limit, LimitShare, Transfer, Unit};
use crate::cause::Cause;
use crate::limit::{LimitTime, sum_by_limit};
use crate::rules::cost_shares::share_time;
use crate::rules::say::{WORTH_SAYING, confirm, evidence, finding, fix, rate, thousands, time};
use crate::units::Nanos;

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
/// Parts that are told one by one.
const LISTED: usize = 4;

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
        finding.cost_s = rest;
        finding.cause != cause(shared)
            && finding.cause != Cause::Bandwidth
            && rest >= whole.scale(LITTLE).max(WORTH_SAYING)
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
        format!("{}; this one's part was {}", describe_bottleneck(shared), rate(part.rate)),
    );
    let frames = [part.flow.frames.0, part.flow.frames.1];
    found.evidence.push(evidence("its own part of the rate", part.rate, Unit::BitsPerSecond, &frames));
    add(&mut found, shared);
    found.connections = ids.to_vec();
    transfer.findings.push(found);
    let time = |part: &LimitShare| LimitTime { limit: part.limit, time: part.seconds };
    share_time(&mut transfer.findings, transfer.limits.iter().map(time), transfer.before.iter().map(time));
    crate::rules::order::settle(&mut transfer.findings);
    if let Some(verdict) = crate::rules::verdict::verdict_of_findings(&transfer.findings, whole) {
        transfer.verdict = verdict;
    }
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

/// The bottleneck in words.
fn describe_bottleneck(shared: &Bottleneck<'_>) -> String {
    let [_, together, _] = shared.rate;
    let rates = format!(
        "{} of payload, about {} on the wire, for {}",
        rate(together),
        rate(on_the_wire(shared)),
        time(shared.time())
    );
    let who = who(shared);
    if shared.policed {
        format!("a policer is possible: {who} shared {rates}, and lost what exceeded it, though no queue grew")
    } else {
        format!("{who} shared a bottleneck of {rates}")
    }
}

/// Those that share it. A connection's transfers follow each other.
fn who(shared: &Bottleneck<'_>) -> String {
    let (transfers, connections) = (shared.parts.len(), ids_of(shared).len());
    if transfers == connections {
        format!("{transfers} transfers at the same time")
    } else {
        format!("{transfers} transfers of {connections} connections at the same time")
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
    found.evidence.push(evidence("rate of all together", together, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence("lower tenth of it", low, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence("upper tenth of it", high, Unit::BitsPerSecond, &[]));
    let lost: u64 = shared.parts.iter().map(|part| part.flow.lost).sum();
    found.evidence.push(evidence("segments of all of them that were retransmitted", lost as f64, Unit::Segments, &[]));
    let wire = rate(on_the_wire(shared));
    let what = if shared.policed {
        format!(
            "ask for more than {wire} or for shaping instead of policing; until then shape all of them together below it"
        )
    } else {
        format!(
            "more capacity than {wire}, fewer bytes, or one after the other; the link was full, so that whatever speeds one of them up slows the others down"
        )
    };
    found.remedies = fix(Actor::Network, what, None);
    let mut settle =
        "other traffic that is not in this capture may share it too; one transfer alone shows the whole rate"
            .to_owned();
    if shared.policed {
        settle += "; a very short queue looks alike: ask the carrier";
    } else if shared.parts.iter().all(|part| part.flow.flat) {
        settle += "; hardly any queue stands, so that a policer may drop what exceeds this rate";
    }
    if shared.let_go > 0 {
        settle += &format!(
            "; {} transfers of this capture, each smaller than those that were compared, are in none of these sums",
            thousands(shared.let_go)
        );
    }
    found.to_confirm = confirm(settle);
}

fn over_all(shared: &Bottleneck<'_>, ids: Vec<u64>) -> Finding {
    let rates: Vec<f64> = shared.parts.iter().map(|part| part.rate).collect();
    let parts = match rates.as_slice() {
        [most, .., least] if rates.len() > LISTED => format!("from {} to {}", rate(*least), rate(*most)),
        _ => rates.iter().map(|&own| rate(own)).collect::<Vec<_>>().join(", "),
    };
    let mut found = finding(
        cause(shared),
        shared.time(),
        sure(shared),
        format!("{}, {}; their parts: {parts}", describe_bottleneck(shared), whose(shared)),
    );
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

/// Between which hosts.
fn whose(shared: &Bottleneck<'_>) -> String {
    let Some(first) = shared.parts.first().map(|part| part.flow) else { return String::new() };
    let same =
        |of: fn(&super::flows::Flow) -> std::net::IpAddr| shared.parts.iter().all(|part| of(part.flow) == of(first));
    match (same(|flow| flow.sender), same(|flow| flow.receiver)) {
        (true, true) => format!("all from {} to {}", first.sender, first.receiver),
        (true, false) => format!("all from {}", first.sender),
        _ => format!("all to {}", first.receiver),
    }
}

#[cfg(test)]
mod tests;
