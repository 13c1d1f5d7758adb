//! A proxy between two captures: which of its legs makes the other wait.
//!
//! Its two connections carry the same bytes. When the leg that takes the bytes on is the slower one, the proxy's buffers
//! fill and it shuts its window to the leg that brings them; when the leg that brings them is, the other one has nothing to
//! send. What the two captures say of these two states decides, and only where one of them clearly outweighs the other.

use super::align::Aligned;
use crate::analysis::{End, Limit, Proxy, Transfer};
use crate::units::Nanos;

/// Share of the time that one state must have, and by how much it must outweigh the other.
const MOSTLY: f64 = 0.3;
const OUTWEIGHS: f64 = 2.0;

/// What the proxy does with the direction that carried most. `transfers` are those of the two captures.
pub(super) fn told(aligned: &Aligned<'_>, transfers: [&[Transfer]; 2]) -> Proxy {
    let bytes = |from: usize| aligned.ways[from].matches.iter().map(|m| m.sent.end - m.sent.start).sum::<i64>();
    let from = usize::from(bytes(1) >= bytes(0));
    let (sender, receiver) = if from == 0 { (End::Client, End::Server) } else { (End::Server, End::Client) };
    let brings = aligned.nearer(from);
    let full = share(transfers[brings], sender, &[Limit::ReceiveWindow, Limit::ZeroWindow]);
    let empty = share(transfers[1 - brings], sender, &[Limit::Application]);
    let slower = if full >= MOSTLY && full >= OUTWEIGHS * empty {
        Some(receiver)
    } else if empty >= MOSTLY && empty >= OUTWEIGHS * full {
        Some(sender)
    } else {
        None
    };
    let (held_bytes, held_most_bytes) = held(aligned, from, brings);
    Proxy { slower, full_share: full, empty_share: empty, held_bytes, held_most_bytes }
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
fn held(aligned: &Aligned<'_>, from: usize, first: usize) -> (u64, u64) {
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
