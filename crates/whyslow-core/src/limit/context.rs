//! What a partition needs besides the transfer.

use super::server_push::ServerPush;
use crate::tcp::facts::{Gap, Release, TransferFacts};
use crate::units::{Nanos, Time};

/// What a partition needs besides the transfer.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The MSS.
    pub mss: u64,
    /// Minimum RTT of the path.
    pub rtt: Option<Nanos>,
    /// What counts as "at once".
    pub epsilon: Nanos,
    /// Only one direction was captured.
    pub one_direction: bool,
    /// Packets were left out of a text capture.
    pub elided: bool,
    /// Acknowledgements, windows and losses are encrypted (QUIC).
    pub encrypted: bool,
    /// The capture point is nearer to the receiver than to the sender.
    pub near_receiver: bool,
    /// Both sides send timestamps.
    pub has_timestamps: bool,
    /// The capture point is next to the receiver.
    pub next_to_receiver: bool,
    /// A SYN was captured, so the first bytes captured are the first sent.
    pub opening_seen: bool,
    /// The sender's initial window, bytes, if it has shown one of less than four segments.
    pub small_window: Option<u64>,
    /// The sender's protocol announces lengths: HTTP, or TLS with any content.
    pub announces_length: bool,
    /// When this direction first retransmitted: the reduced window stays for later transfers.
    pub first_loss: Option<Time>,
    /// When a side may send without a request.
    pub(crate) server_push: ServerPush,
    /// What the path carries, payload bits per second, where somebody said so.
    pub path_rate: Option<f64>,
    /// The connection may carry only a part of a stream (Multipath TCP); the rest uses other
    /// subflows.
    pub is_multipath: bool,
    /// The rate between losses over all transfers of this direction, if it is one rate.
    pub pooled_rate: Option<PooledRate>,
}

impl Context {
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
        let within = transfer.gaps.partition_point(|gap| gap.end <= round.start);
        let mut pauses = transfer.gaps.iter().skip(within).take_while(|gap| gap.end <= next.start);
        // Rounds that nothing ended show the path only if data was in flight.
        let is_held = |gap: &Gap| match gap.release {
            Release::Ack | Release::WindowAck => gap.closed.is_some(),
            Release::Nothing => gap.app_limited || gap.idle || gap.peer_payload_at.is_some(),
            Release::WindowUpdate | Release::Peer | Release::Timer => true,
        };
        (round.retransmitted == 0 && !pauses.any(is_held)).then(|| next.start - round.start)
    }

    /// Returns whether ACKs kept coming in a round, as they do from a link with a queue. A sender
    /// that waits for long leaves the link idle meanwhile: however long the round trip is, it is
    /// the path's own, which may have become longer.
    pub(super) fn is_clocked(&self, transfer: &TransferFacts, index: usize) -> bool {
        let rounds = &transfer.rounds;
        let Some(round) = rounds.get(index) else { return false };
        let end = rounds.get(index + 1).map_or(transfer.last_send, |next| next.start);
        let length = (end - round.start).or_zero();
        let long = length.scale(LONG_PAUSE_SEGMENTS * self.mss as f64 / round.bytes.max(1) as f64);
        let within = transfer.gaps.partition_point(|gap| gap.end <= round.start);
        let pauses = transfer.gaps.iter().skip(within).take_while(|gap| gap.start < end);
        let idle: Nanos =
            pauses.map(|gap| gap.end.min(end) - gap.start.max(round.start)).filter(|time| *time > long).sum();
        length > Nanos::ZERO && idle < length.scale(IDLE_SHARE)
    }

    /// Returns whether at least half of a round's flight stood in a queue.
    pub fn stands_in_queue(&self, transfer: &TransferFacts, index: usize) -> bool {
        let least = self.rtt.map(|rtt| rtt.scale(QUEUED_FACTOR).max(rtt + MIN_QUEUE));
        self.round_trip(transfer, index).zip(least).is_some_and(|(trip, least)| trip >= least)
            && self.is_clocked(transfer, index)
    }
}

/// A pause as long as so many segments take at the rate of the round is none that a queue makes:
/// ACKs are for two segments, and radio links bring a few of them at once.
const LONG_PAUSE_SEGMENTS: f64 = 8.0;
/// Of a round, what such pauses take where the link is idle.
const IDLE_SHARE: f64 = 0.25;

/// At this multiple of the path's RTT at least half of the window stands in a queue, …
const QUEUED_FACTOR: f64 = 2.0;

/// … if it is longer by more than host scheduling adds.
const MIN_QUEUE: Nanos = Nanos::from_millis(10);

/// What passed between the losses of all transfers of a connection, if that is one rate: the path
/// is the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PooledRate {
    /// Lower tenth, median and upper tenth of the rates, payload bits per second.
    pub(super) rates: [f64; 3],
    /// How many stretches there are.
    pub(super) stretches: usize,
    /// Segments lost in all of them.
    pub losses: usize,
    /// Round trips were longer than the path needs when something was lost.
    pub queued: bool,
}
