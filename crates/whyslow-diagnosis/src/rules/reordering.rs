//! Packets arrived in another order than they were sent.
//!
//! ## What it is
//! Paths with several links side by side (LAG, ECMP by packet), radio retransmission, or parallel
//! queues in a host may deliver packets in another order. A sender takes a gap for loss after three
//! later segments, or a quarter of a round trip with RACK, and then slows down for nothing.
//!
//! ## How it is recognised
//! A segment that came late carries an older timestamp or IP identification than those that
//! overtook it: it was sent before them, once.
//!
//! ## What it is confused with
//! - `loss`: a late segment with a newer timestamp, a round trip or more late, is a retransmission
//!   whose first copy was lost.
//! - a capture with several queues may note packets in another order than they passed.
//!
//! ## The fix
//! Balance by flow and not by packet; check LAG hashing (`xmit_hash_policy=layer3+4`, never
//! round-robin), ECMP (`net.ipv4.fib_multipath_hash_policy=1`), parallel tunnels, and receive
//! offloads.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPSACKReorder TcpExtTCPTSReorder` on the sender no longer rises while the
//! transfer runs.
//!
//! ## References
//! RFC 4737, RFC 5236, RFC 8985 section 3.3.2.

use super::parts::{evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use crate::limit::Span;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LimitingFactor, LossAction, LossStatement, Measure, Unit};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::Reordering, Check::Transfer(check));

fn check(view: &TransferView<'_>) -> Option<Finding> {
    // Seen late at the receiver's side, or reported by the receiver's SACKs at the sender's. There
    // a hole that the sender filled needlessly closed by itself too.
    let late = view.transfer.out_of_order.max(view.transfer.healed_holes + view.transfer.spurious_fast);
    let share = late as f64 / view.transfer.segments.max(1) as f64;
    // Few of many may have cost a halved window all the same: then a copy was sent for nothing.
    if late < 3 || (share < 0.002 && view.transfer.spurious_fast == 0) {
        return None;
    }
    // The cost is the needless retransmissions: all of them if nothing was lost.
    let kinds = &view.transfer.retransmitted;
    let lost_segments = kinds.fast + kinds.timeout + kinds.tail_probe;
    // Before the first copy it had made the sender do nothing.
    let copy = view.transfer.rounds.get(view.transfer.first_retransmit_round())?.start;
    let slowed = |span: &&Span| {
        matches!(span.limit, LimitingFactor::LossRecovery | LimitingFactor::CongestionAvoidance) && span.end > copy
    };
    let repairing: Nanos = view.attribution.spans.iter().filter(slowed).map(Span::length).sum();
    let needless = view.transfer.spurious_fast;
    let share_needless = if lost_segments == 0 { 1.0 } else { needless as f64 / (needless + lost_segments) as f64 };
    let cost = repairing.scale(share_needless);
    // A count of reordered segments is of interest with its cost, even a small one.
    if !view.matters(cost, 0.02) {
        return None;
    }
    let extent = view.direction().reorder_extent;
    let by_s = (extent > Nanos::ZERO).then_some(extent);
    let statement = LossStatement::Reordered { segments: late, of: view.transfer.segments, by_s };
    let mut found = finding(Cause::Reordering, cost, view.trust(0.75), statement);
    found.evidence.push(evidence(Measure::SegmentsOvertaken, late as f64, Unit::Segments, &[]));
    found.evidence.push(evidence(Measure::OvertakenShare, share * 100.0, Unit::Percent, &[]));
    if let Some(extent) = by_s {
        found.evidence.push(evidence(Measure::ReorderingExtent, extent.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    if view.transfer.healed_holes > 0 {
        let holes = view.transfer.healed_holes as f64;
        found.evidence.push(evidence(Measure::HealedHoles, holes, Unit::Holes, &[]));
    }
    found.remedies = remedy(Actor::Network, LossAction::BalanceByFlow);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, ms};
    use whyslow_analysis::cause::Cause;

    #[test]
    fn reordering_without_retransmissions_costs_nothing() {
        let mut scene = SyntheticTransfer::flights(&[60_000; 10]);
        (scene.transfer.out_of_order, scene.transfer.rounds[3].retransmitted) = (90, 8);
        scene.transfer.pauses[3].recovering = true;
        (scene.transfer.retransmitted.fast, scene.transfer.spurious_fast) = (4, 4);
        let direction = scene.finding(Cause::Reordering).unwrap().cost_s;
        scene.transfer.retransmitted.fast = 0;
        assert_eq!(scene.finding(Cause::Reordering).unwrap().cost_s.scale(0.5), direction);
        (scene.transfer.retransmitted.fast, scene.transfer.spurious_fast) = (8, 0);
        assert!(scene.finding(Cause::Reordering).is_none());
    }

    #[test]
    fn few_reordered_segments_cost_the_first_spurious_retransmission() {
        // It had left slow start before.
        let mut scene = SyntheticTransfer::flights(&[
            60_000, 61_000, 62_000, 63_000, 64_000, 65_000, 66_000, 67_000, 68_000, 69_000,
        ]);
        scene.transfer.segments = 10_000;
        scene.transfer.out_of_order = 15;
        assert!(scene.finding(Cause::Reordering).is_none(), "no copy was sent");
        scene.transfer.rounds[6].retransmitted = 1;
        assert!(scene.finding(Cause::Reordering).is_none(), "the copy was needed");
        scene.transfer.spurious_fast = 1;
        let found = scene.judge(super::check).unwrap();
        assert_eq!(found.cost_s, ms(300), "from the copy on, and the last flight takes its round trip in any case");
    }
}
