//! Properties of the path that a transfer shows independent of its limits.

use super::context::Context;
use whyslow_core::tcp::facts::{RoundFacts, TransferFacts};
use whyslow_units::Nanos;

/// Error of a burst's length, from scheduling and interrupts. Half and twice change none of 2,061
/// captures.
const JITTER: Nanos = Nanos::from_micros(100);

/// Minimum number of segments of a burst after its first one. Follows from [`JITTER`]: at 100
/// Mbit/s six take 0.7 ms, so that it changes their rate by 14 % at most. Half and twice change 0
/// and 3 of 2,061 captures.
pub(crate) const BURST_SEGMENTS: u64 = 6;

/// A window with room for fewer segments counts as full (as for
/// [`receive-window`](whyslow_analysis::cause::Cause::ReceiveWindow)): an ACK for two may be on its
/// way (RFC 5681 section 4.2), and less than one is not sent (RFC 9293 section 3.8.6.2.1). Half and
/// twice change none of 2,061 captures.
const FULL_BUT: u64 = 3;

/// Largest first flight that a fix recommends, segments: larger ones cause losses on slow links and
/// a response far larger than a forged request (see `amplification-risk`). Rüth et al. 2018 found
/// 32 at large providers, and little above.
pub const LARGEST_INITIAL_WINDOW: u64 = 32;

/// A full link of this rate or more is healthy, payload bits per second: a line of 1 Gbit/s (IEEE
/// 802.3, https://www.ieee802.org/3/) carries 941 Mbit/s of full segments.
pub(crate) const LINE_RATE: f64 = 900e6;
/// Ethernet, IP and TCP headers with timestamps of a segment, bytes (RFC 7323 section 3.2): 14, 20
/// and 32.
pub(crate) const HEADERS: f64 = 66.0;
/// Segments that a new connection sends at once (RFC 6928).
pub const INITIAL_WINDOW: u64 = 10;

/// Round trips until `segments` are sent when the flight doubles each time (RFC 5681 section 3.1):
/// ⌈log2(segments / window + 1)⌉.
pub fn rounds_needed(segments: u64, window: u64) -> u32 {
    (segments.div_ceil(window.max(1)) + 1).next_power_of_two().trailing_zeros()
}

/// Index of the first round with a loss; the number of rounds if there is none.
pub fn first_lossy_flight(transfer: &TransferFacts) -> usize {
    let Some(place) = transfer.losses.iter().map(|loss| loss.seq).min() else { return transfer.rounds.len() };
    let mut sent = transfer.seq.0;
    let holds = |bytes: u64| {
        sent += bytes;
        sent > place
    };
    let mut rounds = transfer.rounds.iter().map(|round| round.bytes);
    rounds.position(holds).unwrap_or(transfer.rounds.len())
}

/// Rate of the path, payload bits per second: the rate within a flight that arrived as a burst,
/// which the narrowest link spaced. The densest burst counts, because a sender that waits can only
/// spread it. Short bursts are left out, as jitter distorts them, and so are those after a loss,
/// which retransmissions disturb. Next to the sender the ACKs of a full window are not used: they
/// come as the receiver reads, however fast the path is.
pub fn burst_rate(transfer: &TransferFacts, context: &Context) -> Option<f64> {
    let full = FULL_BUT * context.mss;
    let is_full = |round: &RoundFacts| round.window.is_some_and(|window| round.in_flight + full > window);
    densest(transfer, context, |round| context.near_receiver || !is_full(round))
}

/// The rate within the densest burst of these flights, if it is above the mean.
fn densest(transfer: &TransferFacts, context: &Context, counts: impl Fn(&RoundFacts) -> bool) -> Option<f64> {
    let rtt = context.rtt?;
    let mss = context.mss.max(1);
    // The first segment's bytes take no time; merged by offload they are several. An ACK is for two
    // at least.
    let frame = if context.near_receiver { transfer.bytes() / transfer.segments.max(1) } else { 2 * mss };
    let first = frame.max(mss);
    let bursts = transfer.rounds.iter().enumerate().take(first_lossy_flight(transfer)).filter_map(|(index, round)| {
        // Next to the sender, the path spreads the ACKs of a flight, and so the next flight; the
        // last flight is a remainder.
        let whole = context.near_receiver || index + 2 < transfer.rounds.len();
        let spread = if context.near_receiver { Some(round) } else { transfer.rounds.get(index + 1) };
        let took = spread.map(|spread| spread.last_send - spread.start)?;
        let is_burst = whole && round.merged == 1 && took > Nanos::ZERO && took < rtt.scale(0.5);
        (is_burst && counts(round) && round.bytes >= first + BURST_SEGMENTS * mss)
            .then(|| (rate_of(round.bytes - first, took + JITTER), rate_of(round.bytes - first, took)))
    });
    let mean = rate_of(transfer.bytes(), transfer.duration());
    bursts.max_by(|a, b| a.0.total_cmp(&b.0)).map(|burst| burst.1).filter(|rate| *rate > mean)
}

/// Minimum rate of the path, payload bits per second: its rate in a burst, within a round trip, or
/// on average.
pub fn least_rate(transfer: &TransferFacts, context: &Context) -> f64 {
    let mean = rate_of(transfer.bytes(), transfer.duration());
    let most = transfer.rounds.iter().filter(|round| round.merged == 1).map(|round| round.bytes).max();
    let within = most.zip(context.rtt).map(|(most, rtt)| rate_of(most, rtt));
    within.into_iter().chain(densest(transfer, context, |_| true)).fold(mean, f64::max)
}

/// Bits per second.
fn rate_of(bytes: u64, took: Nanos) -> f64 {
    bytes as f64 * 8.0 / took.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{context, flights};
    use whyslow_core::tcp::facts::Release;

    #[test]
    fn acks_of_a_full_window_give_no_path_rate() {
        let rate = |window: u64, near_receiver: bool| {
            let mut transfer = flights(&[20_000; 3], Release::Ack);
            transfer.segments = 60;
            for round in &mut transfer.rounds {
                round.last_send = round.start + Nanos::from_millis(18);
                round.window = Some(window);
            }
            let context = crate::estimate::Context { near_receiver, ..context(100) };
            let megabits = |rate: f64| (rate / 1e6).round();
            (burst_rate(&transfer, &context).map(megabits), megabits(least_rate(&transfer, &context)))
        };
        assert_eq!(rate(60_000, false).0, Some(8.0), "20 segments, their ACKs over 18 ms");
        assert_eq!(rate(21_000, false), (None, 8.0), "but it carries that at the least");
        assert_eq!(rate(21_000, true).0, Some(8.0), "it came so, whatever the receiver does then");
    }
}
