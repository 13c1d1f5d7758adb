//! A proxy between two captures: which of its legs delays the other.
//!
//! Its two connections carry the same bytes. Each byte passes the capture next to its sender, is
//! acknowledged by the proxy, and passes the other capture. If the forwarding leg is the slower
//! one, bytes wait after the ACK, in the proxy's buffers and behind them; if the delivering leg is,
//! they wait before it. The longer wait decides, if it clearly outweighs the other; else the time
//! for which the proxy's window was full.

use super::align::Aligned;
use super::figures::{millis, percentile};
use super::matcher::Match;
use super::placed::Position;
use whyslow_analysis::types::Side;
use whyslow_analysis::{End, LimitingFactor, Proxy, Transfer};
use whyslow_units::{Nanos, Time};

/// Share of the time that one state must have, and its least ratio to the other.
const MOSTLY: f64 = 0.3;
const OUTWEIGHS: f64 = 2.0;
/// A shorter wait is not significant.
const WORTH: Nanos = Nanos::from_millis(5);

/// Behaviour of the proxy in the direction with the most bytes. `transfers` are those of the two
/// captures.
pub(super) fn describe_proxy(aligned: &Aligned<'_>, transfers: [&[Transfer]; 2]) -> Proxy {
    let bytes = |from: Side| aligned.directions[from].matches.iter().map(|m| m.sent.end - m.sent.start).sum::<i64>();
    let from = if bytes(Side::B) >= bytes(Side::A) { Side::B } else { Side::A };
    let (sender, receiver) = if from == Side::A { (End::Client, End::Server) } else { (End::Server, End::Client) };
    let brings = aligned.nearer(from);
    let full = share(transfers[brings], sender, &[LimitingFactor::ReceiveWindow, LimitingFactor::ZeroWindow]);
    let empty = share(transfers[1 - brings], sender, &[LimitingFactor::Application]);
    let waits = waits(aligned, from, brings);
    let outweighs = |one: Nanos, other: Nanos| one >= WORTH && one.0 as f64 >= OUTWEIGHS * other.0 as f64;
    let slower = match waits {
        Some(Waits { before, behind }) if outweighs(behind, before) => Some(receiver),
        Some(Waits { before, behind }) if outweighs(before, behind) => Some(sender),
        _ if full >= MOSTLY && full >= OUTWEIGHS * empty => Some(receiver),
        _ if empty >= MOSTLY && empty >= OUTWEIGHS * full => Some(sender),
        _ => None,
    };
    let held = held(aligned, from, brings);
    Proxy {
        slower,
        before_ms: waits.map(|waits| millis(waits.before)),
        behind_ms: waits.map(|waits| millis(waits.behind)),
        full_share: full,
        empty_share: empty,
        held_bytes: held.median,
        held_most_bytes: held.most,
    }
}

/// How long a byte waits at the proxy: the median over the least.
#[derive(Clone, Copy)]
struct Waits {
    /// Before the proxy acknowledges it.
    before: Nanos,
    /// After that.
    behind: Nanos,
}

/// Bytes between the two captures.
struct Held {
    median: u64,
    most: u64,
}

/// A byte, and when a capture saw that it had been reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reached {
    time: Time,
    byte: i64,
}

fn waits(aligned: &Aligned<'_>, from: Side, first: usize) -> Option<Waits> {
    let placed = &aligned.placed[first];
    let mut acks: Vec<Reached> = Vec::new();
    for (record, &Position { ack, .. }) in placed.records.iter().zip(&placed.positions) {
        let higher = acks.last().is_none_or(|highest| ack > highest.byte);
        if record.from != from && record.ack.is_some() && higher {
            acks.push(Reached { time: aligned.time(first, record), byte: ack });
        }
    }
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for m in &aligned.directions[from].matches {
        let acknowledged = acks.partition_point(|ack| ack.byte < m.sent.end);
        let Some(&Reached { time: at, .. }) = acks.get(acknowledged) else { continue };
        before.push(at - aligned.time(first, placed.record(m.sent.packet)));
        behind.push(aligned.time(1 - first, aligned.placed[1 - first].record(m.arrived)) - at);
    }
    let median = |mut waits: Vec<Nanos>| {
        waits.sort_unstable();
        Some(percentile(&waits, 0.5)? - *waits.first()?)
    };
    Some(Waits { before: median(before)?, behind: median(behind)? })
}

/// Share of the time under these limits, over the transfers of one sender.
fn share(transfers: &[Transfer], from: End, limits: &[LimitingFactor]) -> f64 {
    let transfers = || transfers.iter().filter(|transfer| transfer.from == from);
    let whole: Nanos = transfers().map(|transfer| transfer.duration_s).sum();
    let of_limits = transfers().flat_map(|t| &t.limits).filter(|share| limits.contains(&share.limit));
    let under: Nanos = of_limits.map(|share| share.seconds).sum();
    if whole > Nanos::ZERO { (under.as_secs_f64() / whole.as_secs_f64() * 1e4).round() / 1e4 } else { 0.0 }
}

/// Bytes between the two captures, whenever new ones passed the second.
fn held(aligned: &Aligned<'_>, from: Side, first: usize) -> Held {
    let matches = &aligned.directions[from].matches;
    let reached = |which: usize, packet: fn(&Match) -> u32| -> Vec<Reached> {
        let placed = &aligned.placed[which];
        let at = |m: &Match| Reached { time: aligned.time(which, placed.record(packet(m))), byte: m.sent.end };
        let mut all: Vec<Reached> = matches.iter().map(at).collect();
        all.sort_unstable();
        let mut high = i64::MIN;
        for reached in &mut all {
            high = high.max(reached.byte);
            reached.byte = high;
        }
        all
    };
    let sent = reached(first, |m| m.sent.packet);
    let arrived = reached(1 - first, |m| m.arrived);
    let mut held: Vec<i64> = arrived
        .iter()
        .map(|arrived| {
            let before = sent.partition_point(|sent| sent.time <= arrived.time);
            before.checked_sub(1).map_or(0, |last| (sent[last].byte - arrived.byte).max(0))
        })
        .collect();
    held.sort_unstable();
    let at = |index: usize| held.get(index).map_or(0, |bytes| bytes.unsigned_abs());
    Held { median: at(held.len() / 2), most: at(held.len().saturating_sub(1)) }
}
