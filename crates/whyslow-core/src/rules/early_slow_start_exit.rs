//! The sender left slow start early, though nothing was lost, and then opened its window slowly.
//!
//! ## What it is
//! A sender doubles its window each round trip until it reaches its slow-start threshold (ssthresh) or learns of congestion. A
//! threshold that is too small ends the doubling early; from there on the window grows by about a segment a round trip. On a long path
//! that costs seconds. Two reasons are common: the kernel remembered a small threshold of an earlier connection to the same peer (Linux'
//! `ip tcp_metrics`), or HyStart took a rise of the round-trip time for a queue.
//!
//! ## How it is recognised
//! The flights stop doubling and then grow slowly for four rounds or more, with room left in the receiver's window, no segment lost
//! before, no congestion echo, and the sender waiting for ACKs. If the round trips of the last doubling were longer than the least by
//! an eighth (4 to 16 ms), HyStart is the likely reason.
//!
//! ## What it is confused with
//! - `bandwidth`: the rate stays the same whatever is in flight.
//! - `sender-cap`: the flights do not grow at all.
//! - congestion avoidance after a loss: that is what TCP should do.
//!
//! ## The fix
//! Forget what was remembered, and do not remember thresholds: `ip tcp_metrics flush`, `net.ipv4.tcp_no_ssthresh_metrics_save=1` (the
//! default since Linux 5.6). For HyStart: BBR, or `hystart` off in the parameters of `tcp_cubic`.
//!
//! ## References
//! RFC 5681 section 3.1, RFC 9406 (HyStart++), RFC 9438; Ha and Rhee, "Taming the elephants: New TCP slow start", 2011.

use super::say::{count, evidence, finding, fix, thousands, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::tcp::facts::RoundFacts;
use crate::units::Nanos;

pub(super) const RULE: Rule = Rule {
    slug: "early-slow-start-exit",
    source: include_str!("early_slow_start_exit.rs"),
    check: Check::Transfer(check),
};

/// Rounds of slow growth that mean something.
const LEAST_ROUNDS: usize = 4;
/// RFC 9406 section 4.2: the rise of the round trip that ends slow start lies between these.
const RISE: (Nanos, Nanos) = (Nanos::from_millis(4), Nanos::from_millis(16));

/// The rounds of slow growth before any loss.
fn slow_rounds<'a>(case: &'a TransferCase<'_>) -> Option<(usize, &'a [RoundFacts])> {
    let rounds = &case.transfer.rounds;
    let base = &case.partition.shape.base;
    let first = base.iter().position(|limit| *limit != Limit::SlowStart)?;
    let lost = rounds.iter().position(|round| round.resent > 0).unwrap_or(rounds.len());
    let run = base.get(first..lost)?.iter().take_while(|limit| **limit == Limit::CongestionAvoidance).count();
    (run >= LEAST_ROUNDS).then(|| (first, &rounds[first..first + run]))
}

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let half = case.half();
    let lost_before = case.earlier.iter().any(|transfer| !transfer.losses.is_empty());
    if lost_before || half.ecn_echoes > 0 || case.partition.shape.steady.is_some() || case.transfer.unseen > 0 {
        return None;
    }
    let (first, slow) = slow_rounds(case)?;
    let rtt = case.rtt()?;
    let mss = case.context.mss;
    let (start, last) = (slow.first()?, slow.last()?);
    let room = slow.iter().all(|round| round.window.is_some_and(|window| window > round.in_flight + 3 * mss));
    // More than a message a round, and growing, however slowly.
    if !room || start.in_flight < 2 * mss || last.in_flight.max(start.in_flight) == start.in_flight {
        return None;
    }
    let spans = case.partition.spans.iter().filter(|span| span.limit == Limit::CongestionAvoidance);
    let until = case.transfer.rounds.get(first + slow.len()).map_or(case.transfer.end, |round| round.start);
    let slow_time: Nanos =
        spans.filter(|s| s.start >= start.start && s.start < until).map(crate::limit::Span::length).sum();
    // What the same bytes would have taken by doubling on.
    let bytes: u64 = slow.iter().map(|round| round.bytes).sum();
    let doublings = u64::BITS - (bytes / start.in_flight.max(1)).leading_zeros();
    let lost = (slow_time - rtt.scale(f64::from(doublings))).or_zero();
    if !case.matters(lost, 0.2) {
        return None;
    }
    let segments = start.in_flight.div_ceil(mss);
    let least = case.context.rtt?;
    let before = (0..=first).rev().find_map(|index| case.round_trip(index));
    let rise = before.map_or(Nanos::ZERO, |rtt| rtt - least);
    let hystart = rise >= least.scale(0.125).max(RISE.0).min(RISE.1);
    let summary = format!(
        "the sender stopped doubling its window at {} ({} B) though nothing was lost, and took {} more to open it slowly",
        count(segments, "segment"),
        thousands(start.in_flight),
        time(lost),
    );
    let mut found = finding("early-slow-start-exit", lost, case.trust(0.8), summary);
    let frames = [start.first_frame, last.last_frame];
    found.evidence.push(evidence(
        "flight at which the doubling stopped",
        start.in_flight as f64,
        "B",
        &[start.first_frame],
    ));
    found.evidence.push(evidence("rounds of slow growth", slow.len() as f64, "rounds", &frames));
    found.evidence.push(evidence("flight at their end", last.in_flight as f64, "B", &[last.last_frame]));
    found.evidence.push(evidence("round trip, at least", least.as_millis_f64(), "ms", &[]));
    found.evidence.push(evidence("rise of the round trip before", rise.as_millis_f64().max(0.0), "ms", &[]));
    found.fix = if hystart {
        fix(
            Actor::Sender,
            "the round trip had risen, which HyStart takes for a queue: use BBR, or CUBIC without HyStart",
            Some("echo 0 > /sys/module/tcp_cubic/parameters/hystart".into()),
        )
    } else {
        fix(
            Actor::Sender,
            "forget the threshold that the sender remembers for this peer, and remember none",
            Some("ip tcp_metrics flush all; sysctl -w net.ipv4.tcp_no_ssthresh_metrics_save=1".into()),
        )
    };
    found.settle = Some(format!(
        "on the sender, `ip tcp_metrics show` names a ssthresh of about {segments} for this peer, or `nstat` counts TCPHystart*"
    ));
    Some(found)
}
