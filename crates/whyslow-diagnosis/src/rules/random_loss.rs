//! Packets are lost at random: neither a full queue nor a rate limit explains where.
//!
//! ## What it is
//! A damaged cable, a dirty fibre, a radio link, a duplex mismatch, a failing card or memory
//! corrupts packets, and the next device that finds the wrong checksum drops them. Any packet may
//! be hit, however little is in flight. Loss-based congestion control takes each loss for a full
//! queue and keeps its window at about MSS / √p, far below the path's capacity.
//!
//! ## How it is recognised
//! Ten round trips or more with losses that come one by one (fewer than 1.6 in a round trip, on
//! average), at round trips no longer than 1.3 times the minimum; at distances in bytes that vary
//! as random ones do (the quartiles are 0.6 of the median apart or more; random losses give 1.6, a
//! sawtooth next to nothing); from flights of quite different sizes (0.3 of the median), from the
//! larger ones no more often than chance predicts; and that fit no token bucket. Wrong checksums in
//! a capture next to the receiver are direct evidence.
//!
//! ## What it is confused with
//! - a short queue: the losses come at the same flight again and again, when the window has grown
//!   back to it.
//! - `policer`: the losses come where a bucket of the transfer's own rate is empty. A bucket of a
//!   few segments can look like chance.
//! - `loss`: reported if the losses are too few or too clustered to classify (bursts of a radio
//!   link are random too).
//! - other traffic that fills a queue at moments of its own, if that queue is short.
//!
//! ## The fix
//! Find the link: error counters of interfaces and switch ports along the path (`ethtool -S`,
//! `ip -s link`: CRC, FCS, symbol errors), optical levels, duplex and speed at both ends, signal of
//! the radio. Until then, a sender whose congestion control does not take each loss for congestion
//! (BBR), or a proxy that shortens the round trip over the lossy part.
//!
//! ## To see that it worked
//! The error counters of `ethtool -S` do not rise, and `nstat TcpRetransSegs` on the sender counts
//! few retransmissions.
//!
//! ## References
//! Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997; Stone
//! and Partridge, "When the CRC and TCP Checksum Disagree", SIGCOMM 2000; Cardwell et al., "BBR:
//! Congestion-Based Congestion Control", 2016.

use super::loss_cost;
use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::estimate::{INFLATED_RTT, LossEpisode, loss_episodes, mean_size};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LossAction, LossQuestion, LossStatement, Measure, Measurement, Remedy, Unit};
use whyslow_core::tcp::facts::TransferFacts;
use whyslow_units::stats::median;
use whyslow_units::{Nanos, Time};

pub(super) const RULE: Rule =
    Rule::new(Cause::RandomLoss, Check::Transfer(check)).shown_by(is_random).proof(Proof::Pattern);

/// Minimum number of losses for a distribution: each quartile then has two. Half and twice change 2
/// and 4 of 2,061 captures.
const MIN: usize = 10;
/// Losses that make the quartiles reliable: each then has six. Half and twice change 4 and 0 of
/// 2,061 captures.
const MANY: usize = 25;
/// Largest mean of losses in a round trip that had any. Follows from independent losses: 1.6 at one
/// expected loss a round trip (1 / (1 − 1/e)). Half and twice the excess over 1 change 3 and 0 of
/// 2,061 captures.
const IN_A_BURST: f64 = 1.6;
/// Minimum distance between the quartiles of the bytes between losses, over the median: independent
/// losses have 1.6 ([`BY_CHANCE`]), a sawtooth almost none. Half and twice the distance to 1 change
/// none of 2,061 captures.
const VARIED_DISTANCES: f64 = 0.6;
/// The same of the flights that the losses came from: a queue that overflows at its length has
/// almost none. Half and twice change 0 and 2 of 2,061 captures.
const VARIED_FLIGHTS: f64 = 0.3;
/// Maximum number of standard deviations by which losses may prefer large flights. Follows from the
/// normal distribution: chance exceeds it one time in forty.
const MAX_SKEW: f64 = 2.0;

/// Evidence that losses are independent of the sender's behaviour.
struct LossIndependence {
    /// Losses in one round trip, on average.
    burst: f64,
    /// Distance between the quartiles of the bytes between losses, of the median.
    distances: f64,
    /// And of the flights from which they were lost.
    flights: f64,
    /// Standard deviations by which losses prefer the larger flights' half of the bytes.
    skew: f64,
    /// Share of these losses that large flights had.
    from_large: f64,
    /// Round trip where segments were lost, median.
    rtt: Nanos,
}

/// Spread of the distances between independent losses. Follows from the exponential distribution:
/// (ln 4 − ln 4/3) / ln 2.
const BY_CHANCE: f64 = 1.6;

impl LossIndependence {
    fn evidence(&self) -> [Measurement; 6] {
        let rtt = self.rtt.as_millis_f64();
        [
            evidence(Measure::LossesPerRoundTrip, self.burst, Unit::Segments, &[]),
            evidence(Measure::LossDistanceSpread, self.distances, Unit::One, &[]),
            evidence(Measure::LossDistanceSpreadByChance, BY_CHANCE, Unit::One, &[]),
            evidence(Measure::LossFlightSpread, self.flights, Unit::One, &[]),
            evidence(Measure::LossesFromLargeFlights, self.from_large * 100.0, Unit::Percent, &[]),
            evidence(Measure::RoundTripAtLosses, rtt, Unit::Milliseconds, &[]),
        ]
    }
}

/// Whether the losses are random, so that `loss` is not reported.
fn is_random(view: &TransferView<'_>) -> bool {
    loss_independence(view).is_some()
}

fn loss_independence(view: &TransferView<'_>) -> Option<LossIndependence> {
    let transfer = view.transfer;
    let least = view.context.rtt?;
    // Packets that the capture dropped look like losses on the path, unless the retransmissions are
    // there.
    let doubtful = transfer.unseen > 0 && transfer.retransmitted.unseen_original == 0;
    if transfer.losses.len() < MIN || doubtful {
        return None;
    }
    let events = loss_episodes(&transfer.losses, least);
    if events.len() < MIN {
        return None;
    }
    let burst = mean_size(&events);
    let mut places: Vec<u64> = events.iter().map(|event| event.seq).collect();
    places.sort_unstable();
    let distances: Vec<f64> = places.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let rounds = &transfer.rounds;
    let home = |time: Time| rounds.partition_point(|round| round.start <= time).max(1) - 1;
    let flights: Vec<f64> = events.iter().map(|event| rounds[home(event.last)].in_flight as f64).collect();
    // The round before: in the lossy one itself there are few samples (Karn).
    let times = transfer.losses.iter().filter_map(|loss| view.round_trip(home(loss.time).saturating_sub(1)));
    let (from_large, skew) = skew(transfer, &events, home);
    let found = LossIndependence {
        burst,
        distances: spread(distances)?,
        flights: spread(flights)?,
        skew,
        from_large,
        rtt: median(times.collect()).unwrap_or(least),
    };
    let is_random = found.burst < IN_A_BURST
        && found.distances >= VARIED_DISTANCES
        && found.flights >= VARIED_FLIGHTS
        && found.rtt <= least.scale(INFLATED_RTT) + Nanos::from_millis(1)
        && found.skew <= MAX_SKEW
        && view.attribution.shape.inter_loss_rate.is_none()
        && !view.attribution.shape.overrun.is_some_and(|overrun| overrun.passed_unqueued())
        && view.context.pooled_rate.is_none();
    is_random.then_some(found)
}

/// A random loss may hit any byte, of a large flight or a small one; a queue or a bucket that is
/// too small drops from the large ones. Returns the share of events in the half of the bytes that
/// went in larger flights, and its excess over half, in standard deviations of a fair coin.
fn skew(transfer: &TransferFacts, events: &[LossEpisode], home: impl Fn(Time) -> usize) -> (f64, f64) {
    let mut order: Vec<usize> = (0..transfer.rounds.len()).collect();
    order.sort_by_key(|&index| transfer.rounds[index].in_flight);
    let whole: u64 = transfer.rounds.iter().map(|round| round.bytes).sum();
    let mut is_large = vec![false; order.len()];
    let mut passed = 0;
    for index in order {
        passed += transfer.rounds[index].bytes;
        is_large[index] = passed * 2 > whole;
    }
    let large = events.iter().filter(|event| is_large[home(event.last)]).count() as f64;
    let all = events.len() as f64;
    (large / all, (large - all / 2.0) / (all.sqrt() / 2.0))
}

/// The distance between the quartiles over the median: the overshoot of slow start does not count.
fn spread(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values.get((share * values.len() as f64) as usize).copied();
    let (low, middle, high) = (at(0.25)?, at(0.5)?, at(0.75)?);
    (middle > 0.0).then(|| (high - low) / middle)
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let found = loss_independence(view)?;
    let cost = loss_cost::cost(view);
    if !view.matters(cost, 0.1) {
        return None;
    }
    let transfer = view.transfer;
    let resent = transfer.retransmitted_bytes;
    let share = resent as f64 / (transfer.bytes() + resent).max(1) as f64;
    let number = transfer.losses.len();
    let segments = number as u64;
    let statement = LossStatement::LostAtRandom { share, segments, cost_s: cost, whole_s: view.duration() };
    let corrupt = view.facts.capture_defects.bad_checksums;
    // A policer with a bucket of a few segments may lose from flights of any of the sizes that it
    // allows.
    let confidence = match number {
        _ if corrupt > 0 => 0.85,
        _ if number >= MANY => 0.75,
        _ => 0.65,
    };
    let mut finding = finding(Cause::RandomLoss, cost, view.trust(confidence), statement);
    let frames: Vec<_> = transfer.retransmitted_frames.iter().copied().take(6).collect();
    finding.evidence.push(evidence(Measure::SegmentsLost, number as f64, Unit::Segments, &frames));
    finding.evidence.push(evidence(Measure::RetransmittedShare, share * 100.0, Unit::Percent, &[]));
    if corrupt > 0 {
        finding.evidence.push(evidence(Measure::WrongChecksums, corrupt as f64, Unit::Segments, &[]));
    }
    finding.evidence.extend(found.evidence());
    if let Some(rtt) = view.rtt().filter(|rtt| *rtt > Nanos::ZERO) {
        let ceiling = loss_cost::mathis(view.context.mss, rtt, share);
        finding.evidence.push(evidence(Measure::MathisCeiling, ceiling, Unit::BitsPerSecond, &[]));
        finding.evidence.push(evidence(Measure::MeasuredRate, view.rate(), Unit::BitsPerSecond, &[]));
    }
    finding.remedies = remedy(Actor::Network, LossAction::FindDamage { share });
    if loss_cost::may_help_with_bbr(view) {
        finding.remedies.push(Remedy::new(Actor::Sender, LossAction::UseBbr));
    }
    finding.to_confirm = confirm(LossQuestion::RandomOrQueue);
    Some(finding)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_core::tcp::facts::Loss;

    /// Rounds of 5 to 27 segments; a segment of each of these is lost.
    fn lossy(rounds: &[usize], flight: impl Fn(usize) -> u64) -> SyntheticTransfer {
        let sizes: Vec<u64> = (0..60).map(|n| flight(n) * MSS).collect();
        let mut scene = SyntheticTransfer::flights(&sizes);
        let mut seq = 1;
        for (index, round) in scene.transfer.rounds.iter_mut().enumerate() {
            if rounds.contains(&index) {
                round.retransmitted = 1;
                let (time, seq) = (round.start, seq + 2 * MSS);
                scene.transfer.losses.push(Loss {
                    time,
                    until: time,
                    seq,
                    bytes: MSS,
                    passed_before: seq,
                    unseen: false,
                    spurious: false,
                });
            }
            seq += round.bytes;
        }
        let lost = scene.transfer.losses.len() as u64;
        scene.transfer.retransmitted.fast = lost;
        scene.transfer.retransmitted_bytes = lost * MSS;
        for gap in &mut scene.transfer.pauses {
            gap.recovering = rounds.iter().any(|&round| scene.transfer.rounds[round].start == gap.start);
        }
        scene
    }

    const BY_CHANCE: [usize; 12] = [2, 4, 9, 11, 22, 24, 27, 36, 38, 51, 53, 57];

    #[test]
    fn losses_at_any_flight_and_distance_are_random() {
        let scene = lossy(&BY_CHANCE, |n| 5 + (11 * n as u64) % 23);
        assert!(scene.finding(Cause::RandomLoss).is_some());
        assert!(scene.finding(Cause::Loss).is_none(), "reported once");
    }

    #[test]
    fn losses_at_the_same_flight_are_a_short_queue() {
        // A sawtooth from 10 to 14 segments that is lost at its top.
        let tops: Vec<usize> = (0..12).map(|n| 5 * n + 4).collect();
        let scene = lossy(&tops, |n| 10 + n as u64 % 5);
        assert!(scene.finding(Cause::RandomLoss).is_none());
        assert!(scene.finding(Cause::Loss).is_some());
    }

    #[test]
    fn losses_from_large_flights_alone_are_not_random() {
        let large =
            |n: usize| if BY_CHANCE.contains(&n) { 30 + (11 * n as u64) % 23 } else { 5 + (11 * n as u64) % 13 };
        let scene = lossy(&BY_CHANCE, large);
        assert!(scene.finding(Cause::RandomLoss).is_none() && scene.finding(Cause::Loss).is_some());
    }

    #[test]
    fn queued_or_few_losses_are_not_random() {
        let mut queued = lossy(&BY_CHANCE, |n| 5 + (11 * n as u64) % 23);
        for round in &mut queued.transfer.rounds {
            round.rtt = Some(ms(140));
        }
        assert!(queued.finding(Cause::RandomLoss).is_none());
        assert!(lossy(&BY_CHANCE[..9], |n| 5 + (11 * n as u64) % 23).finding(Cause::RandomLoss).is_none());
    }
}
