//! The buffer that a transfer over this path needs.

use super::TransferView;
use crate::estimate;
use whyslow_analysis::{BufferNeed, RateSource, SizedBy};

/// Largest buffer that is recommended, bytes: a larger one costs every connection of the host
/// memory that few can use. Follows from 640 Mbit/s and 100 ms: twice their product. Half and twice
/// change none of 2,061 captures.
const MAX: u64 = 16 << 20;
/// Factor on the measured rate that sizes a buffer if the path's rate is unknown: a start, three
/// doublings above it. Half and twice change none of 2,061 captures.
const A_START: f64 = 8.0;

/// The buffer that a transfer over this path needs. The path's rate is the given one, or else that
/// of its bursts. `None` without a round trip.
pub(super) fn buffer_for(view: &TransferView<'_>) -> Option<BufferNeed> {
    let rtt = view.context.rtt?;
    // Next to the sender ACKs come together, and the segments that they release leave at the
    // sender's own rate.
    let near = view.context.near_receiver;
    let seen = estimate::burst_rate(view.transfer, &view.context).filter(|_| near);
    let (rate, source) = match (view.context.path_rate, seen) {
        (Some(given), _) => (given, RateSource::Given),
        (None, Some(best)) => (best, RateSource::Bursts),
        (None, None) => (A_START * view.rate(), RateSource::Guess),
    };
    let round = |bytes: u64| bytes.div_ceil(65_536).max(1) * 65_536;
    let full = round((2.0 * rate / 8.0 * rtt.as_secs_f64()) as u64);
    let all = round(2 * view.transfer.bytes());
    let bytes = full.min(all).min(MAX);
    let sized_by = match bytes {
        _ if bytes == full => SizedBy::BandwidthDelay,
        _ if bytes == all => SizedBy::Transfer,
        _ => SizedBy::Most,
    };
    Some(BufferNeed { bytes, rate_bps: rate, rate: source, sized_by, rtt_s: rtt })
}

#[cfg(test)]
mod tests;
