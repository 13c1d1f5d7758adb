//! Evidence for a policer.

use super::rule_input::TransferView;
use crate::estimate::{InterLossRate, MIN_POLICED_LOSSES, OfferedLoad};
use whyslow_analysis::LimitingFactor;
use whyslow_core::tcp::facts::TransferFacts;
use whyslow_units::Nanos;
use whyslow_units::stats::median;

/// Minimum number of rounds with losses (Flach et al. 2016, section 2.1).
const MIN_ROUNDS: usize = 3;

/// Latest place of the first loss, bytes (Flach et al. 2016, section 2.1).
const LATEST_FIRST: u64 = 2_000_000;

/// Minimum ratio of large flights to small ones: below it something else holds the sender at one
/// rate. CUBIC's own is 1 / 0.7 (RFC 9438 section 4.6). Half and twice the excess over 1 change 0
/// and 1 of 2,061 captures.
const SWING: f64 = 1.33;

/// Largest share of the time in which other limits hold the sender. Half and twice change none of
/// 2,061 captures.
const OTHERS: f64 = 0.3;

/// Minimum number of losses in a burst, median: random losses are more often single. Half and twice
/// the excess over 1 change none of 2,061 captures.
pub(super) const BURST: f64 = 1.5;

/// Minimum wait behind a link, in segments' time, median: half of the one that each segment takes.
/// Follows from the link's rate: the next segment waits for the one before it. Half and twice
/// change none of 2,061 captures.
const WAIT: f64 = 0.5;

/// Evidence for a policer.
#[derive(Clone, Copy)]
pub(super) enum PolicerSign {
    /// One rate between losses.
    Rate(InterLossRate),
    /// The excess was lost, and the rest did not wait.
    Excess(OfferedLoad),
    /// The excess was lost, and no link spaced the first flight; the queue is not visible here.
    Unspaced(OfferedLoad),
}

/// Whether the losses fit a policer; then the rest of the rules need not explain them.
pub(super) fn is_policed(view: &TransferView<'_>) -> bool {
    policer_sign(view).is_some()
}

pub(super) fn policer_sign(view: &TransferView<'_>) -> Option<PolicerSign> {
    let overrun = view.attribution.shape.overrun;
    if overrun.is_some_and(|overrun| overrun.is_queued()) {
        return None;
    }
    let excess = || {
        let overrun = overrun.filter(|_| held_by_others(view) <= OTHERS)?;
        let is_unspaced =
            view.context.hides_queue() && overrun.began_spaced == Some(false) && view.attribution.shape.burst.is_none();
        match overrun.passed_unqueued() {
            true => Some(PolicerSign::Excess(overrun)),
            false => is_unspaced.then_some(PolicerSign::Unspaced(overrun)),
        }
    };
    fitting_rate(view).map(PolicerSign::Rate).or_else(excess)
}

/// Share of the time under other limits.
fn held_by_others(view: &TransferView<'_>) -> f64 {
    let others = [
        LimitingFactor::ReceiveWindow,
        LimitingFactor::ZeroWindow,
        LimitingFactor::SenderCap,
        LimitingFactor::ProtocolWindow,
        LimitingFactor::Application,
        LimitingFactor::Pacing,
    ];
    // Flights that stand still between losses at the policed rate are not a limit of the sender:
    // CUBIC's window is flat there.
    let is_cap = |limit: &LimitingFactor| view.context.pooled_rate.is_none() || *limit != LimitingFactor::SenderCap;
    view.share(others.into_iter().filter(is_cap).map(|limit| view.time(limit)).sum())
}

fn fitting_rate(view: &TransferView<'_>) -> Option<InterLossRate> {
    let transfer = view.transfer;
    let between = view.attribution.shape.inter_loss_rate.filter(|between| !between.queued)?;
    let lossy = transfer.rounds.iter().filter(|round| round.retransmitted > 0).count();
    // The rate of all transfers of the connection applies to each.
    let pool = view.context.pooled_rate;
    let losses = pool.map_or(0, |pool| pool.losses).max(transfer.losses.len());
    if losses < MIN_POLICED_LOSSES || (lossy < MIN_ROUNDS && pool.is_none()) {
        return None;
    }
    let first = transfer.losses.iter().map(|loss| loss.seq).min()?;
    let late = pool.is_none() && first > transfer.seq.0 + LATEST_FIRST;
    // When losses were over, a queue stood.
    let stood = view.attribution.shape.since.is_some();
    // If packets pass at one rate at all times, a link may be full, and losses may be random.
    let full = view.attribution.shape.steady.is_some() && between.burst < BURST && !passes_freely(view, between.rate);
    (!late && !stood && !full && held_by_others(view) <= OTHERS && swings(view)).then_some(between)
}

/// Whether delivered segments do not wait, not even for the segment before, as they would on a link
/// of this rate.
fn passes_freely(view: &TransferView<'_>, rate: f64) -> bool {
    if view.context.hides_queue() {
        return false;
    }
    let Some(least) = view.context.rtt else { return false };
    let times = (0..view.transfer.rounds.len()).filter_map(|index| view.round_trip(index));
    let segment = Nanos::from_secs_f64(view.context.mss as f64 * 8.0 / rate.max(1.0));
    median(times.collect()).is_some_and(|typical| typical - least < segment.scale(WAIT))
}

/// Flights rise and fall, in this transfer or in an earlier one that met the same.
fn swings(view: &TransferView<'_>) -> bool {
    let earlier = view.earlier.iter().filter(|_| view.context.pooled_rate.is_some()).map(|(transfer, _)| *transfer);
    std::iter::once(view.transfer).chain(earlier).any(swing)
}

fn swing(transfer: &TransferFacts) -> bool {
    let mut flights: Vec<u64> =
        transfer.rounds.iter().map(|round| round.in_flight).filter(|&bytes| bytes > 0).collect();
    flights.sort_unstable();
    let at = |tenth: usize| flights.get(flights.len() * tenth / 10).copied().unwrap_or_default() as f64;
    at(9) >= SWING * at(1)
}
