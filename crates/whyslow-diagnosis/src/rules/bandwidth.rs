//! The link was full: the transfer ran at the rate of the slowest link on its way.
//!
//! ## What it is
//! The slowest link (or a rate limit somewhere) sets the pace. TCP has filled it and did its job;
//! only more capacity, or fewer bytes, makes the transfer shorter.
//!
//! ## How it is recognised
//! Equal amounts of bytes take equal times throughout (the upper tenth of the rates is no more than
//! 25 % above the lower), whatever the window does, and the sender's buffer was not empty. Or, if
//! losses interrupt that (a short queue, CoDel): one rate passed between losses, always, and round
//! trips were long at the losses.
//!
//! Or the rate varies (LTE, Wi-Fi, cross traffic, both directions at once) while a queue stands:
//! for half of the time or more even the fastest segment of a round took longer than the path
//! alone, and ACKs kept coming. The reported rate is then the median over these rounds. Losses in
//! them are how TCP shares a full link.
//!
//! Or several transfers share the link: their rates always add up to one, while each of them goes
//! up and down (the sum varies far less than that of independent transfers would), or one gets the
//! rate of another when that one ends; and queues or losses show that something is full. They are
//! then reported together, with each one's share. What each shows by itself (losses, late ACKs, a
//! window that does not grow) is how they share the link, and is not reported again. A fix that
//! speeds one of them up slows the others down.
//!
//! ## What it is confused with
//! - `pacing` or a rate limit in the sender, a program that writes at a rate of its own: a path
//!   that is full leaves a queue, a loss or a mark, now and then at least, or spaces segments that
//!   left together by this rate. Where nothing of these is seen, the rate is not the path's.
//! - `policer`: one rate between losses, or more than the rate lost at once, and no queue.
//! - `bufferbloat` in addition: from the receiver's end the queue shows only by timestamps; without
//!   them the confidence is lower.
//! - whatever held the rest of the transfer, where the rate is in force for less than three
//!   quarters of its time.
//! - `loss`, `random-loss`: if others fill the link, losses cost nothing in all. Random losses
//!   leave the sum unsteady.
//! - `receive-window`, `sender-cap` on a flat round trip: the sender waits for ACKs in each round.
//!
//! ## The fix
//! More capacity, compression, fewer bytes, or another path: nginx `gzip on` or `brotli on`,
//! HAProxy `compression algo gzip`, Envoy's compressor filter; a client that asks with
//! `Accept-Encoding`. If the rate is lower than the one you pay for, look for a shaper or policer
//! at exactly this rate.
//!
//! ## To see that it worked
//! `whyslow compare` with a capture of the same transfer shows the higher rate.
//!
//! ## References
//! Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016 (delivery rate); RFC 6349.

use super::parts::{evidence, finding};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::estimate::{HEADERS, LINE_RATE};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LinkAction, LinkQuestion, LinkStatement, Measure, Remedy, Unit,
};
use whyslow_core::tcp::ShortConnectionBounds;
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::Bandwidth, Check::Transfer(check)).may_cost(may_be_steady).proof(Proof::Model);

/// Minimum time of a transfer whose rate is reported: a few round trips of 50 ms, in which slow
/// start ends (RFC 5681 section 3.1). Half and twice change none of 2,061 captures.
const MIN_TIME: Nanos = Nanos::from_millis(200);

/// Minimum share of the time for a rate that governs the whole transfer: halfway between half of it
/// and all of it. Half and twice the distance to 1 change none of 2,061 captures.
const ALL_ALONG: f64 = 0.75;

/// A steady rate needs eight bins of ten segments; all other signs take several rounds and more.
fn may_be_steady(brief: &ShortConnectionBounds) -> bool {
    brief.largest_transfer_segments >= 80
}

/// Whether round trips are usually longer than the minimum.
fn has_queue(view: &TransferView<'_>) -> bool {
    view.context.usually_sees_queue(view.transfer, 0..view.transfer.rounds.len())
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let steady = view.attribution.shape.steady?;
    let held = view.time(LimitingFactor::Bandwidth);
    if view.duration() < MIN_TIME || !view.matters(held, 0.3) || steady >= LINE_RATE {
        return None;
    }
    let mss = view.context.mss as f64;
    // Bytes on the link for each segment: payload, IP and TCP headers with timestamps, Ethernet's
    // header.
    let on_the_wire = steady * (mss + HEADERS) / mss;
    let statement = LinkStatement::SteadyRate {
        payload_bps: steady,
        wire_bps: on_the_wire,
        held_s: held,
        whole_s: view.duration(),
    };
    let share = view.share(held);
    let hidden = view.context.hides_queue();
    let confidence = match share {
        // One sign alone, the queue, is not certain.
        share if share >= 0.5 && view.attribution.shape.varies => 0.7,
        // Losses keep a sender to a steady rate as well, on a link that is not full.
        _ if view.transfer.retransmitted_bytes > 0 && !has_queue(view) => 0.7,
        share if share >= ALL_ALONG && !hidden => 0.85,
        share if share >= 0.5 => 0.75,
        _ => 0.6,
    };
    let mut found = finding(Cause::Bandwidth, held, view.trust(confidence), statement);
    let spread = if view.transfer.acked_rate.bins > 0 { view.transfer.acked_rate } else { view.transfer.sent_rate };
    let frames = view.frames_of(LimitingFactor::Bandwidth);
    found.evidence.push(evidence(Measure::SteadyRate, steady, Unit::BitsPerSecond, &frames));
    found.evidence.push(evidence(Measure::WireRate, on_the_wire, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::RateLowerTenth, spread.p10, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::RateUpperTenth, spread.p90, Unit::BitsPerSecond, &[]));
    found.remedies = vec![
        Remedy::new(Actor::Network, LinkAction::AddCapacity { beyond_bps: Some(on_the_wire) }),
        Remedy::new(Actor::Application, LinkAction::SendLess),
    ];
    found.to_confirm.push(LinkQuestion::ConfiguredLimit.into());
    if hidden {
        found.to_confirm.push(LinkQuestion::QueueHidden.into());
    }
    if share < ALL_ALONG {
        found.to_confirm.push(LinkQuestion::PartOfTime.into());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, ms};
    use whyslow_analysis::LinkQuestion;
    use whyslow_analysis::cause::Cause;
    use whyslow_core::tcp::facts::{RateSpread, Release};

    /// 100,000 B a round trip of 100 ms, with a queue of as much.
    fn full() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[100_000; 20]);
        scene.transfer.acked_rate = RateSpread { p10: 7.9e6, p50: 8e6, p90: 8.1e6, bins: 100 };
        scene.facts.rtt.min = Some(ms(50));
        scene
    }

    #[test]
    fn constant_rate_is_bandwidth() {
        assert_eq!(full().finding(Cause::Bandwidth).unwrap().confidence, 0.85);
    }

    #[test]
    fn rate_for_a_part_of_the_time_is_less_sure() {
        let mut scene = full();
        // Half of the rounds carried a tenth.
        scene.transfer.rounds[..9].iter_mut().for_each(|round| round.bytes = 10_000);
        scene.transfer.pauses[..9].iter_mut().for_each(|gap| gap.release = Release::Nothing);
        let found = scene.finding(Cause::Bandwidth).unwrap();
        assert!(found.confidence < 0.8, "{found:?}");
        assert_eq!(found.to_confirm, [LinkQuestion::ConfiguredLimit, LinkQuestion::PartOfTime].map(Into::into));
    }

    #[test]
    fn rate_without_a_queue_is_not_bandwidth() {
        let mut scene = full();
        // One flight far beyond the rate's need, so that the rate is not attributed to the sender.
        scene.transfer.rounds.iter_mut().for_each(|round| round.in_flight = 50_000);
        scene.transfer.rounds[3].in_flight = 300_000;
        assert!(scene.finding(Cause::Bandwidth).is_none());
        // Two such flights that took longer: the path gave no more.
        for round in &mut scene.transfer.rounds[3..5] {
            (round.in_flight, round.rtt) = (300_000, Some(ms(90)));
        }
        assert_eq!(scene.finding(Cause::Bandwidth).unwrap().confidence, 0.85);
        scene.transfer.rounds[3].in_flight = 50_000;
        assert!(scene.finding(Cause::Bandwidth).is_none());
        scene.transfer.ecn_echoes = 1;
        assert_eq!(scene.finding(Cause::Bandwidth).unwrap().confidence, 0.85);
    }

    #[test]
    fn receiver_without_timestamps_does_not_see_the_queue() {
        let mut scene = full();
        scene.facts.vantage.toward = [Some(ms(0)), Some(ms(50))];
        // There a full path has no pauses.
        scene.transfer.pauses.clear();
        assert_eq!(scene.finding(Cause::Bandwidth).unwrap().confidence, 0.85, "timestamps show the queue");
        for offer in scene.facts.handshake.offers.iter_mut().flatten() {
            offer.timestamps = false;
        }
        let found = scene.finding(Cause::Bandwidth).unwrap();
        assert!(found.confidence < 0.8, "{found:?}");
        assert_eq!(found.to_confirm, [LinkQuestion::ConfiguredLimit, LinkQuestion::QueueHidden].map(Into::into));
    }

    #[test]
    fn varying_rate_in_a_queue_is_bandwidth_but_less_sure() {
        let mut scene = SyntheticTransfer::flights(&[60_000; 20]);
        scene.transfer.pauses.clear();
        scene.facts.rtt.min = Some(ms(40));
        for (index, round) in scene.transfer.rounds.iter_mut().enumerate() {
            round.rtt = Some(ms(60 + 25 * (index as i64 % 5)));
        }
        let found = scene.finding(Cause::Bandwidth).unwrap();
        assert!(found.confidence < 0.8, "{found:?}");
        assert!(scene.finding(Cause::EarlySlowStartExit).is_none() && scene.finding(Cause::Loss).is_none());
    }
}
