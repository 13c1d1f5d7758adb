//! The receiver cannot report which packets arrived (SACK is off), so that each loss takes a round
//! trip of its own to repair.
//!
//! ## What it is
//! With SACK (RFC 2018) a receiver reports which segments it has, and the sender repairs all holes
//! of a flight in about one round trip. Without it an ACK names the first hole only: the sender
//! learns of the next one when the first is filled (NewReno, RFC 6582), one round trip each, or
//! waits for its timer.
//!
//! ## How it is recognised
//! SACK-permitted is missing in one of the two SYNs, segments were lost, and recoveries took longer
//! than the one round trip that SACK would need. Without the handshake in the capture it is never
//! asserted.
//!
//! ## What it is confused with
//! - `loss`: the cause behind it; with SACK the same losses cost a round trip for each flight and
//!   not for each hole.
//! - `timeout`: without SACK and with few segments in flight no three duplicate ACKs come.
//!
//! ## The fix
//! On the end whose SYN lacks the option: `sysctl -w net.ipv4.tcp_sack=1`; Windows:
//! `netsh int tcp set global` has no switch for it, it is on unless the registry's `SackOpts` is 0.
//! If both ends have it on, a firewall or balancer between strips it (Cisco: `tcp-map` with
//! `selective-ack allow`; some "TCP normalisation" and sequence-number randomising firewalls break
//! it): capture on both sides of it.
//!
//! ## To see that it worked
//! `ss -tin` at either end shows `sack` for a new connection.
//!
//! ## References
//! RFC 2018, RFC 6675, RFC 6582; Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and
//! SACK TCP", 1996.

use super::loss_cost::{cost_without_sack, end_of};
use super::parts::{confirm, evidence, finding};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Actor, Finding, LossAction, LossQuestion, LossStatement, Measure, Remedy, Unit};
use whyslow_core::tcp::facts::Recoveries;
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::NoSack, Check::Transfer(check));

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = cost_without_sack(view);
    let kinds = &view.transfer.retransmitted;
    let Recoveries { count: number, took } = view.transfer.recoveries;
    if lost == Nanos::ZERO {
        return None;
    }
    let rtt = view.rtt()?;
    let facts = view.facts;
    let lacks = |side: Side| facts.handshake.offers[side].is_some_and(|offer| !offer.sack);
    // A SYN-ACK may only permit the options of the SYN.
    let side = if lacks(facts.client) { facts.client } else { !facts.client };
    let end = end_of(facts, side);
    let who = if side == view.sender { Actor::Sender } else { Actor::Receiver };
    let with_sack_s = rtt.scale(number as f64);
    let statement = LossStatement::NoSack { missing: end, recoveries: number, took_s: took, with_sack_s };
    let mut found = finding(Cause::NoSack, lost, view.trust(0.85), statement);
    let syns: Vec<_> = [facts.handshake.syn, facts.handshake.syn_ack].iter().flatten().map(|syn| syn.1).collect();
    let frames: Vec<_> = view.transfer.retransmitted_frames.iter().copied().take(6).collect();
    let lacking = Side::BOTH.into_iter().filter(|&side| lacks(side)).count();
    found.evidence.push(evidence(Measure::SynsWithoutSack, lacking as f64, Unit::Syns, &syns));
    found.evidence.push(evidence(Measure::SegmentsRetransmitted, kinds.fast as f64, Unit::Segments, &frames));
    found.evidence.push(evidence(Measure::FastRecoveryTime, took.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = vec![
        Remedy::new(who, LossAction::EnableSack { on: end }),
        Remedy::new(Actor::Network, LossAction::FindSackStripper),
    ];
    found.to_confirm = confirm(LossQuestion::SackAtItsEnd { end });
    Some(found)
}
