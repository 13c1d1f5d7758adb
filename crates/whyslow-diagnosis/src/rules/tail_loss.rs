//! The last packets of a burst were lost, and no later packet showed the receiver that they were
//! missing.
//!
//! ## What it is
//! A receiver reports a hole when later segments arrive. Behind the last segment of a burst nothing
//! arrives, so the sender learns of its loss from a clock: a tail loss probe after about two round
//! trips (RFC 8985 section 7), or the retransmission timer of 200 ms and more.
//!
//! ## How it is recognised
//! After a silence the highest segment is retransmitted: by a probe if other segments are
//! outstanding too or the silence is as long as a probe's, else by the timer. Next to the receiver
//! the first copy was never seen, and the pause looks like one of the sender's program; but the
//! sender's IPv4 numbers, which Linux counts up by one for each packet of a connection, have one
//! missing then. Where there are no such numbers (IPv6, other systems), capture at the sender.
//!
//! ## What it is confused with
//! - `timeout`: the timer had to repair segments from the middle of a burst.
//! - `spurious-retransmission`: the segment had arrived, and its ACK was late: a proxy with a short
//!   round trip of its own, or a delayed ACK.
//!
//! ## The fix
//! Find the place of the losses: the promised time is for that. Short responses suffer most: one
//! more segment after the last one (a larger response, a second stream) reveals a loss at once. If
//! the sender waits for much longer than a probe would: enable probes. Linux probes with
//! `net.ipv4.tcp_early_retrans=3` (the default) and SACK on. For a lone segment a probe waits about
//! as long as Linux' timer.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPTimeouts TcpExtTCPLossProbes` on the sender no longer rises while the
//! transfer runs.
//!
//! ## References
//! RFC 8985 section 7 (RACK-TLP), RFC 5827, RFC 6298; Flach et al., "Reducing Web Latency: the
//! Virtue of Gentle Aggression", 2013.

use super::loss_cost::{self, BY_IP_NUMBERS, lost_nothing, tail_waits, wait_for_tails};
use super::parts::{confirm, evidence, finding};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::RTO_MIN;
use whyslow_analysis::{
    Actor, Finding, LossAction, LossQuestion, LossStatement, Measure, Remedy, RepairSpeed, TailRepair, Unit,
};
use whyslow_core::tcp::facts::SendPause;

pub(super) const RULE: Rule = Rule::new(Cause::TailLoss, Check::Transfer(check)).certain_with(&[Evidence::Options]);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = wait_for_tails(view);
    if lost_nothing(view) || !view.matters(lost, 0.1) {
        return None;
    }
    let longest = tail_waits(view).max_by_key(|gap| gap.end - gap.start)?;
    let number = tail_waits(view).count() as u64;
    let probes = view.transfer.retransmitted.tail_probe;
    let repaired_by = if probes > 0 { TailRepair::Probe } else { TailRepair::Timer };
    let statement = LossStatement::TailLost { repaired_by, times: number, cost_s: lost, whole_s: view.duration() };
    let unseen = tail_waits(view).filter(|gap| gap.missing.is_some_and(|packets| packets > 0)).count() as u64;
    let is_guess = unseen > 0 && view.transfer.retransmitted.fast == 0;
    let confidence = if is_guess {
        BY_IP_NUMBERS
    } else if loss_cost::may_be_needless(view) {
        0.7
    } else {
        0.85
    };
    let mut found = finding(Cause::TailLoss, lost, view.trust(confidence), statement);
    found.spans = view.spans_of(tail_waits(view));
    let frames = [longest.frames.0, longest.frames.1];
    if unseen > 0 {
        found.evidence.push(evidence(Measure::WaitsWithMissingIpId, unseen as f64, Unit::Waits, &frames));
        found.to_confirm = confirm(LossQuestion::FirstCopiesUnseen);
    }
    found.evidence.push(evidence(
        Measure::LongestWait,
        (longest.end - longest.start).as_millis_f64(),
        Unit::Milliseconds,
        &frames,
    ));
    found.evidence.push(evidence(Measure::TailLossProbes, probes as f64, Unit::Probes, &[]));
    if let Some(rtt) = view.rtt() {
        found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    found.remedies = remedies(view);
    Some(found)
}

/// A probe for a lone segment also waits for the time that its ACK may be delayed (RFC 8985 section
/// 7.2; Linux: 200 ms), and so has no effect if the timer is as short.
fn remedies(view: &TransferView<'_>) -> Vec<Remedy> {
    let probes = view.direction().retransmitted.tail_probe > 0;
    let probe = view.rtt().map(|rtt| rtt.scale(3.0) + RTO_MIN);
    let is_late = |gap: &SendPause| probe.is_none_or(|probe| gap.end - gap.start > probe.scale(1.5));
    let late = tail_waits(view).filter(|gap| is_late(gap)).count();
    let find = |repair| Remedy::new(Actor::Network, LossAction::FindTailLoss { repair });
    if late == 0 || probes {
        return vec![find(RepairSpeed::Best)];
    }
    let find = find(RepairSpeed::Improvable);
    if late < tail_waits(view).count() || probe.is_none() {
        return vec![find];
    }
    vec![Remedy::new(Actor::Sender, LossAction::EnableTailProbes { missed_s: None }), find]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, gap, ms};
    use whyslow_analysis::Near;
    use whyslow_core::tcp::facts::{Loss, Release};

    /// A tail that came again 900 ms later.
    fn tail() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
        let start = scene.transfer.last_send;
        let end = start + ms(900);
        scene.transfer.pauses.push(SendPause { tail: true, is_retransmit: true, ..gap(start, end, Release::Timer) });
        scene.transfer.retransmitted.timeout = 1;
        scene.transfer.losses = vec![Loss::default()];
        (scene.transfer.last_send, scene.transfer.end, scene.facts.last) = (end, end + ms(100), end + ms(100));
        scene
    }

    #[test]
    fn segment_in_the_receivers_capture_was_not_lost() {
        let found = |change: fn(&mut SyntheticTransfer)| {
            let mut scene = tail();
            scene.facts.vantage.near = Near::Client;
            change(&mut scene);
            scene.finding(Cause::TailLoss).is_some() || scene.finding(Cause::Timeout).is_some()
        };
        assert!(!found(|_| ()));
        assert!(found(|scene| scene.facts.vantage.near = Near::Server), "next to the sender");
        assert!(found(|scene| scene.transfer.losses[0].unseen = true), "the first copy never came");
        assert!(found(|scene| scene.transfer.retransmitted.fast = 1), "duplicate ACKs report a hole");
    }

    #[test]
    fn loss_by_ip_numbers_alone_is_not_certain() {
        let confidence = |missing: Option<u32>| {
            let mut scene = tail();
            scene.facts.vantage.near = Near::Middle;
            scene.transfer.pauses.last_mut().unwrap().missing = missing;
            scene.finding(Cause::TailLoss).unwrap().confidence
        };
        assert!(confidence(Some(1)) <= BY_IP_NUMBERS && confidence(None) > BY_IP_NUMBERS);
    }

    #[test]
    fn probe_is_advised_if_it_would_come_sooner() {
        let remedy = |wait: i64, probes: u64| {
            let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
            let start = scene.transfer.last_send;
            let end = start + ms(wait);
            scene.transfer.pauses.push(SendPause {
                tail: true,
                is_retransmit: true,
                ..gap(start, end, Release::Timer)
            });
            scene.transfer.retransmitted.timeout = 1;
            scene.facts.directions[1].retransmitted.tail_probe = probes;
            (scene.transfer.last_send, scene.transfer.end, scene.facts.last) = (end, end + ms(100), end + ms(100));
            scene.finding(Cause::TailLoss).unwrap().remedies.remove(0)
        };
        // Round trips of 100 ms: the probe of a lone segment waits for 400 ms after the last ACK.
        let find = Remedy::new(Actor::Network, LossAction::FindTailLoss { repair: RepairSpeed::Best });
        assert_eq!(remedy(420, 0), find);
        let probe = Remedy::new(Actor::Sender, LossAction::EnableTailProbes { missed_s: None });
        assert_eq!(remedy(1_100, 0), probe);
        assert_eq!(remedy(1_100, 1), find, "it does probe");
    }
}
