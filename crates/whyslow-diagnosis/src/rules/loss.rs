//! Packets were lost in the network, and sending them again cost time.
//!
//! ## What it is
//! A lost segment is retransmitted about one round trip later, once the receiver's SACKs show the
//! hole, and the sender halves its rate or so each time (RFC 5681, RFC 6675, RFC 8985). With a loss
//! rate p the rate cannot exceed about MSS · √1.5 / (RTT · √p) for Reno (Mathis et al.).
//!
//! ## How it is recognised
//! Segments that were retransmitted after SACKs or duplicate ACKs, and the time until the holes
//! were filled; and after that, the slow growth of a window that was cut. Where the first copies
//! were lost before the capture point, late segments fill holes that the receiver had reported:
//! those are counted as retransmissions too, and not as reordering.
//!
//! ## What it is confused with
//! - `random-loss`: reported instead if enough losses show that they follow neither the flight nor
//!   the queue.
//! - `policer`, and a queue that overflows: both lose in bursts. If losses come in bursts and no
//!   rate between them shows more, the confidence is lower, because the cause behind the loss is
//!   unknown.
//! - `reordering`: the hole closes with a segment that was sent once only.
//! - `spurious-retransmission`: the first copy had arrived.
//! - capture loss: an ACK covers bytes that the capture never had.
//! - `bandwidth`: losses at a steady rate are how TCP finds the rate of a full path.
//!
//! ## The fix
//! Find where the path loses: cable, radio, duplex, a policer, a full queue: `ip -s link`,
//! `ethtool -S`, `mtr --tcp`. A sender with BBR (`net.ipv4.tcp_congestion_control=bbr`; nginx,
//! HAProxy and Envoy take the host's) minds random loss less; one with SACK and RACK repairs it
//! sooner.
//!
//! ## To see that it worked
//! `nstat TcpRetransSegs`, run before and after a transfer on the sender, counts few
//! retransmissions.
//!
//! ## References
//! RFC 5681, RFC 6675, RFC 8985; Mathis et al., "The Macroscopic Behavior of the TCP Congestion
//! Avoidance Algorithm", 1997.

use super::loss_cost;
use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::TransferView;
use crate::estimate::{loss_episodes, mean_size};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LossAction, LossQuestion, LossStatement, Measure, Remedy, Unit,
};
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::Loss, Check::Transfer(check)).certain_with(&[Evidence::Opening, Evidence::Options]);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let kinds = &view.transfer.retransmitted;
    let lost_segments = kinds.fast + kinds.timeout + kinds.tail_probe;
    if lost_segments == 0 {
        return None;
    }
    // Counted in bytes: with offload a segment of the capture is several on the wire.
    let resent = view.transfer.retransmitted_bytes;
    let share_lost = resent as f64 / (view.transfer.bytes() + resent).max(1) as f64;
    let recovering = view.time(LimitingFactor::LossRecovery);
    let ceiling =
        view.rtt().filter(|rtt| *rtt > Nanos::ZERO).map(|rtt| loss_cost::mathis(view.context.mss, rtt, share_lost));
    let explains = lost_segments >= 3 && ceiling.is_some_and(|ceiling| (0.5..=2.0).contains(&(view.rate() / ceiling)));
    // Costs that SACK would save are a finding of their own, and so are lost retransmissions.
    let others = loss_cost::cost_without_sack(view) + loss_cost::cost_of_lost_retransmits(view);
    let cost = (loss_cost::cost(view) - others).or_zero();
    if !view.matters(cost, 0.1) || (kinds.fast == 0 && recovering == Nanos::ZERO) {
        return None;
    }
    // A few losses are not a share of the path's losses.
    let few = lost_segments < FEW;
    let (segments, whole_s) = (lost_segments, view.duration());
    let statement = if few {
        LossStatement::FewLost { segments, cost_s: cost, whole_s }
    } else {
        LossStatement::Lost { share: share_lost, segments, cost_s: cost, whole_s }
    };
    let in_bursts = burst(view) >= IN_BURSTS;
    let confidence = match share_lost > 0.01 || explains {
        // A policer with few stretches between its losses leaves nothing else to see.
        _ if in_bursts => 0.58,
        // That the sender went on slower because of a few losses is inferred.
        _ if few && recovering.0 * 2 < cost.0 => {
            if explains {
                0.7
            } else {
                0.5
            }
        }
        true => 0.9,
        false => 0.7,
    };
    let mut found = finding(Cause::Loss, cost, view.trust(confidence), statement);
    found.spans = loss_cost::spans(view);
    let frames: Vec<_> = view.transfer.retransmitted_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence(Measure::SegmentsRetransmitted, lost_segments as f64, Unit::Segments, &frames));
    found.evidence.push(evidence(Measure::RetransmittedShare, share_lost * 100.0, Unit::Percent, &[]));
    if kinds.unseen_original > 0 {
        let unseen = kinds.unseen_original as f64;
        found.evidence.push(evidence(Measure::FirstCopyLostBeforeCapture, unseen, Unit::Segments, &[]));
    }
    if let Some(ceiling) = ceiling {
        found.evidence.push(evidence(Measure::MathisCeiling, ceiling, Unit::BitsPerSecond, &[]));
        found.evidence.push(evidence(Measure::MeasuredRate, view.rate(), Unit::BitsPerSecond, &[]));
    }
    found.remedies = remedy(Actor::Network, LossAction::FindLoss { share: (!few).then_some(share_lost) });
    if loss_cost::may_help_with_bbr(view) {
        found.remedies.push(Remedy::new(Actor::Sender, LossAction::UseBbr));
    }
    if in_bursts {
        found.to_confirm = confirm(LossQuestion::BurstOrigin);
    }
    Some(found)
}

/// Fewer losses are counted, and not given as a rate: a rate from ten has an error of a third
/// (Poisson: one over the square root). Follows from that.
const FEW: u64 = 10;

/// Mean losses within a round trip, above which they are not independent. Follows from independent
/// losses: at two expected in a round trip, those with any have 2.3 (2 / (1 − e⁻²)). Half and twice
/// change 20 and 18 of 2,061 captures.
const IN_BURSTS: f64 = 2.5;

/// Losses of an episode, on average.
fn burst(view: &TransferView<'_>) -> f64 {
    mean_size(&loss_episodes(&view.transfer.losses, view.context.rtt.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{LossAction, LossQuestion, LossStatement};
    use whyslow_core::tcp::facts::Loss;

    /// Twelve losses in a transfer of 20 rounds, `burst` of them in each round trip.
    fn lossy(burst: usize) -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[20_000; 20]);
        for nth in 0..12 {
            let round = 2 + 2 * (nth / burst) % 14;
            let time = at_ms(1000 + 100 * round as i64 + nth as i64 % burst as i64);
            scene.transfer.losses.push(Loss {
                time,
                until: time,
                seq: nth as u64,
                bytes: MSS,
                passed_before: 0,
                unseen: false,
                spurious: false,
            });
            scene.transfer.rounds[round].retransmitted += 1;
            scene.transfer.rounds[round].recovering = ms(80);
        }
        scene.transfer.retransmitted.fast = 12;
        scene.transfer.retransmitted_bytes = 12 * MSS;
        scene
    }

    #[test]
    fn single_losses_are_the_paths() {
        let found = lossy(1).finding(Cause::Loss).unwrap();
        assert_eq!((found.confidence, found.to_confirm), (0.9, Vec::new()));
    }

    #[test]
    fn burst_losses_have_an_unknown_cause() {
        let found = lossy(6).finding(Cause::Loss).unwrap();
        assert!(found.confidence < 0.8 && found.to_confirm == [LossQuestion::BurstOrigin.into()], "{found:?}");
    }

    #[test]
    fn few_losses_are_counted_without_a_share() {
        let mut scene = lossy(1);
        scene.transfer.retransmitted.fast = 4;
        let found = scene.finding(Cause::Loss).unwrap();
        let whole_s = ms(2_000);
        assert_eq!(found.statement, LossStatement::FewLost { segments: 4, cost_s: found.cost_s, whole_s }.into());
        assert_eq!(found.remedy().unwrap().action, LossAction::FindLoss { share: None }.into());
        let found = lossy(1).finding(Cause::Loss).unwrap();
        let share = 12.0 / 412.0;
        let lost = LossStatement::Lost { share, segments: 12, cost_s: found.cost_s, whole_s };
        assert_eq!(found.statement, lost.into());
        assert_eq!(found.remedy().unwrap().action, LossAction::FindLoss { share: Some(share) }.into());
    }

    #[test]
    fn loss_among_late_segments_costs_its_own_part() {
        let whole = lossy(1).finding(Cause::Loss).unwrap().cost_s;
        let mut late = lossy(1);
        late.transfer.spurious_fast = 12;
        assert_eq!(late.finding(Cause::Loss).unwrap().cost_s, whole.scale(0.5));
        late.transfer.spurious_fast = 1_000;
        assert!(late.finding(Cause::Loss).is_none());
    }

    #[test]
    fn bbr_is_not_advised_to_a_sender_that_ignores_losses() {
        let bbr = |scene: &SyntheticTransfer| {
            let remedies = scene.finding(Cause::Loss).unwrap().remedies;
            remedies.iter().any(|remedy| remedy.action == LossAction::UseBbr.into())
        };
        assert!(!bbr(&lossy(1)), "the flights stay as they were");
        let mut halved = lossy(1);
        halved.transfer.rounds[15..].iter_mut().for_each(|round| round.in_flight /= 2);
        assert!(bbr(&halved));
    }

    #[test]
    fn loss_episode_costs_its_own_time() {
        let mut scene = SyntheticTransfer::flights(&[20_000; 60]);
        scene.transfer.delivered = (0..20).map(|n| (at_ms(1100 + 50 * n), 5_000 * n as u64)).collect();
        scene.transfer.delivered.extend((0..100).map(|n| (at_ms(2100 + 50 * n), 100_000 + 10_000 * n as u64)));
        for (index, round) in scene.transfer.rounds.iter_mut().enumerate() {
            if index < 10 {
                (round.bytes, round.in_flight) = (10_000, 10_000);
                round.retransmitted = u32::from(index % 3 == 1);
            } else {
                (round.in_flight, round.rtt) = (36_000, Some(ms(180)));
            }
        }
        for round in [1, 4, 7] {
            let time = at_ms(1000 + 100 * round);
            scene.transfer.losses.push(Loss { time, until: time, bytes: MSS, ..Loss::default() });
        }
        scene.transfer.retransmitted.fast = 3;
        scene.transfer.retransmitted_bytes = 3 * MSS;
        let found = scene.finding(Cause::Loss).unwrap();
        assert!(found.cost_s <= ms(1_100), "{found:?}");
        assert!(scene.finding(Cause::Bandwidth).unwrap().cost_s >= ms(4_500));
    }
}
