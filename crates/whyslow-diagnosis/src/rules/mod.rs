//! `rules`: limits and events → findings. One file a rule; its documentation is the file's own doc
//! comment.
//!
//! A rule sees the facts of the `tcp` stage and the spans of `limit`, never a packet. It returns a
//! finding when a cause cost enough to matter, with the evidence, a confidence, and the fix.
//! [`Cause`](whyslow_analysis::cause::Cause) has the list; CONTRIBUTING describes how to add one.

mod amplification_risk;
mod application;
mod bad_checksums;
mod bandwidth;
mod black_hole;
mod bufferbloat;
mod capture_loss;
mod client_think;
mod clock_step;
mod coarse_times;
mod command;
mod cost_over_time;
mod delayed_ack;
mod duplication;
mod early_slow_start_exit;
mod ecn;
mod elided_text;
mod host_cpu;
pub(crate) mod icmp;
mod loss;
mod loss_cost;
mod lost_retransmission;
mod mtu_black_hole;
mod nagle_delayed_ack;
mod new_connection_each_time;
mod no_answer;
mod no_handshake;
mod no_sack;
mod no_window_scaling;
mod offload;
mod one_direction;
mod order;
mod over_quic;
mod pacing;
pub(crate) mod parts;
mod path_latency;
mod policer;
mod policing;
mod protocol_window;
mod proxy_evidence;
mod proxy_split;
mod random_loss;
mod receive_window;
mod reordering;
mod requests;
mod reset;
mod restart_after_idle;
mod rule;
mod rule_input;
mod sender_cap;
mod server_think;
mod shaper;
mod short_snaplen;
mod slow_lookup;
mod slow_start;
mod small_segments;
mod spurious_retransmission;
mod syn_loss;
#[cfg(test)]
mod synthetic_transfer;
mod tail_loss;
mod terse_text;
mod timeout;
mod tls_record_buffering;
mod turn_taking;
mod turns;
mod unanswered_request;
mod verdict;
mod zero_window;

pub use cost_over_time::CostOverTime;
pub use early_slow_start_exit::exit_of;
pub(crate) use order::sort_by_cost;
pub(crate) use over_quic::{MOST_UNDER_ENCRYPTION, is_hidden_from_log};
pub(crate) use rule::{Evidence, Proof, Saving};
pub use rule_input::{ConnectionSummary, ConnectionView, Exit, TransferView};
pub use verdict::verdict;
pub(crate) use verdict::verdict_of_findings;

use crate::timeline::{self, Stretch};
use order::sorted;
use rule::{Check, MayCost, Rule};
use std::sync::LazyLock;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::for_each_cause;
use whyslow_analysis::{CostSpan, Finding, Problem};
use whyslow_core::tcp::ShortConnectionBounds;
use whyslow_core::tcp::facts::Facts;
use whyslow_units::Time;

macro_rules! rules {
    ($($file:ident $name:ident $slug:literal,)*) => {
        /// The rule of every cause, at the place that the cause has in
        /// [`Cause::ALL`](whyslow_analysis::cause::Cause::ALL).
        const RULES: &[Rule] = &[$($file::RULE,)*];
    };
}
for_each_cause!(rules);

/// Findings of one transfer; largest cost first.
pub fn check_transfer(view: &TransferView<'_>) -> Vec<Finding> {
    let found = RULES.iter().filter_map(|rule| match rule.check {
        Check::Transfer(check) | Check::TransferAndAcross(check, _) | Check::TransferAndConnection(check, _) => {
            check(view).filter(|_| !is_excluded(rule, view))
        }
        _ => None,
    });
    let found = found.filter_map(|finding| over_quic::adapt(view.facts, Some((view.sender, view.transfer)), finding));
    let mut found: Vec<Finding> = found.collect();
    if !found.is_empty() {
        timeline::attribute(&mut found, time_of(view));
    }
    sorted(found.into_iter())
}

/// The time of a transfer, and that before it.
fn time_of<'a>(view: &'a TransferView<'_>) -> impl Iterator<Item = Stretch> + 'a {
    let first = view.first;
    let within = view.attribution.spans.iter().map(move |span| {
        let moments = CostSpan { start_s: span.start - first, seconds: span.length() };
        Stretch { limit: span.limit, span: moments, is_before: false }
    });
    let before = view.before.iter().map(|phase| (phase.limit, phase.time));
    timeline::end_to_end(before, view.transfer.start - first).into_iter().chain(within)
}

/// Whether the transfer shows a cause that the rule yields to.
fn is_excluded(rule: &Rule, view: &TransferView<'_>) -> bool {
    timeline::excluded_by(rule.cause).iter().any(|&cause| (rule_of(cause).shows)(view))
}

/// Findings over a connection's transfers; largest cost first.
pub fn check_connection(view: &ConnectionView<'_>) -> Vec<Finding> {
    let found = RULES.iter().filter_map(|rule| match rule.check {
        Check::Connection(check) | Check::TransferAndConnection(_, check) => check(view),
        _ => None,
    });
    sorted(found.filter_map(|finding| over_quic::adapt(view.facts, None, finding)))
}

/// Until when an answer that never came is waited for, by a connection with these findings.
pub(crate) fn awaited_until(view: &ConnectionView<'_>, findings: &[Finding]) -> Option<Time> {
    let is_it = |finding: &Finding| finding.cause == Cause::NoAnswer;
    findings.iter().any(is_it).then(|| no_answer::awaited_until(view)).flatten()
}

/// The rules' bounds on costs in a short connection.
static MAY_COST: LazyLock<Vec<MayCost>> = LazyLock::new(|| RULES.iter().filter_map(|rule| rule.may_cost).collect());

/// Whether a connection within these bounds cannot have lost time to any cause. For one direction
/// alone, in order, no rule reports a cost: no ACK, response or retransmission shows what either
/// end waited for.
pub(crate) fn cost_nothing(brief: &ShortConnectionBounds) -> bool {
    brief.one_direction
        || (brief.max_sending < whyslow_analysis::types::MIN_NOTICEABLE_DELAY
            && !MAY_COST.iter().any(|may_cost| may_cost(brief)))
}

/// Whether the model plays all that the cause does.
pub(crate) fn is_fully_modelled(cause: Cause) -> bool {
    rule_of(cause).fully_modelled
}

/// Kind of evidence of the cause's findings.
pub(crate) fn proof_of(cause: Cause) -> Proof {
    rule_of(cause).proof
}

/// The evidence without which the cause is likely at most.
pub(crate) fn certain_with(cause: Cause) -> &'static [Evidence] {
    rule_of(cause).certain_with
}

/// Time that the fix of a cause saves a connection, if no model is needed.
pub(crate) fn saving_of(cause: Cause) -> Option<Saving> {
    rule_of(cause).saving
}

fn rule_of(cause: Cause) -> &'static Rule {
    &RULES[cause as usize]
}

/// Findings over several connections.
pub(crate) fn check_across(summaries: &[ConnectionSummary]) -> Vec<Finding> {
    let across = RULES.iter().filter_map(|rule| match rule.check {
        Check::Across(check) | Check::TransferAndAcross(_, check) => Some(check(summaries)),
        _ => None,
    });
    across.flatten().collect()
}

/// Properties that the capture of a connection cannot show.
pub fn capture_problems(facts: &Facts) -> Vec<Problem> {
    RULES
        .iter()
        .filter_map(|rule| match rule.check {
            Check::Capture(check) => check(facts),
            _ => None,
        })
        .chain(ecn::note(facts))
        .filter(|problem| over_quic::is_problem(facts, &problem.slug))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, gap, ms};
    use crate::cause_pages;
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::types::LimitingFactor;
    use whyslow_analysis::{Action, SendingAction, Verdict};
    use whyslow_core::tcp::facts::{Release, RoundFacts};

    #[test]
    fn rules_are_ordered_as_their_causes() {
        assert!(super::RULES.iter().map(|rule| rule.cause).eq(Cause::ALL.iter().copied()));
        for rule in super::RULES {
            let capture = |cause: &Cause| !matches!(super::RULES[*cause as usize].check, super::Check::Transfer(_));
            assert!(
                !crate::timeline::excluded_by(rule.cause).iter().any(capture),
                "only what a transfer shows excludes {}",
                rule.cause
            );
        }
    }

    #[test]
    fn every_cause_has_a_verification() {
        for rule in super::RULES {
            let has_fix = cause_pages::of(rule.cause).contains("\n## The fix\n");
            let of_capture = matches!(rule.check, super::Check::Capture(_) | super::Check::Reader);
            assert_eq!(cause_pages::verification(rule.cause).is_some(), has_fix && !of_capture, "{}", rule.cause);
        }
    }

    #[test]
    fn remedy_that_the_model_cannot_show_has_no_changes() {
        let need = whyslow_analysis::BufferNeed {
            bytes: 65_536,
            rate_bps: 1e6,
            rate: whyslow_analysis::RateSource::Guess,
            sized_by: whyslow_analysis::SizedBy::BandwidthDelay,
            rtt_s: ms(100),
        };
        let is_modelled = |action: SendingAction| Action::from(action).changes().is_some();
        assert!(is_modelled(SendingAction::RaiseReceiveBuffer { need }));
        assert!(is_modelled(SendingAction::ReadFaster { closings: 3 }));
        assert!(!is_modelled(SendingAction::ReadForAcks { late_s: ms(40) }), "no buffer helps");
        assert!(!is_modelled(SendingAction::WriteLargerPieces { bytes: 20_000 }));
    }

    #[test]
    fn single_round_trip_is_healthy() {
        assert_eq!(SyntheticTransfer::flights(&[8_000]).verdict(), Verdict::Healthy);
    }

    #[test]
    fn limit_without_a_rule_is_named() {
        // Too few rounds for a plateau, and they do not grow.
        let scene = SyntheticTransfer::flights(&[60_000, 60_000, 60_000]);
        assert!(scene.findings().iter().all(|found| found.cost_s == ms(0)), "{:?}", scene.findings());
        let limits = vec![(LimitingFactor::CongestionAvoidance, ms(200))];
        assert_eq!(scene.verdict(), Verdict::Unexplained { limits, whole: ms(300) });
    }

    #[test]
    fn limits_that_together_took_most_are_named_together() {
        let mut scene = SyntheticTransfer::flights(&[60_000, 60_000, 60_000, 60_000]);
        scene.transfer.pauses[2] = gap(at_ms(1200), at_ms(1300), Release::Peer);
        scene.transfer.pauses[1].release = Release::Nothing;
        (scene.transfer.pauses[1].idle, scene.transfer.pauses[1].app_limited) = (true, true);
        for found in scene.findings() {
            assert!(found.cost_s < ms(150), "{found:?}");
        }
        assert_eq!(scene.verdict(), Verdict::Mixed);
        assert!(scene.findings().iter().any(|found| found.cause == Cause::Application), "{:?}", scene.findings());
    }

    #[test]
    fn unexplained_seconds_are_not_healthy() {
        let mut scene = SyntheticTransfer::flights(&[8_000, 8_000]);
        let (start, end) = (scene.transfer.last_send, scene.transfer.last_send + ms(1_900));
        // Less than half of the time is unknown, and more than the path can need.
        scene.transfer.rounds[1].last_send = end;
        scene
            .transfer
            .pauses
            .push(whyslow_core::tcp::facts::SendPause { unseen: true, ..gap(start, end, Release::Nothing) });
        (scene.transfer.last_send, scene.transfer.end) = (end, end + ms(3_000));
        scene.facts.rtt.min = Some(ms(2_900));
        scene.facts.rtt.p50 = Some(ms(100));
        let verdict = scene.verdict();
        let named =
            |limits: &[(LimitingFactor, whyslow_units::Nanos)]| limits.iter().any(|(_, time)| *time == ms(1_900));
        assert!(matches!(&verdict, Verdict::Unexplained { limits, .. } if named(limits)), "{verdict:?}");
    }

    #[test]
    fn unnoticeable_delay_is_healthy() {
        let mut scene = SyntheticTransfer::flights(&[60_000; 3]);
        let at = |n: i64| at_ms(1000) + whyslow_units::Nanos::from_micros(1000 * n);
        for (n, round) in (0..).zip(&mut scene.transfer.rounds) {
            *round = RoundFacts { start: at(n), last_send: at(n), ..*round };
        }
        for (n, pause) in (0..).zip(&mut scene.transfer.pauses) {
            (pause.start, pause.end) = (at(n), at(n + 1));
        }
        (scene.transfer.last_send, scene.transfer.end) = (at(2), at(3));
        scene.facts.rtt.min = Some(ms(1));
        assert_eq!(scene.verdict(), Verdict::Healthy);
    }

    #[test]
    fn one_direction_or_no_times_is_never_healthy() {
        let mut scene = SyntheticTransfer::flights(&[5 * MSS]);
        scene.facts.capture_defects.one_direction = true;
        assert_eq!(scene.verdict(), Verdict::Unknown);
        let mut scene = SyntheticTransfer::flights(&[5 * MSS]);
        scene.facts.timeless = true;
        assert_eq!(scene.verdict(), Verdict::Unknown);
    }
}
