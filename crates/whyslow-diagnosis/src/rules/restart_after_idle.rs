//! A fast connection was idle for a while, and its sender started slowly again.
//!
//! ## What it is
//! A sender that has been silent for longer than its retransmission timer may not use its old
//! congestion window (RFC 5681 section 4.1, RFC 2861). Linux halves it for every timer period of
//! silence, down to the initial window, unless `tcp_slow_start_after_idle` is 0. So a kept-alive
//! connection loses the advantage of keeping it alive.
//!
//! ## How it is recognised
//! Silence longer than the timer (200 ms at least), then a first flight of at most about 10
//! segments though an earlier one on the same connection was at least twice as large, and growth
//! again from there.
//!
//! ## What it is confused with
//! - `application`: the program wrote less; the flight ends in a segment shorter than the MSS and
//!   does not grow.
//! - `timeout`: the first segment after the silence is a retransmission.
//! - BBR keeps its model over idle times and ignores this setting.
//!
//! ## The fix
//! `sysctl -w net.ipv4.tcp_slow_start_after_idle=0` on the sender, or keep the connection busy (a
//! small transfer more often than every timer period), or send larger batches. Behind a proxy both
//! legs idle: set it where nginx, HAProxy or Envoy runs too, and keep upstream connections few and
//! busy (nginx `keepalive`, HAProxy `http-reuse always`). BBR does not start over.
//!
//! ## To see that it worked
//! `ss -tin` on the sender shows after a pause the `cwnd` of before.
//!
//! ## References
//! RFC 5681 section 4.1, RFC 2861, RFC 7661 (the better way); Linux ip-sysctl(7).

use super::parts::{evidence, finding, remedy};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::RTO_MIN;
use whyslow_analysis::{Actor, Finding, LimitingFactor, Measure, SendingAction, SendingStatement, Unit};
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::RestartAfterIdle, Check::Transfer(check)).shown_by(is_restart).proof(Proof::Model);

/// Minimum idle time before a restart: Linux's least retransmission timer beyond the round trip
/// (`TCP_RTO_MIN`; RFC 2861).
const MIN_TIMER: Nanos = RTO_MIN;

/// How long the sender was idle before this transfer, and the largest flight that it had had.
fn idle_before(view: &TransferView<'_>) -> Option<(Nanos, u64)> {
    let (last, _) = view.earlier.last()?;
    let largest = view.earlier.iter().map(|(transfer, _)| transfer.max_in_flight).max()?;
    Some((view.transfer.start - last.last_send, largest))
}

/// Whether this transfer's slow start is a start over.
fn is_restart(view: &TransferView<'_>) -> bool {
    restart(view).is_some()
}

fn restart(view: &TransferView<'_>) -> Option<(Nanos, u64, usize)> {
    if view.time(LimitingFactor::SlowStart) == Nanos::ZERO {
        return None;
    }
    let timer = MIN_TIMER + view.context.rtt?;
    let small = |round: usize, largest: u64| {
        let flight = view.transfer.rounds.get(round).map_or(0, |round| round.in_flight);
        // A sender halves its window for each timer's length of silence, down to the initial one
        // (RFC 2861, RFC 5681 section 4.1). After its timer it would begin with one segment.
        flight * 2 <= largest && flight >= 2 * view.context.mss
    };
    if let Some((idle, largest)) = idle_before(view)
        && idle > timer
        && small(0, largest)
    {
        return Some((idle, largest, 0));
    }
    // The pause may lie inside one transfer, if its second part was not requested.
    view.attribution.shape.restarts.iter().find_map(|&round| {
        let largest = view.transfer.rounds[..round].iter().map(|round| round.in_flight).max()?;
        let start = view.transfer.rounds[round].start;
        let idle = view.transfer.pauses.iter().find(|gap| gap.end == start).map(|gap| gap.end - gap.start)?;
        (idle > timer && small(round, largest)).then_some((idle, largest, round))
    })
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::SlowStart);
    let (idle, largest, round) = restart(view)?;
    if !view.matters(lost, 0.15) && lost < Nanos::from_millis(2) {
        return None;
    }
    let first = view.transfer.rounds.get(round)?;
    let statement = SendingStatement::RestartAfterIdle { idle_s: idle, flight: first.in_flight, largest, cost_s: lost };
    let mut found = finding(Cause::RestartAfterIdle, lost, view.trust(0.9), statement);
    found.evidence.push(evidence(Measure::Silence, idle.as_secs_f64(), Unit::Seconds, &[first.first_frame]));
    found.evidence.push(evidence(
        Measure::FirstFlight,
        first.in_flight as f64,
        Unit::Bytes,
        &[first.first_frame, first.last_frame],
    ));
    found.evidence.push(evidence(Measure::LargestFlightBefore, largest as f64, Unit::Bytes, &[]));
    found.remedies = remedy(Actor::Sender, SendingAction::KeepWindowWhenIdle);
    Some(found)
}
