//! A host may lack processor time: it paused, or acknowledged late, without a reason in the
//! network.
//!
//! ## What it is
//! TCP runs on the hosts' processors. A core that is busy with interrupts, encryption or other
//! applications sends later than its windows allow, or acknowledges milliseconds after the data
//! came. A capture does not prove that: it shows only that the network was not the reason.
//!
//! ## How it is recognised
//! Sender, captured next to it: five pauses or more of more than a millisecond that no ACK, window,
//! timer or message ended, between full segments with more to come (so the application had written
//! it), with room in the receiver's window and less in flight than before (so the congestion window
//! had room too), and not at an even rate. Receiver: captured next to it, half of the ACKs come
//! later than 1 ms after their data; interrupt coalescing delays less, and delayed ACKs (25 ms and
//! more) have another cause. The confidence is never above 0.5.
//!
//! ## What it is confused with
//! - `zero-window`: an application that reads too slowly closes the window, because it lacks
//!   processor time or for another reason.
//! - `application`: the program had nothing to send; its last segment is cut short.
//! - `pacing`: the pauses are even.
//! - a virtual machine that was not scheduled (steal time): the same, one level down.
//!
//! ## The fix
//! Check first: `mpstat -P ALL 1` (a core at 100 % in %soft or %sys, %steal), `top -H`,
//! `/proc/net/softnet_stat` (third column: out of time). Then: offloads on
//! (`ethtool -K DEV tso on gro on`), queues spread over cores (RSS: `ethtool -L`; RPS:
//! `/sys/class/net/DEV/queues/rx-*/rps_cpus`), a core of its own for the program, hardware
//! encryption, more cores.
//!
//! ## To see that it worked
//! `mpstat -P ALL 1` shows no processor near 100 % while the transfer runs.
//!
//! ## References
//! Araujo et al. 2016, "A longitudinal analysis of Internet rate limitations" (half of throttled
//! transfers are not limited by the network); Linux Documentation/networking/scaling.rst.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::limit::DELAYED_ACK;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LimitingFactor, LinkAction, LinkQuestion, LinkStatement, Measure, Unit};
use whyslow_core::tcp::facts::{Release, SendPause};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::HostCpu, Check::Transfer(check)).proof(Proof::Pattern);

/// Minimum number of pauses of the sender: fewer may be single wake-ups. Half and twice change none
/// of 2,061 captures.
const MIN_PAUSES: usize = 5;
/// Largest flight in a pause over the largest before: the window had room for the rest. Half and
/// twice the distance to 1 change none of 2,061 captures.
const BELOW: f64 = 0.8;
/// Minimum flight before, segments: more than an initial window (RFC 6928), as small flights always
/// pause.
const MIN_FLIGHT: u64 = 10;
/// Longest delay that is not a busy host's: interrupt coalescing and wake-ups of idle machines take
/// less. Half and twice change 1 and 0 of 2,061 captures.
const PROMPT: Nanos = Nanos::from_millis(1);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let defects = &view.facts.capture_defects;
    if !view.facts.elided.is_empty() || defects.one_direction || defects.backwards > 0 {
        return None;
    }
    slow_sender(view).into_iter().chain(slow_receiver(view)).max_by_key(|found| found.cost_s)
}

/// Pauses that nothing explains, of a sender that had full segments to send and room for them.
fn pauses<'a>(view: &'a TransferView<'_>) -> Vec<&'a SendPause> {
    let mss = view.context.mss;
    let shape = &view.attribution.shape;
    if !view.is_next_to(view.sender) || shape.steady.is_some() || shape.lost_before || view.transfer.unseen > 0 {
        return Vec::new();
    }
    let rounds = &view.transfer.rounds;
    let mut found = Vec::new();
    let (mut top, mut next) = (0, 0);
    for gap in &view.transfer.pauses {
        // Data in flight in the rounds that ended before this pause.
        while let Some(round) = rounds.get(next).filter(|round| round.last_send < gap.start) {
            top = if round.retransmitted > 0 { 0 } else { top.max(round.in_flight) };
            next += 1;
        }
        let full = gap.before_len >= mss && gap.after_len >= mss && !gap.app_limited;
        let held = gap.recovering || gap.closed.is_some() || gap.idle || gap.unseen;
        let window = gap.window_room.is_none_or(|room| room > 3 * mss);
        let below = top >= MIN_FLIGHT * mss && gap.in_flight > 0 && (gap.in_flight as f64) < BELOW * top as f64;
        if gap.release == Release::Nothing && full && !held && window && below && gap.end - gap.start > PROMPT {
            found.push(gap);
        }
    }
    found
}

fn slow_sender(view: &TransferView<'_>) -> Option<Finding> {
    let pauses = pauses(view);
    let lost: Nanos = pauses.iter().map(|gap| gap.end - gap.start).sum();
    if pauses.len() < MIN_PAUSES || !view.matters(lost, 0.1) {
        return None;
    }
    let longest = pauses.iter().max_by_key(|gap| gap.end - gap.start)?;
    let statement = LinkStatement::SenderPaused { times: pauses.len() as u64, cost_s: lost };
    let mut found = finding(Cause::HostCpu, lost, view.trust(0.4), statement);
    found.evidence.push(evidence(Measure::UnexplainedPauses, pauses.len() as f64, Unit::Pauses, &[]));
    let frames = [longest.frames.0, longest.frames.1];
    let length = longest.end - longest.start;
    found.evidence.push(evidence(Measure::LongestPause, length.as_millis_f64(), Unit::Milliseconds, &frames));
    found.remedies = remedy(Actor::Sender, LinkAction::CheckSendingProcessors);
    found.to_confirm = confirm(LinkQuestion::ApplicationOrProcessor);
    Some(found)
}

/// ACKs that come late where they are made.
fn slow_receiver(view: &TransferView<'_>) -> Option<Finding> {
    let late = view.direction().ack_delay_p50.filter(|_| view.is_next_to(!view.sender))?;
    // With a full window, ACKs wait for the reading program.
    let reader = view.time(LimitingFactor::ReceiveWindow) + view.time(LimitingFactor::ZeroWindow);
    if late <= PROMPT || late >= DELAYED_ACK || view.share(reader) > 0.2 {
        return None;
    }
    // The round trip is longer by that much, and so is all that waits for ACKs.
    let rtt = view.rtt()?;
    let waits = [LimitingFactor::SlowStart, LimitingFactor::CongestionAvoidance, LimitingFactor::SenderCap];
    let waited: Nanos = waits.into_iter().map(|limit| view.time(limit)).sum();
    let lost = waited.scale((late.0 as f64 / rtt.0.max(1) as f64).min(1.0));
    if !view.matters(lost, 0.1) {
        return None;
    }
    let statement = LinkStatement::LateAcks { delay_s: late, rtt_s: rtt, cost_s: lost, whole_s: view.duration() };
    let mut found = finding(Cause::HostCpu, lost, view.trust(0.4), statement);
    found.evidence.push(evidence(Measure::AckDelayMedian, late.as_millis_f64(), Unit::Milliseconds, &[]));
    if let Some(least) = view.direction().ack_delay_min {
        found.evidence.push(evidence(Measure::AckDelayMin, least.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = remedy(Actor::Receiver, LinkAction::CheckReceivingProcessors);
    found.to_confirm = confirm(LinkQuestion::CaptureBesideReceiver);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, gap, ms};
    use whyslow_analysis::Near;
    use whyslow_analysis::cause::Cause;
    use whyslow_core::tcp::facts::Release;

    /// Flights of 40 segments that stop for 30 ms after the tenth segment, in every round but the
    /// first.
    fn stalled() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[40 * MSS; 10]);
        scene.transfer.pauses = (0..9)
            .flat_map(|n| {
                let (start, pause) = (at_ms(1000 + 100 * n), at_ms(1030 + 100 * n));
                let stall = super::SendPause { in_flight: 10 * MSS, ..gap(start, pause, Release::Nothing) };
                [stall, super::SendPause { in_flight: 40 * MSS, ..gap(pause, at_ms(1100 + 100 * n), Release::Ack) }]
            })
            .collect();
        scene.facts.vantage.near = Near::Server;
        scene
    }

    #[test]
    fn unexplained_sender_pauses_may_be_host_cpu() {
        let found = stalled().judge(super::check).unwrap();
        assert_eq!(found.cost_s, ms(8 * 30), "before the first flight was whole, no window is known");
        assert!(found.confidence <= 0.5);
        let mut afar = stalled();
        afar.facts.vantage.near = Near::Client;
        assert!(afar.finding(Cause::HostCpu).is_none(), "the path may have made them");
    }

    #[test]
    fn pauses_with_a_visible_reason_are_not_host_cpu() {
        let with = |change: fn(&mut super::SendPause)| {
            let mut scene = stalled();
            scene.transfer.pauses.iter_mut().filter(|gap| gap.release == Release::Nothing).for_each(change);
            scene.finding(Cause::HostCpu)
        };
        assert!(with(|_| ()).is_some());
        assert!(with(|gap| gap.app_limited = true).is_none(), "the program had no more");
        assert!(with(|gap| gap.window_room = Some(MSS)).is_none(), "the receiver's window was full");
        assert!(with(|gap| gap.in_flight = 40 * MSS).is_none(), "the congestion window may have been");
        assert!(with(|gap| gap.recovering = true).is_none());
    }

    #[test]
    fn late_acks_at_the_receiver_may_be_host_cpu() {
        let mut scene = SyntheticTransfer::flights(&[10_000, 20_000, 40_000, 80_000, 5_000]);
        scene.facts.directions[1].ack_delay_p50 = Some(ms(20));
        assert!(scene.finding(Cause::HostCpu).is_none(), "it was not captured there");
        scene.facts.vantage.near = Near::Client;
        assert_eq!(scene.finding(Cause::HostCpu).unwrap().cost_s, ms(400).scale(0.2));
        scene.facts.directions[1].ack_delay_p50 = Some(ms(40));
        assert!(scene.finding(Cause::HostCpu).is_none(), "delayed ACKs");
    }
}
