//! The quantities of a path that a capture shows, in the units of sentences.

use super::{Lang, en, zh};
use whyslow_analysis::{HiddenReason, PathEstimate, PathEstimates};
use whyslow_units::Nanos;

/// A quantity that the capture shows.
pub(super) enum Shown {
    RoundTrip(Nanos),
    Queue { usual: Nanos, most: Nanos },
    NoQueue,
    Rate { bps: f64, low: f64, high: f64 },
    LossEpisodes(u64),
}

/// A quantity that it hides.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    RoundTrip,
    Queue,
    Rate,
    Losses,
}

/// A queue is worth its number if it adds this share of the round trip: less is within the accuracy
/// of a host's scheduling. Follows from the least queue that the analysis sees, 15 %.
const LEAST_QUEUE: f64 = 0.15;

/// What a capture shows of a transfer's path, and why it does not show the rest: one line without a
/// full stop.
pub fn path(of: &PathEstimates, lang: Lang) -> String {
    let mut shown = Vec::new();
    let mut hidden: Vec<(Vec<Quantity>, HiddenReason)> = Vec::new();
    let mut add = |quantity, estimate: PathEstimate, name: &dyn Fn([f64; 3]) -> Shown| match estimate {
        PathEstimate::Known { value, low, high, .. } => shown.push(name([low, value, high])),
        PathEstimate::Hidden { reason } => match hidden.iter_mut().find(|(_, known)| *known == reason) {
            Some((quantities, _)) => quantities.push(quantity),
            None => hidden.push((vec![quantity], reason)),
        },
    };
    let millis = |millis: f64| Nanos::from_secs_f64(millis / 1e3);
    let trip = of.round_trip_ms.value().unwrap_or_default();
    add(Quantity::RoundTrip, of.round_trip_ms, &|[_, value, _]| Shown::RoundTrip(millis(value)));
    add(Quantity::Queue, of.queue_ms, &|[_, usual, most]| match most < trip * LEAST_QUEUE {
        true => Shown::NoQueue,
        false => Shown::Queue { usual: millis(usual), most: millis(most) },
    });
    add(Quantity::Rate, of.rate_bps, &|[low, bps, high]| Shown::Rate { bps, low, high });
    add(Quantity::Losses, of.loss_episodes, &|[_, episodes, _]| Shown::LossEpisodes(episodes as u64));
    match lang {
        Lang::En => en::path(&shown, &hidden),
        Lang::Zh => zh::path(&shown, &hidden),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_analysis::Frame;

    #[test]
    fn path_line_names_what_is_shown_and_why_the_rest_is_not() {
        let known = |low, value, high| PathEstimate::Known { value, low, high, frames: [Frame::default(); 2] };
        let shown = PathEstimates {
            round_trip_ms: known(40.0, 40.0, 41.0),
            queue_ms: known(0.0, 12.0, 55.0),
            rate_bps: known(9.5e6, 9.6e6, 9.8e6),
            loss_episodes: known(2.0, 2.0, 2.0),
        };
        let hidden = PathEstimates {
            queue_ms: PathEstimate::Hidden { reason: HiddenReason::AtTheReceiver },
            rate_bps: PathEstimate::Hidden { reason: HiddenReason::NeverFull },
            loss_episodes: known(0.0, 0.0, 0.0),
            ..shown
        };
        let quiet = PathEstimates { queue_ms: known(0.0, 0.1, 0.4), ..shown };
        let nothing = PathEstimates::default();
        let lines: Vec<String> =
            [shown, hidden, quiet, nothing].iter().flat_map(|one| Lang::ALL.map(|lang| path(one, lang))).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
