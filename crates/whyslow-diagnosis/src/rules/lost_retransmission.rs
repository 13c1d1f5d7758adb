//! A packet was lost, and its retransmission was lost too.
//!
//! ## What it is
//! A retransmission takes the path that lost the first copy, and may be lost as well: a queue is
//! still full, a policer still has no tokens, or losses come in bursts. Duplicate ACKs go on as
//! before and do not show it. A sender without RACK waits for its timer, and starts over with a
//! window of one segment; with RACK (RFC 8985) it detects by time that the retransmission is
//! overdue, and loses a round trip.
//!
//! ## How it is recognised
//! The same bytes are sent a third time, after a retransmission that answered duplicate ACKs or
//! SACKs, and not needlessly (no D-SACK). The cost is the time from that retransmission to the next
//! one, counted once if several were missing. Next to the receiver lost retransmissions are not in
//! the capture.
//!
//! ## What it is confused with
//! - `timeout`: the first repair is the timer's, and no duplicate ACKs came.
//! - `mtu-black-hole`: every large segment is lost every time.
//! - `spurious-retransmission`: the receiver reports (D-SACK) that it had the bytes already.
//!
//! ## The fix
//! Find the device that drops several packets in a row: a policer, a short queue, a radio link. On
//! the sender keep RACK on: `sysctl -w net.ipv4.tcp_recovery=1` (Linux 4.4 and later; since 4.18 it
//! finds lost retransmissions without the timer), with SACK and timestamps on. Pacing (`tc qdisc
//! replace dev DEV root fq`, or BBR) keeps retransmissions out of the burst that lost the first
//! copies.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPLostRetransmit` on the sender no longer rises while the transfer runs.
//!
//! ## References
//! RFC 8985 section 3.3 (lost retransmissions), RFC 6675 section 5; Rewaskar et al. 2007 on why
//! timeouts happen.

use super::loss_cost::{cost_of_lost_retransmits, wait_for_lost_retransmits, waits_for_lost_retransmits};
use super::parts::{evidence, finding};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LossAction, LossStatement, Measure, Remedy, Unit};
use whyslow_core::tcp::facts::LostRetransmits;
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::LostRetransmission, Check::Transfer(check)).certain_with(&[Evidence::Options]);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let LostRetransmits { count: number, frames, .. } = &view.transfer.lost_retransmits;
    let lost = cost_of_lost_retransmits(view);
    if lost == Nanos::ZERO {
        return None;
    }
    let by_timer = wait_for_lost_retransmits(view);
    let segments = *number;
    let statement = LossStatement::RetransmissionsLost { segments, cost_s: lost, whole_s: view.duration() };
    let mut found = finding(Cause::LostRetransmission, lost, view.trust(0.85), statement);
    found.spans = view.spans_of(waits_for_lost_retransmits(view));
    found.evidence.push(evidence(Measure::RetransmissionsLost, segments as f64, Unit::Segments, frames));
    found.evidence.push(evidence(Measure::WaitForTimer, by_timer.as_millis_f64(), Unit::Milliseconds, &[]));
    if let Some(rtt) = view.rtt() {
        found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    let find = Remedy::new(Actor::Network, LossAction::FindBurstLoss);
    found.remedies = if by_timer.0 >= lost.0 / 2 {
        vec![Remedy::new(Actor::Sender, LossAction::EnableRack), find]
    } else {
        vec![find, Remedy::new(Actor::Sender, LossAction::PaceSender)]
    };
    Some(found)
}
