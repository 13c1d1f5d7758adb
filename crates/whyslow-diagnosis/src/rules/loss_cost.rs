//! The cost of losses to a transfer, and their effect on its sender: figures that several rules
//! need.

use super::black_hole::is_black_hole;
use super::policing::is_policed;
use super::rule_input::TransferView;
use crate::limit::{self, Span};
use whyslow_analysis::types::Side;
use whyslow_analysis::{CostSpan, End, LimitingFactor};
use whyslow_core::tcp::facts::{DirectionFacts, Facts, Recoveries, Release, SendPause, TransferFacts};
use whyslow_units::stats::median_f64;
use whyslow_units::{Nanos, Time};

/// Recovery, and from the first loss on the time under a window that losses reduced. The effects of
/// spurious retransmissions of late segments belong to reordering.
pub(super) fn cost(view: &TransferView<'_>) -> Nanos {
    let kinds = &view.transfer.retransmitted;
    let lost = kinds.fast + kinds.timeout + kinds.tail_probe;
    let share = lost as f64 / (lost + view.transfer.spurious_fast).max(1) as f64;
    (view.time(LimitingFactor::LossRecovery) + slow_since_loss(view)).scale(share)
}

/// Time in congestion avoidance after the first loss.
fn slow_since_loss(view: &TransferView<'_>) -> Nanos {
    slow_spans(view).map(Span::length).sum()
}

fn slow_spans<'a>(view: &'a TransferView<'_>) -> impl Iterator<Item = &'a Span> {
    let first =
        view.transfer.rounds.iter().find(|round| round.retransmitted > 0).map_or(Time::MAX, |round| round.start);
    let spans = view.attribution.spans.iter();
    spans.filter(move |span| span.limit == LimitingFactor::CongestionAvoidance && span.start >= first)
}

/// When that was.
pub(super) fn spans(view: &TransferView<'_>) -> Vec<CostSpan> {
    let repairing = view.attribution.spans.iter().filter(|span| span.limit == LimitingFactor::LossRecovery);
    let mut spans = view.spans_at(repairing.chain(slow_spans(view)));
    spans.sort_unstable_by_key(|span| span.start_s);
    spans
}

/// Bits per second that Reno reaches at this loss (Mathis et al. 1997, equation 3, with an ACK for
/// every segment).
pub(super) fn mathis(mss: u64, rtt: Nanos, loss: f64) -> f64 {
    mss as f64 * 8.0 * 1.5f64.sqrt() / (rtt.as_secs_f64() * loss.max(1e-9).sqrt())
}

/// Whether BBR may help the sender: not one that keeps its rate or its flights whatever is lost, as
/// BBR does.
pub(super) fn may_help_with_bbr(view: &TransferView<'_>) -> bool {
    !view.attribution.shape.paced && !ignores_losses(view)
}

/// The end on this side.
pub(super) fn end_of(facts: &Facts, side: Side) -> End {
    if side == facts.client { End::Client } else { End::Server }
}

/// Minimum number of losses after which a sender's flights stayed as they were. Half and twice
/// change none of 2,061 captures.
const IGNORED: usize = 3;

/// Minimum flight after a loss over the one before, for a sender that ignores losses: CUBIC
/// continues with 0.7 (RFC 9438 section 4.6), Reno with half (RFC 5681). Half and twice the
/// distance to 1 change none of 2,061 captures.
const MIN_KEPT_FLIGHT: f64 = 0.9;

/// Rounds after the last loss in which a window would have grown: by a segment a round (RFC 5681
/// section 3.1), so by more than flights vary. Half and twice change none of 2,061 captures.
const GROWING: usize = 12;

/// Whether losses do not make the sender's window smaller, or nothing makes it larger again though
/// nothing holds it: a window that follows losses does both.
fn ignores_losses(view: &TransferView<'_>) -> bool {
    let rounds = &view.transfer.rounds;
    let lossy: Vec<usize> = (1..rounds.len()).filter(|&index| rounds[index].retransmitted > 0).collect();
    let calm = |index: usize| rounds.get(index).is_some_and(|round| round.retransmitted == 0);
    let kept: Vec<f64> = lossy
        .iter()
        .filter(|&&index| calm(index - 1))
        .filter_map(|&index| {
            // Repairs take a round or two.
            let after = (index + 1..index + 6).find(|&next| calm(next) && calm(next + 1))? + 1;
            Some(rounds[after].in_flight as f64 / rounds[index - 1].in_flight.max(1) as f64)
        })
        .collect();
    if kept.len() >= IGNORED && median_f64(kept).is_some_and(|kept| kept >= MIN_KEPT_FLIGHT) {
        return true;
    }
    // Growth behind the last loss would be seen, where the window of the receiver leaves room.
    let Some(last) = lossy.last() else { return false };
    let rest = rounds.get(last + 2..rounds.len().saturating_sub(1)).unwrap_or_default();
    let room = rest.iter().all(|round| round.window.is_none_or(|window| window > 2 * round.in_flight));
    let flights: Vec<u64> = rest.iter().map(|round| round.in_flight).collect();
    let waits = view.time(LimitingFactor::Application) + view.time(LimitingFactor::SenderCap);
    rest.len() >= GROWING && room && view.share(waits) < 0.1 && !crate::estimate::is_growing(&flights, view.context.mss)
}

/// Time that recoveries took beyond the round trip that each needs with SACK, if it matters; zero
/// if SACK is on, or unknown.
pub(super) fn cost_without_sack(view: &TransferView<'_>) -> Nanos {
    let handshake = &view.facts.handshake;
    let off = handshake.is_complete() && handshake.offers.iter().flatten().any(|offer| !offer.sack);
    let Recoveries { count: number, took } = view.transfer.recoveries;
    let lost = match view.rtt() {
        Some(rtt) if off && view.transfer.retransmitted.fast > number => (took - rtt.scale(number as f64)).or_zero(),
        _ => Nanos::ZERO,
    };
    if view.matters(lost, 0.1) { lost } else { Nanos::ZERO }
}

/// The part of the waits for the timer that was for a retransmission that answered duplicate ACKs.
pub(super) fn wait_for_lost_retransmits(view: &TransferView<'_>) -> Nanos {
    waits_for_lost_retransmits(view).map(|gap| gap.end - gap.start).sum()
}

pub(super) fn waits_for_lost_retransmits<'a>(view: &'a TransferView<'_>) -> impl Iterator<Item = &'a SendPause> {
    view.transfer.pauses.iter().filter(|gap| gap.release == Release::Timer && gap.lost_retransmit && !gap.tail)
}

/// Time of waits for lost retransmissions, if it matters. Repairs cost nothing on a full path.
pub(super) fn cost_of_lost_retransmits(view: &TransferView<'_>) -> Nanos {
    let repairing = view.time(LimitingFactor::LossRecovery) + view.time(LimitingFactor::Timeout);
    let lost = view.transfer.lost_retransmits.waited.min(repairing);
    let other = view.facts.capture_defects.one_direction || is_black_hole(view) || is_policed(view);
    if !other && view.matters(lost, 0.1) { lost } else { Nanos::ZERO }
}

/// Whether the capture ends before it is known that the last copy was needed: an ACK alone may be
/// that of the first copy.
pub(super) fn may_be_needless(view: &TransferView<'_>) -> bool {
    let last = view.transfer.pauses.iter().rfind(|gap| gap.release == Release::Timer).map(|gap| gap.end);
    let decided = view.rtt().unwrap_or_default().scale(2.0) + limit::MAX_DELAYED_ACK;
    let is_open = !view.transfer.acknowledged || view.facts.closing == [None; 2];
    is_open && last.is_some_and(|last| view.facts.last - last < decided)
}

/// Whether all retransmitted data had arrived: nothing was lost, whatever the timer caused.
pub(super) fn lost_nothing(view: &TransferView<'_>) -> bool {
    let kinds = &view.transfer.retransmitted;
    let needed = kinds.fast + kinds.timeout + kinds.tail_probe;
    (kinds.spurious > 0 && needed == 0) || arrived(view)
}

/// Whether the receiver's own capture has the first copy of all that came again, and no duplicate
/// ACK reports a hole: the network delivered it, and the ACK was late or lost.
fn arrived(view: &TransferView<'_>) -> bool {
    let losses = &view.transfer.losses;
    let in_capture = !losses.is_empty() && losses.iter().all(|loss| !loss.unseen);
    view.near_receiver() && in_capture && view.transfer.retransmitted.fast == 0
}

/// Largest confidence in losses that only IP numbers show: the missing ones may be in other packets
/// of the host (RFC 6864 section 4). Half and twice the distance to 1 change 21 and 21 of 2,061
/// captures.
pub(super) const BY_IP_NUMBERS: f64 = 0.6;

/// The end whose SYN does not offer SACK, where both are known.
pub(super) fn without_sack(facts: &Facts) -> Option<Side> {
    let handshake = &facts.handshake;
    let lacks = |side: &Side| handshake.offers[*side].is_some_and(|offer| !offer.sack);
    [facts.client, !facts.client].into_iter().find(lacks).filter(|_| handshake.is_complete())
}

/// A wait for the timer in which a probe was due, and the sender is seen to have sent none (RFC
/// 8985 section 7.2: two round trips after the last ACK, with more than one segment outstanding);
/// the first of them. None once it has probed, with new bytes too, or has found losses by ACKs.
pub(super) fn wait_without_probe(view: &TransferView<'_>) -> Option<Nanos> {
    let kinds = &view.direction().retransmitted;
    let rtt = view.rtt().filter(|_| view.near_sender() && kinds.tail_probe + kinds.fast + kinds.spurious == 0)?;
    let first = view.transfer.pauses.iter().find(|gap| gap.release == Release::Timer)?;
    let may_be_probe = |gap: &SendPause| gap.end == first.start && gap.release == Release::Nothing;
    let due = rtt.scale(3.0) + limit::MIN_PROBE_TIMER;
    let length = first.end - first.start;
    let is_due = !first.tail && first.is_retransmit && length >= due.scale(1.5);
    (is_due && !view.transfer.pauses.iter().any(may_be_probe)).then_some(length)
}

/// Time that the sender waited for a timer to detect a lost tail.
pub(super) fn wait_for_tails(view: &TransferView<'_>) -> Nanos {
    tail_waits(view).map(|gap| gap.end - gap.start).sum()
}

pub(super) fn tail_waits<'a>(view: &'a TransferView<'_>) -> impl Iterator<Item = &'a SendPause> {
    let kinds = &view.transfer.retransmitted;
    // If none of them was needed, nothing was lost.
    let needed = kinds.tail_probe + kinds.timeout > 0;
    // Data that was retransmitted to the end and never acknowledged is not only a lost tail.
    let given_up = given_up(view.direction(), view.transfer).first().map_or(Time::MAX, |wait| wait.start);
    let waits = view.transfer.pauses.iter().take_while(move |gap| gap.start < given_up);
    waits.filter(move |gap| needed && gap.release == Release::Timer && gap.tail)
}

/// The last waits of a transfer, each ended by its timer, up to its last segment, whose
/// retransmissions were never acknowledged. Empty if any of it was.
fn last_tries(transfer: &TransferFacts) -> &[SendPause] {
    let by_timer = |gap: &&SendPause| gap.release == Release::Timer && gap.closed.is_none();
    let tries = transfer.pauses.iter().rev().take_while(by_timer).count();
    let waits = &transfer.pauses[transfer.pauses.len() - tries..];
    let to_the_end = waits.last().is_some_and(|wait| wait.end == transfer.last_send);
    if transfer.acknowledged || !to_the_end { &[] } else { waits }
}

/// The [`last_tries`], if there are enough of them to count as unanswered, and not as waits for the
/// timer.
pub(super) fn given_up<'a>(direction: &DirectionFacts, transfer: &'a TransferFacts) -> &'a [SendPause] {
    let waits = last_tries(transfer);
    let is_last = direction.last_payload.is_some_and(|(time, _)| time == transfer.last_send);
    if is_last && waits.len() as u64 >= TRIES { waits } else { &[] }
}

/// Minimum number of unanswered retransmissions at the end of a transfer: one may be a lost packet
/// or a lost ACK, and two are rarely. Half and twice change 29 and 18 of 2,061 captures.
pub(super) const TRIES: u64 = 2;
