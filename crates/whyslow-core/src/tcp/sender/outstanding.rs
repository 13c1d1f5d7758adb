//! Outstanding segments, holes in the sequence space, and what ACKs have done since the last send.

use crate::tcp::segment::{FrameRef, Seg, TsvalSample};
use crate::units::Nanos;

/// A segment that was sent and is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct OutstandingSegment {
    pub end: u64,
    /// When it was sent first.
    pub time: Nanos,
    /// Payload bytes that passed before it.
    pub passed_before: u64,
    pub len: u32,
    pub tsval: TsvalSample,
    pub retransmitted: bool,
}

impl OutstandingSegment {
    /// A segment that ends at `end`, sent once.
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

/// Sequence space that later segments skipped, as seen at the capture point.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct SequenceHole {
    pub start: u64,
    pub end: u64,
    /// The segment after the hole: its time, timestamp and IP ID.
    pub time: Nanos,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
    /// The time of the segment before the hole, and the payload bytes that had passed by then.
    pub previous_time: Nanos,
    pub passed_before: u64,
}

/// What the applied ACKs since the last send have done.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct SinceSend {
    /// When the last ACK that could release data reached the sender.
    pub released_at: Option<Nanos>,
    /// Its frame.
    pub release_frame: FrameRef,
    /// It acknowledged new data.
    pub acked_new: bool,
    /// It only opened the window.
    pub window_update: bool,
    /// It carried payload.
    pub with_payload: bool,
    /// Any of them carried payload.
    pub any_payload: bool,
    /// When the last of those came.
    pub payload_at: Option<Nanos>,
    pub ack_late: Nanos,
    /// It left nothing outstanding.
    pub emptied: bool,
    /// Lowest right edge before any of them and right after the last send.
    pub min_right_edge: Option<u64>,
    /// When the window first closed; before the last send, if it was already closed then.
    pub closed_at: Option<Nanos>,
    /// How long it was closed, if it has opened again.
    pub closed_for: Nanos,
}

impl SinceSend {
    /// Returns whether the window was closed at any time.
    #[inline(always)]
    pub fn met_zero_window(&self) -> bool {
        self.closed_at.is_some()
    }

    /// Records an ACK that could release data. It reached the sender at time `at`; `edge` is the
    /// right edge before it.
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
        // The edge is rarely lower than at the last send.
        if let Some(edge) = edge
            && self.min_right_edge.is_none_or(|least| edge < least)
        {
            self.min_right_edge = Some(edge);
        }
    }
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Recovery {
    None,
    /// After duplicate ACKs, until this number is acknowledged.
    Fast(u64),
    /// After an RTO, until this number is acknowledged.
    Timeout(u64),
}
