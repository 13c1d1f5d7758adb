//! What a direction remembers of segments and holes until they are settled, and of ACKs since the
//! last send.

use super::segment::{FrameRef, Seg, TsvalSample};
use crate::units::Nanos;

/// A segment that was sent and is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutstandingSegment {
    pub end: u64,
    /// When it was sent first.
    pub time: Nanos,
    /// Payload bytes that had passed before it.
    pub passed_before: u64,
    pub len: u32,
    pub tsval: TsvalSample,
    pub retransmitted: bool,
}

impl OutstandingSegment {
    /// A segment that ends there, sent once.
    #[inline(always)]
    pub fn new(seg: &Seg, end: u64, passed: u64) -> Self {
        Self {
            end,
            time: seg.time,
            passed_before: passed,
            len: seg.len,
            tsval: seg.tsval_sample(),
            retransmitted: false,
        }
    }

    /// Its first byte.
    pub fn start(&self) -> u64 {
        self.end - u64::from(self.len)
    }
}

/// A stretch that was skipped by the sender's later segments, as seen at the capture point.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequenceHole {
    pub start: u64,
    pub end: u64,
    /// When the segment after it was seen, and that segment's marks of age.
    pub time: Nanos,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
    /// When the segment before it was seen, and how many payload bytes had passed by then.
    pub previous_time: Nanos,
    pub passed_before: u64,
}

/// What the applied ACKs since the last send have done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SinceSend {
    /// When the last of them that could release data reached the sender.
    pub released_at: Option<Nanos>,
    /// Its frame.
    pub release_frame: FrameRef,
    /// It acknowledged new data.
    pub acked_new: bool,
    /// It opened the window only.
    pub window_update: bool,
    /// It carried payload.
    pub with_payload: bool,
    /// One of them did.
    pub any_payload: bool,
    /// When the last that did came.
    pub payload_at: Option<Nanos>,
    pub ack_late: Nanos,
    /// It left nothing outstanding.
    pub emptied: bool,
    /// Least right edge before any of them, and right after the last send.
    pub min_right_edge: Option<u64>,
    /// When the window closed first; before the last send, if it was closed by then.
    pub closed_at: Option<Nanos>,
    /// For how long it was closed, if it has opened again.
    pub closed_for: Nanos,
}

impl SinceSend {
    /// The window was closed, if only for a while.
    #[inline(always)]
    pub fn met_zero_window(&self) -> bool {
        self.closed_at.is_some()
    }

    /// An ACK reached the sender `released_at` this time that could release data; before it the
    /// right edge was here.
    #[inline(always)]
    pub fn on_release(&mut self, place: FrameRef, at: Nanos, new: bool, payload: bool, edge: Option<u64>) {
        self.released_at = Some(at);
        self.release_frame = place;
        self.acked_new |= new;
        self.with_payload = payload;
        if payload {
            self.any_payload = true;
            self.payload_at = Some(at);
        }
        // Seldom is it less than at the last send.
        if let Some(edge) = edge
            && self.min_right_edge.is_none_or(|least| edge < least)
        {
            self.min_right_edge = Some(edge);
        }
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
