//! Whether a sender's silence means that its transfer has ended.

use super::scoreboard::Recovery;
use super::turns::{IDLE_ROUND_TRIPS, MIN_IDLE};
use super::{PathEstimate, SenderState};
use whyslow_units::{Nanos, Time};

/// With this many open transfers, an ended one is reported immediately, because new ones come
/// faster than they can be held.
pub(in crate::tcp) const CROWDED: usize = 256;

impl SenderState {
    /// TCP itself is not silent for longer than this without a reason in the capture.
    pub(in crate::tcp) fn longest_silence(&self, path: &PathEstimate) -> Nanos {
        let rtt = self.srtt.srtt().max(path.rtt).unwrap_or_default();
        MIN_IDLE.max(self.srtt.rto()).max(rtt.scale(IDLE_ROUND_TRIPS))
    }

    /// Time when its silence begins to mean that the complete transfer was sent, if no more data
    /// follows. `None` while the silence may have another reason: unacknowledged bytes, a closed
    /// window, or a loss that is being repaired. Call it after [`finish`](Self::finish), when all
    /// ACKs are applied.
    pub(in crate::tcp) fn is_silent_from(&self, path: &PathEstimate) -> Option<Time> {
        let (last, _) = self.last_send.at?;
        let (reached, since) = self.all_acked_at;
        let is_closed = self.window.wnd == Some(0) || self.since_send.met_zero_window();
        let at_end = path.near || self.last_send.app_limited || self.missing_packets() == Some(0);
        let is_idle = !is_closed && self.scoreboard.recovery == Recovery::None && reached == self.snd_max && at_end;
        is_idle.then(|| since.max(last) + path.loop_to_sender + self.longest_silence(path))
    }

    /// The first byte of the first transfer that may still continue; `None` if there is none.
    pub(in crate::tcp) fn first_open(&self) -> Option<u64> {
        let current = self.transfer.as_ref().map(|transfer| transfer.seq().0);
        let earlier = self.turns.open_transfers.first().map(|part| part.transfer.seq().0);
        earlier.or(current)
    }

    /// Time when a transfer beyond sequence number `given` may have ended, if no more packets
    /// follow; `None` if there is no such transfer. Never too late.
    pub(in crate::tcp) fn may_end_at(&self, given: u64) -> Option<Time> {
        let transfers = &self.facts.transfers;
        match transfers.get(transfers.partition_point(|transfer| transfer.seq.1 <= given)) {
            Some(transfer) if transfers.len() >= CROWDED => Some(transfer.end),
            Some(transfer) => Some(transfer.end + MIN_IDLE),
            None if self.transfer.is_some() && self.snd_max > given => {
                self.last_send.at.map(|(last, _)| last + MIN_IDLE)
            }
            None => None,
        }
    }
}
