//! Spurious retransmissions, shown by D-SACKs and timestamps.

use super::SenderState;
use super::retransmits::{RetransmitReason, counter};
use crate::tcp::facts::Retransmitted;
use crate::tcp::facts::TransferFacts;
use whyslow_analysis::types::RetransmissionKind;
use whyslow_units::Time;

impl SenderState {
    /// Processes a D-SACK for `[left, right)` (RFC 2883). It reports the newest copy that has not
    /// been reported yet.
    pub(super) fn on_dsack(&mut self, left: u64, right: u64) {
        let mut was_reported = false;
        let mut copies = self.retransmits.list.iter_mut().enumerate().rev();
        let found = copies.find(|(_, copy)| {
            let is_within = copy.start < right && copy.end > left;
            was_reported |= is_within && copy.dsacked;
            is_within && !copy.dsacked
        });
        match found {
            Some((index, copy)) => {
                copy.dsacked = true;
                if !copy.spurious {
                    self.mark_spurious(index);
                }
            }
            None if was_reported => {}
            None => self.facts.duplicated += 1,
        }
    }

    /// Eifel detection (RFC 3522): an ACK with an echo older than the retransmission's timestamp
    /// acknowledges the original. Checks only the first segment that the ACK covers, because the
    /// receiver echoes the first segment that it had not yet acknowledged (RFC 7323 section 4.3).
    #[inline(never)]
    pub(super) fn check_eifel(&mut self, before: u64, ack: u64, echo: Option<u32>) {
        let Some(echo) = echo else {
            return;
        };
        for index in (0..self.retransmits.list.len()).rev().take(16) {
            let retransmit = self.retransmits.list[index];
            let Some((value, original)) = retransmit.tsval.zip(retransmit.previous_tsval) else {
                continue;
            };
            let is_timed =
                !retransmit.spurious && retransmit.start <= before && (before + 1..=ack).contains(&retransmit.end);
            if is_timed && echo == original && value.wrapping_sub(echo) as i32 > 0 {
                self.mark_spurious(index);
            }
        }
    }

    fn mark_spurious(&mut self, index: usize) {
        let Some(retransmit) = self.retransmits.list.get_mut(index) else {
            return;
        };
        retransmit.spurious = true;
        let (kind, bytes, stuck) = (retransmit.reason, retransmit.end - retransmit.start, retransmit.counted_stuck);
        if let Some(listed) = retransmit.listed_at.and_then(|place| self.facts.retransmissions.get_mut(place)) {
            listed.kind = RetransmissionKind::Spurious;
        }
        let recount = |kinds: &mut Retransmitted| {
            let count = counter(kinds, kind);
            if *count > 0 {
                *count -= 1;
                kinds.spurious += 1;
            }
        };
        recount(&mut self.facts.retransmitted);
        if let Some(transfer) = &mut self.transfer {
            recount(&mut transfer.facts().retransmitted);
            transfer.facts().spurious_fast += u64::from(kind == RetransmitReason::Fast);
            transfer.facts().stuck_large -= u64::from(stuck && transfer.facts().stuck_large > 0);
            let start = self.retransmits.list[index].start;
            if let Some(loss) = transfer.facts().losses.iter_mut().rev().find(|loss| loss.seq == start) {
                loss.spurious = true;
            }
            transfer.facts().retransmitted_bytes = transfer.facts().retransmitted_bytes.saturating_sub(bytes);
        }
    }

    /// Returns whether segments were retransmitted after the end of a transfer, all of them
    /// spuriously.
    pub(super) fn is_tail_spurious(&self, transfer: &TransferFacts) -> bool {
        let whole = transfer.pauses.partition_point(|gap| gap.snd_max < transfer.seq.1);
        let Some(from) = transfer.pauses.get(whole).map(|gap| gap.start) else { return false };
        let mut copies = self
            .retransmits
            .list
            .iter()
            .filter(|retransmit| retransmit.time > from && retransmit.start < transfer.seq.1)
            .peekable();
        copies.peek().is_some() && copies.all(|retransmit| retransmit.spurious)
    }

    /// The stored spurious retransmissions: send time and first byte.
    pub(in crate::tcp) fn spurious_retransmits(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        self.retransmits
            .list
            .iter()
            .filter(|retransmit| retransmit.spurious)
            .map(|retransmit| (retransmit.time, retransmit.start))
    }
}
