//! The quantities of a transfer's path that a capture shows, and those that it hides.

use crate::estimate::{Context, loss_episodes};
use crate::limit::Shape;
use whyslow_analysis::{HiddenReason, PathEstimate, PathEstimates};
use whyslow_core::tcp::facts::TransferFacts;
use whyslow_units::Nanos;

pub(super) fn path_estimates(transfer: &TransferFacts, shape: &Shape, context: &Context) -> PathEstimates {
    let known = |[low, value, high]: [f64; 3]| PathEstimate::Known {
        value,
        low,
        high,
        frames: [transfer.frames.0, transfer.frames.1],
    };
    let hidden = |reason| PathEstimate::Hidden { reason };
    let round_trip = context.rtt.map(|rtt| [rtt, rtt, rtt + context.epsilon].map(|trip| trip.as_millis_f64()));
    let at_all = match () {
        () if context.one_direction => Some(HiddenReason::OneDirection),
        () if context.elided => Some(HiddenReason::PacketsLeftOut),
        () => None,
    };
    PathEstimates {
        round_trip_ms: round_trip.map_or(hidden(at_all.unwrap_or_default()), known),
        queue_ms: match queue(transfer, context) {
            _ if at_all.is_some() => hidden(at_all.unwrap_or_default()),
            _ if context.encrypted => hidden(HiddenReason::Encrypted),
            _ if context.hides_queue() => hidden(HiddenReason::AtTheReceiver),
            Some(delays) => known(delays),
            None => hidden(HiddenReason::NoRoundTrip),
        },
        rate_bps: match shape.steady.filter(|_| !shape.paced) {
            _ if context.one_direction => hidden(HiddenReason::OneDirection),
            Some(rate) => {
                let spread = [&transfer.acked_rate, &transfer.sent_rate].into_iter().find(|spread| spread.bins > 0);
                known(spread.map_or([rate; 3], |spread| [spread.p10.min(rate), rate, spread.p90.max(rate)]))
            }
            None => hidden(HiddenReason::NeverFull),
        },
        loss_episodes: match context.rtt {
            _ if context.encrypted => hidden(HiddenReason::Encrypted),
            _ if at_all.is_some() => hidden(at_all.unwrap_or_default()),
            Some(rtt) => known([loss_episodes(&transfer.losses, rtt).len() as f64; 3]),
            None => hidden(HiddenReason::NoRoundTrip),
        },
    }
}

/// Minimum share of the rounds whose round trip must be known for what is usual: most of them.
const MOST: f64 = 0.5;
/// Minimum number of such rounds.
const FEWEST: usize = 3;

/// How much longer the rounds' round trips are than the path's, milliseconds: lower tenth, median
/// and upper tenth.
fn queue(transfer: &TransferFacts, context: &Context) -> Option<[f64; 3]> {
    let least = context.rtt?;
    let trips = (0..transfer.rounds.len()).filter_map(|index| context.round_trip(transfer, index));
    let mut delays: Vec<Nanos> = trips.map(|trip| (trip - least).or_zero()).collect();
    if delays.len() < FEWEST || (delays.len() as f64) < transfer.rounds.len() as f64 * MOST {
        return None;
    }
    delays.sort_unstable();
    let at = |share: f64| delays.get((delays.len() as f64 * share) as usize).map(|delay| delay.as_millis_f64());
    Some([at(0.1)?, at(0.5)?, at(0.9)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{context, flights};
    use crate::limit::attribute_time;
    use whyslow_core::tcp::facts::{Loss, RateSpread, Release};

    /// A link of 4.8 Mbit/s that is full, with a queue of 60 ms.
    fn full() -> TransferFacts {
        let mut transfer = flights(&[60_000; 20], Release::WindowAck);
        transfer.acked_rate = RateSpread { p10: 4.7e6, p50: 4.8e6, p90: 4.9e6, bins: 100 };
        transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
        transfer
    }

    fn estimates(transfer: &TransferFacts, context: &Context) -> PathEstimates {
        path_estimates(transfer, &attribute_time(transfer, context).shape, context)
    }

    #[test]
    fn full_link_shows_its_rate_and_queue() {
        let mut transfer = full();
        let at = |round: usize| transfer.rounds[round].start;
        transfer.losses = [at(3), at(3), at(9)].map(|time| Loss { time, ..Loss::default() }).into();
        let shown = estimates(&transfer, &context(40));
        assert_eq!(shown.round_trip_ms.value(), Some(40.0));
        assert_eq!(shown.queue_ms.value(), Some(60.0));
        assert!(matches!(shown.rate_bps, PathEstimate::Known { value: 4.8e6, low: 4.7e6, high: 4.9e6, .. }));
        assert_eq!(shown.loss_episodes.value(), Some(2.0));
    }

    #[test]
    fn hidden_quantities_have_their_reason() {
        let hidden = |estimate: PathEstimate| match estimate {
            PathEstimate::Hidden { reason } => Some(reason),
            PathEstimate::Known { .. } => None,
        };
        let slow = flights(&[10_000; 6], Release::Nothing);
        assert_eq!(hidden(estimates(&slow, &context(40)).rate_bps), Some(HiddenReason::NeverFull));
        let receiver = Context { near_receiver: true, has_timestamps: false, ..context(40) };
        assert_eq!(hidden(estimates(&full(), &receiver).queue_ms), Some(HiddenReason::AtTheReceiver));
        let quic = Context { encrypted: true, ..context(40) };
        assert_eq!(hidden(estimates(&full(), &quic).loss_episodes), Some(HiddenReason::Encrypted));
        let alone = Context { one_direction: true, rtt: None, ..context(40) };
        let shown = estimates(&full(), &alone);
        for estimate in [shown.round_trip_ms, shown.queue_ms, shown.rate_bps, shown.loss_episodes] {
            assert_eq!(hidden(estimate), Some(HiddenReason::OneDirection));
        }
    }
}
