//! A device on the path may drop all traffic above a rate instead of queueing it: a policer.
//!
//! ## What it is
//! A token bucket lets a burst pass and then a fixed rate; packets that find no token are dropped
//! at once. Carriers and clouds police where shaping would delay instead. TCP exceeds the bucket's
//! rate, loses many segments in a burst, backs off below the rate, and repeats this.
//!
//! ## How it is recognised
//! As in Flach et al.: 15 losses or more, in three rounds or more, the first within 2 MB, and round
//! trips at the losses no longer than 1.3 times the minimum. Their replay of a token bucket is
//! reversed: at each loss the bucket is empty, so that between two losses exactly the policer's
//! rate passed, retransmissions included, whatever the sender's window did. Five stretches or more
//! of 20 segments or more must have one rate: the upper tenth within 12 % of the median and the
//! lower within 30 % (a bucket that overflows loses tokens). Random losses cut the time into
//! stretches of very different rates. The flights must rise and fall by a third or more: if
//! something else holds a sender at one rate, all stretches are alike. If packets always pass at
//! one rate and are lost one by one, round trips may not be longer by even the time of a segment:
//! behind a link each waits for the one before it.
//!
//! A sender that ignores losses (BBR) overruns the path for many round trips and keeps to its rate
//! between them, so that losses do not show a rate. For it a second sign counts: in two rounds or
//! more the sender offered a quarter more than the rate, half of the excess or more was lost, 15
//! segments in all, and the delivered segments waited for no more than two others. A link's queue
//! is full before it drops, and delivered segments have waited behind all of it. This is visible
//! from SACKs and ACKs at the sender's end, or between; next to the receiver by rounds, with
//! timestamps only. If the delivered segments have waited, it is not a policer, whatever the losses
//! look like. Next to a receiver without timestamps it is possible if the first flight, which a
//! link would have spaced by the rate, came faster than that.
//!
//! The transfers of a connection meet the same policer: a transfer with too few losses to show its
//! rate uses the rate of all of them, if its own agrees.
//!
//! ## What it is confused with
//! - `bandwidth`, a shaper: the round trip grows before anything is lost.
//! - random loss: the rates between two losses differ.
//! - a very short queue behaves like a policer, as it nearly is one; and so does a long one, as far
//!   as a capture next to the receiver shows without timestamps: the confidence is lower there.
//!
//! With other traffic in the same bucket that is not in the capture a policer is missed (the
//! paper's test finds 64 % alone on a path, and few there), and the finding is `loss`. If the
//! others are in the capture, the sum of all is examined: it is steady at the policed rate,
//! whatever each of them does, 15 segments or more are lost, and no queue grows (see `bandwidth`).
//! One capture cannot prove it, so it is called possible.
//!
//! ## The fix
//! Ask for the policed rate and burst, or for shaping instead. A sender that paces, or shapes
//! itself just below the rate, loses nothing: `tc qdisc replace dev DEV root fq maxrate RATE`,
//! nginx `limit_rate`, HAProxy `filter bwlim-out`, curl `--limit-rate`.
//!
//! ## To see that it worked
//! `nstat TcpRetransSegs`, run before and after a transfer on the sender, counts few
//! retransmissions.
//!
//! ## References
//! Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016; RFC 2697, RFC 2698.

use super::parts::{confirm, evidence, finding};
use super::policing::{BURST, PolicerSign, is_policed, policer_sign};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::estimate::OfferedLoad;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LinkAction, LinkQuestion, LinkStatement, Measure, Measurement, PolicerEvidence,
    QueueSight, Remedy, Unit,
};
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::Policer, Check::Transfer(check)).shown_by(is_policed).proof(Proof::Pattern);

/// Confidence next to a receiver without timestamps, where a full queue loses in the same way. Half
/// and twice change none of 2,061 captures.
const HIDDEN: f64 = 0.4;
/// Confidence in the sign that the excess was lost: a queue so short that delivered segments wait
/// for only two others would be rare. Half and twice the distance to 1 change 1 and 1 of 2,061
/// captures.
const EXCESS: f64 = 0.75;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let sign = policer_sign(view)?;
    let limits = [
        LimitingFactor::LossRecovery,
        LimitingFactor::Timeout,
        LimitingFactor::Bandwidth,
        LimitingFactor::CongestionAvoidance,
    ];
    let flat = view.context.pooled_rate.map_or(Nanos::ZERO, |_| view.time(LimitingFactor::SenderCap));
    let lost: Nanos = limits.into_iter().map(|limit| view.time(limit)).sum::<Nanos>() + flat;
    if !view.matters(lost, 0.1) {
        return None;
    }
    let segments = view.transfer.losses.len() as u64;
    let hidden = view.context.hides_queue();
    let Reading { passed, shown, confidence } = read_sign(view, sign);
    let statement = LinkStatement::Policed { segments, shown, cost_s: lost, whole_s: view.duration() };
    let mut found = finding(Cause::Policer, lost, view.trust(confidence), statement);
    let frames: Vec<_> = view.transfer.retransmitted_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence(Measure::SegmentsLost, segments as f64, Unit::Segments, &frames));
    found.evidence.extend(sign_evidence(sign));
    found.remedies = vec![
        Remedy::new(Actor::Network, LinkAction::AskForShaping { rate_bps: passed }),
        Remedy::new(Actor::Sender, LinkAction::PaceBelow { rate_bps: passed }),
        Remedy::new(Actor::Network, LinkAction::RaisePolicedRate { from_bps: passed }),
    ];
    found.to_confirm = confirm(if hidden { LinkQuestion::QueueOrPolicer } else { LinkQuestion::ShortQueueOrPolicer });
    Some(found)
}

/// The evidence of one sign of a policer.
struct Reading {
    /// The rate that passed, payload bits per second.
    passed: f64,
    /// The evidence.
    shown: PolicerEvidence,
    /// How sure that is.
    confidence: f64,
}

fn read_sign(view: &TransferView<'_>, sign: PolicerSign) -> Reading {
    let hidden = view.context.hides_queue();
    match sign {
        PolicerSign::Rate(between) => {
            let queue = if hidden { QueueSight::Hidden } else { QueueSight::Absent };
            let confidence = match between.burst {
                _ if view.attribution.shape.overrun.is_some_and(|overrun| overrun.passed_unqueued()) => EXCESS,
                burst if burst >= BURST => 0.65,
                _ => 0.55,
            };
            let shown = PolicerEvidence::RateBetweenLosses { rate_bps: between.rate, queue };
            Reading { passed: between.rate, shown, confidence: if hidden { HIDDEN } else { confidence } }
        }
        PolicerSign::Excess(OfferedLoad { offered, rate, .. }) => {
            let shown = PolicerEvidence::ExcessLost { offered_bps: offered, passed_bps: rate };
            Reading { passed: rate, shown, confidence: EXCESS }
        }
        PolicerSign::Unspaced(OfferedLoad { offered, rate, .. }) => {
            let shown = PolicerEvidence::FasterFirstFlight { offered_bps: offered, passed_bps: rate };
            Reading { passed: rate, shown, confidence: HIDDEN }
        }
    }
}

fn sign_evidence(sign: PolicerSign) -> Vec<Measurement> {
    let mut shown = Vec::new();
    match sign {
        PolicerSign::Rate(between) => {
            shown.push(evidence(Measure::LossesInBurst, between.burst, Unit::Segments, &[]));
            shown.push(evidence(Measure::RateBetweenLosses, between.rate, Unit::BitsPerSecond, &[]));
            shown.push(evidence(Measure::RateLowerTenth, between.low, Unit::BitsPerSecond, &[]));
            shown.push(evidence(Measure::RateUpperTenth, between.high, Unit::BitsPerSecond, &[]));
            let stretches = match between.by_others {
                true => Measure::StretchesOfAllTransfers,
                false => Measure::StretchesBetweenLosses,
            };
            shown.push(evidence(stretches, between.stretches as f64, Unit::Stretches, &[]));
        }
        PolicerSign::Excess(overrun) | PolicerSign::Unspaced(overrun) => {
            shown.push(evidence(Measure::RoundsOverrun, overrun.rounds as f64, Unit::Rounds, &[]));
            shown.push(evidence(Measure::OfferedRate, overrun.offered, Unit::BitsPerSecond, &[]));
            shown.push(evidence(Measure::RatePassed, overrun.rate, Unit::BitsPerSecond, &[]));
            shown.push(evidence(Measure::LossesInOverrun, overrun.losses as f64, Unit::Segments, &[]));
            if let Some(wait) = overrun.wait {
                shown.push(evidence(Measure::WaitInOverrun, wait.as_millis_f64(), Unit::Milliseconds, &[]));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{Finding, LinkQuestion, LinkStatement, PolicerEvidence, QueueSight, Statement};
    use whyslow_core::tcp::facts::{Loss, RateSpread};
    use whyslow_units::Nanos;

    /// Fifty flights of 8 and 4 segments in turn; two losses at each of these times, between which
    /// 60 segments a second passed.
    fn policed() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[8 * MSS, 4 * MSS].repeat(25));
        for (nth, at) in [400, 900, 1_300, 2_000, 2_600, 3_100, 3_900, 4_500].into_iter().enumerate() {
            scene.transfer.rounds[at as usize / 100].retransmitted = 2;
            for again in 0..2 {
                let time = at_ms(1_000 + at);
                let sent = (60 * at as u64 / 1_000 + 2 * nth as u64 + again) * MSS;
                let seq = sent + 1;
                scene.transfer.losses.push(Loss {
                    time,
                    until: time,
                    seq,
                    bytes: MSS,
                    passed_before: sent,
                    unseen: false,
                    spurious: false,
                });
            }
        }
        scene
    }

    fn shown(found: &Finding) -> PolicerEvidence {
        match found.statement {
            Statement::Link(LinkStatement::Policed { shown, .. }) => shown,
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn policer_without_a_visible_queue_is_less_sure() {
        let found = policed().finding(Cause::Policer).unwrap();
        let queue = |found: &Finding| match shown(found) {
            PolicerEvidence::RateBetweenLosses { queue, .. } => queue,
            other => panic!("{other:?}"),
        };
        assert_eq!((queue(&found), found.confidence), (QueueSight::Absent, 0.65));
        let mut receiver = policed();
        receiver.facts.vantage.toward = [Some(Nanos::ZERO), Some(ms(100))];
        assert_eq!(receiver.finding(Cause::Policer).unwrap().confidence, 0.65, "timestamps show the queue");
        receiver.facts.handshake.offers.iter_mut().flatten().for_each(|offer| offer.timestamps = false);
        let found = receiver.finding(Cause::Policer).unwrap();
        assert_eq!((queue(&found), found.confidence), (QueueSight::Hidden, 0.4));
        assert_eq!(found.to_confirm, [LinkQuestion::QueueOrPolicer.into()]);
    }

    /// 8 Mbit/s pass; in five flights twice as much was offered, and half of it lost; delivered
    /// segments took `trip`.
    fn offered_load(trip: Nanos) -> SyntheticTransfer {
        let sizes: Vec<u64> = (0..30).map(|n| if (3..8).contains(&n) { 200 * MSS } else { 100 * MSS }).collect();
        let mut scene = SyntheticTransfer::flights(&sizes);
        scene.transfer.acked_rate = RateSpread { p10: 7.9e6, p50: 8e6, p90: 8.1e6, bins: 100 };
        for index in 3..8 {
            let round = &mut scene.transfer.rounds[index];
            let lost = (0..100).map(|n| Loss { time: round.start + ms(n / 2), bytes: MSS, ..Loss::default() });
            scene.transfer.losses.extend(lost);
            scene.transfer.retransmitted_bytes += 100 * MSS;
            scene.transfer.rounds[index + 1].sacked = (90, Nanos(90 * trip.0));
        }
        scene
    }

    #[test]
    fn dropped_excess_without_waits_is_a_policer() {
        let found = offered_load(ms(101)).finding(Cause::Policer).unwrap();
        assert!(found.confidence == 0.75 && matches!(shown(&found), PolicerEvidence::ExcessLost { .. }), "{found:?}");
        assert!(offered_load(ms(101)).finding(Cause::Bandwidth).is_none(), "reported once");
        for trip in [103, 130] {
            let queued = offered_load(ms(trip));
            assert!(queued.finding(Cause::Policer).is_none() && queued.finding(Cause::Bandwidth).is_some(), "{trip}");
        }
    }

    #[test]
    fn visible_queue_refutes_a_policer() {
        let mut scene = policed();
        let queued = offered_load(ms(130)).transfer;
        scene.transfer.rounds[3..9].clone_from_slice(&queued.rounds[3..9]);
        scene.transfer.acked_rate = queued.acked_rate;
        scene.transfer.losses.extend(queued.losses);
        assert!(scene.finding(Cause::Policer).is_none());
    }

    #[test]
    fn first_flight_without_round_trips_shows_a_link() {
        let mut scene = offered_load(ms(101));
        scene.facts.vantage.toward = [Some(Nanos::ZERO), Some(ms(100))];
        scene.facts.handshake.offers.iter_mut().flatten().for_each(|offer| offer.timestamps = false);
        assert!(scene.finding(Cause::Policer).is_none(), "how it began is not known");
        scene.facts.handshake.syn = Some((at_ms(800), scene.facts.first_frame));
        let found = scene.finding(Cause::Policer).unwrap();
        let is_hidden = matches!(shown(&found), PolicerEvidence::FasterFirstFlight { .. });
        assert!(found.confidence == 0.4 && is_hidden, "{found:?}");
        scene.transfer.rounds[0].last_send += ms(95);
        assert!(scene.finding(Cause::Policer).is_none() && scene.finding(Cause::Bandwidth).is_some());
    }
}
