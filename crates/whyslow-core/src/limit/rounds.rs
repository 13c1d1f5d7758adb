//! What the rounds of a transfer show together: growth, a plateau, a steady rate.

use super::alike::{alike_rates, rises};
use super::context::Context;
use super::inter_loss::{InterLossRate, inter_loss_rate};
use super::overrun::{Overrun, overrun};
use super::rates::{self, Burst};
use crate::stats::median;
use crate::tcp::facts::{Gap, RateSpread, Release, RoundFacts, TransferFacts};
use crate::types::{Limit, RTO_MIN};
use crate::units::Nanos;

/// A flight that grows at least so much from one round to the next is slow start. Doubling is usual
/// (RFC 5681 section 3.1); with an ACK for every second segment it is 1.5, and a round's segments
/// may slip into the next one.
const GROWTH: f64 = 1.2;
/// Growth may pause for so many rounds: ACKs that arrive in clumps shift segments between rounds.
const GROWTH_PAUSE: usize = 2;
/// No sender's buffer is smaller (the least value of Linux' tcp_wmem): flights of fewer bytes are
/// messages.
const MIN_BUFFER: u64 = 4_096;
/// In a plateau the sender waits for the receiver for so much of the time.
const MIN_WAIT: f64 = 0.5;
/// The same of a plateau of twice the usual length: a sender that paces (BBR) sends for most of a
/// round trip, and waits for the rest of it.
const MIN_WAIT_LONG: f64 = 0.25;
/// Rounds without growth that make a plateau.
const MIN_PLATEAU: usize = 4;
/// A plateau after a loss must be longer, as congestion avoidance can look flat for a while.
const MIN_PLATEAU_AFTER_LOSS: usize = 16;
/// Of a plateau's flight, what no flight goes beyond where a buffer is full: it holds packets with
/// all that they take of memory, so that the same buffer may hold twice the payload, and what left
/// it is in flight beside that.
const MAX_CAPPED_GROWTH: f64 = 3.0;
/// The same behind a loss, where the congestion window, cut to 0.7 at most (RFC 9438 section 4.6),
/// makes flights of one size as well.
const MAX_CAPPED_GROWTH_AFTER_LOSS: f64 = 1.25;
/// Rates needed before that means something.
const STEADY_BINS: u64 = 8;

/// In ten pauses, so many that a message of the receiver ended make a window of the application's
/// protocol.
const GRANTED: u64 = 7;

/// A round that carried this share of what the steady rate would have let through was held by that
/// rate.
const FILLED: f64 = 0.7;

/// A run of rounds with the same flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Index of its first round.
    pub first: usize,
    /// Index after its last.
    pub after: usize,
    /// What was in flight at most in a round, bytes: the typical one.
    pub bytes: u64,
    /// The least window during it.
    pub window: Option<u64>,
    /// Where large and small flights alternate: bytes and time of two rounds together, typical of
    /// them.
    pub cycle: Option<(u64, Nanos)>,
}

/// What the rounds show together.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// For each round, what holds it but for the pauses that speak for themselves.
    pub base: Vec<Limit>,
    /// The longest plateau.
    pub plateau: Option<Plateau>,
    /// Segments are proven to have been lost before the capture point, so that others may have
    /// been, unseen.
    pub lost_before: bool,
    /// The one rate at which bytes pass whenever they do, bits per second of payload, if there is
    /// one. It governs the rounds that it fills.
    pub steady: Option<f64>,
    /// What passed before that rate came into force.
    pub burst: Option<Burst>,
    /// That rate came into force then, when losses were over.
    pub since: Option<Nanos>,
    /// The rate is the sender's own: nothing queues, and it waits for no ACK.
    pub paced: bool,
    /// The one rate at which the program writes, in short segments, bits per second.
    pub written: Option<f64>,
    /// The one rate at which bytes passed between losses, if there is one.
    pub inter_loss_rate: Option<InterLossRate>,
    /// What became of what was offered beyond that rate, or the steady one.
    pub overrun: Option<Overrun>,
    /// The receiver's window closed again and again: what had arrived lay unread, so that its
    /// program was slower than the path.
    pub receiver_unread: bool,
    /// Growth that began again after a pause or at the timer: indices of the first rounds.
    pub restarts: Vec<usize>,
}

pub(super) fn shape(transfer: &TransferFacts, context: &Context) -> Shape {
    let rounds = &transfer.rounds;
    if rounds.is_empty() {
        return Shape::default();
    }
    let late = rates::after_burst(transfer, context).filter(|&(rate, burst)| {
        let hidden = context.near_receiver && !context.has_timestamps;
        hidden
            || rates::queues(transfer, context, rate, burst.until)
            || rates::is_paced(transfer, context, rate, burst.until)
    });
    let mut shape = Shape {
        base: vec![Limit::CongestionAvoidance; rounds.len()],
        burst: late.map(|(_, burst)| burst),
        restarts: restarts(transfer, context),
        ..Shape::default()
    };
    shape.receiver_unread = is_unread(transfer);
    shape.inter_loss_rate = inter_loss_rate(transfer, context);
    let from = find_rate(&mut shape, transfer, context, late.map(|(rate, _)| rate));
    let passes = shape.steady.or(shape.inter_loss_rate.map(|between| between.rate));
    shape.overrun = passes.and_then(|rate| overrun(transfer, context, rate));
    let lost = first_repair(transfer);
    mark_messages(transfer, context, &mut shape);
    mark_slow_start(transfer, context, &mut shape, lost);
    shape.lost_before = lost_before_capture(transfer);
    let at_rate = shape.steady.or(shape.written).map(|rate| filled(transfer, context, rate, from));
    mark_plateaus(&mut shape, transfer, context, at_rate.as_deref());
    // A last flight that nothing holds back costs its round trip and no more.
    if let Some(last) = shape.base.last_mut()
        && *last == Limit::CongestionAvoidance
        && lost == rounds.len()
    {
        *last = Limit::RoundTrip;
    }
    if let Some(at_rate) = at_rate {
        mark_rate(&mut shape, &at_rate);
    }
    shape
}

/// Finds the one rate that held the transfer, and whose it is. `late`: the rate after a burst.
/// Returns from when on.
fn find_rate(shape: &mut Shape, transfer: &TransferFacts, context: &Context, late: Option<f64>) -> Nanos {
    // Losses in a queue that is full go with the path's rate; with no queue they are a policer's.
    let full = shape.inter_loss_rate.filter(|between| between.queued).map(|between| between.rate);
    shape.steady = late
        .or_else(|| steady_rate(transfer).filter(|&rate| is_told_from_a_window(transfer, context, rate)))
        .or(full)
        .or_else(|| rates::clumped_rate(transfer, context));
    if shape.steady.is_none()
        && let Some((rate, since)) = rates::after_losses(transfer, context)
    {
        (shape.steady, shape.since) = (Some(rate), Some(since));
    }
    let from = shape.burst.map(|burst| burst.until).or(shape.since).unwrap_or(transfer.start);
    if let Some(rate) = shape.steady {
        shape.written = Some(rate).filter(|&rate| rates::program_rate(transfer, context, rate));
        shape.paced = shape.written.is_none() && rates::is_paced(transfer, context, rate, from);
        let hidden = context.near_receiver && !context.has_timestamps;
        let is_told = shape.paced || hidden || rates::is_path_rate(transfer, context, rate, from);
        // A queue of the path and a receiver that is full of unread bytes exclude each other: one
        // of the two is slower.
        if shape.written.is_some() || !is_told || shape.receiver_unread {
            (shape.steady, shape.burst, shape.since) = (None, None, None);
        }
    }
    from
}

/// Finds what caps flights that stay the same, and marks their rounds with it. `at_rate`: the
/// rounds that one rate filled.
fn mark_plateaus(shape: &mut Shape, transfer: &TransferFacts, context: &Context, at_rate: Option<&[bool]>) {
    let rounds = &transfer.rounds;
    let again = first_retransmit_round(transfer);
    // What one subflow is given is its scheduler's choice.
    let mut plateaus = if context.is_multipath { Vec::new() } else { plateaus(transfer, context, again) };
    if let Some(at_rate) = at_rate {
        // One rate makes equal flights too.
        let full = |plateau: &Plateau| at_rate[plateau.first..plateau.after].iter().filter(|full| **full).count();
        plateaus.retain(|plateau| full(plateau) * 2 <= plateau.after - plateau.first);
    }
    plateaus.retain(|plateau| {
        is_cap(plateau, rounds, again) || are_granted(receiver_waits(transfer, plateau.first, plateau.after))
    });
    let granted = granted(transfer, context, &shape.base, again);
    let limit = if granted.is_some() { Limit::ProtocolWindow } else { plateau_limit(transfer, &plateaus) };
    for plateau in &plateaus {
        shape.base[plateau.first..plateau.after].fill(limit);
        // The last, smaller flight of a transfer that was held there.
        if plateau.after + 1 == rounds.len() {
            shape.base[plateau.after] = limit;
        }
    }
    if let Some(granted) = granted {
        for base in &mut shape.base[granted.first..granted.after] {
            if *base == Limit::CongestionAvoidance {
                *base = Limit::ProtocolWindow;
            }
        }
        plateaus.push(granted);
    }
    shape.plateau = plateaus.into_iter().max_by_key(|plateau| plateau.after - plateau.first);
}

/// Whether no other flight was much larger: a buffer that is full stays as large as it is, and a
/// congestion window does not.
fn is_cap(plateau: &Plateau, rounds: &[RoundFacts], again: usize) -> bool {
    let larger = if plateau.first > again { MAX_CAPPED_GROWTH_AFTER_LOSS } else { MAX_CAPPED_GROWTH };
    let most = plateau.bytes as f64 * larger;
    rounds.iter().all(|round| round.in_flight as f64 <= most)
}

/// A program's own window, where messages of the receiver come with the ACKs that end most pauses
/// of the plateaus; else a cap in the sender.
fn plateau_limit(transfer: &TransferFacts, plateaus: &[Plateau]) -> Limit {
    let waits = plateaus.iter().flat_map(|plateau| receiver_waits(transfer, plateau.first, plateau.after));
    if are_granted(waits) { Limit::ProtocolWindow } else { Limit::SenderCap }
}

/// Pauses within rounds that the receiver ended, with room left in its window: by an ACK, or by a
/// message with one, though the program may have been late to answer it.
fn receiver_waits(transfer: &TransferFacts, first: usize, after: usize) -> impl Iterator<Item = &Gap> {
    let start = transfer.rounds.get(first).map_or(transfer.last_send, |round| round.start);
    let end = transfer.rounds.get(after).map_or(transfer.last_send, |round| round.start);
    let by_receiver = |gap: &&Gap| match gap.release {
        Release::Ack | Release::Peer => true,
        Release::Nothing => gap.peer_payload_at.is_some(),
        _ => false,
    };
    transfer.gaps.iter().filter(move |gap| gap.start >= start && gap.end <= end).filter(by_receiver)
}

/// Whether a message of the receiver came with what ended most of them.
fn are_granted<'a>(waits: impl Iterator<Item = &'a Gap>) -> bool {
    let (mut all, mut granted) = (0u64, 0u64);
    for gap in waits {
        all += 1;
        granted += u64::from(gap.with_peer_payload || gap.peer_payload_at.is_some());
    }
    all > 0 && granted * 10 >= all * GRANTED
}

/// From where on flights stand still, if that is so for half of them: TCP's own window may have
/// opened before another one held.
fn behind_a_ramp(rounds: &[RoundFacts], mss: u64) -> usize {
    let flights: Vec<u64> = rounds.iter().map(|round| round.in_flight).collect();
    let mut first = 0;
    while first * 2 <= flights.len() {
        let rest = flights.get(first..flights.len().saturating_sub(1)).unwrap_or_default();
        if !rises(rest, mss) {
            return first;
        }
        first += rest.len() / 8 + 1;
    }
    0
}

/// Rounds behind slow start whose flights a program's own window bounds, though they are not all
/// alike: credit comes in pieces, so that a flight may be a piece smaller than the one before. They
/// do not grow, and messages of the receiver end most pauses.
fn granted(transfer: &TransferFacts, context: &Context, base: &[Limit], lost: usize) -> Option<Plateau> {
    let opened = base.iter().position(|limit| *limit != Limit::SlowStart)?;
    let opening = transfer.rounds.get(opened..lost)?;
    let first = opened + behind_a_ramp(opening, context.mss);
    let rounds = transfer.rounds.get(first..lost)?;
    // What is left over goes in the last round.
    let whole = rounds.len() - usize::from(lost == transfer.rounds.len()).min(rounds.len());
    let flights: Vec<u64> = rounds[..whole].iter().map(|round| round.in_flight).collect();
    let bytes = *flights.iter().max()?;
    let window = rounds.iter().filter_map(|round| round.window).min();
    let room_left = window.is_none_or(|window| window > bytes + alike(bytes, context.mss));
    let is_granted = whole >= MIN_PLATEAU
        && bytes > context.mss
        && room_left
        && !rises(&flights, context.mss)
        && waits_for_acks(transfer, first, lost, MIN_WAIT)
        && are_granted(receiver_waits(transfer, first, lost));
    is_granted.then_some(Plateau { first, after: lost, bytes, window, cycle: None })
}

/// Closings of a window that are no accident, and of the rounds, how many they ended.
const CLOSINGS: usize = 8;
const CLOSED: usize = 5;

/// Whether the window closed at the end of a good part of the rounds.
fn is_unread(transfer: &TransferFacts) -> bool {
    let closings = transfer.gaps.iter().filter(|gap| gap.closed.is_some()).count();
    closings >= CLOSINGS && closings * CLOSED >= transfer.rounds.len()
}

/// The first round in which something was retransmitted.
pub(crate) fn first_retransmit_round(transfer: &TransferFacts) -> usize {
    transfer.rounds.iter().position(|round| round.retransmitted > 0).unwrap_or(transfer.rounds.len())
}

/// The first round with a copy of something that was lost. Copies of what had arrived do not end
/// slow start for good: a sender that learns of it takes its window and its threshold back (RFC
/// 3522, RFC 3708), and one that does not grows slowly from then on.
fn first_repair(transfer: &TransferFacts) -> usize {
    let rounds = &transfer.rounds;
    match transfer.losses.iter().filter(|loss| !loss.spurious).map(|loss| loss.time).min() {
        Some(time) => {
            first_retransmit_round(transfer).max(rounds.partition_point(|round| round.start <= time).saturating_sub(1))
        }
        None if transfer.retransmitted_bytes == 0 => rounds.len(),
        None => first_retransmit_round(transfer),
    }
}

/// Rounds before which the sender had been idle for longer than its timer, so that it may have
/// started over (RFC 5681 section 4.1), or whose first segment the timer sent.
fn restarts(transfer: &TransferFacts, context: &Context) -> Vec<usize> {
    let floor = RTO_MIN + context.rtt.unwrap_or_default();
    let mut found: Vec<usize> = transfer
        .gaps
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

/// Whether nothing was sent for want of bytes, or of a window: a sender that was idle for either
/// reason starts over.
fn is_silence(gap: &Gap) -> bool {
    gap.release == Release::Nothing || (gap.release == Release::WindowUpdate && gap.in_flight == 0)
}

/// The rate of the whole, if equal amounts of bytes took equal times all along, where segments
/// passed the capture point or where their ACKs did.
fn steady_rate(transfer: &TransferFacts) -> Option<f64> {
    [&transfer.acked_rate, &transfer.sent_rate].into_iter().find(|spread| steady(spread)).map(|spread| spread.p50)
}

/// A full window of the receiver makes one rate too. Where the windows are unknown, a rate is the
/// path's only if a queue stands.
fn is_told_from_a_window(transfer: &TransferFacts, context: &Context, rate: f64) -> bool {
    transfer.rounds.iter().any(|round| round.window.is_some()) || rates::queues(transfer, context, rate, transfer.start)
}

fn steady(spread: &RateSpread) -> bool {
    spread.bins >= STEADY_BINS && alike_rates(spread.p10, spread.p90)
}

fn mark_slow_start(transfer: &TransferFacts, context: &Context, shape: &mut Shape, lost: usize) {
    if transfer.is_start_unknown() {
        return;
    }
    let starts: Vec<usize> = std::iter::once(0).chain(shape.restarts.iter().copied()).collect();
    for (nth, &start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(transfer.rounds.len()).min(lost.max(start));
        let (first, after) = growth(transfer, start, end, context);
        shape.base[first..after].fill(Limit::SlowStart);
    }
}

/// Less than a segment in flight is no window's doing: the program had no more to send.
fn is_message(round: &RoundFacts, transfer: &TransferFacts, context: &Context) -> bool {
    round.in_flight < context.mss && round.retransmitted == 0 && transfer.unseen == 0
}

fn mark_messages(transfer: &TransferFacts, context: &Context, shape: &mut Shape) {
    let rounds = &transfer.rounds[..transfer.rounds.len().saturating_sub(1)];
    for (base, _) in shape.base.iter_mut().zip(rounds).filter(|(_, round)| is_message(round, transfer, context)) {
        *base = Limit::Application;
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
    // The round that reached the top was not held by its growth, as the next one was no larger; but
    // if all that is left follows in the very last round, it would have gone sooner with a larger
    // window. So it is with two flights only, if the first was no larger than an initial window.
    let began_small = rounds.first().is_some_and(|round| round.in_flight <= 12 * context.mss.max(1460));
    let reached_end = end == transfer.rounds.len()
        && transfer.known_span.is_none_or(|(_, until)| until >= transfer.end)
        && last_growth + 2 >= rounds.len()
        && rounds.len() > 1
        && (last_growth > 0 || began_small);
    (start, start + if reached_end { rounds.len() - 1 } else { last_growth })
}

/// By how much flights may differ and be the same: 3 segments, or in large ones what an ACK for
/// many at once makes of them.
fn alike(top: u64, mss: u64) -> u64 {
    (3 * mss).max(top / 128)
}

/// Whether flights stand still: all alike, and not rising by as much as congestion avoidance would
/// (half a segment a round, RFC 9438 section 4.3, and one RFC 5681).
fn stands_still(tops: &[u64], mss: u64) -> bool {
    let (low, high) = tops.iter().fold((u64::MAX, 0), |(low, high), &top| (low.min(top), high.max(top)));
    high - low <= alike(high, mss) && !rises(tops, mss)
}

/// Runs of rounds with the same flight, in order.
fn plateaus(transfer: &TransferFacts, context: &Context, lost: usize) -> Vec<Plateau> {
    let rounds = &transfer.rounds;
    // Some senders alternate a large and a small flight (a full buffer, and what is left of a
    // write): the larger counts.
    let top = |index: usize| {
        let next = rounds.get(index + 1).filter(|_| index + 2 < rounds.len()).map_or(0, |round| round.in_flight);
        rounds[index].in_flight.max(next)
    };
    let tops: Vec<u64> = (0..rounds.len()).map(top).collect();
    let found = alike_runs(transfer, context, lost, &tops);
    // Between losses a congestion window lets out the same for a while, too.
    if !found.is_empty() || lost < rounds.len() {
        return found;
    }
    // Where ACKs and new segments meet, what is in flight at most varies, and what a buffer lets
    // out in a round trip does not.
    let sent: Vec<u64> = rounds.iter().map(|round| round.bytes).collect();
    alike_runs(transfer, context, lost, &sent)
}

/// Runs of rounds of the same size that are plateaus.
fn alike_runs(transfer: &TransferFacts, context: &Context, lost: usize, sizes: &[u64]) -> Vec<Plateau> {
    let rounds = &transfer.rounds;
    // Losses lie perhaps where packets were left out of a text.
    let lost_untold = transfer.is_start_unknown() && transfer.retransmitted_bytes > 0;
    let mut found = Vec::new();
    let mut first = 0;
    while first < rounds.len() {
        let mut after = first + 1;
        let (mut low, mut high) = (sizes[first], sizes[first]);
        while after < rounds.len() && rounds[after].retransmitted == 0 {
            let (l, h) = (low.min(sizes[after]), high.max(sizes[after]));
            if h - l > alike(h, context.mss) {
                break;
            }
            (low, high) = (l, h);
            after += 1;
        }
        let after_loss = first > lost || lost_untold || context.first_loss.is_some_and(|time| time < transfer.start);
        let needed = if after_loss { MIN_PLATEAU_AFTER_LOSS } else { MIN_PLATEAU };
        let window = rounds[first..after].iter().filter_map(|round| round.window).min();
        let most = rounds[first..after].iter().map(|round| round.in_flight).max().unwrap_or_default().max(high);
        let room_left = window.is_none_or(|window| window > most + alike(most, context.mss));
        let length: usize = rounds[first..after].iter().map(|round| round.merged as usize).sum();
        if length >= needed
            && high > context.mss
            && high >= MIN_BUFFER
            && room_left
            && waits_for_acks(transfer, first, after, if length >= 2 * needed { MIN_WAIT_LONG } else { MIN_WAIT })
            && stands_still(&sizes[first..after], context.mss)
        {
            let middle = median(sizes[first..after].to_vec()).unwrap_or_default();
            // What was in flight beyond the sizes is as far as the flights went.
            let bytes = if most > high { most } else { middle };
            found.push(Plateau { first, after, bytes, window, cycle: cycle(transfer, first, after) });
        }
        first = after;
    }
    found
}

/// Two rounds together, where one is less than half of the other all along.
fn cycle(transfer: &TransferFacts, first: usize, after: usize) -> Option<(u64, Nanos)> {
    let rounds = &transfer.rounds;
    let mut pairs: Vec<(u64, Nanos)> = Vec::new();
    let mut uneven = 0;
    for index in first..after.saturating_sub(1) {
        let (one, two) = (rounds[index].bytes, rounds[index + 1].bytes);
        let end = rounds.get(index + 2).map_or(transfer.last_send, |round| round.start);
        uneven += usize::from(one.min(two) * 2 < one.max(two));
        pairs.push((one + two, end - rounds[index].start));
    }
    if pairs.len() < 2 || uneven * 10 < pairs.len() * 8 {
        return None;
    }
    median(pairs.iter().map(|pair| pair.0).collect()).zip(median(pairs.iter().map(|pair| pair.1).collect()))
}

/// Retransmissions whose first copies are not in the capture, too many for chance.
fn lost_before_capture(transfer: &TransferFacts) -> bool {
    let unseen = transfer.retransmitted.unseen_original;
    unseen >= 3 && unseen * 200 >= transfer.segments
}

/// Whether the sender spent this share of these rounds waiting for the receiver, and not sending,
/// nor for its application.
fn waits_for_acks(transfer: &TransferFacts, first: usize, after: usize, share: f64) -> bool {
    let start = transfer.rounds[first].start;
    let end = transfer.rounds.get(after).map_or(transfer.last_send, |round| round.start);
    let until =
        |gap: &Gap| if gap.release == Release::Nothing { gap.peer_payload_at.unwrap_or(gap.end) } else { gap.end };
    let waited: Nanos = receiver_waits(transfer, first, after).map(|gap| until(gap) - gap.start).sum();
    waited > (end - start).scale(share)
}

/// For each round, whether it ran at the rate, or nearly.
fn filled(transfer: &TransferFacts, context: &Context, rate: f64, from: Nanos) -> Vec<bool> {
    let rounds = &transfer.rounds;
    let first = rates::first_round(transfer, from);
    let is_filled = |index: usize| {
        let round = &rounds[index];
        let carries = |bytes: u64, end: Nanos| {
            let time = (end - round.start).as_secs_f64();
            // What is retransmitted takes its share of the path too.
            let bytes = bytes + u64::from(round.retransmitted) * context.mss;
            time > 0.0 && bytes as f64 * 8.0 / time >= FILLED * rate
        };
        match rounds.get(index + 1) {
            Some(next) => carries(round.bytes, next.start),
            // All that is in flight in the last round passes until the end, though it may have left
            // at once.
            None => carries(round.bytes, transfer.last_send) || carries(round.in_flight, transfer.end),
        }
    };
    (0..rounds.len()).map(|index| index >= first && is_filled(index)).collect()
}

/// Rounds that ran at the steady rate were held by it, and so was a last, smaller one behind them.
fn mark_rate(shape: &mut Shape, filled: &[bool]) {
    let limit = match (shape.written, shape.paced) {
        (Some(_), _) => Limit::Application,
        (None, true) => Limit::Pacing,
        (None, false) => Limit::Bandwidth,
    };
    for (index, full) in filled.iter().enumerate() {
        let follows = index + 1 == filled.len() && index > 0 && shape.base[index - 1] == limit;
        if *full || follows {
            shape.base[index] = limit;
        }
    }
}
