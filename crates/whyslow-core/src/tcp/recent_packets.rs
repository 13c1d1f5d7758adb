//! The newest packets of a side, to find frames captured twice.

use super::segment::Seg;
use super::segment::packed::SegmentIter;
use crate::units::Nanos;
use crate::wire::SackBlocks;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// No retransmission timer is shorter (Linux: 200 ms).
const MAX_RECAPTURE_DELAY: Nanos = Nanos::from_millis(190);
/// Recent packets of a side to compare with a new one.
pub(super) const RECENT: usize = 16;

/// The newest packets with an IP ID.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentPackets {
    /// Their IP IDs (0: no packet yet), stored apart so that all are compared at once.
    ids: [u16; RECENT],
    /// Header and hash of SACK blocks (0 without any).
    heads: [(Seg, u64); RECENT],
    oldest: usize,
}

impl RecentPackets {
    /// Returns whether this is a packet captured twice, and not a retransmission: nothing differs,
    /// and the sender's IP stack, which numbers its packets, did not give it a new ID. If it comes
    /// as late as a timer it is a retransmission after all: some stacks reuse the ID.
    #[inline]
    pub(super) fn has(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        let id = seg.ip_id_or_zero();
        if id == 0 {
            return false;
        }
        // Usually no ID matches, which one comparison of all tells fastest.
        let any = self.ids.iter().fold(0, |any, other| any | u16::from(*other == id));
        any != 0 && self.is_copy(seg, sack)
    }

    #[inline(never)]
    fn is_copy(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        self.heads.iter().any(|(other, blocks)| is_copy(seg, other) && *blocks == hash_of(sack))
    }

    /// Adds a packet that is no duplicate.
    #[inline]
    pub(super) fn note(&mut self, seg: &Seg, sack: &SackBlocks) {
        let id = seg.ip_id_or_zero();
        if id == 0 {
            return;
        }
        let place = self.oldest % RECENT;
        self.ids[place] = id;
        self.heads[place] = (*seg, hash_of(sack));
        self.oldest = place + 1;
    }
}

/// The same check among all segments so far.
pub(super) fn is_among(mut all: SegmentIter<'_>, seg: &Seg, sack: &SackBlocks) -> bool {
    let mut since = None;
    while let Some((other, blocks)) = all.next() {
        if other.from() != seg.from() || other.ip_id_or_zero() == 0 {
            continue;
        }
        let same = is_copy(seg, &other) && *blocks == *sack;
        since = if same { Some(0) } else { since.map(|since| since + 1) };
    }
    since.is_some_and(|since| since < RECENT)
}

/// Returns whether the headers are equal, SACK blocks aside, and soon enough after `other`.
fn is_copy(seg: &Seg, other: &Seg) -> bool {
    let identity = |seg: &Seg| {
        let (ack, stamps) = (seg.ack().unwrap_or_default(), seg.timestamps().unwrap_or_default());
        (seg.ip_id_or_zero(), seg.seq, ack, stamps, seg.len, seg.flags, seg.window)
    };
    seg.time - other.time < MAX_RECAPTURE_DELAY && identity(seg) == identity(other)
}

/// Two lists of blocks with equal hashes count as equal.
#[inline]
fn hash_of(sack: &SackBlocks) -> u64 {
    if sack.as_slice().is_empty() { 0 } else { hash_of_some(sack) }
}

#[inline(never)]
fn hash_of_some(sack: &SackBlocks) -> u64 {
    FixedState::default().hash_one(sack)
}
