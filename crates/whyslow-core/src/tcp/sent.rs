//! What a direction remembers of segments and holes until they are settled, and of ACKs since the last send.

use super::segment::Place;
use crate::units::Nanos;

/// A segment that was sent and is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub start: u64,
    pub end: u64,
    /// When it was sent first.
    pub time: Nanos,
    pub tsval: Option<u32>,
    pub resent: bool,
    /// See [`Seg::moved`](super::segment::Seg::moved).
    pub moved: bool,
    /// Payload bytes that had passed before it.
    pub passed: u64,
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
    /// Least room to the right edge before any of them, and right after the last send.
    pub least_room: Option<u64>,
    pub zero_window: bool,
}

impl SinceSend {
    /// An ACK reached the sender `at` this time that could release data; before it there was so much room to the right edge.
    #[inline(always)]
    pub fn released(&mut self, place: Place, at: Nanos, new: bool, payload: bool, room: Option<u64>) {
        self.at = Some(at);
        self.place = place;
        self.new |= new;
        self.payload = payload;
        if payload {
            self.any_payload = true;
            self.payload_at = Some(at);
        }
        self.least_room = match (self.least_room, room) {
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
