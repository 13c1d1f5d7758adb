//! What IP numbers and timestamps tell of a sender's segments: which never came, and how far apart two were sent.

use super::half::Half;
use super::segment::{Seg, tsval};
use crate::units::Nanos;

impl Half {
    /// Takes the marks of a segment that begins so many bytes behind the last one.
    #[inline(always)]
    pub(super) fn note_marks(&mut self, seg: &Seg, skipped: u64) {
        if u64::from(seg.len) <= self.mss() && self.numbers.is_next(seg) {
            self.numbers.see_next(seg);
        } else {
            self.note_number(seg, skipped);
        }
        if let Some(value) = tsval(seg).filter(|_| !seg.moved()) {
            self.ticks.see(seg.time, value);
        }
    }

    #[inline(never)]
    fn note_number(&mut self, seg: &Seg, skipped: u64) {
        let mss = self.mss();
        // Hosts that do not number their packets come here for each: without a division where nothing is large.
        let packets = |bytes: u64| match bytes {
            0 => 0,
            _ if bytes <= mss => 1,
            _ => u16::try_from(bytes.div_ceil(mss)).unwrap_or(u16::MAX),
        };
        self.numbers.see(seg, packets(seg.len.into()).max(1), packets(skipped));
    }

    /// Packets lost before the capture point since the last send; none where that cannot be told: a lost ACK for payload of the
    /// other side is no matter, and more than twice the largest flight, with a few copies, was not one flight of this connection.
    pub(super) fn missing(&self) -> Option<u32> {
        self.numbers
            .missing()
            .filter(|&packets| !self.since.any_payload && (packets == 0 || u64::from(packets) <= self.most_missing()))
    }

    /// The most packets of one flight and its copies, with what a timer may have sent in vain.
    fn most_missing(&self) -> u64 {
        self.max_in_flight() / self.mss() * 2 + COPIES
    }

    /// Nothing more comes: what was missing before a transfer is told where numbers tell, and are so few.
    pub(super) fn settle_missing(&mut self) {
        self.facts.numbers_tell = self.numbers.tell();
        let most = if self.facts.numbers_tell { self.most_missing() } else { 0 };
        for transfer in &mut self.facts.transfers {
            if u64::from(transfer.missing_before) > most {
                transfer.missing_before = 0;
            }
        }
    }

    /// How far apart the last send and this one were, by the sender's clock.
    pub(super) fn sent_apart(&self, seg: &Seg) -> Option<Nanos> {
        self.last_stamp.value().zip(tsval(seg)).and_then(|(one, other)| self.ticks.between(one, other))
    }
}

/// Copies that a timer may have sent in vain: with back-off from 200 ms the eighth comes after half a minute.
const COPIES: u64 = 8;
