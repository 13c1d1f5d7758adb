//! Growth of the window: which rounds waited for it, and where it begins again.

use crate::estimate::Context;
use whyslow_analysis::types::{LimitingFactor, RTO_MIN};
use whyslow_core::tcp::facts::{Release, RoundFacts, SendPause, TransferFacts};

/// Minimum growth of a flight from one round to the next in slow start. Doubling is usual (RFC 5681
/// section 3.1), 1.5 with an ACK for every second segment, and a round's segments may slip into the
/// next one. Half and twice the excess over 1 change 8 and 29 of 2,061 captures.
const GROWTH: f64 = 1.2;
/// Maximum number of rounds for which growth may pause: ACKs that arrive in clumps shift segments
/// between rounds. Half and twice change 5 and 0 of 2,061 captures.
const GROWTH_PAUSE: usize = 2;

/// Marks in `base` the rounds that waited for the window to open: from the beginning, and from each
/// of the [`restarts`], up to the round in which something was `lost`.
pub(super) fn mark_slow_start(
    base: &mut [LimitingFactor],
    transfer: &TransferFacts,
    context: &Context,
    restarts: &[usize],
    lost: usize,
) {
    if transfer.is_start_unknown() {
        return;
    }
    let starts: Vec<usize> = std::iter::once(0).chain(restarts.iter().copied()).collect();
    for (nth, &start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(transfer.rounds.len()).min(lost.max(start));
        let (first, after) = growth(transfer, start, end, context);
        base[first..after].fill(LimitingFactor::SlowStart);
    }
}

/// The rounds that waited for their window to open: the first, and the one after the last.
fn growth(transfer: &TransferFacts, start: usize, end: usize, context: &Context) -> (usize, usize) {
    let message = |round: &&RoundFacts| is_message(round, transfer, context);
    let start = start + transfer.rounds[start..end].iter().take_while(message).count();
    let rounds = &transfer.rounds[start..end];
    let mut top = 0u64;
    let mut last_growth = 0;
    for (index, round) in rounds.iter().enumerate() {
        let grown = round.in_flight as f64 >= top as f64 * GROWTH && round.in_flight >= top + context.mss.min(top);
        if index > 0 && grown {
            last_growth = index;
        } else if index > last_growth + GROWTH_PAUSE {
            break;
        }
        top = top.max(round.in_flight);
    }
    // The round that reached the top was not limited by growth, as the next one was not larger; but
    // if the rest follows in the very last round, a larger window would have sent it sooner. The
    // same holds for two flights only, if the first was at most an initial window.
    let began_small = rounds.first().is_some_and(|round| round.in_flight <= 12 * context.mss.max(1460));
    let reached_end = end == transfer.rounds.len()
        && transfer.known_span.is_none_or(|(_, until)| until >= transfer.end)
        && last_growth + 2 >= rounds.len()
        && rounds.len() > 1
        && (last_growth > 0 || began_small);
    (start, start + if reached_end { rounds.len() - 1 } else { last_growth })
}

/// Rounds before which the sender had been idle for longer than its timer, so that it may have
/// started over (RFC 5681 section 4.1), or whose first segment the timer sent.
pub(super) fn restarts(transfer: &TransferFacts, context: &Context) -> Vec<usize> {
    let floor = RTO_MIN + context.rtt.unwrap_or_default();
    let mut found: Vec<usize> = transfer
        .pauses
        .iter()
        .filter(|gap| is_silence(gap) && gap.idle && gap.end - gap.start > floor)
        .map(|gap| transfer.rounds.partition_point(|round| round.start < gap.end))
        .filter(|&index| index > 0 && index < transfer.rounds.len())
        .collect();
    // Gaps come in the order in which they ended; a clock that steps back breaks it.
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether the sender had no data or no window: a sender that was idle for either reason starts
/// over.
fn is_silence(gap: &SendPause) -> bool {
    gap.release == Release::Nothing || (gap.release == Release::WindowUpdate && gap.in_flight == 0)
}

/// The first round with a retransmission of a lost segment. Spurious retransmissions do not end
/// slow start for good: a sender that detects them restores its window and its threshold (RFC 3522,
/// RFC 3708), and one that does not grows slowly from then on.
pub(super) fn first_repair(transfer: &TransferFacts) -> usize {
    let rounds = &transfer.rounds;
    match transfer.losses.iter().filter(|loss| !loss.spurious).map(|loss| loss.time).min() {
        Some(time) => {
            transfer.first_retransmit_round().max(rounds.partition_point(|round| round.start <= time).saturating_sub(1))
        }
        None if transfer.retransmitted_bytes == 0 => rounds.len(),
        None => transfer.first_retransmit_round(),
    }
}

/// Less than a segment in flight is not limited by a window: the application had no more to send.
pub(super) fn is_message(round: &RoundFacts, transfer: &TransferFacts, context: &Context) -> bool {
    round.in_flight < context.mss && round.retransmitted == 0 && transfer.unseen == 0
}
