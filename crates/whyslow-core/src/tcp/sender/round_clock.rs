//! The end of a round: the first segment sent after the ACK of the round's first segment (a
//! packet-timed round, as in BBR).

use crate::tcp::segment::Seg;
use whyslow_units::{Nanos, Time};

/// The current round.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct RoundClock {
    /// End of its first segment.
    first_end: u64,
    /// SND.MAX after its first segment.
    end: u64,
    start: Time,
    /// See [`Seg::time_clamped`].
    start_clamped: bool,
    /// Whether the next segment begins another round.
    pub due: bool,
}

impl RoundClock {
    /// Begins a round with this segment. Its first part that can be acknowledged alone ends at
    /// `first_end`; `snd_max` counts it.
    pub fn begin(&mut self, seg: &Seg, first_end: u64, snd_max: u64) {
        *self = Self { first_end, end: snd_max, start: seg.time, start_clamped: seg.time_clamped(), due: false };
    }

    /// Records that everything up to `snd_una` is acknowledged.
    #[inline]
    pub fn on_ack(&mut self, snd_una: u64) {
        self.due |= snd_una >= self.first_end;
    }

    /// Records the highest SACKed byte.
    #[inline]
    pub fn on_sack(&mut self, top: u64) {
        self.due |= top > self.end;
    }

    pub fn age(&self, now: Time) -> Nanos {
        now - self.start
    }

    /// Returns whether its length up to this segment is a difference of unadjusted times.
    pub fn is_measured(&self, seg: &Seg) -> bool {
        !seg.time_clamped() && !self.start_clamped
    }
}
