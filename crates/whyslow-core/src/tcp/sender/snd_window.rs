//! The send window: the receiver's offer and its right edge (RFC 9293 section 3.3.1).

use super::window_scale::InferredScale;
use crate::tcp::segment::Seg;
use whyslow_units::Time;

/// The window offered to one sender.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct SndWindow {
    /// Window scale shift; `None` while unknown.
    pub scale: Option<u8>,
    /// The shift inferred from the windows, if it is not in a SYN.
    pub inferred: InferredScale,
    pub right_edge: Option<u64>,
    /// SND.WND in bytes.
    pub wnd: Option<u64>,
    /// Since when it is closed; `None` if open.
    pub closed_since: Option<Time>,
    /// Time of the last ACK, if that offered less than half of the largest window so far.
    pub low_since: Option<Time>,
}

impl SndWindow {
    /// Returns the window offered by a segment without SYN, in bytes. `None` if the scale is
    /// unknown, except for zero, which is zero at any scale.
    #[inline]
    pub fn offered(&self, seg: &Seg) -> Option<u32> {
        match self.scale {
            Some(shift) => Some(u32::from(seg.window) << shift.min(14)),
            None => (seg.window == 0).then_some(0),
        }
    }

    /// Returns the distance from `snd_max` to the right edge.
    pub fn room(&self, snd_max: u64) -> Option<u64> {
        self.right_edge.map(|edge| edge.saturating_sub(snd_max))
    }

    /// Drops the offer, because its scale proved to be unknown.
    pub fn forget_offer(&mut self) {
        (self.wnd, self.right_edge) = (None, None);
    }
}
