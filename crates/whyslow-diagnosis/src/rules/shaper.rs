//! The network let a burst pass and then limited the transfer to a lower rate with a queue: a
//! shaper.
//!
//! ## What it is
//! A token bucket with a queue behind it: while there are tokens, everything passes at the speed of
//! the link; after that the rate of the plan applies, and the excess waits. Providers sell rates
//! that way (a "boost"), clouds give instances credits, and `tc tbf` is one. TCP fills the rate, so
//! a longer transfer sees the lower rate for most of its time.
//!
//! ## How it is recognised
//! The curve of delivered bytes has one bend: before it the rate was at least 1.5 times as high,
//! for at least 20 segments more than the lower rate would have let through in that time; after it
//! equal amounts of bytes take equal times to the end, for half of the time or more; and the round
//! trip rises at the bend, as a queue grows where there was none. Next to a receiver without
//! timestamps no queue can be seen; there the confidence is lower.
//!
//! ## What it is confused with
//! - `policer`: the rate drops in the same way, and the excess is lost, without a longer round
//!   trip.
//! - `bandwidth`: the rate is the same from the beginning.
//! - `pacing`: the sender itself slows down (`limit_rate_after`), and no queue grows.
//! - other traffic that began on the path at that moment; a radio link that changed its rate.
//!
//! ## The fix
//! A plan or a QoS class with a higher rate; for cloud instances a size whose baseline is higher
//! than its burst credits promise. On one's own router: `tc -s qdisc show`, and the burst and rate
//! found here. Fewer bytes (compression, caching).
//!
//! ## To see that it worked
//! `ss -tin` on the sender shows a `delivery_rate` that stays up for the whole transfer.
//!
//! ## References
//! RFC 2697, tc-tbf(8); Kanuparthy and Dovrolis, "ShaperProbe: End-to-End Detection of ISP Traffic
//! Shaping Using Active Methods", IMC 2011.

use super::parts::{confirm, evidence, finding};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::estimate::HEADERS;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LinkAction, LinkQuestion, LinkStatement, Measure, QueueRise, Remedy, Unit,
};
use whyslow_core::tcp::facts::RoundFacts;
use whyslow_units::Nanos;
use whyslow_units::stats::median;

pub(super) const RULE: Rule =
    Rule::new(Cause::Shaper, Check::Transfer(check)).shown_by(is_shaped).proof(Proof::Pattern);

/// Minimum rise of the round trip where the rate drops: its factor, as for an even rate (`STEADY`),
/// and its time, twice the least queue that is seen (`MIN_SEEN`). Follows from both.
const RISE: (f64, Nanos) = (1.25, Nanos::from_millis(2));
/// Confidence where another explanation looks the same: next to a receiver without timestamps a
/// sender that slows down by itself, and behind a full window a longer path. Half and twice change
/// none of 2,061 captures.
const HIDDEN: f64 = 0.5;

/// Median round trips before and after the bend, if they rise there.
fn rise(view: &TransferView<'_>) -> Option<QueueRise> {
    let burst = view.attribution.shape.burst?;
    let rounds = &view.transfer.rounds;
    // The last round has the queue, though it may have begun before: one that takes all the rest
    // leaves no other.
    let bend = rounds.partition_point(|round| round.start < burst.until).min(rounds.len().saturating_sub(1));
    let typical = |range: std::ops::Range<usize>| median(range.filter_map(|index| view.round_trip(index)).collect());
    // The round of the bend itself has both.
    let before = typical(0..bend.saturating_sub(1)).or(view.context.rtt)?;
    let after = typical(bend..rounds.len())?;
    (after >= before.scale(RISE.0) && after - before >= RISE.1)
        .then_some(QueueRise { before_s: before, after_s: after })
}

/// Whether a shaper explains the rate, so that `bandwidth` need not.
fn is_shaped(view: &TransferView<'_>) -> bool {
    rise(view).is_some() || is_hidden(view)
}

/// Whether a burst preceded the rate, and a queue behind it cannot be visible here.
fn is_hidden(view: &TransferView<'_>) -> bool {
    view.attribution.shape.burst.is_some() && view.context.hides_queue()
}

/// Whether the receive window was usually full before the bend and after it. The rate is then a
/// window a round trip, before as after, and falls as much on a path that becomes longer.
fn is_full_throughout(view: &TransferView<'_>) -> bool {
    let rounds = &view.transfer.rounds;
    let until = view.attribution.shape.burst.map(|burst| burst.until);
    let bend = rounds.partition_point(|round| until.is_some_and(|until| round.start < until));
    let (before, after) = rounds.split_at(bend);
    let is_usually_full = |rounds: &[RoundFacts]| {
        let is_full = |round: &&RoundFacts| {
            round.window.is_some_and(|window| window.saturating_sub(round.in_flight) < view.context.mss)
        };
        rounds.iter().filter(is_full).count() * 2 > rounds.len()
    };
    is_usually_full(before) && is_usually_full(after)
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let shape = &view.attribution.shape;
    let (steady, burst) = shape.steady.zip(shape.burst)?;
    let rise = rise(view);
    if rise.is_none() && !is_hidden(view) {
        return None;
    }
    let held = view.time(LimitingFactor::Bandwidth);
    if !view.matters(held, 0.2) {
        return None;
    }
    let mss = view.context.mss as f64;
    let on_the_wire = steady * (mss + HEADERS) / mss;
    let since = burst.until - view.transfer.start;
    let statement = LinkStatement::Shaped { burst: burst.bytes, burst_bps: burst.rate, rate_bps: steady, queue: rise };
    let is_full = is_full_throughout(view);
    let confidence = if rise.is_some() && !is_full { 0.7 } else { HIDDEN };
    let mut found = finding(Cause::Shaper, held, view.trust(confidence), statement);
    found.evidence.push(evidence(Measure::BurstBeyondRate, burst.bytes as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::RateOfBurst, burst.rate, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::BurstUsedUpAfter, since.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(
        Measure::RateAfterBurst,
        steady,
        Unit::BitsPerSecond,
        &view.frames_of(LimitingFactor::Bandwidth),
    ));
    found.evidence.push(evidence(Measure::WireRate, on_the_wire, Unit::BitsPerSecond, &[]));
    if let Some(QueueRise { before_s, after_s }) = rise {
        let [before, after] = [before_s, after_s].map(Nanos::as_millis_f64);
        found.evidence.push(evidence(Measure::RoundTripBefore, before, Unit::Milliseconds, &[]));
        found.evidence.push(evidence(Measure::RoundTripAfter, after, Unit::Milliseconds, &[]));
    }
    found.remedies = vec![
        Remedy::new(Actor::Network, LinkAction::RaiseShapedRate { from_bps: on_the_wire, burst: burst.bytes }),
        Remedy::new(Actor::Application, LinkAction::SendLess),
    ];
    found.to_confirm = confirm(LinkQuestion::FallByOtherTraffic);
    if is_full {
        found.to_confirm.push(LinkQuestion::FallByLongerPath.into());
    }
    if rise.is_none() {
        found.to_confirm.push(LinkQuestion::FallBySender.into());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, at_ms, ms};
    use whyslow_analysis::LinkQuestion;
    use whyslow_analysis::cause::Cause;
    use whyslow_core::tcp::facts::RoundFacts;

    /// 100,000 B at 100,000 B a round trip, then 20,000 B a round trip.
    fn shaped() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[20_000; 30]);
        scene.transfer.rounds[0].bytes = 50_000;
        scene.transfer.rounds[1].bytes = 50_000;
        let mut curve = vec![(at_ms(1100), 0)];
        curve.extend((1..=10).map(|n| (at_ms(1100 + 10 * n), 10_000 * n as u64)));
        curve.extend((1..=54).map(|n| (at_ms(1200 + 50 * n), 100_000 + 10_000 * n as u64)));
        scene.transfer.delivered = curve;
        for round in &mut scene.transfer.rounds[2..] {
            (round.rtt, round.in_flight) = (Some(ms(180)), 36_000);
        }
        scene
    }

    #[test]
    fn burst_then_lower_rate_with_a_queue_is_a_shaper() {
        let mut scene = shaped();
        // ACKs keep coming from a queue.
        scene.transfer.pauses.truncate(2);
        let found = scene.finding(Cause::Shaper).unwrap();
        let burst = found.evidence.iter().find(|e| e.kind == whyslow_analysis::Measure::BurstBeyondRate).unwrap().value;
        assert!((burst - 80_000.0).abs() < 1_000.0, "{burst}");
        assert!(shaped().finding(Cause::Bandwidth).is_none(), "reported once");
    }

    #[test]
    fn window_that_is_full_all_along_may_be_on_a_longer_path() {
        let mut scene = shaped();
        scene.transfer.pauses.truncate(2);
        let free = scene.finding(Cause::Shaper).unwrap();
        scene.transfer.rounds.iter_mut().for_each(|round| round.window = Some(round.in_flight + 500));
        let full = scene.finding(Cause::Shaper).unwrap();
        assert!(full.confidence < 0.6 && free.confidence > full.confidence, "{full:?}");
        assert!(full.to_confirm.contains(&LinkQuestion::FallByLongerPath.into()));
    }

    #[test]
    fn queue_of_the_whole_rest_is_one_long_round() {
        let mut scene = shaped();
        let last = &mut scene.transfer;
        last.rounds.truncate(2);
        last.pauses.truncate(1);
        last.rounds[1] = RoundFacts { bytes: 590_000, in_flight: 590_000, rtt: Some(ms(180)), ..last.rounds[1] };
        last.last_send = last.rounds[1].start;
        last.seq.1 = 1 + 640_000;
        let found = scene.finding(Cause::Shaper).unwrap();
        assert!(found.cost_s > ms(2_700), "{found:?}");
    }

    #[test]
    fn burst_without_a_queue_is_not_a_shaper() {
        let mut scene = shaped();
        for round in &mut scene.transfer.rounds {
            (round.rtt, round.in_flight) = (Some(ms(100)), 20_000);
        }
        assert!(scene.finding(Cause::Shaper).is_none());
        assert!(scene.finding(Cause::Bandwidth).is_none(), "flights of one size are the sender's cap");
        assert!(scene.finding(Cause::SenderCap).is_some());
    }

    #[test]
    fn rate_from_the_beginning_is_bandwidth() {
        let mut scene = shaped();
        scene.transfer.delivered = (0..60).map(|n| (at_ms(1100 + 50 * n), 10_000 * n as u64)).collect();
        assert!(scene.finding(Cause::Shaper).is_none());
    }

    #[test]
    fn changing_rate_is_not_a_token_bucket() {
        let mut scene = shaped();
        for (index, point) in scene.transfer.delivered.iter_mut().enumerate().skip(30) {
            point.0 += ms(if index % 10 < 5 { 60 } else { 0 });
        }
        assert!(scene.finding(Cause::Shaper).is_none());
    }
}
