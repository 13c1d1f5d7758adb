//! The verdict on a transfer in one sentence.

use super::case::TransferCase;
use super::say;
use crate::analysis::{Finding, HEALTHY_VERDICT, Limit, UNKNOWN_ELIDED_VERDICT, UNKNOWN_VERDICT};
use crate::units::Nanos;

/// The verdict on a transfer in one sentence. A cause is named alone only if it took half of the
/// time, or twice as much as the next.
pub fn verdict(case: &TransferCase<'_>, findings: &[Finding]) -> String {
    // A risk costs no time: it is told below, and is not why the transfer took what it took.
    match verdict_of_findings(findings, case.duration()) {
        Some(_) if case.transfer.known_span.is_some() => {
            let (shown, whole) = (say::time(case.transfer.known_for()), say::time(case.duration()));
            format!("what slowed it is known for {shown} of {whole} only: packets of it were left out of the text")
        }
        Some(verdict) => verdict,
        None => without_cause(case),
    }
}

/// What findings say of a transfer that took so long; none where none of them cost time.
pub(super) fn verdict_of_findings(findings: &[Finding], whole: Nanos) -> Option<String> {
    let costly = findings.iter().take_while(|finding| finding.seconds > Nanos::ZERO).count();
    let [first, rest @ ..] = &findings[..costly] else {
        return None;
    };
    let clear = first.seconds.0 * 2 >= whole.0 || rest.first().is_none_or(|next| first.seconds.0 >= 2 * next.seconds.0);
    Some(if clear {
        format!("{}: {}", first.cause, first.summary)
    } else {
        let names: Vec<String> = findings
            .iter()
            .take(3)
            .map(|finding| format!("{} {}", finding.cause, say::time(finding.seconds)))
            .collect();
        format!("mixed: {}", names.join(", "))
    })
}

/// A share of the time that is more than a second round trip's or a tail's: of two flights the
/// first one's wait is half.
const HELD: f64 = 0.4;

/// So much time, and so many round trips, no path needs whatever share of the transfer they are.
const UNEXPLAINED: Nanos = Nanos::from_millis(1_000);
const UNEXPLAINED_ROUND_TRIPS: f64 = 10.0;

/// Of what limits took, a share that leaves nothing of note to the others.
const ALONE: f64 = 0.8;

/// The verdict where no rule claims the time. What a path needs is its round trip: where limits
/// took two fifths of the time or more, and enough of it for a person to notice, something did hold
/// the transfer back.
fn without_cause(case: &TransferCase<'_>) -> String {
    let whole = case.duration();
    let mostly = |time: Nanos| time.0 * 2 >= whole.0.max(1);
    let needed = |limit| matches!(limit, Limit::RoundTrip | Limit::Idle);
    let held: Vec<_> = case.partition.times().into_iter().filter(|part| !needed(part.limit)).collect();
    let sum: Nanos = held.iter().map(|part| part.time).sum();
    if case.facts.timeless || case.facts.capture_defects.one_direction || mostly(case.time(Limit::Unknown)) {
        let elided = !case.facts.timeless && case.transfer.known_span.is_some();
        return if elided { UNKNOWN_ELIDED_VERDICT } else { UNKNOWN_VERDICT }.into();
    }
    let [first, ..] = held[..] else {
        return HEALTHY_VERDICT.into();
    };
    let is_brief = sum < UNEXPLAINED.max(case.rtt().unwrap_or_default().scale(UNEXPLAINED_ROUND_TRIPS));
    if (case.share(sum) < HELD && is_brief) || sum < say::WORTH_SAYING {
        return HEALTHY_VERDICT.into();
    }
    let name = |limit: Limit| limit.slug().replace('-', " ");
    if first.time >= sum.scale(ALONE) {
        let (taken, whole) = (say::time(first.time), say::time(whole));
        return format!("{} took {taken} of {whole}; no cause of it is proven", name(first.limit));
    }
    let parts: Vec<String> =
        held.iter().take(3).map(|part| format!("{} {}", name(part.limit), say::time(part.time))).collect();
    format!("no cause is proven for {} of {}: {}", say::time(sum), say::time(whole), parts.join(", "))
}
