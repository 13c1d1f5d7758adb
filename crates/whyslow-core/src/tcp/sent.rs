//! What a direction remembers of segments, holes and ACKs until they are settled.

use super::segment::{Place, Seg, Stamp};
use crate::units::Nanos;
use crate::wire::Flags;

/// A segment that was sent and is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub end: u64,
    /// When it was sent first.
    pub time: Nanos,
    /// Payload bytes that had passed before it.
    pub passed: u64,
    pub len: u32,
    pub stamp: Stamp,
    pub resent: bool,
}

impl Sent {
    /// A segment that ends there, sent once.
    #[inline(always)]
    pub fn new(seg: &Seg, end: u64, passed: u64) -> Self {
        Self { end, time: seg.time, passed, len: seg.len, stamp: seg.stamp(), resent: false }
    }

    /// Its first byte.
    pub fn start(&self) -> u64 {
        self.end - u64::from(self.len)
    }
}

/// A stretch that was skipped by the sender's later segments, as seen at the capture point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    pub start: u64,
    pub end: u64,
    /// When the segment after it was seen, and that segment's marks of age.
    pub time: Nanos,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
    /// When the segment before it was seen, and how many payload bytes had passed by then.
    pub before: Nanos,
    pub passed: u64,
}

/// An ACK, as the sender takes it in. Its SACK blocks, which few have, go beside it: very many may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub time: Nanos,
    pub place: Place,
    /// What it acknowledges, in the sequence space.
    pub ack: u64,
    /// TSval and TSecr, if it is `stamped`.
    stamps: (u32, u32),
    /// What it offers, unless the scale is not known: at most 2³⁰ bytes.
    offered: Option<u32>,
    /// Payload that came with it.
    pub len: u32,
    pub flags: Flags,
    stamped: bool,
    pub moved: bool,
    /// It has SACK blocks.
    pub sacks: bool,
}

impl Ack {
    #[inline(always)]
    pub fn new(seg: &Seg, ack: u64, offered: Option<u32>, sacks: bool) -> Self {
        let (time, place, len, flags, moved) = (seg.time, seg.place, seg.len, seg.flags, seg.moved());
        let (stamps, stamped) = (seg.timestamps().unwrap_or_default(), seg.timestamps().is_some());
        Self { time, place, ack, stamps, offered, len, flags, stamped, moved, sacks }
    }

    /// TSval and TSecr.
    #[inline(always)]
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        self.stamped.then_some(self.stamps)
    }

    /// The window that it offers, bytes; none when its scale is not known.
    #[inline(always)]
    pub fn window(&self) -> Option<u64> {
        self.offered.map(u64::from)
    }

    /// The same but for their times, both with payload and without SACK blocks.
    #[inline(always)]
    pub fn is_like(&self, other: &Self) -> bool {
        (self.ack, self.offered, self.flags) == (other.ack, other.offered, other.flags)
            && self.len > 0
            && other.len > 0
            && !self.sacks
            && !other.sacks
    }
}

/// What the applied ACKs since the last send have done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SinceSend {
    /// When the last of them that could release data reached the sender.
    pub at: Option<Nanos>,
    /// Its frame.
    pub place: Place,
    /// It acknowledged new data.
    pub new: bool,
    /// It opened the window only.
    pub update: bool,
    /// It carried payload.
    pub payload: bool,
    /// One of them did.
    pub any_payload: bool,
    /// When the last that did came.
    pub payload_at: Option<Nanos>,
    pub late: Nanos,
    /// It left nothing outstanding.
    pub emptied: bool,
    /// Least right edge before any of them, and right after the last send.
    pub least_edge: Option<u64>,
    pub zero_window: bool,
}

impl SinceSend {
    /// An ACK reached the sender `at` this time that could release data; before it the right edge was here.
    #[inline(always)]
    pub fn released(&mut self, ack: &Ack, at: Nanos, new: bool, edge: Option<u64>) {
        self.at = Some(at);
        self.place = ack.place;
        self.new |= new;
        self.payload = ack.len > 0;
        if self.payload {
            self.any_payload = true;
            self.payload_at = Some(at);
        }
        self.least_edge = match (self.least_edge, edge) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    None,
    /// After duplicate ACKs, until this is acknowledged.
    Fast(u64),
    /// After the timer, until this is acknowledged.
    Timeout(u64),
}
