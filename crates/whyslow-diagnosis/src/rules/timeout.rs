//! A packet was lost, and the sender noticed only when its timer expired.
//!
//! ## What it is
//! If no ACK shows a sender that a segment was lost (the last ones of a burst, a whole flight, or
//! the retransmission itself), it waits for its timer: 200 ms on Linux and more, doubled each time
//! (RFC 6298), and then starts over with a window of one segment. On a short path such a wait is
//! hundreds of round trips.
//!
//! ## How it is recognised
//! Silence as long as the timer, ended by a segment that had been sent before (or that fills a hole
//! in the capture). A probe of the tail after about two round trips counts too (RFC 8985 section
//! 7). Away from the sender, where the first copies may never have been seen: numbers that the
//! sender gave to packets in the silence (IPv4 identification, which Linux increments for each
//! packet of a connection) are missing; or a window of one segment follows, which only the timer
//! leaves.
//!
//! Missing IP numbers in the silence before a response's first byte show the same.
//!
//! ## What it is confused with
//! - `application`: nothing was outstanding, and new bytes end the silence.
//! - `zero-window`: the window was closed.
//!
//! ## The fix
//! Fix the loss: the promised time is for that. A sender with the defaults of today's Linux (SACK,
//! `tcp_recovery=1`, `tcp_early_retrans=3`) has waited because its probe was lost too, and setting
//! them again changes nothing; they are advised if the capture shows that SACK was not negotiated,
//! or that no probe came though one was due. These help in addition: more segments in flight so
//! that duplicate ACKs come, and inside a data centre a lower minimum: `ip route change … rto_min
//! 20ms`.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPTimeouts` on the sender no longer rises while the transfer runs.
//!
//! ## References
//! RFC 6298, RFC 8985; Vasudevan et al. 2009 on timeouts in data centres.

use super::black_hole::waited_before;
use super::loss_cost;
use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LossAction, LossQuestion, LossStatement, Measure, Remedy, Unit,
};
use whyslow_core::tcp::facts::{Notice, Release};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::Timeout, Check::Transfer(check)).certain_with(&[Evidence::Options]);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    if loss_cost::lost_nothing(view) {
        return None;
    }
    // A lost tail, a lost retransmission, unanswered retries and a path that does not pass large
    // segments have findings of their own.
    let copies = loss_cost::cost_of_lost_retransmits(view) > Nanos::ZERO;
    let of_copies = if copies { loss_cost::wait_for_lost_retransmits(view) } else { Nanos::ZERO };
    let given_up = loss_cost::given_up(view.direction(), view.transfer);
    let in_vain: Nanos = given_up.iter().map(|wait| wait.end - wait.start).sum();
    let lost = (view.time(LimitingFactor::Timeout) - loss_cost::wait_for_tails(view) - of_copies - in_vain).or_zero();
    let before = waited_before(view);
    if before > lost {
        return first_copies(view, before);
    }
    if !view.matters(lost, 0.1) {
        return None;
    }
    let tails = |start| {
        view.transfer.pauses.iter().any(|gap| gap.start == start && (gap.tail || (copies && gap.lost_retransmit)))
    };
    let tails = |start| tails(start) || given_up.first().is_some_and(|first| start >= first.start);
    let waits =
        view.attribution.spans.iter().filter(|span| span.limit == LimitingFactor::Timeout && !tails(span.start));
    let number = waits.clone().count() as u64;
    let spans = view.spans_at(waits.clone());
    let longest = waits.max_by_key(|span| span.length())?;
    let length = longest.length();
    let gap = view.transfer.pauses.iter().find(|gap| gap.start == longest.start);
    let by_timer = view.transfer.pauses.iter().filter(|gap| gap.release == Release::Timer && !gap.tail);
    let missing: u32 = by_timer.clone().filter_map(|gap| gap.missing).fold(0, u32::saturating_add);
    // A retransmission of data in the capture proves a timer, and duplicate ACKs a path that loses
    // packets; IP numbers alone do not.
    let proven: Nanos = by_timer.filter(|gap| gap.missing.unwrap_or(0) == 0).map(|gap| gap.end - gap.start).sum();
    let is_guess = missing > 0 && proven < lost.scale(0.5) && view.transfer.retransmitted.fast == 0;
    let confidence = if is_guess { loss_cost::BY_IP_NUMBERS } else { 0.9 };
    let statement = LossStatement::TimerWaits { times: number, cost_s: lost, whole_s: view.duration() };
    let mut found = finding(Cause::Timeout, lost, view.trust(confidence), statement);
    found.spans = spans;
    let frames: Vec<_> = gap.iter().flat_map(|gap| [gap.frames.0, gap.frames.1]).collect();
    found.evidence.push(evidence(Measure::TimerWaits, number as f64, Unit::Waits, &[]));
    found.evidence.push(evidence(Measure::LongestWait, length.as_millis_f64(), Unit::Milliseconds, &frames));
    if missing > 0 {
        found.evidence.push(evidence(Measure::PacketsMissingByIpId, f64::from(missing), Unit::Packets, &[]));
        found.to_confirm = confirm(LossQuestion::FirstCopiesUnseen);
    }
    if let Some(rtt) = view.rtt() {
        found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    let during_wait = |notice: &&Notice| notice.last >= longest.start && notice.time <= view.transfer.end;
    let mut notices = super::icmp::undelivered(view.facts, view.sender).filter(during_wait).peekable();
    if let Some(notice) = notices.peek() {
        found.remedies = super::icmp::fix_undelivered(notice, view.facts.endpoints[!view.sender]);
        found.evidence.extend(notices.map(super::icmp::as_evidence));
        return Some(found);
    }
    found.remedies = remedies(view);
    Some(found)
}

/// The loss is the network's. Settings with which the sender would find losses sooner are advised
/// if the capture shows that they are missing.
fn remedies(view: &TransferView<'_>) -> Vec<Remedy> {
    let mut remedies = remedy(Actor::Network, LossAction::FindFlightLoss);
    if let Some(side) = loss_cost::without_sack(view.facts) {
        let who = if side == view.sender { Actor::Sender } else { Actor::Receiver };
        let on = loss_cost::end_of(view.facts, side);
        remedies.push(Remedy::new(who, LossAction::EnableSackForProbes { on }));
    } else if let Some(wait) = loss_cost::wait_without_probe(view) {
        remedies.push(Remedy::new(Actor::Sender, LossAction::EnableTailProbes { missed_s: Some(wait) }));
    }
    remedies
}

/// The first copies of a response's first bytes never came here.
fn first_copies(view: &TransferView<'_>, waited: Nanos) -> Option<Finding> {
    if waited < whyslow_analysis::types::MIN_NOTICEABLE_DELAY || waited < view.duration().scale(0.1) {
        return None;
    }
    let missing = view.transfer.missing_before;
    let statement = LossStatement::LateResponse { wait_s: waited, packets: missing.into() };
    let mut found = finding(Cause::Timeout, waited, view.trust(loss_cost::BY_IP_NUMBERS), statement);
    let frames = [view.transfer.frames.0];
    found.evidence.push(evidence(Measure::PacketsMissingByIpId, f64::from(missing), Unit::Packets, &frames));
    found.to_confirm = confirm(LossQuestion::FirstCopiesUnseen);
    found.remedies = remedy(Actor::Network, LossAction::FindLargeLoss);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::rules::icmp::tests::notice;
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, gap, ms};
    use whyslow_analysis::types::Side;
    use whyslow_analysis::{End, Near};
    use whyslow_core::tcp::facts::{Fate, SendPause};

    /// Two flights, and 900 ms later a segment of the second one again.
    fn silence() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
        let start = scene.transfer.last_send;
        let end = start + ms(900);
        scene.transfer.pauses.push(SendPause { is_retransmit: true, ..gap(start, end, Release::Timer) });
        scene.transfer.rounds[1].last_send = end;
        (scene.transfer.last_send, scene.transfer.end, scene.facts.last) = (end, end + ms(100), end + ms(100));
        scene.facts.vantage.near = Near::Middle;
        scene
    }

    #[test]
    fn missing_sender_settings_are_advised_if_shown() {
        let advised = |change: &dyn Fn(&mut SyntheticTransfer)| {
            let mut scene = silence();
            change(&mut scene);
            let mut remedies = scene.finding(Cause::Timeout).unwrap().remedies;
            assert_eq!(remedies.remove(0), Remedy::new(Actor::Network, LossAction::FindFlightLoss));
            remedies
        };
        assert_eq!(advised(&|_| ()), [], "the host has these defaults already");
        let unsacked = advised(&|scene| {
            if let Some(offer) = &mut scene.facts.handshake.offers[Side::A] {
                offer.sack = false;
            }
        });
        let sack = Remedy::new(Actor::Receiver, LossAction::EnableSackForProbes { on: End::Client });
        assert_eq!(sack.action.runs_on(), Some(End::Client));
        assert_eq!(unsacked, [sack]);
        let at_sender = |scene: &mut SyntheticTransfer| scene.facts.vantage.near = Near::Server;
        let probes = Remedy::new(Actor::Sender, LossAction::EnableTailProbes { missed_s: Some(ms(900)) });
        assert_eq!(advised(&at_sender), [probes], "no probe in 900 ms");
        let probed = |scene: &mut SyntheticTransfer| {
            at_sender(scene);
            let last = scene.transfer.pauses.len() - 1;
            scene.transfer.pauses[last - 1].release = Release::Nothing;
        };
        assert_eq!(advised(&probed), [], "new bytes may have been the probe");
        let probes = |scene: &mut SyntheticTransfer| {
            at_sender(scene);
            scene.facts.directions[1].retransmitted.tail_probe = 1;
        };
        assert_eq!(advised(&probes), []);
    }

    #[test]
    fn spurious_timeout_is_not_a_loss() {
        let mut scene = silence();
        scene.transfer.retransmitted.spurious = 1;
        assert!(scene.finding(Cause::Timeout).is_none());
        scene.transfer.retransmitted.timeout = 1;
        assert!(scene.finding(Cause::Timeout).is_some());
    }

    #[test]
    fn icmp_error_during_a_timeout_names_the_place() {
        let mut scene = silence();
        let of_loss = |scene: &SyntheticTransfer| {
            let found = scene.finding(Cause::Timeout).unwrap();
            found.remedy().unwrap().action == LossAction::FindFlightLoss.into()
        };
        assert!(of_loss(&scene));
        let unreachable = notice(Fate::NetworkUnreachable, Side::B, 1_200);
        scene.facts.notices.list = vec![unreachable];
        let found = scene.finding(Cause::Timeout).unwrap();
        let remedies = crate::rules::icmp::fix_undelivered(&unreachable, scene.facts.endpoints[Side::A]);
        assert_eq!(found.remedies, remedies);
        assert_eq!(found.evidence.last().unwrap().frames, [unreachable.frame]);
        // An error before the wait began is unrelated to it.
        scene.facts.notices.list = vec![notice(Fate::NetworkUnreachable, Side::B, 1_050)];
        assert!(of_loss(&scene));
    }
}
