//! A policer may be on the path: it drops what exceeds a rate, and never queues.
//!
//! ## What it is
//! A token bucket lets a burst pass and then a fixed rate; what comes without a token is dropped at once. Carriers and clouds police where
//! shaping would delay instead. TCP fills the bucket's rate, loses many segments in a burst, backs off below the rate, and again.
//!
//! ## How it is recognised
//! As Flach et al. do: 15 losses or more, in three rounds or more, the first within 2 MB; round trips at the losses no longer than 1.3
//! times the least; and a bucket that fills at the rate of the bytes delivered between the first and the last loss is empty at the losses
//! (within two round trips' worth for nine in ten), and fuller when segments pass.
//!
//! ## What it is confused with
//! - `bandwidth`, a shaper: the round trip grows before anything is lost.
//! - random loss: the losses fall at any level of the bucket.
//! - a very short queue behaves like a policer, as it nearly is one.
//!
//! The test misses many policers (the paper: it finds 64 % alone on a path, few among other traffic), so a policer is called possible.
//!
//! ## The fix
//! Ask for the policed rate and burst, or for shaping instead. A sender that paces, or shapes itself just below the rate, loses nothing.
//!
//! ## References
//! Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016; RFC 2697, RFC 2698.

use super::say::{evidence, finding, fix, rate, thousands, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "policer", source: include_str!("policer.rs"), check: Check::Transfer(check) };

/// The paper's thresholds (its section 3.1 and appendix).
const LEAST_LOSSES: usize = 15;
const LEAST_ROUNDS: usize = 3;
const LATEST_FIRST: u64 = 2_000_000;
const RTT_INFLATION: f64 = 1.3;
/// Tokens at a loss and at a pass, in round trips at the rate, and the shares that may be outside.
const EMPTY: (f64, f64) = (2.0, 0.1);
const OWED: (f64, f64) = (0.75, 0.1);

/// What a bucket of the transfer's own rate would hold.
struct Bucket {
    /// Bytes per second.
    rate: f64,
    /// Tokens at each loss, bytes, beside those at the first.
    at_losses: Vec<f64>,
    /// And where rounds began.
    at_passes: Vec<f64>,
}

/// Whether the losses fit a policer; then the rest of the rules need not explain them.
pub(super) fn is_policed(case: &TransferCase<'_>) -> bool {
    fits(case).is_some()
}

fn bucket(case: &TransferCase<'_>) -> Option<Bucket> {
    let mss = case.context.mss as f64;
    let mut losses = case.transfer.losses.clone();
    losses.sort_unstable();
    let (&(from, seq), &(until, last)) = (losses.first()?, losses.last()?);
    let seconds = (until - from).as_secs_f64();
    let lost = (losses.len() - 1) as f64;
    let delivered = last.saturating_sub(seq) as f64 - lost * mss;
    if seconds <= 0.0 || delivered <= 0.0 {
        return None;
    }
    let rate = delivered / seconds;
    let tokens = |time: Nanos, at: u64, lost: usize| {
        rate * (time - from).as_secs_f64() - (at.saturating_sub(seq) as f64 - lost as f64 * mss)
    };
    let at_losses = losses.iter().enumerate().map(|(nth, &(time, at))| tokens(time, at, nth)).collect();
    let mut at = case.transfer.seq.0;
    let mut at_passes = Vec::new();
    for round in &case.transfer.rounds {
        if round.start > from && round.start < until {
            let before = losses.iter().filter(|(_, loss)| *loss < at).count();
            at_passes.push(tokens(round.start, at, before));
        }
        at += round.bytes;
    }
    Some(Bucket { rate, at_losses, at_passes })
}

fn fits(case: &TransferCase<'_>) -> Option<Bucket> {
    let transfer = case.transfer;
    let lossy: Vec<_> = transfer.rounds.iter().filter(|round| round.resent > 0).collect();
    if transfer.losses.len() < LEAST_LOSSES || lossy.len() < LEAST_ROUNDS {
        return None;
    }
    if transfer.losses.iter().map(|loss| loss.1).min()? > transfer.seq.0 + LATEST_FIRST {
        return None;
    }
    let rtt = case.context.rtt?;
    // The round before each loss: in the lossy one itself there are few samples (Karn).
    let before_loss = |&index: &usize| transfer.rounds[index + 1].resent > 0;
    let last = transfer.rounds.len().saturating_sub(1);
    let mut times: Vec<Nanos> = (0..last).filter(before_loss).filter_map(|index| case.round_trip(index)).collect();
    times.sort_unstable();
    let typical = times.get(times.len() / 2).copied().unwrap_or(rtt);
    if typical > rtt.scale(RTT_INFLATION) + Nanos::from_millis(1) {
        return None;
    }
    let bucket = bucket(case)?;
    let unit = bucket.rate * rtt.as_secs_f64();
    let share = |list: &[f64], outside: &dyn Fn(f64) -> bool| {
        list.iter().filter(|tokens| outside(**tokens)).count() as f64 / list.len().max(1) as f64
    };
    let empty = share(&bucket.at_losses, &|tokens| tokens.abs() > EMPTY.0 * unit) <= EMPTY.1;
    let paid = share(&bucket.at_passes, &|tokens| tokens < -OWED.0 * unit) <= OWED.1;
    let fuller = median(&bucket.at_passes)? > median(&bucket.at_losses)?;
    (empty && paid && fuller).then_some(bucket)
}

fn median(list: &[f64]) -> Option<f64> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let bucket = fits(case)?;
    let limits = [Limit::LossRecovery, Limit::Timeout, Limit::Bandwidth, Limit::CongestionAvoidance];
    let lost: Nanos = limits.into_iter().map(|limit| case.time(limit)).sum();
    if !case.matters(lost, 0.1) {
        return None;
    }
    let bits = bucket.rate * 8.0;
    let number = case.transfer.losses.len() as u64;
    let summary = format!(
        "a policer is possible: {} segments were lost where a bucket filled at {} would be empty, and no queue grew: {} of {}",
        thousands(number),
        rate(bits),
        time(lost),
        time(case.duration()),
    );
    let mut found = finding("policer", lost, case.trust(0.65), summary);
    let frames: Vec<_> = case.transfer.resent_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence("losses", number as f64, "segments", &frames));
    found.evidence.push(evidence("rate delivered between the first and the last loss", bits, "bit/s", &[]));
    found.evidence.push(evidence("tokens at a loss, median", median(&bucket.at_losses)?, "B", &[]));
    found.evidence.push(evidence("tokens as a round begins, median", median(&bucket.at_passes)?, "B", &[]));
    found.fix = fix(
        Actor::Network,
        format!(
            "ask for more than {} or for shaping instead of policing; until then shape or pace the sender below it",
            rate(bits)
        ),
        Some(format!("tc qdisc replace dev DEV root fq maxrate {:.0}kbit", bits * 0.95 / 1e3)),
    );
    found.settle = Some("random losses and a very short queue can look alike: ask the carrier, or send at a constant rate below and above it".into());
    Some(found)
}
