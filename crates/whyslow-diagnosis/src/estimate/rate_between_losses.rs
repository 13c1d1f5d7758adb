//! The rate between losses. A full queue, or a policer without tokens, drops packets above its
//! rate, so that exactly its rate passes between two losses, whatever the sender's window does.
//! Random losses cut the time into intervals of any rate.

use super::context::{Context, PooledRate};
use super::loss_episodes::{is_new_episode, loss_episodes, median_size};
use whyslow_core::tcp::facts::{Loss, TransferFacts};
use whyslow_units::stats::median;
use whyslow_units::{Nanos, Time};

/// Minimum number of intervals between losses: a median with two on each side. Half and twice
/// change 0 and 1 of 2,061 captures.
const MIN_STRETCHES: usize = 5;
/// Minimum number of segments in each. Follows from [`ABOVE_MEDIAN`]: an end of an interval is
/// known to a segment, so that its rate is known to a tenth. Half and twice change none of 2,061
/// captures.
const MIN_SEGMENTS: u64 = 20;
/// Largest share of the total time that one interval may take. Follows from [`MIN_STRETCHES`]:
/// twice the mean share of five. Half and twice change 1 and 0 of 2,061 captures.
const MAX_STRETCH_SHARE: f64 = 0.4;
/// Minimum number of losses: half of those that Flach et al. 2016 (section 2.1) ask for, as one
/// rate between them is a stricter test than theirs. Half and twice change 0 and 1 of 2,061
/// captures.
const MIN_LOSSES: usize = 8;
/// Minimum number of intervals over all transfers of a connection. Follows from [`MIN_STRETCHES`]:
/// twice as many, because each transfer's sender may have left some rate unused.
const MIN_POOLED_STRETCHES: usize = 2 * MIN_STRETCHES;
/// Minimum number of losses of a transfer if others of the connection show the rate: two intervals
/// between them. Half and twice change none of 2,061 captures.
const FEW_LOSSES: usize = 3;
/// Rates are equal if the upper tenth is at most this far above the median: nothing makes an
/// interval faster than the policed rate. Follows from [`MIN_SEGMENTS`]: two ends of 20 segments,
/// each known to one. Half and twice the excess over 1 change none of 2,061 captures.
pub(crate) const ABOVE_MEDIAN: f64 = 1.12;
/// Rates are equal if the median is at most this far above the lower tenth: overflowing tokens and
/// empty queues make intervals slower. Half and twice the excess over 1 change none of 2,061
/// captures.
pub(crate) const BELOW_MEDIAN: f64 = 1.3;
/// Round trips at losses above this multiple of the minimum show a queue (Flach et al. 2016,
/// section 2.1).
pub(crate) const INFLATED_RTT: f64 = 1.3;
/// Rounds before a loss that are searched for a round trip: recovery takes one or two without a
/// sample (RFC 6675, Karn's algorithm in RFC 6298 section 3). Half and twice change none of 2,061
/// captures.
const BEFORE: usize = 3;

/// A single rate between losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterLossRate {
    /// Payload bits per second: median over the intervals, with tenths.
    pub rate: f64,
    /// A tenth of the stretches were slower.
    pub low: f64,
    /// A tenth of them were faster.
    pub high: f64,
    /// Number of stretches.
    pub stretches: usize,
    /// Losses in one burst, median: slow start overruns a path by as much as is in flight, whatever
    /// is lost later.
    pub burst: f64,
    /// The rate is that of other transfers too, and this one has too few losses to show it alone.
    pub by_others: bool,
    /// Round trips were longer than the path needs when something was lost.
    pub queued: bool,
}

/// See [`PooledRate`]; `None` if only one transfer had losses.
pub(crate) fn pooled_rate(transfers: &[TransferFacts], context: &Context) -> Option<PooledRate> {
    let rtt = context.rtt?;
    let lossy = || transfers.iter().filter(|transfer| !transfer.losses.is_empty());
    let losses: usize = lossy().map(|transfer| transfer.losses.len()).sum();
    if losses < MIN_LOSSES || lossy().count() < 2 {
        return None;
    }
    let all = |strict| as_one_rate(lossy().flat_map(|t| rates(&in_order(t), context.mss, rtt, strict)).collect());
    let (stretches, rates) = all(true).or_else(|| all(false)).filter(|&(number, _)| number >= MIN_POOLED_STRETCHES)?;
    let queued = are_long(lossy().flat_map(|transfer| rtts_before_losses(transfer, context)).collect(), rtt);
    Some(PooledRate { rates, stretches, losses, queued })
}

fn in_order(transfer: &TransferFacts) -> Vec<Loss> {
    let mut losses = transfer.losses.clone();
    losses.sort_unstable_by_key(|loss| (loss.time, loss.seq));
    losses
}

/// Rates between losses, and the length of each interval.
fn rates(losses: &[Loss], mss: u64, rtt: Nanos, strict: bool) -> Vec<(f64, Nanos)> {
    // Next to the receiver, where the end of a flight is missing, it is not known when the next
    // segment was lost: at that end, or at the head of the next flight. Either such losses are left
    // out, or, when all was well before, room ran out at the end.
    let seen = |loss: &Loss| loss.until - loss.time <= rtt.scale(0.25);
    let ends = |loss: &Loss, since| is_new_episode(since, rtt) && (seen(loss) || (!strict && since > rtt.scale(1.5)));
    stretches(losses, MIN_SEGMENTS * mss, ends)
}

/// Returns the rate at which bytes passed between losses, if it is one rate.
pub(crate) fn inter_loss_rate(transfer: &TransferFacts, context: &Context) -> Option<InterLossRate> {
    let rtt = context.rtt?;
    if transfer.losses.len() < if context.pooled_rate.is_some() { FEW_LOSSES } else { MIN_LOSSES } {
        return None;
    }
    let losses = in_order(transfer);
    let own = |strict| rates(&losses, context.mss, rtt, strict);
    let one = as_one_rate(own(true)).or_else(|| as_one_rate(own(false))).filter(|_| losses.len() >= MIN_LOSSES);
    let by_others = one.is_none();
    let (stretches, [low, rate, high]) = one.or_else(|| {
        let pool = context.pooled_rate?;
        is_of(&pool, own(false), &losses, context.mss).then_some((pool.stretches, pool.rates))
    })?;
    let all = (0..transfer.rounds.len()).filter_map(|index| context.round_trip(transfer, index)).collect();
    let queued = are_long(rtts_before_losses(transfer, context), rtt)
        || are_long(all, rtt)
        || context.pooled_rate.is_some_and(|pool| pool.queued);
    Some(InterLossRate {
        rate,
        low,
        high,
        stretches,
        burst: median_size(&loss_episodes(&losses, rtt)),
        by_others,
        queued,
    })
}

/// Returns whether the intervals of one transfer agree with those of all.
fn is_of(pool: &PooledRate, mut own: Vec<(f64, Nanos)>, losses: &[Loss], mss: u64) -> bool {
    if own.is_empty() {
        own = stretches(losses, MIN_SEGMENTS * mss, |loss, _| {
            Some(loss) == losses.first() || Some(loss) == losses.last()
        });
    }
    own.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
    let [_, rate, _] = pool.rates;
    !own.is_empty() && {
        let middle = tenths(&own, |time| time.as_secs_f64())[1];
        middle <= ABOVE_MEDIAN * rate && rate <= BELOW_MEDIAN * middle
    }
}

/// Rates and lengths of the stretches between losses that `ends` accepts (it gets the time since
/// the previous loss), each of `least` bytes or more.
fn stretches(losses: &[Loss], least: u64, ends: impl Fn(&Loss, Nanos) -> bool) -> Vec<(f64, Nanos)> {
    let (mut rates, mut from, mut lost) = (Vec::new(), None::<Loss>, 0);
    let mut last = Time::MIN;
    for loss in losses {
        let end = ends(loss, loss.time - last);
        last = loss.time;
        if let Some(begin) = from.filter(|_| end) {
            let passed = loss.passed_before.saturating_sub(begin.passed_before).saturating_sub(lost);
            let time = loss.time - begin.time;
            if passed >= least && time > Nanos::ZERO {
                rates.push((passed as f64 * 8.0 / time.as_secs_f64(), time));
                from = None;
            }
        }
        if from.is_none() && end {
            (from, lost) = (Some(*loss), 0);
        }
        // Captured before it was lost, it did not pass.
        lost += if loss.unseen { 0 } else { loss.bytes };
    }
    rates
}

/// How many rates there are, and their lower tenth, median and upper tenth, if they are one.
fn as_one_rate(mut rates: Vec<(f64, Nanos)>) -> Option<(usize, [f64; 3])> {
    if rates.len() < MIN_STRETCHES {
        return None;
    }
    rates.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
    // Equal weight for each stretch; or else weight by time, because losses come in clumps, so that
    // the ends of a short stretch are uncertain. One long stretch remains one sample, whatever the
    // others are.
    let whole: Nanos = rates.iter().map(|&(_, time)| time).sum();
    let long = rates.iter().any(|&(_, time)| time > whole.scale(MAX_STRETCH_SHARE));
    let found = tenths(&rates, |_| 1.0);
    let by_time = || tenths(&rates, |time| time.as_secs_f64());
    let is_one = |[low, rate, high]: &[f64; 3]| *high <= ABOVE_MEDIAN * rate && *rate <= BELOW_MEDIAN * low;
    let found = Some(found).filter(is_one).or_else(|| Some(by_time()).filter(|found| !long && is_one(found)))?;
    Some((rates.len(), found))
}

/// The lower tenth, the median and the upper tenth of sorted rates, weighted by `weigh` of their
/// times.
fn tenths(rates: &[(f64, Nanos)], weigh: impl Fn(Nanos) -> f64) -> [f64; 3] {
    let whole: f64 = rates.iter().map(|&(_, time)| weigh(time)).sum();
    [0.1, 0.5, 0.9].map(|share| {
        let mut passed = 0.0;
        let place = rates.iter().position(|&(_, time)| {
            passed += weigh(time);
            passed > share * whole
        });
        rates[place.unwrap_or(rates.len() - 1)].0
    })
}

/// Round trips when something was lost: those of the last round before that has one, as in the
/// lossy round itself there are few samples (Karn).
fn rtts_before_losses(transfer: &TransferFacts, context: &Context) -> Vec<Nanos> {
    let rounds = &transfer.rounds;
    let mut times = Vec::new();
    for index in 1..rounds.len() {
        if rounds[index].retransmitted > 0 && rounds[index - 1].retransmitted == 0 {
            let before = (index.saturating_sub(BEFORE)..index).rev();
            times.extend(before.filter_map(|index| context.round_trip(transfer, index)).next());
        }
    }
    times
}

/// Returns whether these RTTs are usually longer than the minimum.
fn are_long(times: Vec<Nanos>, least: Nanos) -> bool {
    median(times).is_some_and(|typical| typical > least.scale(INFLATED_RTT) + Nanos::from_millis(1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::estimate::synthetic_transfer::MSS;
    use whyslow_core::tcp::facts::RoundFacts;

    fn context() -> Context {
        crate::estimate::synthetic_transfer::context(20)
    }

    /// Two losses at each of these times, in milliseconds, after that number of segments.
    fn lossy(points: &[(i64, u64)]) -> TransferFacts {
        let mut transfer = TransferFacts::default();
        for (nth, &(ms, segments)) in points.iter().enumerate() {
            for again in 0..2 {
                let time = Time::from_millis(ms);
                // Segments that were lost later had passed the capture point too.
                let sent = (segments + 2 * nth as u64 + again) * MSS;
                transfer.losses.push(Loss {
                    time,
                    until: time,
                    seq: segments * MSS,
                    bytes: MSS,
                    passed_before: sent,
                    unseen: false,
                    spurious: false,
                });
            }
        }
        transfer
    }

    #[test]
    fn token_bucket_has_one_rate_between_losses() {
        // Stretches of very different lengths, a segment a millisecond in each.
        let transfer = lossy(&[(100, 130), (130, 160), (250, 280), (300, 330), (700, 730), (760, 790), (1_200, 1_230)]);
        let found = inter_loss_rate(&transfer, &context()).unwrap();
        assert_eq!((found.stretches, found.burst, found.queued), (6, 2.0, false));
        assert!((found.rate - 8e6).abs() < 8e4, "{found:?}");
    }

    #[test]
    fn short_stretch_has_little_weight() {
        // Where the first three end is known to ten segments or so; the long ones agree.
        let transfer = lossy(&[
            (100, 130),
            (130, 170),
            (160, 190),
            (190, 240),
            (690, 740),
            (1_190, 1_240),
            (1_690, 1_740),
            (2_190, 2_240),
        ]);
        let found = inter_loss_rate(&transfer, &context()).unwrap();
        assert!((found.rate - 8e6).abs() < 8e4 && found.stretches == 7, "{found:?}");
    }

    #[test]
    fn long_stretch_is_one_sample() {
        let transfer = lossy(&[(100, 130), (130, 170), (160, 190), (190, 240), (220, 285), (250, 325), (5_000, 5_075)]);
        assert_eq!(inter_loss_rate(&transfer, &context()), None);
    }

    #[test]
    fn random_losses_have_no_single_rate() {
        let transfer = lossy(&[(100, 130), (130, 190), (250, 280), (300, 360), (700, 630), (760, 790), (1_200, 1_230)]);
        assert_eq!(inter_loss_rate(&transfer, &context()), None);
    }

    #[test]
    fn pooled_rate_applies_to_each_transfer() {
        let long = [(100, 130), (130, 160), (250, 280), (300, 330), (700, 730), (760, 790), (1_200, 1_230)];
        let short = lossy(&[(100, 130), (700, 735)]);
        assert_eq!(inter_loss_rate(&short, &context()), None);
        let all = [lossy(&long), lossy(&long), short.clone()];
        assert_eq!(pooled_rate(&all[1..], &context()), None, "too few stretches");
        let pooled = Context { pooled_rate: pooled_rate(&all, &context()), ..context() };
        let found = inter_loss_rate(&short, &pooled).unwrap();
        assert!(found.by_others && (found.rate - 8e6).abs() < 8e4, "{found:?}");
        assert_eq!(inter_loss_rate(&lossy(&[(100, 130), (700, 330)]), &pooled), None, "its own rate is another");
        // Round trips that are long in most of them are a queue's.
        let mut queued = all;
        for transfer in &mut queued {
            let round = |n: i64| RoundFacts {
                start: Time::from_millis(60 * n),
                rtt: Some(Nanos::from_millis(60)),
                retransmitted: u32::from(n % 4 == 3),
                merged: 1,
                ..RoundFacts::default()
            };
            transfer.rounds = (0..20).map(round).collect();
        }
        assert!(pooled_rate(&queued, &context()).unwrap().queued);
    }

    #[test]
    fn slow_start_overshoot_is_not_the_typical_burst() {
        let at = |ms: i64| Loss { time: Time::from_millis(ms), ..Loss::default() };
        let mut losses = vec![at(0); 200];
        losses.extend([at(100), at(200), at(300), at(301)]);
        assert_eq!(median_size(&loss_episodes(&losses, Nanos::from_millis(20))), 1.5);
    }

    #[test]
    fn long_round_trips_before_losses_show_a_queue() {
        let mut transfer =
            lossy(&[(100, 130), (130, 160), (250, 280), (300, 330), (700, 730), (760, 790), (1_200, 1_230)]);
        transfer.rounds = (0..20)
            .map(|n| RoundFacts {
                start: Time::from_millis(60 * n),
                rtt: Some(Nanos::from_millis(60)),
                retransmitted: u32::from(n % 4 == 3),
                merged: 1,
                ..RoundFacts::default()
            })
            .collect();
        assert!(inter_loss_rate(&transfer, &context()).unwrap().queued);
    }
}
