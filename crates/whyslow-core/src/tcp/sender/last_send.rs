//! A sender's last send, and what the ACKs applied since have done.

use crate::tcp::segment::{FrameRef, Seg, TsvalSample};
use crate::units::{Nanos, Time};

/// Paths that carry less than this are rare (IPv6 requires packets of 1,280 bytes, RFC 8200 section
/// 5). Where no MSS is negotiated, a shorter pushed segment is a message, even if no longer one was
/// seen.
const MIN_USUAL_MSS: u64 = 1_200;

/// The last segment with payload.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct LastSend {
    pub at: Option<(Time, FrameRef)>,
    pub len: u64,
    /// Nothing shows that the program had more to send.
    pub app_limited: bool,
    /// It had PSH set.
    pub pushed: bool,
    /// Bytes in flight right after it.
    pub flight: u64,
    pub tsval: TsvalSample,
}

impl LastSend {
    /// Records this segment; `negotiated` is whether the MSS is.
    #[inline]
    pub fn record(&mut self, seg: &Seg, mss: u64, negotiated: bool) {
        let len = u64::from(seg.len);
        self.tsval = seg.tsval_sample();
        self.at = Some((seg.time, seg.frame_ref));
        self.len = len;
        self.pushed = seg.flags.has(crate::wire::Flags::PSH);
        // Most are full segments.
        self.app_limited = if len == mss {
            self.pushed && !negotiated && len < MIN_USUAL_MSS
        } else {
            len < mss || (self.pushed && !len.is_multiple_of(mss))
        };
    }
}

/// What the applied ACKs since the last send have done.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct SinceSend {
    /// When the last ACK that could release data reached the sender.
    pub released_at: Option<Time>,
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
    pub payload_at: Option<Time>,
    pub ack_late: Nanos,
    /// It left nothing outstanding.
    pub emptied: bool,
    /// Lowest right edge before any of them and right after the last send.
    pub min_right_edge: Option<u64>,
    /// When the window first closed; before the last send, if it was already closed then.
    pub closed_at: Option<Time>,
    /// How long it was closed, if it has opened again.
    pub closed_for: Nanos,
}

/// An ACK that could release data.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReleasingAck {
    pub frame: FrameRef,
    /// When it reached the sender.
    pub at: Time,
    /// It acknowledged new data.
    pub is_new: bool,
    pub with_payload: bool,
}

impl SinceSend {
    /// Returns whether the window was closed at any time.
    #[inline]
    pub fn met_zero_window(&self) -> bool {
        self.closed_at.is_some()
    }

    /// Returns when the last ACK of new data reached the sender, if no window update came since.
    #[inline]
    pub fn acked_at(&self) -> Option<Time> {
        self.released_at.filter(|_| self.acked_new && !self.window_update)
    }

    /// Records an ACK that could release data; `edge` is the right edge before it.
    #[inline]
    pub fn on_release(&mut self, by: ReleasingAck, edge: Option<u64>) {
        let ReleasingAck { frame, at, is_new, with_payload } = by;
        self.released_at = Some(at);
        self.release_frame = frame;
        self.acked_new |= is_new;
        self.with_payload = with_payload;
        if with_payload {
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
