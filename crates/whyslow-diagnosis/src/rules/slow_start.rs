//! The sender started with little data in flight, as TCP does, and spent most of the transfer
//! speeding up.
//!
//! ## What it is
//! A TCP sender does not know the path's capacity, so it begins with a small flight (the initial
//! window, 10 segments on today's systems, RFC 6928) and about doubles it for every round trip
//! without a loss (RFC 5681 section 3.1). A transfer of B bytes needs about ⌈log2(B / (IW · MSS) +
//! 1)⌉ round trips, however fast the path is: on a long path the round trips are the time.
//!
//! ## How it is recognised
//! Flights that grow by 20 % or more from round to round, each begun by an ACK while the receiver's
//! window still had room, and no loss before. Those rounds take 15 % of the transfer's time or
//! more.
//!
//! ## What it is confused with
//! - `restart-after-idle`: the connection was warm and started over after a pause.
//! - `application`: a program that writes more and more; its flights end in a segment shorter than
//!   the MSS. Where most do, the confidence is lower.
//! - `receive-window`: the receiver's window grows each round by autotuning, and it is the window
//!   that is full.
//!
//! ## The fix
//! Keep connections open and reuse them: a warm connection sends the same bytes in one round trip.
//! Where that is not possible, raise the sender's initial window (Linux: `initcwnd` of its route),
//! to 32 segments at most. The receiver's first window caps it (`initrwnd`, or tcp_rmem's middle
//! value). Move the data nearer, so that a round trip costs less.
//!
//! - nginx, HAProxy and Envoy take the route's initcwnd; between them and a far origin, keep-alive
//!   pools (`keepalive 32;` in an nginx upstream block) avoid slow start altogether.
//!
//! ## To see that it worked
//! In a new capture the first flight is larger, or there is no handshake before the request.
//!
//! ## References
//! RFC 5681, RFC 6928 (IW10), RFC 7661; Dukkipati et al., "An Argument for Increasing TCP's Initial
//! Congestion Window", 2010.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::estimate::{INITIAL_WINDOW, LARGEST_INITIAL_WINDOW, rounds_needed};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, FirstWindow, LimitingFactor, Measure, Remedy, SendingAction, SendingQuestion, SendingStatement,
    Unit,
};
use whyslow_core::tcp::facts::SendPause;

pub(super) const RULE: Rule = Rule::new(Cause::SlowStart, Check::Transfer(check)).fully_modelled().proof(Proof::Model);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::SlowStart);
    if !view.matters(lost, 0.15) {
        return None;
    }
    let rounds = &view.transfer.rounds;
    // Messages before the bulk (the settings of HTTP/2, a status line) are not flights that open a
    // window.
    let opens = view.attribution.rounds.iter().position(|limit| *limit == LimitingFactor::SlowStart).unwrap_or(0);
    let first = rounds.get(opens)?;
    let mss = view.context.mss;
    let needed = view.transfer.bytes().div_ceil(mss);
    // If much of the transfer is not in the capture, the first flight is unknown.
    let seen = view.transfer.unseen * 10 <= view.transfer.bytes();
    let initial = initial_window(view).filter(|_| seen);
    let first_flight = seen.then_some(first.in_flight);
    let statement = SendingStatement::SlowStart { spent_s: lost, whole_s: view.duration(), first_flight };
    let small_ends = ends_short(view);
    let confidence = match view.share(lost) {
        _ if small_ends => 0.6,
        share if share >= 0.5 => 0.9,
        _ => 0.7,
    };
    let mut found = finding(Cause::SlowStart, lost, view.trust(confidence), statement);
    let frames = view.frames_of(LimitingFactor::SlowStart);
    let opening = view.attribution.rounds.iter().filter(|limit| **limit == LimitingFactor::SlowStart).count();
    found.evidence.push(evidence(Measure::RoundsOfSlowStart, opening as f64, Unit::Rounds, &frames));
    if seen {
        let frames = [first.first_frame, first.last_frame];
        found.evidence.push(evidence(Measure::FirstFlight, first.in_flight as f64, Unit::Bytes, &frames));
    }
    if let Some(rtt) = view.rtt() {
        found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
        let window = initial.unwrap_or(INITIAL_WINDOW).max(INITIAL_WINDOW);
        let model = rounds_needed(needed, window);
        found.evidence.push(evidence(Measure::SegmentsToSend, needed as f64, Unit::Segments, &[]));
        found.evidence.push(evidence(Measure::InitialWindowAssumed, window as f64, Unit::Segments, &[]));
        found.evidence.push(evidence(Measure::RoundsNeeded, f64::from(model), Unit::Rounds, &[]));
    }
    if small_ends {
        found.to_confirm = confirm(SendingQuestion::FlightsEndShort);
    }
    found.remedies = remedies(view, initial, needed);
    Some(found)
}

/// Whether most pauses of slow start came after a segment that was cut short, as a program leaves
/// it that has no more to send.
fn ends_short(view: &TransferView<'_>) -> bool {
    let opening = |gap: &&SendPause| {
        let spans = &view.attribution.spans;
        let at = spans.partition_point(|span| span.start < gap.start);
        spans.get(at).is_some_and(|span| span.start == gap.start && span.limit == LimitingFactor::SlowStart)
    };
    let (mut all, mut short) = (0, 0);
    for gap in view.transfer.pauses.iter().filter(opening) {
        all += 1;
        short += usize::from(gap.app_limited);
    }
    short * 2 > all
}

/// The window that the sender began with, segments: its first flight, unless it ended because the
/// program had no more for now, the receiver's window had no more room, or parts of it were sent
/// again.
fn initial_window(view: &TransferView<'_>) -> Option<u64> {
    let mss = view.context.mss;
    let [first, second, ..] = &view.transfer.rounds[..] else { return None };
    let by_program = view.transfer.pauses.iter().any(|gap| gap.end == second.start && gap.app_limited);
    let by_window = first.window.is_some_and(|window| window < first.in_flight + mss);
    let window = first.in_flight.div_ceil(mss);
    // Bytes acknowledged earlier on the connection have opened it, unless it is smaller than they
    // could make it.
    let is_first = view.transfer.seq.0 <= 1 || window < INITIAL_WINDOW;
    (!by_program && !by_window && is_first && first.retransmitted == 0).then_some(window)
}

/// A warm connection; and a larger first flight, up to the receiver's first window.
fn remedies(view: &TransferView<'_>, initial: Option<u64>, needed: u64) -> Vec<Remedy> {
    let mss = view.context.mss;
    let first = view.transfer.rounds.first();
    let window = first.and_then(|first| first.window).filter(|&window| window < view.transfer.bytes());
    let cap =
        window.map(|window| FirstWindow { window, segments: window / mss, needed }).filter(|cap| cap.segments < needed);
    let to = needed.min(LARGEST_INITIAL_WINDOW);
    let from = initial.unwrap_or(INITIAL_WINDOW);
    let ipv6 = view.facts.endpoints[!view.sender].0.is_ipv6();
    let mut remedies = remedy(Actor::Application, SendingAction::ReuseConnection { cap });
    if to > from && window.is_none_or(|window| window / mss > from) {
        let action = SendingAction::RaiseInitialWindow { from: initial, to, cap, ipv6 };
        remedies.push(Remedy::new(Actor::Sender, action));
    }
    remedies
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::estimate::rounds_needed;
    use crate::rules::synthetic_transfer::SyntheticTransfer;
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{Action, Remedy, SendingAction, SendingStatement, Statement};

    #[test]
    fn flights_with_a_short_end_may_be_the_applications() {
        let mut scene = SyntheticTransfer::flights(&[10_000, 20_000, 40_000, 80_000, 5_000]);
        assert_eq!(scene.finding(Cause::SlowStart).unwrap().confidence, 0.9);
        scene.transfer.pauses.iter_mut().for_each(|gap| gap.app_limited = true);
        let found = scene.finding(Cause::SlowStart).unwrap();
        assert!(found.confidence < 0.8 && !found.to_confirm.is_empty(), "{found:?}");
    }

    #[test]
    fn first_flight_with_another_limit_is_not_an_initial_window() {
        let from = |change: fn(&mut SyntheticTransfer)| {
            let mut scene = SyntheticTransfer::flights(&[8_000, 20_000, 40_000, 80_000, 5_000]);
            change(&mut scene);
            let found = scene.finding(Cause::SlowStart).unwrap();
            let raises = |remedy: &Remedy| {
                matches!(
                    remedy.action,
                    Action::Sending(SendingAction::RaiseInitialWindow { from: Some(8), to: 32, .. })
                )
            };
            found.remedies.iter().any(raises)
        };
        assert!(from(|_| ()));
        assert!(!from(|scene| scene.transfer.pauses[0].app_limited = true), "the program had no more");
        assert!(!from(|scene| scene.transfer.rounds[0].window = Some(8_500)), "the receiver took no more");
        assert!(!from(|scene| scene.transfer.rounds[0].retransmitted = 3), "parts were sent again");
    }

    #[test]
    fn message_before_the_bulk_is_not_its_first_flight() {
        let mut scene = SyntheticTransfer::flights(&[120, 10_000, 20_000, 40_000, 80_000, 5_000]);
        scene.transfer.pauses[0].app_limited = true;
        let found = scene.finding(Cause::SlowStart).unwrap();
        let is_bulk = matches!(
            found.statement,
            Statement::Sending(SendingStatement::SlowStart { first_flight: Some(10_000), .. })
        );
        assert!(is_bulk, "{found:?}");
    }

    #[test]
    fn rounds_follow_the_closed_form() {
        for segments in 1..3000u64 {
            let exact = (1..).find(|&rounds| 10 * ((1u64 << rounds) - 1) >= segments);
            assert_eq!(Some(rounds_needed(segments, 10)), exact, "{segments} segments");
        }
    }
}
