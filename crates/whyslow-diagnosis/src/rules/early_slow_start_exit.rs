//! The sender left the fast start of a transfer (slow start) too early, without a loss, and then
//! sped up only slowly.
//!
//! ## What it is
//! A sender doubles its window each round trip until it reaches its slow-start threshold (ssthresh)
//! or learns of congestion. A threshold that is too small ends the doubling early; from there on
//! the window grows by about a segment a round trip. On a long path that costs seconds. Two reasons
//! are common: the kernel remembered a small threshold of an earlier connection to the same peer
//! (Linux' `ip tcp_metrics`), or HyStart took a rise of the round-trip time for a queue.
//!
//! ## How it is recognised
//! The flights stop doubling and then grow slowly for four rounds or more, with room left in the
//! receiver's window, no segment lost before, no congestion echo, and the sender waiting for ACKs.
//! If the round trips of the last doubling were longer than the least by an eighth (4 to 16 ms),
//! HyStart is the likely reason. Three connections or more to one peer that stop at the same size
//! (within a tenth) without such a rise prove that it is remembered.
//!
//! ## What it is confused with
//! - `bandwidth`: the rate stays the same whatever is in flight.
//! - `sender-cap`: the flights do not grow at all.
//! - congestion avoidance after a loss: TCP is meant to do that.
//!
//! ## The fix
//! Clear the remembered thresholds, and do not remember them: `ip tcp_metrics flush`,
//! `net.ipv4.tcp_no_ssthresh_metrics_save=1` (the default since Linux 5.6). For HyStart: BBR, or
//! `hystart` off in the parameters of `tcp_cubic`.
//!
//! ## To see that it worked
//! `ss -tin` on the sender shows no small `ssthresh` for a new connection, and `nstat -az
//! 'TcpExtTCPHystart*'` does not rise.
//!
//! ## References
//! RFC 5681 section 3.1, RFC 9406 (HyStart++), RFC 9438; Ha and Rhee, "Taming the elephants: New
//! TCP slow start", 2011.

use super::cost_over_time::CostOverTime;
use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Proof, Rule};
use super::rule_input::{ConnectionSummary, Exit, TransferView};
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, End, Finding, LimitingFactor, Measure, SendingAction, SendingQuestion, SendingStatement, Unit,
};
use whyslow_core::tcp::facts::RoundFacts;
use whyslow_units::Nanos;
use whyslow_units::stats::median;

pub(super) const RULE: Rule =
    Rule::new(Cause::EarlySlowStartExit, Check::TransferAndAcross(check, across)).proof(Proof::Model);

/// One round in this number may seem smaller, as its segments slip into the next one. Half and
/// twice change none of 2,061 captures.
const SHRUNK: usize = 4;
/// Minimum number of rounds of slow growth: slow start would have grown by 16 times in them (RFC
/// 5681 section 3.1). Half and twice change 1 and 0 of 2,061 captures.
const MIN_ROUNDS: usize = 4;
/// Minimum and maximum rise of the round trip that ends slow start in HyStart (RFC 9406 section
/// 4.2).
const RISE: (Nanos, Nanos) = (Nanos::from_millis(4), Nanos::from_millis(16));

/// The rounds of slow growth before any loss.
fn slow_rounds<'a>(view: &'a TransferView<'_>) -> Option<(usize, &'a [RoundFacts])> {
    let rounds = &view.transfer.rounds;
    let base = &view.attribution.shape.base;
    let first = base.iter().position(|limit| *limit != LimitingFactor::SlowStart)?;
    let lost = rounds.iter().position(|round| round.retransmitted > 0).unwrap_or(rounds.len());
    let run = base.get(first..lost)?.iter().take_while(|limit| **limit == LimitingFactor::CongestionAvoidance).count();
    (run >= MIN_ROUNDS).then(|| (first, &rounds[first..first + run]))
}

/// Whether and where this transfer left slow start early.
pub fn exit_of(view: &TransferView<'_>) -> Option<Exit> {
    exit_with_slow_rounds(view).map(|(exit, _)| exit)
}

/// The exit, and the rounds of slow growth behind it.
fn exit_with_slow_rounds<'a>(view: &'a TransferView<'_>) -> Option<(Exit, &'a [RoundFacts])> {
    let direction = view.direction();
    let lost_before = view.earlier.iter().any(|(transfer, _)| !transfer.losses.is_empty());
    if lost_before || direction.ecn_echoes > 0 || view.attribution.shape.steady.is_some() || view.transfer.unseen > 0 {
        return None;
    }
    let (first, slow) = slow_rounds(view)?;
    let rtt = view.rtt()?;
    let mss = view.context.mss;
    let (start, last) = (slow.first()?, slow.last()?);
    let room = slow.iter().all(|round| round.window.is_some_and(|window| window > round.in_flight + 3 * mss));
    // More than a message a round, and growing as congestion avoidance does: else something holds
    // the flights down.
    let flights: Vec<u64> = slow.iter().map(|round| round.in_flight).collect();
    let grows = last.in_flight > start.in_flight && crate::estimate::is_growing(&flights, mss);
    // A window does not shrink without a loss: flights that do have another limit.
    let shrunk = flights.iter().filter(|&&flight| flight + 3 * mss < start.in_flight).count();
    if !room || start.in_flight < 2 * mss || !grows || shrunk * SHRUNK > flights.len() {
        return None;
    }
    let spans = view.attribution.spans.iter().filter(|span| span.limit == LimitingFactor::CongestionAvoidance);
    let until = view.transfer.rounds.get(first + slow.len()).map_or(view.transfer.end, |round| round.start);
    let slow_time: Nanos =
        spans.filter(|s| s.start >= start.start && s.start < until).map(crate::limit::Span::length).sum();
    // Time of the same bytes with continued doubling.
    let bytes: u64 = slow.iter().map(|round| round.bytes).sum();
    let doublings = u64::BITS - (bytes / start.in_flight.max(1)).leading_zeros();
    let lost = (slow_time - rtt.scale(f64::from(doublings))).or_zero();
    if !view.matters(lost, 0.2) {
        return None;
    }
    let least = view.context.rtt?;
    let before = (0..=first).rev().find_map(|index| view.round_trip(index));
    let rise = before.map_or(Nanos::ZERO, |rtt| rtt - least);
    let sender = if view.sender == view.facts.client { End::Client } else { End::Server };
    let exit = Exit {
        sender,
        segments: start.in_flight.div_ceil(mss),
        lost,
        rise,
        hystart: rise >= least.scale(0.125).max(RISE.0).min(RISE.1),
        frame: start.first_frame,
    };
    Some((exit, slow))
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let (Exit { segments, lost, rise, hystart, .. }, slow) = exit_with_slow_rounds(view)?;
    let (start, last) = (slow.first()?, slow.last()?);
    let least = view.context.rtt?;
    let statement = SendingStatement::EarlyExit { segments, bytes: start.in_flight, cost_s: lost };
    let mut found = finding(Cause::EarlySlowStartExit, lost, view.trust(0.8), statement);
    let frames = [start.first_frame, last.last_frame];
    found.evidence.push(evidence(Measure::ExitFlight, start.in_flight as f64, Unit::Bytes, &[start.first_frame]));
    found.evidence.push(evidence(Measure::RoundsOfSlowGrowth, slow.len() as f64, Unit::Rounds, &frames));
    found.evidence.push(evidence(
        Measure::FlightAtEndOfSlowGrowth,
        last.in_flight as f64,
        Unit::Bytes,
        &[last.last_frame],
    ));
    found.evidence.push(evidence(Measure::MinRoundTrip, least.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::RiseBeforeExit, rise.as_millis_f64().max(0.0), Unit::Milliseconds, &[]));
    found.remedies = remedy(
        Actor::Sender,
        if hystart {
            SendingAction::DisableHystart
        } else {
            SendingAction::ForgetThreshold { sender: None, peer: None, segments: None }
        },
    );
    found.to_confirm = confirm(SendingQuestion::RememberedThreshold { peer: None, segments });
    Some(found)
}

/// Minimum number of connections that leave at one size. Two may agree by chance. Half and twice
/// change 0 and 1 of 2,061 captures.
const MIN_EXITS: usize = 3;
/// Exits within this share of their median, or within one segment, are the same. Half and twice
/// change none of 2,061 captures.
const SAME: f64 = 0.1;

/// A remembered threshold is the same for each connection to that peer; a newly found one varies.
fn across(summaries: &[ConnectionSummary]) -> Vec<Finding> {
    let mut groups: BTreeMap<_, Vec<(&ConnectionSummary, Exit)>> = BTreeMap::new();
    for outline in summaries {
        if let Some(exit) = outline.early_exit {
            let (client, server) = (outline.client, outline.server.0);
            groups.entry((client, server, exit.sender.index())).or_default().push((outline, exit));
        }
    }
    groups.into_values().filter_map(remembered).collect()
}

fn remembered(mut group: Vec<(&ConnectionSummary, Exit)>) -> Option<Finding> {
    let typical = median(group.iter().map(|(_, exit)| exit.segments).collect())?;
    let tolerance = ((typical as f64 * SAME) as u64).max(1);
    let all = group.len();
    group.retain(|(_, exit)| exit.segments.abs_diff(typical) <= tolerance);
    let risen = group.iter().filter(|(_, exit)| exit.hystart).count();
    // The same queue makes HyStart stop at about the same flight each time.
    if group.len() < MIN_EXITS || group.len() * 10 < all * 7 || risen * 2 > group.len() {
        return None;
    }
    let mut lost = CostOverTime::default();
    let begin = group.iter().map(|(outline, _)| outline.start).min()?;
    for (outline, exit) in &group {
        lost.add(outline.start - begin, outline.end - begin, exit.lost);
    }
    let (first, exit) = group.first()?;
    let [client, server] = &first.addresses;
    let (sender, peer) = match exit.sender {
        End::Server => (first.name.clone().unwrap_or_else(|| server.clone()), client),
        End::Client => (client.clone(), server),
    };
    let number = group.len() as u64;
    let statement = SendingStatement::RememberedThreshold {
        connections: number,
        sender: sender.clone(),
        peer: peer.clone(),
        segments: typical,
        cost: lost.spread(),
    };
    let mut finding = finding(Cause::EarlySlowStartExit, lost.elapsed(), 0.85, statement);
    let frames: Vec<_> = group.iter().take(6).map(|(_, exit)| exit.frame).collect();
    finding.evidence.push(evidence(Measure::SameExitConnections, number as f64, Unit::Connections, &frames));
    finding.evidence.push(evidence(Measure::MedianExitFlight, typical as f64, Unit::Segments, &[]));
    finding.evidence.push(evidence(Measure::HystartConnections, risen as f64, Unit::Connections, &[]));
    let (sender, peer) = (Some(sender), Some(peer.clone()));
    finding.to_confirm = confirm(SendingQuestion::RememberedThreshold { peer: peer.clone(), segments: typical });
    finding.remedies = remedy(Actor::Sender, SendingAction::ForgetThreshold { sender, peer, segments: Some(typical) });
    finding.connections = group.iter().map(|(outline, _)| outline.id).collect();
    // Each of them has a finding of its own, whose time this is.
    finding.shared = true;
    Some(finding)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use whyslow_analysis::{Action, Frame};
    use whyslow_units::{Nanos, Time};

    fn outline(id: u64, segments: u64, hystart: bool) -> ConnectionSummary {
        let exit = Exit {
            sender: End::Server,
            segments,
            lost: Nanos::from_millis(300),
            rise: Nanos::ZERO,
            hystart,
            frame: Frame::default(),
        };
        ConnectionSummary {
            addresses: ["192.0.2.1".into(), "192.0.2.2".into()],
            id,
            client: [192, 0, 2, 1].into(),
            server: ([192, 0, 2, 2].into(), 443),
            name: None,
            start: Time::from_millis(1000 * id as i64),
            end: Time::from_millis(1000 * id as i64 + 700),
            handshakes: Nanos::ZERO,
            slow_start: Nanos::ZERO,
            unseen: Nanos::ZERO,
            bytes: 1,
            closed_by: None,
            client_wants_close: false,
            reset: false,
            early_exit: Some(exit),
            lookup: None,
            first_frame: Frame::default(),
        }
    }

    #[test]
    fn shrinking_flights_without_a_loss_are_not_an_early_exit() {
        let exit = |slow: &[u64]| {
            let sizes: Vec<u64> = [10, 20, 40].iter().chain(slow).map(|n| n * 1000).collect();
            crate::rules::synthetic_transfer::SyntheticTransfer::flights(&sizes)
                .finding(Cause::EarlySlowStartExit)
                .is_some()
        };
        assert!(exit(&[42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52]));
        assert!(!exit(&[42, 30, 31, 32, 33, 34, 48, 49, 50, 51, 52]));
    }

    #[test]
    fn same_exit_on_three_connections_is_a_remembered_threshold() {
        let summaries = [outline(1, 17, false), outline(2, 17, false), outline(3, 18, false)];
        let found = across(&summaries);
        assert_eq!((found.len(), found[0].cost_s), (1, Nanos::from_millis(900)));
        assert_eq!(found[0].connections, [1, 2, 3]);
        assert!(found[0].shared, "its time is that of the findings of these connections");
        let action = found[0].remedy().map(|remedy| &remedy.action);
        let peer = Some("192.0.2.1".to_owned());
        assert!(
            matches!(action, Some(Action::Sending(SendingAction::ForgetThreshold { peer: of, .. })) if *of == peer)
        );
        assert!(across(&summaries[..2]).is_empty(), "two may be chance");
    }

    #[test]
    fn varying_exits_or_exits_after_a_queue_are_not_remembered() {
        assert!(across(&[outline(1, 10, false), outline(2, 40, false), outline(3, 90, false)]).is_empty());
        assert!(across(&[outline(1, 17, true), outline(2, 17, true), outline(3, 17, false)]).is_empty());
    }
}
