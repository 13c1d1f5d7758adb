//! A sender's last send, and the effects of the ACKs applied since.

use crate::tcp::segment::{FrameRef, Seg, TsvalSample};
use whyslow_units::{Nanos, Time};

/// Paths with a smaller MSS are rare (IPv6 requires packets of 1,280 bytes, RFC 8200 section 5). If
/// no MSS was negotiated, a shorter segment with PSH ends a message, even if no longer one was
/// seen.
const MIN_USUAL_MSS: u64 = 1_200;

/// The last segment with payload.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct LastSend {
    pub at: Option<(Time, FrameRef)>,
    pub len: u64,
    /// Nothing shows that the application had more to send.
    pub app_limited: bool,
    /// It had PSH set.
    pub pushed: bool,
    /// Bytes in flight immediately after it.
    pub flight: u64,
    pub tsval: TsvalSample,
}

impl LastSend {
    /// Records this segment; `negotiated`: whether the MSS was negotiated.
    #[inline]
    pub fn record(&mut self, seg: &Seg, mss: u64, negotiated: bool) {
        let len = u64::from(seg.len);
        self.tsval = seg.tsval_sample();
        self.at = Some((seg.time, seg.frame_ref));
        self.len = len;
        self.pushed = seg.flags.has(crate::wire::Flags::PSH);
        // Most are full-sized segments.
        self.app_limited = if len == mss {
            self.pushed && !negotiated && len < MIN_USUAL_MSS
        } else {
            len < mss || (self.pushed && !len.is_multiple_of(mss))
        };
    }
}

/// Effects of the ACKs applied since the last send.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct SinceSend {
    /// Time when the last ACK that could release data reached the sender.
    pub released_at: Option<Time>,
    /// Its frame.
    pub release_frame: FrameRef,
    /// It acknowledged new data.
    pub acked_new: bool,
    /// It was only a window update.
    pub window_update: bool,
    /// It contained payload.
    pub with_payload: bool,
    /// Whether any of these ACKs contained payload.
    pub any_payload: bool,
    /// Time of the last of those.
    pub payload_at: Option<Time>,
    pub ack_late: Nanos,
    /// It acknowledged everything outstanding.
    pub emptied: bool,
    /// Lowest right edge, before these ACKs and immediately after the last send.
    pub min_right_edge: Option<u64>,
    /// Time when the window first closed; before the last send, if it was already closed then.
    pub closed_at: Option<Time>,
    /// How long it was closed, if it opened again.
    pub closed_for: Nanos,
}

/// An ACK that could release data.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReleasingAck {
    pub frame: FrameRef,
    /// Time when it reached the sender.
    pub at: Time,
    /// Whether it acknowledged new data.
    pub is_new: bool,
    pub with_payload: bool,
}

impl SinceSend {
    /// Returns whether the window was closed at any time.
    #[inline]
    pub fn met_zero_window(&self) -> bool {
        self.closed_at.is_some()
    }

    /// Returns the time when the last ACK of new data reached the sender, if no window update came
    /// since.
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
        // The right edge is rarely lower than at the last send.
        if let Some(edge) = edge
            && self.min_right_edge.is_none_or(|least| edge < least)
        {
            self.min_right_edge = Some(edge);
        }
    }
}
