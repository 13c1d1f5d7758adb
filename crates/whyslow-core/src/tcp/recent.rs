//! The newest packets of a side, to find frames that were captured twice.

use super::segment::Seg;
use super::segment::packed::Segs;
use crate::units::Nanos;
use crate::wire::SackBlocks;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// No retransmission timer is shorter (Linux: 200 ms).
const COPIED_WITHIN: Nanos = Nanos::from_millis(190);
/// Recent packets of a side compared with a new one.
const RECENT: usize = 16;

/// The newest packets that have an IP number.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    /// Their IP numbers. Apart, so that all are compared at a time.
    ids: [u16; RECENT],
    /// What else tells a packet.
    marks: [u64; RECENT],
    /// When it passed.
    times: [Nanos; RECENT],
    oldest: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self { ids: [0; RECENT], marks: [0; RECENT], times: [LONG_AGO; RECENT], oldest: 0 }
    }
}

/// Of a place where no packet is yet.
const LONG_AGO: Nanos = Nanos(i64::MIN / 2);

impl Recent {
    /// Whether this is a packet captured a second time, and not a segment sent a second time: nothing at all differs, and the
    /// sender's IP stack, which numbers its packets, did not number it anew. As late as a timer, it is the sender's copy after all:
    /// some number copies as the first ones.
    #[inline(always)]
    pub(super) fn holds(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let Some(id) = number(seg) else {
            return false;
        };
        let mark = mark(id, seg, sack);
        // Nearly always it is none of them, which a look at all numbers is quickest to say.
        let any = self.ids.iter().fold(0, |any, other| any | u16::from(*other == id));
        if any != 0 && self.is_copy(mark, seg.time) {
            return true;
        }
        let place = self.oldest % RECENT;
        self.ids[place] = id;
        self.marks[place] = mark;
        self.times[place] = seg.time;
        self.oldest = place + 1;
        false
    }

    #[inline(never)]
    fn is_copy(&self, mark: u64, now: Nanos) -> bool {
        self.marks.iter().zip(&self.times).any(|(other, &time)| *other == mark && now - time < COPIED_WITHIN)
    }
}

/// The same among all segments of a connection so far.
pub(super) fn is_among(mut all: Segs<'_>, seg: &Seg, sack: &SackBlocks) -> bool {
    let mut since = None;
    while let Some((other, blocks)) = all.next() {
        if other.from() != seg.from() || number(&other).is_none() {
            continue;
        }
        let same = number(&other) == number(seg)
            && seg.time - other.time < COPIED_WITHIN
            && told(&other) == told(seg)
            && *blocks == *sack;
        since = if same { Some(0) } else { since.map(|since| since + 1) };
    }
    since.is_some_and(|since| since < RECENT)
}

/// What the sender's IP stack numbered its packet with.
#[inline(always)]
pub(super) fn number(seg: &Seg) -> Option<u16> {
    seg.ip_id().filter(|id| *id != 0)
}

/// What the headers say beside the packet's number and SACK blocks.
#[inline(always)]
fn told(seg: &Seg) -> [u64; 3] {
    let ack = seg.ack().map_or(0, |ack| u64::from(ack.0));
    let (value, echo) = seg.timestamps().unwrap_or_default();
    [
        u64::from(seg.seq.0) << 32 | ack,
        u64::from(value) << 32 | u64::from(echo),
        // In this order the two cannot be read as one: they were just written one by one, and the processor would wait for both.
        u64::from(seg.len) << 32 | u64::from(seg.flags.0) << 16 | u64::from(seg.window),
    ]
}

#[inline(never)]
fn hash_of(sack: &SackBlocks) -> u64 {
    FixedState::default().hash_one(sack)
}

/// All that the headers say, as one number: two packets with one number and one hash are taken for the same.
#[inline(always)]
fn mark(id: u16, seg: &Seg, sack: &SackBlocks) -> u64 {
    let sack = Some(sack).filter(|sack| !sack.as_slice().is_empty());
    // The odd factors keep the words apart, and the multiplication of 64 by 64 bits mixes them.
    let [a, b, c] = told(seg);
    let fold = |x: u64, y: u64| {
        let product = u128::from(x) * u128::from(y);
        (product >> 64) as u64 ^ product as u64
    };
    let mut hash = fold(a ^ 0x9e37_79b9_7f4a_7c15, b ^ 0xd6e8_feb8_6659_fd93)
        ^ fold(c ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db);
    if let Some(sack) = sack {
        hash ^= hash_of(sack);
    }
    hash << 16 | u64::from(id)
}
