//! The faster of two transfers by size.

use super::curve::Curve;
use super::{ChosenTransfer, Lead};
use whyslow_units::Nanos;

/// Minimum difference that is a lead.
const MIN: Nanos = Nanos::from_millis(1);
/// Minimum share of the time that is a lead.
const SMALL: f64 = 0.02;
/// Minimum factor that a range of sizes spans: a narrower one is a single step of one curve.
const NARROW: f64 = 1.1;

/// The least lead that counts: a twentieth of a round trip, as packets of one flight come one after
/// the other.
pub(super) fn least(both: [&ChosenTransfer<'_>; 2]) -> Nanos {
    let rtt = both.into_iter().filter_map(ChosenTransfer::rtt).min().unwrap_or_default();
    MIN.max(rtt.scale(0.05))
}

/// Lead of the first at one size.
#[derive(Clone, Copy)]
struct LeadAt {
    bytes: u64,
    by: i64,
    /// The least lead that counts at this size.
    least: Nanos,
}

/// Ranges of sizes from one byte to where either curve ends. Up to `captured` both were seen.
pub(super) fn find_leads(curves: &[Curve; 2], captured: u64, least: Nanos) -> Vec<Lead> {
    let end = curves[0].end().min(curves[1].end());
    // A curve jumps behind each bend: the next byte comes with the next round.
    let mut sizes: Vec<u64> =
        curves.iter().flat_map(Curve::bends).flat_map(|bytes| [bytes, bytes.saturating_add(1)]).collect();
    sizes.extend([1, end]);
    sizes.retain(|&bytes| bytes > 0 && bytes <= end);
    sizes.sort_unstable();
    sizes.dedup();
    let ahead: Vec<LeadAt> = sizes
        .into_iter()
        .filter_map(|bytes| {
            let (a, b) = (curves[0].when(bytes)?, curves[1].when(bytes)?);
            Some(LeadAt { bytes, by: (b - a).0, least: least.max(a.min(b).scale(SMALL)) })
        })
        .collect();
    let mut runs: Vec<Lead> = Vec::new();
    let mut before: Option<LeadAt> = None;
    for now in ahead {
        add(&mut runs, before.map_or(now.bytes, |before| crossing(before, now)), now, captured);
        before = Some(now);
    }
    let mut leads = merge_short(runs, captured);
    for lead in &mut leads {
        lead.extrapolated = lead.to_bytes > captured;
    }
    leads
}

/// The first size at which the sign of the second point holds.
fn crossing(before: LeadAt, now: LeadAt) -> u64 {
    if before.by.signum() == now.by.signum() || before.by == 0 {
        return before.bytes.saturating_add(1);
    }
    let [one, other] = [before.by, now.by].map(|by| by.unsigned_abs() as f64);
    let between = now.bytes.saturating_sub(before.bytes).saturating_sub(1) as f64;
    before.bytes.saturating_add(1).saturating_add((between * one / (one + other)) as u64)
}

/// Takes one more point in: it carries on the last run, or begins another.
fn add(runs: &mut Vec<Lead>, from: u64, now: LeadAt, captured: u64) {
    let by_s = Nanos(now.by.saturating_abs());
    let faster = if by_s < now.least { None } else { Some(usize::from(now.by < 0)) };
    let run = Lead { from_bytes: from, to_bytes: now.bytes, faster, by_s, at_bytes: now.bytes, extrapolated: false };
    match runs.last_mut() {
        Some(last) if last.faster == faster => join(last, run, captured),
        Some(last) => {
            last.to_bytes = last.to_bytes.max(from.saturating_sub(1));
            runs.push(run);
        }
        None => runs.push(run),
    }
}

/// Keeps the greatest lead: of captured sizes, as long as there are any.
fn join(last: &mut Lead, next: Lead, captured: u64) {
    last.to_bytes = next.to_bytes;
    let counts = next.at_bytes <= captured || last.at_bytes > captured;
    if last.faster == next.faster && counts && next.by_s > last.by_s {
        (last.by_s, last.at_bytes) = (next.by_s, next.at_bytes);
    }
}

/// A lead that is lost and won again is one lead: it changes only if the other transfer, or
/// neither, is ahead over a range that counts.
fn merge_short(runs: Vec<Lead>, captured: u64) -> Vec<Lead> {
    let end = runs.last().map_or(0, |run| run.to_bytes);
    let mut leads: Vec<Lead> = Vec::new();
    for run in runs {
        let narrow = (run.to_bytes as f64) < run.from_bytes as f64 * NARROW && run.to_bytes < end;
        match leads.last_mut() {
            Some(last) if last.faster == run.faster => join(last, run, captured),
            Some(last) if narrow => last.to_bytes = run.to_bytes,
            // A narrow range at the start belongs to the next range.
            Some(last) if (last.to_bytes as f64) < last.from_bytes as f64 * NARROW => {
                *last = Lead { from_bytes: last.from_bytes, ..run };
            }
            _ => leads.push(run),
        }
    }
    for lead in leads.iter_mut().filter(|lead| lead.faster.is_none()) {
        lead.by_s = Nanos::ZERO;
    }
    leads
}
