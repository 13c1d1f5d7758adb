//! Shape of a transfer's rounds: growth, a plateau, a steady rate.

use super::plateau::{Plateau, mark_plateaus};
use super::slow_start::{first_repair, is_message, mark_slow_start, restarts};
use crate::estimate::{
    self, Burst, Context, InterLossRate, OfferedLoad, alike_rates, full_link, inter_loss_rate, is_unread, offered_load,
};
use whyslow_analysis::types::LimitingFactor;
use whyslow_core::tcp::facts::{RateSpread, TransferFacts};
use whyslow_units::Time;

/// Minimum number of rates that must be steady: as many as points after a burst (`MIN_AFTER` of the
/// steady rate). Half and twice change 0 and 2 of 2,061 captures.
const STEADY_BINS: u64 = 8;

/// Share of the steady rate at which a round counts as limited by it: CUBIC continues with 0.7 of
/// its window after a loss (RFC 9438 section 4.6). Half and twice the distance to 1 change 5 and 9
/// of 2,061 captures.
const FILLED: f64 = 0.7;

/// Result of all rounds together.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// For each round, its limit apart from the pauses that have a cause of their own.
    pub base: Vec<LimitingFactor>,
    /// The longest plateau.
    pub plateau: Option<Plateau>,
    /// Segments are proven to have been lost before the capture point, so that others may have
    /// been, unseen.
    pub lost_before: bool,
    /// The one rate at which bytes pass whenever they do, bits per second of payload, if there is
    /// one. It governs the rounds that it fills.
    pub steady: Option<f64>,
    /// It is the median of a rate that varies: only the queue shows that the link was full.
    pub varies: bool,
    /// Burst before that rate took effect.
    pub burst: Option<Burst>,
    /// That rate came into force then, when losses were over.
    pub since: Option<Time>,
    /// The rate is the sender's own: nothing queues, and it waits for no ACK.
    pub paced: bool,
    /// The one rate at which the program writes, in short segments, bits per second.
    pub written: Option<f64>,
    /// The one rate at which bytes passed between losses, if there is one.
    pub inter_loss_rate: Option<InterLossRate>,
    /// The fate of data offered above that rate, or the steady one.
    pub overrun: Option<OfferedLoad>,
    /// Received data stayed unread, so that the receiver's application was slower than the path.
    pub receiver_unread: bool,
    /// Growth that began again after a pause or at the timer: indices of the first rounds.
    pub restarts: Vec<usize>,
}

pub(super) fn shape(transfer: &TransferFacts, context: &Context) -> Shape {
    let rounds = &transfer.rounds;
    if rounds.is_empty() {
        return Shape::default();
    }
    let late = estimate::after_burst(transfer, context).filter(|&(rate, burst)| {
        let hidden = context.hides_queue();
        hidden
            || estimate::queues(transfer, context, rate, burst.until)
            || estimate::is_paced(transfer, context, rate, burst.until)
    });
    let mut shape = Shape {
        base: vec![LimitingFactor::CongestionAvoidance; rounds.len()],
        burst: late.map(|(_, burst)| burst),
        restarts: restarts(transfer, context),
        ..Shape::default()
    };
    shape.receiver_unread = is_unread(transfer, context);
    shape.inter_loss_rate = inter_loss_rate(transfer, context);
    let from = find_rate(&mut shape, transfer, context, late.map(|(rate, _)| rate));
    let passes = shape.steady.or(shape.inter_loss_rate.map(|between| between.rate));
    shape.overrun = passes.and_then(|rate| offered_load(transfer, context, rate));
    let lost = first_repair(transfer);
    mark_messages(transfer, context, &mut shape);
    mark_slow_start(&mut shape.base, transfer, context, &shape.restarts, lost);
    shape.lost_before = lost_before_capture(transfer);
    let mut at_rate = shape.steady.or(shape.written).map(|rate| filled(transfer, context, rate, from));
    let is_open = shape.written.is_none() && !shape.receiver_unread;
    if let Some(varying) = is_open.then(|| full_link(transfer, context)).flatten() {
        at_rate = Some(match (shape.steady, at_rate) {
            (Some(_), Some(filled)) => filled.iter().zip(&varying.full).map(|(one, two)| *one || *two).collect(),
            _ => varying.full,
        });
        shape.paced &= shape.steady.is_some();
        shape.varies = shape.steady.is_none();
        shape.steady = shape.steady.or(Some(varying.rate));
    }
    shape.plateau = mark_plateaus(&mut shape.base, transfer, context, at_rate.as_deref());
    // A last flight that nothing holds back costs its round trip and no more.
    if let Some(last) = shape.base.last_mut()
        && *last == LimitingFactor::CongestionAvoidance
        && lost == rounds.len()
    {
        *last = LimitingFactor::RoundTrip;
    }
    if let Some(at_rate) = at_rate {
        mark_rate(&mut shape, &at_rate);
    }
    shape
}

/// Finds the one rate that held the transfer, and whose it is. `late`: the rate after a burst.
/// Returns from when on.
fn find_rate(shape: &mut Shape, transfer: &TransferFacts, context: &Context, late: Option<f64>) -> Time {
    // Losses in a queue that is full go with the path's rate; with no queue they are a policer's.
    let full = shape.inter_loss_rate.filter(|between| between.queued).map(|between| between.rate);
    shape.steady = late
        .or_else(|| steady_rate(transfer).filter(|&rate| differs_from_a_window(transfer, context, rate)))
        .or(full)
        .or_else(|| estimate::clumped_rate(transfer, context));
    if shape.steady.is_none()
        && let Some((rate, since)) = estimate::after_losses(transfer, context)
    {
        (shape.steady, shape.since) = (Some(rate), Some(since));
    }
    let from = shape.burst.map(|burst| burst.until).or(shape.since).unwrap_or(transfer.start);
    if let Some(rate) = shape.steady {
        shape.written = Some(rate).filter(|&rate| estimate::program_rate(transfer, context, rate));
        shape.paced = shape.written.is_none() && estimate::is_paced(transfer, context, rate, from);
        let hidden = context.hides_queue();
        let is_shown = shape.paced || hidden || estimate::is_path_rate(transfer, context, rate, from);
        // A queue of the path and a receiver that is full of unread bytes exclude each other: one
        // of the two is slower.
        if shape.written.is_some() || !is_shown || shape.receiver_unread {
            (shape.steady, shape.burst, shape.since) = (None, None, None);
        }
    }
    from
}

/// The rate of the whole, if equal amounts of bytes took equal times all along, where segments
/// passed the capture point or where their ACKs did.
fn steady_rate(transfer: &TransferFacts) -> Option<f64> {
    [&transfer.acked_rate, &transfer.sent_rate].into_iter().find(|spread| steady(spread)).map(|spread| spread.p50)
}

/// A full window of the receiver makes one rate too. Where the windows are unknown, a rate is the
/// path's only if a queue stands.
fn differs_from_a_window(transfer: &TransferFacts, context: &Context, rate: f64) -> bool {
    transfer.rounds.iter().any(|round| round.window.is_some())
        || estimate::queues(transfer, context, rate, transfer.start)
}

fn steady(spread: &RateSpread) -> bool {
    spread.bins >= STEADY_BINS && alike_rates(spread.p10, spread.p90)
}

fn mark_messages(transfer: &TransferFacts, context: &Context, shape: &mut Shape) {
    let rounds = &transfer.rounds[..transfer.rounds.len().saturating_sub(1)];
    for (base, _) in shape.base.iter_mut().zip(rounds).filter(|(_, round)| is_message(round, transfer, context)) {
        *base = LimitingFactor::Application;
    }
}

/// Retransmissions whose first copies are not in the capture, too many for chance.
fn lost_before_capture(transfer: &TransferFacts) -> bool {
    let unseen = transfer.retransmitted.unseen_original;
    unseen >= 3 && unseen * 200 >= transfer.segments
}

/// For each round, whether it ran at the rate, or nearly.
fn filled(transfer: &TransferFacts, context: &Context, rate: f64, from: Time) -> Vec<bool> {
    let rounds = &transfer.rounds;
    let first = estimate::first_round(transfer, from);
    let is_filled = |index: usize| {
        let round = &rounds[index];
        let carries = |bytes: u64, end: Time| {
            let time = (end - round.start).as_secs_f64();
            // Retransmissions use a part of the path too.
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
        (Some(_), _) => LimitingFactor::Application,
        (None, true) => LimitingFactor::Pacing,
        (None, false) => LimitingFactor::Bandwidth,
    };
    for (index, full) in filled.iter().enumerate() {
        let follows = index + 1 == filled.len() && index > 0 && shape.base[index - 1] == limit;
        if *full || follows {
            shape.base[index] = limit;
        }
    }
}
