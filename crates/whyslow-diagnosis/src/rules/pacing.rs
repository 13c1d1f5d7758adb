//! The sender limited itself to one rate, although the network and the receiver had room for more.
//!
//! ## What it is
//! A sender can space its segments: a program or proxy that limits its rate, a socket with
//! SO_MAX_PACING_RATE, a queueing discipline of the sending host, a video server that sends as fast
//! as the film plays. The spacing is even from the start, and no queue grows anywhere, as the path
//! could carry more.
//!
//! ## How it is recognised
//! Equal amounts of bytes take equal times (the upper tenth of the rates is no more than 25 % above
//! the lower, about a coefficient of variation of 0.1), over ten segments or over half a round
//! trip; the bytes in flight are never more than that rate times the minimum RTT, and do not grow;
//! the receiver's window has room, nothing is lost or marked (ECN), and the sender waits neither
//! for the ACK of a full flight nor with segments cut short.
//!
//! ## What it is confused with
//! - `bandwidth`: a sender limited by the path opens its window until a queue grows (the round trip
//!   rises) or something is lost.
//! - `sender-cap`: a flight leaves at once and the sender waits for its ACK.
//! - `application`: an application that writes little at a time ends in segments cut short; one
//!   that writes at a fixed rate paces, and is reported as `pacing`.
//! - the sending host's own link or shaper before the capture point; rates of common links are
//!   reported as `bandwidth`.
//! - BBR in its steady state on a path that it knows: it has probed above the rate before, which
//!   its beginning shows.
//!
//! ## The fix
//! Find what limits the rate, by its value, and raise or remove it: nginx `limit_rate` and
//! `limit_rate_after`, HAProxy `bwlim-out`, Envoy's bandwidth limit filter, Apache `mod_ratelimit`;
//! `curl --limit-rate`, `rsync --bwlimit`, `scp -l`, `wget --limit-rate`; SO_MAX_PACING_RATE in the
//! program; `tc qdisc show` on the sender (fq `maxrate`, tbf, htb, cake). On purpose: leave it, TCP
//! does its job.
//!
//! ## To see that it worked
//! `ss -tin` on the sender shows a `delivery_rate` above the rate of this transfer.
//!
//! ## References
//! Linux tc-fq(8), socket option SO_MAX_PACING_RATE (since 3.13); Aggarwal, Savage and Anderson,
//! "Understanding the Performance of TCP Pacing", INFOCOM 2000.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, Measure, SendingAction, SendingQuestion, SendingStatement, Unit,
};

pub(super) const RULE: Rule = Rule::new(Cause::Pacing, Check::Transfer(check)).proof(Proof::Model);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let shape = &view.attribution.shape;
    let steady = shape.steady.filter(|_| shape.paced)?;
    let held = view.time(LimitingFactor::Pacing);
    if !view.matters(held, 0.2) {
        return None;
    }
    let rtt = view.context.rtt?;
    let needed = (steady / 8.0 * rtt.as_secs_f64()) as u64;
    let rounds = view
        .transfer
        .rounds
        .iter()
        .zip(&view.attribution.shape.base)
        .filter(|(_, base)| **base == LimitingFactor::Pacing);
    let (mut flight, mut window) = (0, None);
    for (round, _) in rounds {
        flight = flight.max(round.in_flight);
        window = [window, round.window].into_iter().flatten().min();
    }
    let at_sender = view.is_next_to(view.sender);
    let statement = SendingStatement::Paced { rate_bps: steady, held_s: held, whole_s: view.duration(), flight };
    // Elsewhere a bottleneck before the capture point makes the spacing even as well.
    let mut found = finding(Cause::Pacing, held, view.trust(if at_sender { 0.8 } else { 0.65 }), statement);
    let spread = view.transfer.acked_rate;
    found.evidence.push(evidence(
        Measure::PayloadRate,
        steady,
        Unit::BitsPerSecond,
        &view.frames_of(LimitingFactor::Pacing),
    ));
    if shape.burst.is_none() {
        found.evidence.push(evidence(Measure::RateP10, spread.p10, Unit::BitsPerSecond, &[]));
        found.evidence.push(evidence(Measure::RateP90, spread.p90, Unit::BitsPerSecond, &[]));
    }
    if let Some(burst) = shape.burst {
        found.evidence.push(evidence(Measure::SentBeforePacing, burst.bytes as f64, Unit::Bytes, &[]));
    }
    found.evidence.push(evidence(Measure::MostInFlight, flight as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::RateTimesMinRoundTrip, needed as f64, Unit::Bytes, &[]));
    if let Some(window) = window {
        found.evidence.push(evidence(Measure::LeastWindowMeanwhile, window as f64, Unit::Bytes, &[]));
    }
    found.remedies = remedy(Actor::Sender, SendingAction::RaiseRateLimit { rate_bps: steady });
    found.to_confirm = confirm(SendingQuestion::SenderOrNetworkRate);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, at_ms, gap, ms};
    use whyslow_analysis::Near;
    use whyslow_analysis::cause::Cause;
    use whyslow_core::tcp::facts::{RateSpread, Release};

    /// 20,000 B a round trip of 100 ms, evenly spaced.
    fn paced() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[20_000; 20]);
        let rate = RateSpread { p10: 1.55e6, p50: 1.6e6, p90: 1.65e6, bins: 40 };
        (scene.transfer.sent_rate, scene.transfer.acked_rate) = (rate, rate);
        scene.transfer.pauses =
            (0..190).map(|n| gap(at_ms(1000 + 10 * n), at_ms(1010 + 10 * n), Release::Nothing)).collect();
        scene.facts.vantage.near = Near::Server;
        scene
    }

    #[test]
    fn even_rate_without_queue_or_wait_is_pacing() {
        let found = paced().finding(Cause::Pacing).unwrap();
        assert_eq!((found.cost_s, found.confidence), (ms(1900), 0.8));
        assert!(paced().finding(Cause::Bandwidth).is_none());
        let mut afar = paced();
        afar.facts.vantage.near = Near::Client;
        assert_eq!(afar.finding(Cause::Pacing).unwrap().confidence, 0.65);
    }

    #[test]
    fn spaced_flight_without_a_visible_queue_is_the_paths() {
        let mut scene = paced();
        scene.facts.vantage.toward = [Some(ms(0)), Some(ms(100))];
        scene.facts.handshake.offers.iter_mut().flatten().for_each(|offer| offer.timestamps = false);
        scene.facts.handshake.syn = Some((at_ms(800), scene.facts.first_frame));
        assert!(scene.finding(Cause::Pacing).is_some(), "it began at once");
        scene.transfer.rounds[0].last_send += ms(95);
        assert!(scene.finding(Cause::Pacing).is_none() && scene.finding(Cause::Bandwidth).is_some());
        scene.facts.handshake.syn = None;
        assert!(scene.finding(Cause::Pacing).is_some(), "it may have begun at once");
        scene.facts.handshake.offers.iter_mut().flatten().for_each(|offer| offer.timestamps = true);
        assert!(scene.finding(Cause::Pacing).is_some(), "timestamps show that no queue stood");
    }

    #[test]
    fn growing_queue_or_window_is_not_pacing() {
        let mut queued = paced();
        for round in &mut queued.transfer.rounds[5..] {
            round.in_flight = 40_000;
        }
        let mut growing = paced();
        for (index, round) in growing.transfer.rounds.iter_mut().enumerate() {
            round.in_flight += 250 * index as u64;
        }
        let mut lossy = paced();
        lossy.transfer.retransmitted_bytes = 3_000;
        let mut marked = paced();
        marked.transfer.ecn_echoes = 1;
        assert!(
            growing.finding(Cause::Pacing).is_none() && growing.finding(Cause::Bandwidth).is_none(),
            "nothing queues yet"
        );
        for scene in [queued, lossy, marked] {
            assert!(scene.finding(Cause::Pacing).is_none());
            assert!(scene.finding(Cause::Bandwidth).is_some());
        }
    }

    #[test]
    fn clumps_are_even_only_over_half_a_round_trip() {
        let mut scene = paced();
        let uneven = RateSpread { p10: 1.3e6, p50: 1.6e6, p90: 1.9e6, bins: 40 };
        (scene.transfer.sent_rate, scene.transfer.acked_rate) = (uneven, uneven);
        assert!(scene.finding(Cause::Pacing).is_none());
        // 10,000 B in two clumps every 50 ms.
        scene.transfer.delivered =
            (0..80).map(|n| (at_ms(1100 + 50 * (n / 2) + 30 * (n % 2)), 5_000 * n as u64)).collect();
        assert_eq!(scene.finding(Cause::Pacing).unwrap().cost_s, ms(1900));
        // A window of 20,000 B that is used up at once.
        scene.transfer.delivered =
            (0..80).map(|n| (at_ms(1100 + 100 * (n / 4) + 2 * (n % 4)), 5_000 * n as u64)).collect();
        assert!(scene.finding(Cause::Pacing).is_none());
    }

    #[test]
    fn probing_sender_is_limited_by_the_path() {
        let mut scene = paced();
        scene.transfer.rounds[3].in_flight = 30_000;
        assert!(scene.finding(Cause::Pacing).is_some(), "ACKs were late, once");
        scene.transfer.rounds[3].in_flight = 45_000;
        assert!(scene.finding(Cause::Pacing).is_none());
    }

    #[test]
    fn sender_that_waits_for_acks_is_not_pacing() {
        let mut scene = paced();
        scene.transfer.pauses =
            (0..19).map(|n| gap(at_ms(1000 + 100 * n), at_ms(1100 + 100 * n), Release::Ack)).collect();
        assert!(scene.finding(Cause::Pacing).is_none());
    }

    #[test]
    fn common_link_rate_is_bandwidth() {
        let mut scene = paced();
        let rate = 10e6 * 1000.0 / 1090.0;
        let spread = RateSpread { p10: rate, p50: rate, p90: rate, bins: 40 };
        (scene.transfer.sent_rate, scene.transfer.acked_rate) = (spread, spread);
        for round in &mut scene.transfer.rounds {
            round.bytes = (rate / 80.0) as u64;
        }
        assert!(scene.finding(Cause::Pacing).is_none());
    }
}
