//! The verdict on a transfer.

use super::rule_input::TransferView;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_analysis::{Finding, LimitingFactor, Verdict};
use whyslow_units::Nanos;

/// The conclusion from all findings of a transfer. A cause is named alone only if it took half of
/// the time, or twice as much as the next.
pub fn verdict(view: &TransferView<'_>, findings: &[Finding]) -> Verdict {
    // A risk costs no time, and does not explain the transfer's time.
    match verdict_of_findings(findings, view.duration()) {
        Some(_) if view.transfer.known_span.is_some() => {
            Verdict::PartlyShown { shown: view.transfer.known_for(), whole: view.duration() }
        }
        Some(verdict) => verdict,
        None => without_cause(view),
    }
}

/// The conclusion for a transfer of this length; `None` if no finding cost time.
pub(crate) fn verdict_of_findings(findings: &[Finding], whole: Nanos) -> Option<Verdict> {
    let costly = findings.iter().take_while(|finding| finding.cost_s > Nanos::ZERO).count();
    let [first, rest @ ..] = &findings[..costly] else {
        return None;
    };
    let clear = first.cost_s.0 * 2 >= whole.0 || rest.first().is_none_or(|next| first.cost_s.0 >= 2 * next.cost_s.0);
    Some(if clear { Verdict::Cause } else { Verdict::Mixed })
}

/// Minimum share of the time that needs an explanation: more than a second round trip takes, as of
/// two flights the first one's wait is half. Half and twice change none of 2,061 captures.
const HELD: f64 = 0.4;

/// Time that no path needs, whatever share of the transfer it is, and …
const UNEXPLAINED: Nanos = Nanos::from_millis(1_000);
/// … round trips. Follows from the longest terrestrial and satellite paths, below 1 s. Half and
/// twice change none of 2,061 captures.
const UNEXPLAINED_ROUND_TRIPS: f64 = 10.0;

/// Share of the limits' time from which one limit is named alone. Half and twice the distance to 1
/// change none of 2,061 captures.
const ALONE: f64 = 0.8;

/// The verdict if no rule claims the time. A path needs its round trip: if limits took two fifths
/// of the time or more, and a noticeable time, something limited the transfer.
fn without_cause(view: &TransferView<'_>) -> Verdict {
    let whole = view.duration();
    let mostly = |time: Nanos| time.0 * 2 >= whole.0.max(1);
    let needed = |limit| matches!(limit, LimitingFactor::RoundTrip | LimitingFactor::Idle);
    let held: Vec<_> = view.attribution.times().into_iter().filter(|part| !needed(part.limit)).collect();
    let sum: Nanos = held.iter().map(|part| part.time).sum();
    if view.facts.timeless || view.facts.capture_defects.one_direction || mostly(view.time(LimitingFactor::Unknown)) {
        let elided = !view.facts.timeless && view.transfer.known_span.is_some();
        return if elided { Verdict::UnknownElided } else { Verdict::Unknown };
    }
    let [first, ..] = held[..] else {
        return Verdict::Healthy;
    };
    let is_brief = sum < UNEXPLAINED.max(view.rtt().unwrap_or_default().scale(UNEXPLAINED_ROUND_TRIPS));
    if (view.share(sum) < HELD && is_brief) || sum < MIN_NOTICEABLE_DELAY {
        return Verdict::Healthy;
    }
    let most = if first.time >= sum.scale(ALONE) { 1 } else { 3 };
    Verdict::Unexplained { limits: held.iter().take(most).map(|part| (part.limit, part.time)).collect(), whole }
}
