//! The sender's knowledge of losses: SACKed and retransmitted ranges, duplicate ACKs and the
//! recovery state (RFC 6675, RFC 5681, RFC 6298).

use super::range_set::RangeSet;
use whyslow_units::Time;

/// Loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp) enum Recovery {
    #[default]
    None,
    /// After duplicate ACKs, until this number is acknowledged.
    Fast(u64),
    /// After an RTO, until this number is acknowledged.
    Timeout(u64),
}

/// The scoreboard of one sender.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Scoreboard {
    pub sacked: RangeSet,
    pub retransmitted: RangeSet,
    pub recovery: Recovery,
    /// When fast recovery began.
    pub recovery_start: Time,
    /// Duplicate ACKs since the last new one.
    pub duplicate_acks: u32,
}

impl Scoreboard {
    /// Returns whether bytes in flight are those sent minus those acknowledged.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.sacked.is_empty() && self.recovery == Recovery::None
    }

    /// Returns the bytes in flight, as the sender counts them (RFC 6675's pipe).
    #[inline]
    pub fn pipe(&self, snd_una: u64, snd_max: u64, mss: u64) -> u64 {
        let all = snd_max.saturating_sub(snd_una);
        if self.is_plain() { all } else { self.pipe_of(snd_una, snd_max, mss) }
    }

    #[inline(never)]
    fn pipe_of(&self, snd_una: u64, snd_max: u64, mss: u64) -> u64 {
        let all = snd_max.saturating_sub(snd_una);
        let sacked = self.sacked.covered(snd_una, snd_max);
        let lost_below = match self.recovery {
            Recovery::Timeout(recover) => recover,
            _ => self.sacked.highest().unwrap_or(0).saturating_sub(3 * mss),
        };
        let lost = if lost_below > snd_una {
            (lost_below - snd_una).saturating_sub(self.sacked.covered(snd_una, lost_below))
        } else {
            0
        };
        let resent = self.retransmitted.covered(snd_una, lost_below.max(snd_una)).min(lost);
        all.saturating_sub(sacked).saturating_sub(lost) + resent
    }

    /// Removes everything acknowledged up to `ack`. Returns how many of the bytes were SACKed.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> u64 {
        if !self.retransmitted.is_empty() {
            self.retransmitted.remove(0, ack);
        }
        if self.sacked.is_empty() { 0 } else { self.sacked.remove(0, ack) }
    }

    /// Returns whether a hole between SND.UNA and `ack`, reported by SACKs, now closes without a
    /// retransmission: reordering after the capture point.
    pub fn heals(&self, snd_una: u64, ack: u64) -> bool {
        let Some(top) = self.sacked.highest() else {
            return false;
        };
        let end = ack.min(top);
        let sacked = self.sacked.covered(snd_una, end);
        end > snd_una && self.retransmitted.covered(snd_una, end) == 0 && sacked < end - snd_una
    }
}
