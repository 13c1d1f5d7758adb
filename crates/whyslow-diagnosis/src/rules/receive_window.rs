//! The receiver allowed fewer bytes in flight than the path needs: its buffer was full.
//!
//! ## What it is
//! A receiver reports with every ACK how many more bytes it accepts. A sender with that many bytes
//! in flight must stop and wait for an ACK, so the rate cannot exceed window / round trip, however
//! fast the path is.
//!
//! ## How it is recognised
//! Bytes in flight reach the right edge (ACK + window), and it is an ACK or a window update that
//! starts the sender again. The rate that follows, window / RTT, agrees with the measured one: by
//! the round trips of the time for which the window was full, as a path may become longer.
//!
//! ## What it is confused with
//! - `no-window-scaling`: the window is at most 65,535 bytes because the option was missing from a
//!   SYN.
//! - `zero-window`: the window closes because the application reads too slowly; here it stays about
//!   the same. Between the two, the reader is the cause, and a larger buffer no fix: the
//!   window is below half of its size for a fifth of the time, or ACKs of whole flights are held
//!   back.
//! - `sender-cap`: flights stop growing below the window.
//! - `bandwidth`: the window fills because a queue on the path does. If round trips are then twice
//!   the path's own and 10 ms more, and one rate governs, the link was the limit; without one rate
//!   the finding is possible, and names the evidence against it.
//! - autotuning: a window that grows each round and is full each time is the receiver's own slow
//!   start.
//!
//! ## The fix
//! On the receiver, set the buffer to twice the bandwidth-delay product: the second value of
//! `net.ipv4.tcp_rmem` is the size of a new connection's buffer, the third its maximum, and while
//! it grows the sender waits. Remove any SO_RCVBUF from the application (setting it turns
//! autotuning off): no sysctl reaches such an application, and a capture does not distinguish it
//! from a host with small buffers. If the window falls because an application reads slowly, or ACKs
//! for a full window come late because it leaves them unread, no buffer helps. nginx: `listen …
//! rcvbuf=`; HAProxy: `tune.rcvbuf.client`; Envoy: `per_connection_buffer_limit_bytes`.
//!
//! ## To see that it worked
//! While the transfer runs, `ss -tin` on the sender shows little or no `rwnd_limited`.
//!
//! ## References
//! RFC 9293 section 3.8.6, RFC 7323; Linux tcp(7).

use super::command;
use super::parts::{confirm, evidence, finding, remedy, window_rate};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, Measure, Remedy, SendingAction, SendingQuestion, SendingStatement, Unit,
};
use whyslow_core::tcp::facts::{Release, SendPause};
use whyslow_units::Nanos;
use whyslow_units::stats::median;

pub(super) const RULE: Rule =
    Rule::new(Cause::ReceiveWindow, Check::Transfer(check)).fully_modelled().proof(Proof::Model);

/// Factor on the confidence if the unit of windows is
/// [assumed](whyslow_core::tcp::facts::DirectionFacts::assumed_shift): a send buffer is often as
/// large as one of the fifteen windows that a field can stand for (RFC 7323 section 2.3), within a
/// segment. Half and twice the distance to 1 change 2 and 2 of 2,061 captures.
const UNIT_TAKEN: f64 = 0.65;

/// One part in this number of the time of full windows is a large part of it, as for a slow reader.
/// Half and twice change none of 2,061 captures.
const A_PART: i64 = 5;

/// The full window's size during the rounds that it held: the median.
pub(super) fn full_window(view: &TransferView<'_>) -> Option<u64> {
    let held = view.transfer.rounds.iter().zip(&view.attribution.rounds);
    let windows =
        held.filter(|(_, limit)| **limit == LimitingFactor::ReceiveWindow).filter_map(|(round, _)| round.window);
    median(windows.collect())
}

/// The mean round trip of the rounds that a full window limited: a path may become longer, and each
/// window counts with the round trip of its own time.
fn round_trip_while_full(view: &TransferView<'_>) -> Option<Nanos> {
    let held = (0..view.attribution.rounds.len())
        .filter(|&index| view.attribution.rounds[index] == LimitingFactor::ReceiveWindow);
    let trips: Vec<Nanos> = held.filter_map(|index| view.round_trip(index)).collect();
    let all: Nanos = trips.iter().copied().sum();
    (!trips.is_empty()).then(|| all.scale(1.0 / trips.len() as f64))
}

/// The typical round trip of the rounds that a full window limited, and the path's own, if half of
/// the bytes in flight stood in a queue.
fn in_a_queue(view: &TransferView<'_>) -> Option<(Nanos, Nanos)> {
    // Data that a receiver has not read is not in a queue of the path: its ACKs are late.
    if view.attribution.shape.receiver_unread {
        return None;
    }
    let held: Vec<usize> = (0..view.attribution.rounds.len())
        .filter(|&index| {
            view.attribution.rounds[index] == LimitingFactor::ReceiveWindow && view.round_trip(index).is_some()
        })
        .collect();
    let queued = held.iter().filter(|&&index| view.context.stands_in_queue(view.transfer, index)).count();
    let trips = held.iter().filter_map(|&index| view.round_trip(index));
    median(trips.collect()).zip(view.context.rtt).filter(|_| queued * 2 > held.len())
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::ReceiveWindow);
    if !view.matters(lost, 0.2) {
        return None;
    }
    let window = full_window(view)?;
    let rtt = round_trip_while_full(view).or(view.rtt())?;
    let predicted = window_rate(window, rtt);
    let closure = view.rate() / predicted;
    let share = view.share(lost);
    // Data in flight beyond the path's capacity stands in its queue, and a larger window only makes
    // that queue longer.
    let queued = in_a_queue(view);
    let confidence = match closure {
        _ if queued.is_some() => 0.4,
        closure if (0.8..=1.25).contains(&closure) && share >= 0.5 => 0.95,
        _ if share >= 0.5 => 0.8,
        _ => 0.6,
    };
    // The unit comes from the bytes in flight, not from the SYNs.
    let confidence = if view.direction().assumed_shift.is_some() { UNIT_TAKEN * confidence } else { confidence };
    let statement = SendingStatement::ReceiveWindowFull { window, full_s: lost, whole_s: view.duration(), rtt_s: rtt };
    let mut found = finding(Cause::ReceiveWindow, lost, view.trust(confidence), statement);
    let frames = view.frames_of(LimitingFactor::ReceiveWindow);
    found.evidence.push(evidence(Measure::ReceiveWindow, window as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::WindowRate, predicted, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::MeasuredRate, view.rate(), Unit::BitsPerSecond, &[]));
    if let Some((trip, least)) = queued {
        found.evidence.push(evidence(Measure::MinRoundTrip, least.as_millis_f64(), Unit::Milliseconds, &[]));
        found.evidence.push(evidence(Measure::RoundTripWhileFull, trip.as_millis_f64(), Unit::Milliseconds, &frames));
        found.to_confirm = confirm(SendingQuestion::WindowFullInQueue { least_s: least, typical_s: trip });
        return Some(found);
    }
    found.remedies = remedies(view, window);
    if view.direction().assumed_shift.is_some() {
        found.to_confirm = confirm(SendingQuestion::WindowUnitUnknown);
    }
    Some(found)
}

/// A larger buffer, unless the application leaves data unread.
fn remedies(view: &TransferView<'_>, window: u64) -> Vec<Remedy> {
    if let Some(before) = unread(view, window) {
        return remedy(Actor::Application, SendingAction::ReadUnread { before, window });
    }
    if let Some(late_s) = held_back(view) {
        return remedy(Actor::Application, SendingAction::ReadForAcks { late_s });
    }
    if view.attribution.shape.receiver_unread {
        let before = view.direction().max_window.unwrap_or(window).max(window);
        return remedy(Actor::Application, SendingAction::ReadUnread { before, window });
    }
    let need = command::buffer_for(view);
    need.map(|need| remedy(Actor::Receiver, SendingAction::RaiseReceiveBuffer { need })).unwrap_or_default()
}

/// Typical delay of the ACKs that release a full window, beyond the path's round trip, if these
/// took a large part of the time and each covered several segments. Linux delays such an ACK while
/// it could not offer a larger window with it (`__tcp_ack_snd_check`): until the application reads,
/// or until its delayed ACK.
fn held_back(view: &TransferView<'_>) -> Option<Nanos> {
    let several = 2 * view.context.mss;
    let is_full = |gap: &&SendPause| matches!(gap.release, Release::WindowAck | Release::WindowUpdate);
    let full = view.transfer.pauses.iter().filter(is_full);
    let late = |gap: &SendPause| if gap.in_flight > several { gap.lone_ack_late() } else { Nanos::ZERO };
    let lates: Vec<Nanos> = full.clone().map(late).collect();
    let all: Nanos = full.map(|gap| gap.end - gap.start).sum();
    let sum: Nanos = lates.iter().copied().sum();
    median(lates).filter(|late| *late > Nanos::ZERO && sum.0.saturating_mul(A_PART) >= all.0)
}

/// The largest window before those that limited the transfer, if they are much smaller: a buffer
/// does not shrink, its free space does.
fn unread(view: &TransferView<'_>, window: u64) -> Option<u64> {
    let first = view.attribution.rounds.iter().position(|limit| *limit == LimitingFactor::ReceiveWindow)?;
    let before = view.transfer.rounds.iter().take(first + 1).filter_map(|round| round.window).max()?;
    (window.saturating_mul(3) < before.saturating_mul(2)).then_some(before)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{Action, SendingAction, SendingQuestion};
    use whyslow_core::tcp::facts::Release;

    #[test]
    fn receiver_that_holds_acks_back_gets_no_buffer_remedy() {
        let fix = |late: i64, last_ack: bool| {
            let mut scene = SyntheticTransfer::flights(&[60_000; 12]);
            scene.transfer.rounds.iter_mut().for_each(|round| round.window = Some(60_000));
            for gap in &mut scene.transfer.pauses {
                (gap.release, gap.in_flight) = (Release::WindowAck, 60_000);
                (gap.ack_late, gap.last_ack) = (ms(late), last_ack);
            }
            scene.finding(Cause::ReceiveWindow).unwrap().remedies.remove(0).action
        };
        let buffer = fix(0, true);
        assert!(matches!(buffer, Action::Sending(SendingAction::RaiseReceiveBuffer { .. })), "{buffer:?}");
        let reader = fix(35, true);
        assert!(matches!(reader, Action::Sending(SendingAction::ReadForAcks { .. })), "{reader:?}");
        // An ACK with more behind it waits only for the path.
        assert!(fix(35, false).command().is_some());
    }

    #[test]
    fn full_window_in_a_long_queue_is_less_sure() {
        let found = |least: i64| {
            let mut scene = SyntheticTransfer::flights(&[60_000; 7]);
            for round in &mut scene.transfer.rounds {
                (round.window, round.window_full) = (Some(60_000), ms(80));
            }
            // ACKs keep coming from a queue.
            for gap in &mut scene.transfer.pauses {
                (gap.release, gap.start) = (Release::WindowAck, gap.end - ms(20));
            }
            scene.facts.rtt.min = Some(ms(least));
            scene.finding(Cause::ReceiveWindow).unwrap()
        };
        assert!(found(100).confidence >= 0.9 && found(100).to_confirm.is_empty());
        let doubted = found(14);
        assert!(doubted.confidence < 0.5 && doubted.remedies.is_empty(), "{doubted:?}");
        let question = SendingQuestion::WindowFullInQueue { least_s: ms(14), typical_s: ms(100) };
        assert_eq!(doubted.to_confirm, [question.into()]);
    }

    #[test]
    fn full_window_on_a_longer_path_is_not_a_queue() {
        for (before, after) in [(30, 90), (40, 120), (100, 300)] {
            let mut scene = SyntheticTransfer::flights(&[60_000; 16]);
            scene.facts.rtt =
                whyslow_core::tcp::facts::RttFacts { min: Some(ms(before)), p50: Some(ms(before)), ..scene.facts.rtt };
            for (index, round) in scene.transfer.rounds.iter_mut().enumerate() {
                (round.window, round.rtt) = (Some(60_000), Some(ms(if index < 4 { before } else { after })));
            }
            scene.transfer.pauses.iter_mut().for_each(|gap| gap.release = Release::WindowAck);
            let found = scene.finding(Cause::ReceiveWindow).unwrap();
            assert!(found.to_confirm.is_empty() && !found.remedies.is_empty(), "{before} to {after} ms: {found:?}");
        }
    }
}
