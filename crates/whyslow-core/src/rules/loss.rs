//! Packets were lost on the way, and sending them again cost time.
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
//! - `policer`, and a queue that overflows: both lose in bursts. Where losses come in bursts and no rate between them tells more, the
//!   confidence is lower, as the cause behind the loss is not known.
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
//! ## To see that it worked
//! `nstat TcpRetransSegs`, run before and after a transfer on the sender, counts few segments sent
//! again.
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
    let in_bursts = burst(case) >= IN_BURSTS;
    let confidence = if (share_lost > 0.01 || explains) && !in_bursts { 0.9 } else { 0.7 };
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
        bbr(case).map(|bbr| format!("{bbr}   # on the sender, if the loss cannot be mended")),
    );
    if in_bursts {
        found.settle = Some(
            "losses in bursts are those of a full queue or a policer, or of a link that fails for moments: send at a constant rate below this one, and those of a queue or a policer vanish"
                .into(),
        );
    }
    Some(found)
}

/// So many losses within a round trip, on average, are no accidents that come one by one.
const IN_BURSTS: f64 = 2.5;

/// Losses within one round trip, on average over the round trips that have any.
fn burst(case: &TransferCase<'_>) -> f64 {
    let mut times: Vec<_> = case.transfer.losses.iter().map(|loss| loss.time).collect();
    times.sort_unstable();
    let rtt = case.context.rtt.unwrap_or_default();
    let events = 1 + times.windows(2).filter(|pair| pair[1] - pair[0] > rtt).count();
    times.len() as f64 / events as f64
}

/// The command that has a sender use BBR; none for one that paces itself whatever is lost, as BBR does.
pub(super) fn bbr(case: &TransferCase<'_>) -> Option<&'static str> {
    (!case.partition.shape.paced).then_some(super::command::BBR)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::scene::{MSS, Scene, ms};
    use crate::tcp::facts::Loss;

    /// Twelve losses in a transfer of 20 rounds, so many in one round trip.
    fn lossy(burst: usize) -> Scene {
        let mut scene = Scene::flights(&[20_000; 20]);
        for nth in 0..12 {
            let round = 2 + 2 * (nth / burst) % 14;
            let time = ms(1000 + 100 * round as i64 + nth as i64 % burst as i64);
            scene.transfer.losses.push(Loss {
                time,
                until: time,
                seq: nth as u64,
                bytes: MSS,
                sent: 0,
                unseen: false,
                needless: false,
            });
            scene.transfer.rounds[round].resent += 1;
            scene.transfer.rounds[round].recovering = ms(80);
        }
        scene.transfer.retransmitted.fast = 12;
        scene.transfer.resent_bytes = 12 * MSS;
        scene
    }

    #[test]
    fn losses_one_by_one_are_the_paths() {
        let found = lossy(1).finding("loss").unwrap();
        assert_eq!((found.confidence, found.settle), (0.9, None));
    }

    #[test]
    fn what_loses_in_bursts_is_not_known() {
        let found = lossy(6).finding("loss").unwrap();
        assert!(found.confidence < 0.8 && found.settle.is_some(), "{found:?}");
    }
}
