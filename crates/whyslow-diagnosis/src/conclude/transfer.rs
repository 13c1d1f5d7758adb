//! Effects of other connections on a transfer, applied to its findings.

use crate::limit::sum_by_limit;
use crate::rules;
use crate::timeline::{self, Explainer, Stretch, is_explained_by};
use crate::together::{Influence, SharedLink};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_analysis::{
    CommonQuestion, CommonStatement, CostSpan, Finding, LimitShare, LimitTime, LimitingFactor, Measure, Transfer,
    Verdict,
};
use whyslow_units::Nanos;

/// Confidence in a fix whose gain other transfers would pay for. Follows from not knowing: as
/// likely as not.
const UNSURE: f64 = 0.5;
/// Limits that a full link is behind.
const HELD: &[LimitingFactor] = &[
    LimitingFactor::AckDelay,
    LimitingFactor::CongestionAvoidance,
    LimitingFactor::LossRecovery,
    LimitingFactor::SenderCap,
    LimitingFactor::Timeout,
    LimitingFactor::Unknown,
];
/// Share of a transfer's time below which a cause is not kept: less is not called slow (a tenth,
/// `ranking::conclusion`). Half and twice change none of 2,061 captures.
const LITTLE: f64 = 0.1;
/// Ratio of a queue to the one that a transfer's round trips usually show: a full link's rate
/// varies as much (`STEADY`). Half and twice the excess over 1 change none of 2,061 captures.
const QUEUE_VARIATION: f64 = 1.25;
/// Excess of a wait over the queue, from hosts and clocks: a tick of Linux at `CONFIG_HZ=100`. Half
/// and twice change none of 2,061 captures.
const HOST_DELAY: Nanos = Nanos::from_millis(10);
/// Share of a wait below which it is not kept if others worked for the rest. Half and twice change
/// 1 and 0 of 2,061 captures.
const LEFT_OF_WAIT: f64 = 0.25;

/// Concludes a transfer that other connections affected.
pub(super) fn conclude(transfer: &mut Transfer, influences: &[Influence]) {
    for influence in influences {
        let without_cause = match influence {
            Influence::SharedLink(link) => {
                transfer.model_skipped = false;
                share_link(transfer, link);
                None
            }
            Influence::LinkNotFree => {
                transfer.model_skipped = false;
                transfer.findings.iter_mut().for_each(leave_open);
                continue;
            }
            Influence::Queue(delay) => {
                let before = transfer.findings.len();
                transfer.findings.retain(|finding| !is_queueing(finding, *delay));
                if transfer.findings.len() == before {
                    continue;
                }
                Some(Verdict::QueuedBehindOther)
            }
            Influence::OtherWork(cause, moments) => {
                if !give_to_other(transfer, *cause, moments) {
                    continue;
                }
                Some(Verdict::WaitedForOther)
            }
        };
        transfer.model_skipped = false;
        rules::sort_by_cost(&mut transfer.findings);
        let verdict = rules::verdict_of_findings(&transfer.findings, transfer.duration_s).or(without_cause);
        transfer.verdict = verdict.unwrap_or(transfer.verdict.clone());
    }
}

/// The link explains the time that it limited; the transfer's share of that is a finding of its
/// own.
fn share_link(transfer: &mut Transfer, link: &SharedLink) {
    let cause = link.finding.cause;
    let least = transfer.duration_s.scale(LITTLE).max(MIN_NOTICEABLE_DELAY);
    transfer.findings.retain_mut(|finding| {
        if !is_explained_by(Explainer::FullLink, finding.cause) {
            return true;
        }
        let rest = finding.cost_s.scale(link.left);
        finding.details.push(CommonStatement::CostWhileLinkFull { time_s: finding.cost_s - rest }.into());
        timeline::reduce_to(finding, rest);
        finding.cause != cause && finding.cause != Cause::Bandwidth && rest >= least
    });
    transfer.findings.iter_mut().for_each(leave_open);
    if !link.full.is_empty() {
        relabel(transfer, &link.full);
    }
    transfer.findings.push(link.finding.clone());
    let time: Vec<Stretch> = time_of(transfer).collect();
    timeline::attribute(&mut transfer.findings, time);
}

/// A gain is not certain if others take the rate that one transfer does not use.
fn leave_open(finding: &mut Finding) {
    if is_explained_by(Explainer::OthersShare, finding.cause) {
        finding.confidence = finding.confidence.min(UNSURE);
        finding.to_confirm.push(CommonQuestion::LinkShared.into());
    }
}

/// Whether a finding is a wait that a queue of this length explains.
fn is_queueing(finding: &Finding, delay: Nanos) -> bool {
    let typical = finding.evidence.iter().find(|evidence| evidence.kind == Measure::TypicalDelay);
    let wait = typical.map_or(finding.cost_s, |evidence| Nanos::from_secs_f64(evidence.value / 1e3));
    is_explained_by(Explainer::OthersQueue, finding.cause) && wait <= longest_wait(delay)
}

/// Whether a finding is a handshake that was as late as a queue of this length makes it.
pub(super) fn is_late_handshake(finding: &Finding, delay: Nanos) -> bool {
    finding.cause == Cause::PathLatency && finding.cost_s <= longest_wait(delay)
}

/// The longest wait that a queue of this length explains.
fn longest_wait(delay: Nanos) -> Nanos {
    delay.scale(QUEUE_VARIATION) + HOST_DELAY
}

/// Takes moments in which another connection worked from the findings of a cause. Returns whether
/// there was any that they are most of.
fn give_to_other(transfer: &mut Transfer, cause: Cause, moments: &[CostSpan]) -> bool {
    let of_other: Nanos = moments.iter().map(|span| span.seconds).sum();
    let mut changed = false;
    transfer.findings.retain_mut(|finding| {
        if finding.cause != cause || of_other.0 * 2 < finding.cost_s.0.max(1) {
            return true;
        }
        changed = true;
        timeline::give_up(finding, moments, of_other);
        finding.cost_s >= MIN_NOTICEABLE_DELAY.max(of_other.scale(LEFT_OF_WAIT))
    });
    changed
}

/// A transfer's time and that before it, as its entry has it.
fn time_of(transfer: &Transfer) -> impl Iterator<Item = Stretch> + '_ {
    let before = transfer.before.iter().map(|phase| (phase.limit, phase.seconds));
    let within = transfer.timeline.iter().map(|span| {
        let moments = CostSpan { start_s: span.start_s, seconds: span.seconds };
        Stretch { limit: span.limit, span: moments, is_before: false }
    });
    timeline::end_to_end(before, transfer.start_s).into_iter().chain(within)
}

/// The link was the limit of its time while the link was full.
fn relabel(transfer: &mut Transfer, spans: &[(Nanos, Nanos)]) {
    let within = |from: Nanos, length: Nanos| -> Nanos {
        let clip = |&(start, end): &(Nanos, Nanos)| (end.min(from + length) - start.max(from)).or_zero();
        spans.iter().map(clip).sum()
    };
    let mut moved: Vec<(LimitingFactor, f64)> = Vec::new();
    for &limit in HELD {
        let spans = || transfer.timeline.iter().filter(|span| span.limit == limit);
        let all: Nanos = spans().map(|span| span.seconds).sum();
        let full: Nanos = spans().map(|span| within(span.start_s, span.seconds)).sum();
        if full > Nanos::ZERO {
            moved.push((limit, full.0 as f64 / all.0.max(1) as f64));
        }
    }
    let mut times: Vec<LimitTime> = Vec::new();
    for share in &transfer.limits {
        let of_link = moved.iter().find(|(limit, _)| *limit == share.limit);
        let of_link = of_link.map_or(Nanos::ZERO, |(_, part)| share.seconds.scale(part.min(1.0)));
        times.push(LimitTime { limit: share.limit, time: share.seconds - of_link });
        times.push(LimitTime { limit: LimitingFactor::Bandwidth, time: of_link });
    }
    transfer.limits = LimitShare::of(&sum_by_limit(times.into_iter()));
    let is_held = |limit, from, length: Nanos| HELD.contains(&limit) && within(from, length).0 * 2 > length.0;
    for span in &mut transfer.timeline {
        if is_held(span.limit, span.start_s, span.seconds) {
            span.limit = LimitingFactor::Bandwidth;
        }
    }
    transfer.timeline.dedup_by(|next, last| {
        let same = next.limit == last.limit;
        if same {
            last.seconds += next.seconds;
        }
        same
    });
    for round in &mut transfer.rounds {
        if is_held(round.limit, round.start_s, round.duration_s) {
            round.limit = LimitingFactor::Bandwidth;
        }
    }
}
