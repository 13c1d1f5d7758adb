//! `limit`: from TCP's facts to the limits of a transfer.
//!
//! Cuts a transfer's time, from its first byte sent to the ACK of its last, into spans of one
//! [`LimitingFactor`] each. Spans meet without gap or overlap, so their shares sum to 1. A long
//! pause is classified by the event that ended it; the rest of a round by the rounds around it
//! (`rounds`).

mod pauses;
mod phases;
mod plateau;
mod rounds;
mod slow_start;
mod span;
mod time_attribution;

pub(crate) use pauses::MIN_PROBE_TIMER;
pub use pauses::{DELAYED_ACK, MAX_DELAYED_ACK};
pub use phases::{handshake, login, phases_before, tls_handshake};
pub use plateau::Plateau;
pub use rounds::Shape;
pub use span::{Span, sum_by_limit, without_idle_end};
pub(crate) use span::{SpanCutter, merge_runs};
pub use time_attribution::{TimeAttribution, attribute_time};

use crate::estimate::{Context, burst_rate};
use whyslow_analysis::types::LimitingFactor;
use whyslow_core::tcp::facts::TransferFacts;

/// Rate of the path in payload bits per second, if the transfer shows it.
pub fn seen_rate(transfer: &TransferFacts, attribution: &TimeAttribution, context: &Context) -> Option<f64> {
    let held = attribution.time(LimitingFactor::Bandwidth).0.saturating_mul(MIN_HELD_SHARE) >= transfer.duration().0;
    attribution.shape.steady.filter(|_| held).or_else(|| burst_rate(transfer, context))
}

/// One part in this number of the time, or more, is limited by the path before the transfer shows
/// the path's rate. Half and twice change none of 2,061 captures.
const MIN_HELD_SHARE: i64 = 4;

#[cfg(test)]
pub(crate) mod tests;
