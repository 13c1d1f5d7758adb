//! What a partition needs to know beside the transfer itself.

use super::server_push::ServerPush;
use crate::tcp::facts::{Gap, Release, TransferFacts};
use crate::units::Nanos;

/// What a partition needs to know beside the transfer itself.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Segment size.
    pub mss: u64,
    /// Least round trip of the path.
    pub rtt: Option<Nanos>,
    /// What counts as "at once".
    pub epsilon: Nanos,
    /// Only this direction, or only the other, was captured.
    pub one_direction: bool,
    /// Packets of the connection were left out of a text.
    pub elided: bool,
    /// The capture stands nearer to the receiver than to the sender.
    pub near_receiver: bool,
    /// Both sides send timestamps.
    pub has_timestamps: bool,
    /// It stands at the receiver.
    pub next_to_receiver: bool,
    /// A SYN was captured: what comes first is what was sent first.
    pub opening_seen: bool,
    /// A window of less than four segments that the sender has shown to begin with, bytes.
    pub small_window: Option<u64>,
    /// The sender's payload is of a protocol that announces what is to come: HTTP, or TLS with
    /// whatever is in it.
    pub announces_length: bool,
    /// When something of this direction was first sent again: the window that this left goes on in
    /// later transfers.
    pub first_loss: Option<Nanos>,
    /// What either side says may be no answer.
    pub(crate) server_push: ServerPush,
    /// What the path carries, payload bits per second, where somebody said so.
    pub path_rate: Option<f64>,
    /// The connection may carry but a part of a stream (Multipath TCP): what it does not carry goes
    /// over another.
    pub is_multipath: bool,
    /// What passed between the losses of all transfers of this direction, if that is one rate.
    pub pooled_rate: Option<PooledRate>,
}

impl Context {
    /// How long the round trip of a round was. Next to the receiver ACKs come at once whatever a
    /// queue does, and the round's own length is the round trip, unless something was repaired in
    /// it, or a program or a closed window held it up.
    pub fn round_trip(&self, transfer: &TransferFacts, index: usize) -> Option<Nanos> {
        let rounds = &transfer.rounds;
        let round = rounds.get(index).filter(|round| round.merged == 1)?;
        if !self.near_receiver {
            return round.rtt;
        }
        let next = rounds.get(index + 1)?;
        let within = transfer.gaps.partition_point(|gap| gap.end <= round.start);
        let mut pauses = transfer.gaps.iter().skip(within).take_while(|gap| gap.end <= next.start);
        // Those that nothing ended are the path's own only where data was on its way.
        let is_held = |gap: &Gap| match gap.release {
            Release::Ack | Release::WindowAck => gap.closed.is_some(),
            Release::Nothing => gap.app_limited || gap.idle || gap.peer_payload_at.is_some(),
            Release::WindowUpdate | Release::Peer | Release::Timer => true,
        };
        (round.retransmitted == 0 && !pauses.any(is_held)).then(|| next.start - round.start)
    }

    /// Whether at least half of what was in flight in a round stood in a queue.
    pub fn stands_in_queue(&self, transfer: &TransferFacts, index: usize) -> bool {
        let least = self.rtt.map(|rtt| rtt.scale(QUEUED_FACTOR).max(rtt + MIN_QUEUE));
        self.round_trip(transfer, index).zip(least).is_some_and(|(trip, least)| trip >= least)
    }
}

/// A window's round trip is so many times the path's own where at least half of it stands in a
/// queue, …
const QUEUED_FACTOR: f64 = 2.0;

/// … and longer than that by what no host's scheduling adds.
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
