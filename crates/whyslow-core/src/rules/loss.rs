//! Segments were lost on the way, and sending them again cost time.
//!
//! ## What it is
//! A lost segment is sent again about one round trip later, once the receiver's SACKs show the hole, and the sender halves
//! its rate or so each time (RFC 5681, RFC 6675, RFC 8985). With a loss rate p the rate cannot exceed about
//! MSS · √1.5 / (RTT · √p) for Reno (Mathis et al.).
//!
//! ## How it is recognised
//! Segments that were sent again after SACKs or duplicate ACKs, and the time until the holes were filled; and after that,
//! the slow growth of a window that was cut. Where the first copies were lost before the capture point, late segments fill
//! holes that the receiver had reported: those are counted as retransmissions too, and not as reordering.
//!
//! ## What it is confused with
//! - `random-loss`: said instead where enough losses show that they follow neither the flight nor the queue.
//! - `reordering`: the hole closes with a segment that was sent once only.
//! - `spurious-retransmission`: the first copy had arrived.
//! - capture loss: an ACK covers bytes that the capture never had.
//! - `bandwidth`: losses at a steady rate are how TCP finds the rate of a full path.
//!
//! ## The fix
//! Find where the path loses: cable, radio, duplex, a policer, a full queue: `ip -s link`, `ethtool -S`, `mtr --tcp`. A sender with BBR
//! (`net.ipv4.tcp_congestion_control=bbr`; nginx, HAProxy and Envoy take the host's) minds random loss less; one with SACK and RACK repairs it
//! sooner.
//!
//! ## References
//! RFC 5681, RFC 6675, RFC 8985; Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997.

use super::say::{count, evidence, finding, fix, rate, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::units::Nanos;

pub(super) const RULE: Rule = Rule { slug: "loss", source: include_str!("loss.rs"), check: Check::Transfer(check) };

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let kinds = &case.transfer.retransmitted;
    let lost_segments = kinds.fast + kinds.timeout + kinds.tail_probe;
    if lost_segments == 0 {
        return None;
    }
    // By bytes: with offload a segment of the capture is several on the wire.
    let resent = case.transfer.resent_bytes;
    let share_lost = resent as f64 / (case.transfer.bytes() + resent).max(1) as f64;
    let recovering = case.time(Limit::LossRecovery);
    let ceiling = case.rtt().filter(|rtt| *rtt > Nanos::ZERO).map(|rtt| mathis(case.context.mss, rtt, share_lost));
    let explains = lost_segments >= 3 && ceiling.is_some_and(|ceiling| (0.5..=2.0).contains(&(case.rate() / ceiling)));
    // What SACK would spare has a finding of its own, and so have copies that were lost too.
    let others = super::no_sack::lost(case) + super::lost_retransmission::lost(case);
    let cost = (cost(case) - others).or_zero();
    if super::policer::is_policed(case)
        || super::random_loss::is_random(case)
        || !case.matters(cost, 0.1)
        || (kinds.fast == 0 && recovering == Nanos::ZERO)
    {
        return None;
    }
    let summary = format!(
        "{:.2} % of the bytes were lost and sent again ({}); repairing that, and sending slower for it, took {} of {}",
        share_lost * 100.0,
        count(lost_segments, "segment"),
        time(cost),
        time(case.duration()),
    );
    let confidence = if share_lost > 0.01 || explains { 0.9 } else { 0.7 };
    let mut found = finding("loss", cost, case.trust(confidence), summary);
    let frames: Vec<_> = case.transfer.resent_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence("segments sent again", lost_segments as f64, "segments", &frames));
    found.evidence.push(evidence("share of the bytes sent", share_lost * 100.0, "%", &[]));
    if kinds.unseen_original > 0 {
        let figure = "of those, first copy lost before the capture point";
        found.evidence.push(evidence(figure, kinds.unseen_original as f64, "segments", &[]));
    }
    if let Some(ceiling) = ceiling {
        let figure = format!("ceiling by Mathis for this loss (measured {})", rate(case.rate()));
        found.evidence.push(evidence(figure, ceiling, "bit/s", &[]));
    }
    found.fix = fix(
        Actor::Network,
        format!(
            "find where the path loses {:.2} % of its packets (cable, radio, policer, full queue)",
            share_lost * 100.0
        ),
        Some("sysctl -w net.ipv4.tcp_congestion_control=bbr   # on the sender, if the loss cannot be mended".into()),
    );
    Some(found)
}

/// Repairing, and from the first loss on the time under a window that losses made small.
pub(super) fn cost(case: &TransferCase<'_>) -> Nanos {
    case.time(Limit::LossRecovery) + slow_since_loss(case)
}

/// Time in congestion avoidance after the first loss.
fn slow_since_loss(case: &TransferCase<'_>) -> Nanos {
    let Some(first) = case.transfer.rounds.iter().find(|round| round.resent > 0) else {
        return Nanos::ZERO;
    };
    let spans = case.partition.spans.iter();
    spans.filter(|s| s.limit == Limit::CongestionAvoidance && s.start >= first.start).map(|s| s.length()).sum()
}

/// Bits per second that Reno reaches at this loss (Mathis et al. 1997, equation 3, with an ACK for every segment).
pub(super) fn mathis(mss: u64, rtt: Nanos, loss: f64) -> f64 {
    mss as f64 * 8.0 * 1.5f64.sqrt() / (rtt.as_secs_f64() * loss.max(1e-9).sqrt())
}
