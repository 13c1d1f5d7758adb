//! A proxy between two captures: which of its legs makes the other wait.
//!
//! Its two connections carry the same bytes. Each byte passes the capture next to its sender, is
//! acknowledged by the proxy, and passes the other capture. Where the leg that takes the bytes on
//! is the slower one, they wait after the ACK, in the proxy's buffers and behind them; where the
//! leg that brings them is, they wait before it. Which of the two waits clearly outweighs the other
//! decides, and where neither does, how long the proxy's window was full.

use super::align::Aligned;
use super::figures::{millis, percentile};
use crate::analysis::{End, Limit, Proxy, Transfer};
use crate::types::Side;
use crate::units::Nanos;

/// Share of the time that one state must have, and by how much it must outweigh the other.
const MOSTLY: f64 = 0.3;
const OUTWEIGHS: f64 = 2.0;
/// A shorter wait is no sign of anything.
const WORTH: Nanos = Nanos::from_millis(5);

/// What the proxy does with the direction that carried most. `transfers` are those of the two
/// captures.
pub(super) fn describe_proxy(aligned: &Aligned<'_>, transfers: [&[Transfer]; 2]) -> Proxy {
    let bytes = |from: Side| aligned.ways[from].matches.iter().map(|m| m.sent.end - m.sent.start).sum::<i64>();
    let from = if bytes(Side::B) >= bytes(Side::A) { Side::B } else { Side::A };
    let (sender, receiver) = if from == Side::A { (End::Client, End::Server) } else { (End::Server, End::Client) };
    let brings = aligned.nearer(from);
    let full = share(transfers[brings], sender, &[Limit::ReceiveWindow, Limit::ZeroWindow]);
    let empty = share(transfers[1 - brings], sender, &[Limit::Application]);
    let waits = waits(aligned, from, brings);
    let outweighs = |one: Nanos, other: Nanos| one >= WORTH && one.0 as f64 >= OUTWEIGHS * other.0 as f64;
    let slower = match waits {
        Some((before, behind)) if outweighs(behind, before) => Some(receiver),
        Some((before, behind)) if outweighs(before, behind) => Some(sender),
        _ if full >= MOSTLY && full >= OUTWEIGHS * empty => Some(receiver),
        _ if empty >= MOSTLY && empty >= OUTWEIGHS * full => Some(sender),
        _ => None,
    };
    let (held_bytes, held_most_bytes) = held(aligned, from, brings);
    Proxy {
        slower,
        before_ms: waits.map(|(before, _)| millis(before)),
        behind_ms: waits.map(|(_, behind)| millis(behind)),
        full_share: full,
        empty_share: empty,
        held_bytes,
        held_most_bytes,
    }
}

/// The median waits before the proxy's ACK and after it, each over the least one.
fn waits(aligned: &Aligned<'_>, from: Side, first: usize) -> Option<(Nanos, Nanos)> {
    let placed = &aligned.placed[first];
    let mut acks: Vec<(i64, Nanos)> = Vec::new();
    for (rec, &(_, ack)) in placed.recs.iter().zip(&placed.at) {
        let higher = acks.last().is_none_or(|&(high, _)| ack > high);
        if rec.from != from && rec.ack.is_some() && higher {
            acks.push((ack, aligned.time(first, rec)));
        }
    }
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for m in &aligned.ways[from].matches {
        let acknowledged = acks.partition_point(|&(ack, _)| ack < m.sent.end);
        let Some(&(_, at)) = acks.get(acknowledged) else { continue };
        before.push(at - aligned.time(first, placed.rec(m.sent.rec)));
        behind.push(aligned.time(1 - first, aligned.placed[1 - first].rec(m.arrived)) - at);
    }
    let median = |mut waits: Vec<Nanos>| {
        waits.sort_unstable();
        Some(percentile(&waits, 0.5)? - *waits.first()?)
    };
    Some((median(before)?, median(behind)?))
}

/// Share of the time under these limits, over the transfers of one sender.
fn share(transfers: &[Transfer], from: End, limits: &[Limit]) -> f64 {
    let transfers = || transfers.iter().filter(|transfer| transfer.from == from);
    let whole: Nanos = transfers().map(|transfer| transfer.duration_s).sum();
    let of_limits = transfers().flat_map(|t| &t.limits).filter(|share| limits.contains(&share.limit));
    let under: Nanos = of_limits.map(|share| share.seconds).sum();
    if whole > Nanos::ZERO { (under.as_secs_f64() / whole.as_secs_f64() * 1e4).round() / 1e4 } else { 0.0 }
}

/// Bytes between the two captures, whenever new ones passed the second: the median, and the most.
fn held(aligned: &Aligned<'_>, from: Side, first: usize) -> (u64, u64) {
    let way = &aligned.ways[from];
    let mut sent: Vec<(Nanos, i64)> = Vec::new();
    let mut arrived: Vec<(Nanos, i64)> = Vec::new();
    for m in &way.matches {
        sent.push((aligned.time(first, aligned.placed[first].rec(m.sent.rec)), m.sent.end));
        arrived.push((aligned.time(1 - first, aligned.placed[1 - first].rec(m.arrived)), m.sent.end));
    }
    for times in [&mut sent, &mut arrived] {
        times.sort_unstable();
        let mut high = i64::MIN;
        for (_, end) in times {
            high = high.max(*end);
            *end = high;
        }
    }
    let mut held: Vec<i64> = arrived
        .iter()
        .map(|&(time, end)| {
            let before = sent.partition_point(|&(at, _)| at <= time);
            before.checked_sub(1).map_or(0, |last| (sent[last].1 - end).max(0))
        })
        .collect();
    held.sort_unstable();
    let at = |index: usize| held.get(index).map_or(0, |bytes| bytes.unsigned_abs());
    (at(held.len() / 2), at(held.len().saturating_sub(1)))
}
