//! A queue on the path marked packets instead of dropping them (ECN), and the sender slowed down
//! for it.
//!
//! ## What it is
//! With Explicit Congestion Notification a router marks a packet (CE) when its queue builds up; the
//! receiver echoes the mark (ECE) until the sender reports that it has reduced its window (CWR).
//! For the window a mark equals a loss, without the lost segment. A queue that marks too early for
//! a path with a long round trip keeps the window below the path's capacity.
//!
//! ## How it is recognised
//! ECN was negotiated in the SYNs, ACKs carry ECE, segments CWR; flights shrink and nothing is
//! retransmitted. The cost is the time in congestion avoidance from the first echo on, until a loss
//! if there is one. A link that stays full throughout loses nothing by marks, and the finding is
//! `bandwidth`. CE marks themselves are seen only behind the router that sets them. With Accurate
//! ECN (RFC 9768) the same header bits are a counter, which is not read here, and nothing is
//! reported.
//!
//! ## What it is confused with
//! - `loss`: segments were retransmitted in the same rounds, and the marks came in addition.
//! - `bandwidth`, `bufferbloat`: the marks keep the queue short, and the rate stays at the path's.
//! - `early-slow-start-exit`: there is no echo.
//!
//! ## The fix
//! More capacity where it marks; or an AQM whose target fits the path: CoDel's interval should be
//! the usual round trip, and its target 5 to 10 % of it (`fq_codel target 5ms interval 100ms`),
//! RED's thresholds above the bandwidth-delay product of one flow. Not: turning ECN off, which
//! makes losses of the marks.
//!
//! ## To see that it worked
//! `tc -s qdisc show` at the queue counts fewer `ecn_mark` for the same transfer.
//!
//! ## References
//! RFC 3168, RFC 8289 sections 3.2 and 4.3 (CoDel's target and interval), RFC 8511 (a smaller
//! reduction for marks), RFC 9768.

use super::parts::{confirm, evidence, finding};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LinkAction, LinkQuestion, LinkStatement, Measure, Problem, ProblemDetail, Remedy,
    Unit,
};
use whyslow_core::tcp::facts::Facts;
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::Ecn, Check::Transfer(check)).certain_with(&[Evidence::Opening]);

/// CoDel's default target, milliseconds (RFC 8289 section 4).
const TARGET: f64 = 5.0;
/// CoDel's default interval, milliseconds (RFC 8289 section 4).
const INTERVAL: f64 = 100.0;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let (facts, transfer) = (view.facts, view.transfer);
    let (first, frame) = transfer.first_echo?;
    // Without the SYNs, a sender that answers proves that the flags are echoes.
    let classic = facts.handshake.classic_ecn(facts.client).unwrap_or(transfer.reductions > 0);
    if !classic {
        return None;
    }
    let rounds = &transfer.rounds;
    let lossy = rounds.iter().find(|round| round.retransmitted > 0 && round.start >= first);
    let until = lossy.map_or(transfer.end, |round| round.start);
    let spans = view.attribution.spans.iter().filter(|span| span.limit == LimitingFactor::CongestionAvoidance);
    let lost: Nanos = spans.map(|span| (span.end.min(until) - span.start.max(first)).or_zero()).sum();
    if !view.matters(lost, 0.1) {
        return None;
    }
    let at = rounds.partition_point(|round| round.start <= first).max(1) - 1;
    let before = rounds[at].in_flight;
    let after = rounds.iter().skip(at + 1).take(3).map(|round| round.in_flight).min().unwrap_or(before);
    let (echoes, whole_s) = (transfer.ecn_echoes, view.duration());
    let statement = LinkStatement::Marked { echoes, before, after, cost_s: lost, whole_s };
    let mut found = finding(Cause::Ecn, lost, view.trust(0.8), statement);
    found.evidence.push(evidence(Measure::CongestionEchoes, echoes as f64, Unit::Acks, &[frame]));
    found.evidence.push(evidence(Measure::WindowReductions, transfer.reductions as f64, Unit::Segments, &[]));
    if transfer.marked > 0 {
        found.evidence.push(evidence(Measure::CongestionMarks, transfer.marked as f64, Unit::Packets, &[]));
    }
    found.evidence.push(evidence(Measure::FlightAtEcho, before as f64, Unit::Bytes, &[rounds[at].first_frame]));
    found.evidence.push(evidence(Measure::FlightAfterEcho, after as f64, Unit::Bytes, &[]));
    let least = view.context.rtt;
    let queue = view.round_trip(at).zip(least).map(|(then, least)| (then - least).or_zero());
    if let Some(queue) = queue {
        found.evidence.push(evidence(Measure::QueueAtMark, queue.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    let interval = least.map_or(INTERVAL, |rtt| rtt.as_millis_f64().max(INTERVAL));
    let target = (interval * TARGET / INTERVAL).max(TARGET);
    let [target_s, interval_s] = [target, interval].map(|millis| Nanos::from_secs_f64(millis / 1e3));
    found.remedies = vec![
        Remedy::new(Actor::Network, LinkAction::TuneMarking { rtt_s: least, target_s, interval_s }),
        Remedy::new(Actor::Network, LinkAction::AddCapacity { beyond_bps: None }),
    ];
    found.to_confirm = confirm(LinkQuestion::MarkingQueue);
    Some(found)
}

/// That there were marks, whatever they cost: in slow start, or where a window was the limit, they
/// cost nothing, and still a queue on the path was full.
pub(super) fn note(facts: &Facts) -> Option<Problem> {
    let transfers = || facts.directions.iter().flat_map(|direction| &direction.transfers);
    let marked = transfers().map(|transfer| transfer.marked).sum();
    let reductions = transfers().map(|transfer| transfer.reductions).sum();
    let classic = facts.handshake.classic_ecn(facts.client).unwrap_or(reductions > 0);
    let echoes = facts.directions.iter().map(|direction| direction.ecn_echoes).sum();
    let (echoes, reductions) = if classic { (echoes, reductions) } else { (0, 0) };
    let detail = ProblemDetail::CongestionMarks { marked, echoes, reductions };
    let count = marked.max(echoes).max(reductions);
    (count > 0).then(|| Problem::new("ecn-marks", count, detail))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::ProblemDetail;
    use crate::rules::synthetic_transfer::{SyntheticTransfer, at_ms, ms};
    use whyslow_analysis::cause::Cause;

    /// Slow start to 40 segments, an echo in the fourth round, and slow growth from 20 on.
    fn marked() -> SyntheticTransfer {
        let mut flights = vec![10_000, 20_000, 40_000];
        flights.extend((0..12).map(|n| 20_000 + 500 * n));
        let mut scene = SyntheticTransfer::flights(&flights);
        scene.facts.handshake.offers[0].as_mut().unwrap().ecn = 0b011;
        scene.facts.handshake.offers[1].as_mut().unwrap().ecn = 0b001;
        scene.transfer.ecn_echoes = 3;
        scene.transfer.first_echo = Some((at_ms(1250), Default::default()));
        scene.transfer.reductions = 1;
        scene
    }

    #[test]
    fn slow_growth_after_an_echo_is_ecn() {
        let found = marked().finding(Cause::Ecn).unwrap();
        // The third round's rest, eleven rounds more; the last one is the way to the receiver and
        // back.
        assert_eq!(found.cost_s, ms(50 + 1100));
        assert!(marked().finding(Cause::Loss).is_none());
    }

    #[test]
    fn marks_are_noted_whatever_they_cost() {
        let mut scene = marked();
        let noted = |scene: &SyntheticTransfer| {
            let mut facts = scene.facts.clone();
            facts.directions[1].ecn_echoes = scene.transfer.ecn_echoes;
            facts.directions[1].transfers = vec![scene.transfer.clone()];
            super::note(&facts).map(|problem| problem.detail)
        };
        let marks = |marked, echoes, reductions| Some(ProblemDetail::CongestionMarks { marked, echoes, reductions });
        assert_eq!(noted(&scene), marks(0, 3, 1));
        scene.transfer.marked = 2;
        scene.facts.handshake.offers[1].as_mut().unwrap().ecn = 0b010;
        assert_eq!(noted(&scene), marks(2, 0, 0), "the TCP flags are a counter, the mark of IP is the same");
        scene.transfer.marked = 0;
        assert_eq!(noted(&scene), None);
    }

    #[test]
    fn loss_ends_the_cost_of_marks() {
        let mut scene = marked();
        scene.transfer.rounds[6].retransmitted = 1;
        assert_eq!(scene.finding(Cause::Ecn).unwrap().cost_s, ms(350));
    }

    #[test]
    fn accurate_ecn_is_not_reported() {
        let mut scene = marked();
        scene.facts.handshake.offers[0].as_mut().unwrap().ecn = 0b111;
        scene.facts.handshake.offers[1].as_mut().unwrap().ecn = 0b010;
        assert!(scene.finding(Cause::Ecn).is_none());
        let mut refused = marked();
        refused.facts.handshake.offers[1].as_mut().unwrap().ecn = 0;
        assert!(refused.finding(Cause::Ecn).is_none());
        let mut unseen = marked();
        unseen.facts.handshake.offers = [None; 2];
        assert!(unseen.finding(Cause::Ecn).is_some(), "the sender answers, so it is ECN");
    }
}
