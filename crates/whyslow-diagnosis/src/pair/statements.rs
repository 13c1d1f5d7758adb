//! Conclusions from a pair: places of losses and delays, and the behaviour of a proxy.

use whyslow_analysis::{Leg, Pair, PairDirection, PairStatement, PathPart, Proxy, WayLoss, WayQueue};
use whyslow_units::Nanos;

/// Shortest queue that is reported, milliseconds.
const QUEUE: f64 = 5.0;
/// Share of the minimum RTT between the captures that leaves nothing for the outside.
const WHOLE: f64 = 0.95;

/// Conclusions, in the order of the report.
pub(super) fn statements(pair: &Pair) -> Vec<PairStatement> {
    if let Some(proxy) = &pair.proxy {
        return vec![proxied(proxy)];
    }
    let ways = || pair.directions.iter();
    let mut statements = vec![losses(&pair.directions)];
    statements.extend(ways().filter_map(disorder));
    statements.extend(ways().filter(|way| way.unjudged > 0).map(unjudged));
    statements.extend(ways().filter(|way| way.lost_before > 0).map(lost_before));
    statements.extend(ways().filter(|way| way.resent > 0).map(resent));
    statements.extend(queue(&pair.directions));
    statements.extend(round_trip(&pair.legs));
    statements
}

fn losses(directions: &[PairDirection]) -> PairStatement {
    let lossy = directions.iter().filter(|way| way.lost > 0);
    let loss =
        |way: &PairDirection| WayLoss { to: way.from.other(), lost: way.lost, sent: way.sent, share: way.lost_share };
    PairStatement::Lost { ways: lossy.map(loss).collect() }
}

fn disorder(way: &PairDirection) -> Option<PairStatement> {
    [way.duplicated, way.reordered, way.damaged].iter().any(|&packets| packets > 0).then(|| PairStatement::Disorder {
        to: way.from.other(),
        duplicated: way.duplicated,
        reordered: way.reordered,
        reordered_s: way.reordered_s,
        damaged: way.damaged,
    })
}

/// Packets that were sent before the other capture began, or after it ended.
fn unjudged(way: &PairDirection) -> PairStatement {
    PairStatement::Unjudged { from: way.from, packets: way.unjudged }
}

fn lost_before(way: &PairDirection) -> PairStatement {
    PairStatement::LostBefore { from: way.from, segments: way.lost_before }
}

fn resent(way: &PairDirection) -> PairStatement {
    PairStatement::Resent { from: way.from, segments: way.resent, for_loss: way.resent_for_loss }
}

/// The direction in which packets wait, or both.
fn queue(directions: &[PairDirection]) -> Option<PairStatement> {
    let slow = directions.iter().max_by(|a, b| waits(a).total_cmp(&waits(b)))?;
    let other = directions.iter().find(|way| way.from != slow.from)?;
    if waits(slow) < QUEUE {
        return None;
    }
    let both = waits(other) > waits(slow) / 2.0;
    let waiting = std::iter::once(slow).chain(Some(other).filter(|_| both));
    Some(PairStatement::Queued { ways: waiting.map(waits_of).collect() })
}

fn waits(way: &PairDirection) -> f64 {
    way.queue_ms.p95.unwrap_or_default()
}

fn waits_of(way: &PairDirection) -> WayQueue {
    let [p50_s, p95_s] = [way.queue_ms.p50, way.queue_ms.p95].map(from_millis);
    WayQueue { to: way.from.other(), p50_s, p95_s }
}

/// The part of the network in which the round trip lies.
fn round_trip(legs: &[Leg]) -> Option<PairStatement> {
    let least = |place: PathPart| legs.iter().find(|leg| leg.place == place)?.rtt_ms.min;
    let (client, between, server) = (least(PathPart::Client)?, least(PathPart::Between)?, least(PathPart::Server)?);
    let whole = client + between + server;
    let time = |millis: f64| from_millis(Some(millis.max(0.0)));
    let is_whole = between >= WHOLE * whole;
    (is_whole || whole > 0.0).then(|| PairStatement::RoundTrip {
        whole_s: time(whole),
        between_s: time(between),
        outside_s: (!is_whole).then(|| [client, server].map(time)),
    })
}

fn proxied(proxy: &Proxy) -> PairStatement {
    PairStatement::Proxied {
        slower: proxy.slower,
        before_s: from_millis(proxy.before_ms),
        behind_s: from_millis(proxy.behind_ms),
        full_share: proxy.full_share,
        held_bytes: proxy.held_bytes,
    }
}

fn from_millis(millis: Option<f64>) -> Nanos {
    Nanos::from_secs_f64(millis.unwrap_or_default() / 1e3)
}
