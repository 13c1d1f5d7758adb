//! Losses that came together: the one definition of an episode.

use whyslow_core::tcp::facts::Loss;
use whyslow_units::{Nanos, Time};

/// Losses within a round trip of each other: one event for TCP, which lowers its window once for
/// all of them (RFC 5681 section 3.2, RFC 6675 section 5, RFC 9002 section 7.3.2), and one for a
/// queue that overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossEpisode {
    /// Sequence number of its first loss.
    pub seq: u64,
    /// When its last segment was lost.
    pub last: Time,
    /// How many were.
    pub segments: u64,
}

/// Returns whether a loss belongs to another episode than the one before it, which was lost `since`
/// then.
pub fn is_new_episode(since: Nanos, rtt: Nanos) -> bool {
    since > rtt
}

/// The episodes of these losses, in time order.
pub fn loss_episodes(losses: &[Loss], rtt: Nanos) -> Vec<LossEpisode> {
    let mut lost: Vec<(Time, u64)> = losses.iter().map(|loss| (loss.time, loss.seq)).collect();
    lost.sort_unstable();
    let mut episodes: Vec<LossEpisode> = Vec::new();
    for (time, seq) in lost {
        match episodes.last_mut() {
            Some(open) if !is_new_episode(time - open.last, rtt) => {
                (open.last, open.segments) = (time, open.segments + 1)
            }
            _ => episodes.push(LossEpisode { seq, last: time, segments: 1 }),
        }
    }
    episodes
}

/// Segments of an episode, on average.
pub fn mean_size(episodes: &[LossEpisode]) -> f64 {
    let segments: u64 = episodes.iter().map(|episode| episode.segments).sum();
    segments as f64 / episodes.len().max(1) as f64
}

/// Segments of a typical episode: slow start overruns a path by as much as is in flight, whatever
/// is lost later.
pub fn median_size(episodes: &[LossEpisode]) -> f64 {
    let mut sizes: Vec<u64> = episodes.iter().map(|episode| episode.segments).collect();
    sizes.sort_unstable();
    let (low, high) = (sizes.len().saturating_sub(1) / 2, sizes.len() / 2);
    sizes.get(low).zip(sizes.get(high)).map_or(0.0, |(low, high)| (low + high) as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(at: &[i64]) -> Vec<Loss> {
        at.iter().map(|&at| Loss { time: Time::from_millis(at), seq: at.unsigned_abs(), ..Loss::default() }).collect()
    }

    #[test]
    fn losses_within_a_round_trip_of_each_other_are_one_episode() {
        let episodes = loss_episodes(&lost(&[250, 0, 30, 60, 400]), Nanos::from_millis(40));
        let sizes: Vec<u64> = episodes.iter().map(|episode| episode.segments).collect();
        assert_eq!(sizes, [3, 1, 1]);
        assert_eq!((episodes[0].seq, episodes[0].last), (0, Time::from_millis(60)));
        assert_eq!((mean_size(&episodes), median_size(&episodes)), (5.0 / 3.0, 1.0));
    }

    #[test]
    fn transfer_without_losses_has_no_episode() {
        assert_eq!(loss_episodes(&[], Nanos::from_millis(40)), []);
        assert_eq!((mean_size(&[]), median_size(&[])), (0.0, 0.0));
    }
}
