//! Data was sent again although it had arrived.
//!
//! ## What it is
//! A sender that mistakes delay for loss sends needlessly, and worse, cuts its window for a loss
//! that was none: a timer shorter than a sudden delay, reordering taken for loss, a tail-loss probe
//! of an old kernel behind a proxy.
//!
//! ## How it is recognised
//! The receiver reports it by D-SACK (RFC 2883), or the ACK echoes the timestamp of the first copy
//! (Eifel, RFC 3522).
//!
//! ## What it is confused with
//! - lost ACKs: these cause D-SACKs as well. In both cases the data had arrived.
//! - `loss`: the first copy had not arrived.
//!
//! ## The fix
//! Update senders older than Linux 4.0 (tail-loss probes), raise their timer's minimum (`ip route
//! change … rto_min`), and look for delays in bursts: radio links, power saving, virtual machines
//! that are not scheduled.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPDSACKRecv TcpExtTCPSpuriousRTOs` on the sender no longer rises while the
//! transfer runs.
//!
//! ## References
//! RFC 2883, RFC 3522, RFC 5682 (F-RTO), RFC 8985.

use super::parts::{confirm, evidence, finding};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::{TransferView, lacks_ip_headers};
use crate::limit::Span;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, LossAction, LossQuestion, LossStatement, Measure, Remedy, RetransmissionKind, Unit,
};
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::SpuriousRetransmission, Check::Transfer(check)).certain_with(&[Evidence::Options]);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let kinds = &view.transfer.retransmitted;
    let all = kinds.fast + kinds.timeout + kinds.tail_probe + kinds.spurious;
    // Retransmissions that answered SACKs are due to reordering.
    let needless = kinds.spurious.saturating_sub(view.transfer.spurious_fast);
    if needless == 0 {
        return None;
    }
    // A few among many cost the wait for them; a slow growth long after has other reasons.
    let cuts_window = needless * 100 >= view.transfer.segments;
    let share = needless as f64 / all as f64;
    // The wait for the first of them and its effects: before it no retransmission was needless, and
    // no window was reduced for one.
    let first = view.direction().retransmissions.iter().find(|copy| {
        copy.kind == RetransmissionKind::Spurious && copy.time >= view.transfer.start && copy.time <= view.transfer.end
    });
    let since = first?.time;
    let of_it = |span: &&Span| match span.limit {
        LimitingFactor::LossRecovery | LimitingFactor::Timeout => span.end >= since,
        LimitingFactor::CongestionAvoidance => cuts_window && span.start >= since,
        _ => false,
    };
    let repairing: Nanos = view.attribution.spans.iter().filter(of_it).map(Span::length).sum();
    let lost = repairing.scale(share);
    if !view.matters(lost, 0.05) {
        return None;
    }
    let statement = LossStatement::SpuriouslyRetransmitted { segments: needless, of: all, cost_s: lost };
    // Without IP numbers a copy that the network made is like one of the sender's.
    let doubtful = lacks_ip_headers(view.facts) && !view.near_sender();
    let confidence = if doubtful { 0.45 } else { 0.75 };
    let mut found = finding(Cause::SpuriousRetransmission, lost, view.trust(confidence), statement);
    if doubtful {
        found.to_confirm = confirm(LossQuestion::OriginOfCopies);
    }
    let frames: Vec<_> = view.transfer.retransmitted_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence(Measure::SpuriousRetransmissions, needless as f64, Unit::Segments, &frames));
    let ipv6 = view.facts.endpoints[!view.sender].0.is_ipv6();
    found.remedies = vec![
        Remedy::new(Actor::Sender, LossAction::RaiseTimerFloor { ipv6 }),
        Remedy::new(Actor::Sender, LossAction::UpdateKernel),
    ];
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, gap, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{Frame, RetransmissionKind};
    use whyslow_core::tcp::facts::{Release, Retransmission, SendPause};

    /// A thousand segments, one of which the timer sent again after 0.6 s though it had arrived.
    fn held() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[10 * MSS, 20 * MSS, 40 * MSS]);
        let start = scene.transfer.last_send;
        let end = start + ms(600);
        scene.transfer.pauses.push(SendPause { is_retransmit: true, ..gap(start, end, Release::Timer) });
        scene.transfer.rounds[2].last_send = end;
        (scene.transfer.last_send, scene.transfer.end, scene.facts.last) = (end, end + ms(100), end + ms(100));
        scene.transfer.segments = 1_000;
        scene.transfer.retransmitted.spurious = 1;
        scene.facts.directions[1].retransmissions = vec![Retransmission {
            frame: Frame::default(),
            time: end,
            seq: 1,
            bytes: MSS,
            kind: RetransmissionKind::Spurious,
            unseen_original: false,
        }];
        scene
    }

    #[test]
    fn a_needless_copy_among_a_thousand_segments_costs_the_wait_for_it() {
        let found = held().finding(Cause::SpuriousRetransmission).unwrap();
        assert_eq!(found.cost_s, ms(600));
        // A retransmission that answered a SACK is due to reordering.
        let mut scene = held();
        scene.transfer.spurious_fast = 1;
        assert!(scene.finding(Cause::SpuriousRetransmission).is_none());
    }
}
