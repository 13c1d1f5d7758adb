//! Whether a queue of the path holds a flight: the one definition of a queue that is seen, and of
//! one that stands.
//!
//! A segment that waits in a queue comes back later than the path alone takes. Next to the receiver
//! ACKs leave at once whatever a queue does; there the length of a round is its round trip.

use super::context::Context;
use std::ops::Range;
use whyslow_core::tcp::facts::{Release, SendPause, TransferFacts};
use whyslow_units::Nanos;
use whyslow_units::stats::median;

/// A queue is seen if a round trip exceeds the path's by this factor and by [`MIN_SEEN`]. Measured
/// on paths that only delay, of 20 to 100 ms: the median round trip is at most 1 % above the
/// minimum (`rtt_ms` of
/// `samples/{application,receive-window,sender-cap,slow-start,zero-window}-*`). Half and twice the
/// excess over 1 change 6 and 1 of 2,061 captures.
const SEEN_FACTOR: f64 = 1.15;
/// Minimum queue, added by late timestamps of a capture and the clocks of hosts on short paths.
/// Half and twice change none of 2,061 captures.
const MIN_SEEN: Nanos = Nanos::from_millis(1);

/// A queue stands if a round trip is this multiple of the path's: at least half of the flight is
/// then in it, by Little's law, …
const STANDING_FACTOR: f64 = 2.0;
/// … and longer by more than host scheduling: a tick of Linux at `CONFIG_HZ=100`. Half and twice
/// change 0 and 1 of 2,061 captures.
const MIN_STANDING: Nanos = Nanos::from_millis(10);

/// The link is idle in a pause longer than this many segments' time at the round's rate: ACKs are
/// for two segments (RFC 9293 section 3.8.6.3), and radio links deliver a few ACKs at once. Half
/// and twice change 3 and 5 of 2,061 captures.
const LONG_PAUSE_SEGMENTS: f64 = 8.0;
/// Share of a round that such pauses take if the link is idle. Measured on 38 emulated runs: with
/// it 66 of 76 captures are right. Half and twice change none of 2,061 captures.
const IDLE_SHARE: f64 = 0.25;

/// The least round trip that shows a queue, on a path of this round trip.
pub fn queued_rtt(least: Nanos) -> Nanos {
    least.scale(SEEN_FACTOR) + MIN_SEEN
}

impl Context {
    /// Returns whether a queue would not show: next to the receiver, where ACKs leave at once
    /// whatever a queue does, only echoed timestamps show when the sender got them.
    pub fn hides_queue(&self) -> bool {
        self.near_receiver && !self.has_timestamps
    }

    /// Returns the RTT of a round. Next to the receiver ACKs come at once whatever a queue does,
    /// and the length of the round is its RTT, unless a repair, a program or a closed window
    /// prolonged it.
    pub fn round_trip(&self, transfer: &TransferFacts, index: usize) -> Option<Nanos> {
        let rounds = &transfer.rounds;
        let round = rounds.get(index).filter(|round| round.merged == 1)?;
        if !self.near_receiver {
            return round.rtt;
        }
        let next = rounds.get(index + 1)?;
        let within = transfer.pauses.partition_point(|gap| gap.end <= round.start);
        let mut pauses = transfer.pauses.iter().skip(within).take_while(|gap| gap.end <= next.start);
        // Rounds that nothing ended show the path only if data was in flight.
        let is_held = |gap: &SendPause| match gap.release {
            Release::Ack | Release::WindowAck => gap.closed.is_some(),
            Release::Nothing => gap.app_limited || gap.idle || gap.peer_payload_at.is_some(),
            Release::WindowUpdate | Release::Peer | Release::Timer => true,
        };
        (round.retransmitted == 0 && !pauses.any(is_held)).then(|| next.start - round.start)
    }

    /// Returns whether a queue is seen in a round: even its quickest segment took longer than the
    /// path alone.
    pub fn sees_queue(&self, transfer: &TransferFacts, index: usize) -> bool {
        let trip = self.round_trip(transfer, index);
        trip.zip(self.rtt).is_some_and(|(trip, least)| trip > queued_rtt(least))
    }

    /// Returns whether a queue is usually seen in these rounds: their median round trip is longer
    /// than the path's.
    pub fn usually_sees_queue(&self, transfer: &TransferFacts, rounds: Range<usize>) -> bool {
        let trips = rounds.filter_map(|index| self.round_trip(transfer, index)).collect();
        self.rtt.zip(median(trips)).is_some_and(|(least, typical)| typical > queued_rtt(least))
    }

    /// Returns whether a queue stands in a round: at least half of its flight is in it, and ACKs
    /// keep coming.
    pub fn stands_in_queue(&self, transfer: &TransferFacts, index: usize) -> bool {
        let least = self.rtt.map(|rtt| rtt.scale(STANDING_FACTOR).max(rtt + MIN_STANDING));
        self.round_trip(transfer, index).zip(least).is_some_and(|(trip, least)| trip >= least)
            && self.is_clocked(transfer, index)
    }

    /// Returns whether ACKs kept coming in a round, as they do from a link with a queue. A sender
    /// that waits for long leaves the link idle: however long the round trip is, it is then the
    /// path's own, which may have become longer.
    pub(crate) fn is_clocked(&self, transfer: &TransferFacts, index: usize) -> bool {
        let rounds = &transfer.rounds;
        let Some(round) = rounds.get(index) else { return false };
        let end = rounds.get(index + 1).map_or(transfer.last_send, |next| next.start);
        let length = (end - round.start).or_zero();
        let long = length.scale(LONG_PAUSE_SEGMENTS * self.mss as f64 / round.bytes.max(1) as f64);
        let within = transfer.pauses.partition_point(|gap| gap.end <= round.start);
        let pauses = transfer.pauses.iter().skip(within).take_while(|gap| gap.start < end);
        let idle: Nanos =
            pauses.map(|gap| gap.end.min(end) - gap.start.max(round.start)).filter(|time| *time > long).sum();
        length > Nanos::ZERO && idle < length.scale(IDLE_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{context, flights};

    /// Rounds of these round trips, milliseconds, on a path of 40 ms.
    fn rounds(trips: &[i64]) -> TransferFacts {
        let mut transfer = flights(&vec![60_000; trips.len()], Release::Ack);
        transfer.pauses.clear();
        for (round, &trip) in transfer.rounds.iter_mut().zip(trips) {
            round.rtt = Some(Nanos::from_millis(trip));
        }
        transfer
    }

    #[test]
    fn queue_is_seen_before_it_stands() {
        let (path, transfer) = (context(40), rounds(&[40, 46, 50, 79, 80, 40]));
        let seen: Vec<bool> = (0..5).map(|index| path.sees_queue(&transfer, index)).collect();
        let stands: Vec<bool> = (0..5).map(|index| path.stands_in_queue(&transfer, index)).collect();
        assert_eq!(seen, [false, false, true, true, true]);
        assert_eq!(stands, [false, false, false, false, true]);
    }

    #[test]
    fn single_long_round_trip_is_not_usually_a_queue() {
        assert!(!context(40).usually_sees_queue(&rounds(&[40, 41, 200, 40, 40]), 0..5));
        assert!(context(40).usually_sees_queue(&rounds(&[40, 90, 200, 80, 70]), 0..5));
    }

    #[test]
    fn few_milliseconds_of_a_host_are_not_a_standing_queue() {
        assert!(!context(2).stands_in_queue(&rounds(&[9, 2]), 0));
        assert!(context(2).stands_in_queue(&rounds(&[13, 2]), 0));
    }
}
