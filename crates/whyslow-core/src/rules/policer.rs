//! A policer may be on the path: it drops what exceeds a rate, and never queues.
//!
//! ## What it is
//! A token bucket lets a burst pass and then a fixed rate; what comes without a token is dropped at once. Carriers and clouds police where
//! shaping would delay instead. TCP fills the bucket's rate, loses many segments in a burst, backs off below the rate, and again.
//!
//! ## How it is recognised
//! Much as Flach et al. do: 15 losses or more, in three rounds or more, the first within 2 MB; round trips at the losses no longer than
//! 1.3 times the least; and a bucket that fills at one rate is empty at the losses (within two round trips' worth for three in four) and
//! never owes much when segments pass. The rate is the one at which bytes passed between bursts of losses, where it was highest; what
//! passed before the first loss beyond that rate is the size of the bucket. And the losses come in bursts, two or more at a time:
//! that tells them from random ones, which fit a bucket by chance where TCP's own rate is steady.
//!
//! ## What it is confused with
//! - `bandwidth`, a shaper: the round trip grows before anything is lost.
//! - random loss: the losses fall at any level of the bucket.
//! - a very short queue behaves like a policer, as it nearly is one.
//!
//! The test misses many policers (the paper's finds 64 % alone on a path, few among other traffic), so a policer is called possible; where
//! it is missed, `loss` is said.
//!
//! ## The fix
//! Ask for the policed rate and burst, or for shaping instead. A sender that paces, or shapes itself just below the rate, loses nothing: `tc
//! qdisc replace dev DEV root fq maxrate RATE`, nginx `limit_rate`, HAProxy `filter bwlim-out`, curl `--limit-rate`.
//!
//! ## References
//! Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016; RFC 2697, RFC 2698.

use super::say::{evidence, finding, fix, rate, thousands, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "policer", source: include_str!("policer.rs"), check: Check::Transfer(check) };

/// The paper's thresholds.
const LEAST_LOSSES: usize = 15;
const LEAST_ROUNDS: usize = 3;
const LATEST_FIRST: u64 = 2_000_000;
const RTT_INFLATION: f64 = 1.3;
/// Tokens at a loss and at a pass, in round trips at the rate, and the shares that may be outside.
const EMPTY: (f64, f64) = (2.0, 0.25);
const OWED: (f64, f64) = (0.75, 0.1);
/// Losses in a burst, on average: one and a bit where they are random.
const BURST: f64 = 2.0;

/// What a bucket of the transfer's own rate would hold.
struct Bucket {
    /// Bytes per second.
    rate: f64,
    /// Tokens at each loss, bytes.
    at_losses: Vec<f64>,
    /// And where rounds began.
    at_passes: Vec<f64>,
    /// Losses in one burst, on average.
    burst: f64,
}

/// Whether the losses fit a policer; then the rest of the rules need not explain them.
pub(super) fn is_policed(case: &TransferCase<'_>) -> bool {
    fits(case).is_some()
}

fn bucket(case: &TransferCase<'_>, rtt: Nanos) -> Option<Bucket> {
    let transfer = case.transfer;
    let mss = case.context.mss as f64;
    let mut losses = transfer.losses.clone();
    losses.sort_unstable();
    // When, up to which byte, after how many losses; whether one was lost there.
    let mut events: Vec<(Nanos, u64, usize, bool)> =
        losses.iter().enumerate().map(|(nth, &(time, seq))| (time, seq, nth, true)).collect();
    let (from, until) = (losses.first()?.0, losses.last()?.0);
    let mut seq = transfer.seq.0;
    for round in &transfer.rounds {
        if round.start > from && round.start < until {
            let before = losses.iter().filter(|loss| loss.1 < seq).count();
            events.push((round.start, seq, before, false));
        }
        seq += round.bytes;
    }
    events.sort_unstable();
    let delivered =
        |from: (u64, usize), to: (u64, usize)| to.0 as f64 - from.0 as f64 - (to.1 as f64 - from.1 as f64) * mss;
    // From the first loss of a burst to that of the next, all that came in passed, unless tokens overflowed meanwhile: the higher ones
    // of these rates are the policer's.
    let mut rates = Vec::new();
    let mut burst = (from, losses.first()?.1, 0);
    for (nth, pair) in losses.windows(2).enumerate() {
        let (time, seq) = pair[1];
        if time - pair[0].0 > rtt && time - burst.0 > rtt.scale(2.0) {
            rates.push(delivered((burst.1, burst.2), (seq, nth + 1)) / (time - burst.0).as_secs_f64());
            burst = (time, seq, nth + 1);
        }
    }
    if rates.len() < LEAST_ROUNDS {
        return None;
    }
    rates.sort_unstable_by(f64::total_cmp);
    let rate = rates[rates.len() * 4 / 5];
    // What passed before the first loss beyond the rate was in the bucket.
    let size = losses.first()?.1.saturating_sub(transfer.seq.0) as f64 - rate * (from - transfer.start).as_secs_f64();
    if size <= 0.0 || rate <= 0.0 {
        return None;
    }
    let bursts = 1 + losses.windows(2).filter(|pair| pair[1].0 - pair[0].0 > rtt).count();
    let burst = losses.len() as f64 / bursts as f64;
    let mut bucket = Bucket { rate, at_losses: Vec::new(), at_passes: Vec::new(), burst };
    let (mut tokens, mut last) = (0.0f64, (from, losses.first()?.1, 0));
    for (time, seq, lost, is_loss) in events {
        tokens = (tokens + rate * (time - last.0).as_secs_f64()).min(size) - delivered((last.1, last.2), (seq, lost));
        if is_loss {
            bucket.at_losses.push(tokens)
        } else {
            bucket.at_passes.push(tokens)
        }
        tokens = tokens.max(0.0);
        last = (time, seq, lost);
    }
    Some(bucket)
}

fn fits(case: &TransferCase<'_>) -> Option<Bucket> {
    paid_by_tokens(case).filter(|bucket| bucket.burst >= BURST)
}

/// Whether a bucket would be empty where segments were lost, and hold enough where they passed; isolated losses may fit by chance.
pub(super) fn fits_a_bucket(case: &TransferCase<'_>) -> bool {
    paid_by_tokens(case).is_some()
}

fn paid_by_tokens(case: &TransferCase<'_>) -> Option<Bucket> {
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
    let bucket = bucket(case, rtt)?;
    let unit = bucket.rate * rtt.as_secs_f64();
    let share = |list: &[f64], outside: &dyn Fn(f64) -> bool| {
        list.iter().filter(|tokens| outside(**tokens)).count() as f64 / list.len().max(1) as f64
    };
    let empty = share(&bucket.at_losses, &|tokens| tokens.abs() > EMPTY.0 * unit) <= EMPTY.1;
    let paid = share(&bucket.at_passes, &|tokens| tokens < -OWED.0 * unit) <= OWED.1;
    (empty && paid).then_some(bucket)
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
    found.evidence.push(evidence("of them in a burst, on average", bucket.burst, "segments", &[]));
    found.evidence.push(evidence("rate at which bytes passed between bursts of losses", bits, "bit/s", &[]));
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
