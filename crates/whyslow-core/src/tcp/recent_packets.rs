//! The newest packets of a side, to detect duplicate frames.

use super::segment::Seg;
use super::segment::packed::SegmentIter;
use crate::wire::SackBlocks;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use whyslow_units::Nanos;

/// No retransmission timer is shorter (Linux: 200 ms).
const MAX_RECAPTURE_DELAY: Nanos = Nanos::from_millis(190);
/// Number of recent packets of a side to compare with a new one.
pub(super) const RECENT: usize = 16;

/// The newest packets with an IP ID.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentPackets {
    /// Their IP IDs (0: no packet yet), stored separately to compare all at once.
    ids: [u16; RECENT],
    /// Header and hash of SACK blocks (0 without any).
    heads: [(Seg, u64); RECENT],
    oldest: usize,
}

impl RecentPackets {
    /// Returns whether this packet is a duplicate frame and not a retransmission: no field differs,
    /// and the sender's IP stack did not assign a new IP ID. A packet later than a retransmission
    /// timeout is a retransmission, because some stacks reuse the ID.
    #[inline]
    pub(super) fn has(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        let id = seg.ip_id_or_zero();
        if id == 0 {
            return false;
        }
        // Usually no ID matches; comparing all of them without a branch is fastest.
        let any = self.ids.iter().fold(0, |any, other| any | u16::from(*other == id));
        any != 0 && self.is_copy(seg, sack)
    }

    #[inline(never)]
    fn is_copy(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        self.heads.iter().any(|(other, blocks)| is_copy(seg, other) && *blocks == hash_of(sack))
    }

    /// Adds a packet that is not a duplicate.
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

/// The same check against all segments so far.
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

/// Returns whether the headers are equal, except SACK blocks, and the time is close enough.
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
