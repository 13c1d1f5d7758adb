//! The send window: what the receiver offers, and where it ends (RFC 9293 section 3.3.1).

use super::window_scale::InferredScale;
use crate::tcp::segment::Seg;
use crate::units::Time;

/// The window offered to one sender.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct SndWindow {
    /// Shift of the windows offered; `None` while unknown.
    pub scale: Option<u8>,
    /// What the windows themselves tell of the shift, if no SYN does.
    pub inferred: InferredScale,
    pub right_edge: Option<u64>,
    /// SND.WND in bytes.
    pub wnd: Option<u64>,
    /// Since when it is closed, if it is.
    pub closed_since: Option<Time>,
    /// The last ACK that offered less than half of the largest window so far, if the last one did.
    pub low_since: Option<Time>,
}

impl SndWindow {
    /// Returns the window offered by a segment without SYN, in bytes; `None` while the scale is
    /// unknown, except that zero is zero at any scale.
    #[inline]
    pub fn offered(&self, seg: &Seg) -> Option<u32> {
        match self.scale {
            Some(shift) => Some(u32::from(seg.window) << shift.min(14)),
            None => (seg.window == 0).then_some(0),
        }
    }

    /// Returns the room between `snd_max` and the right edge.
    pub fn room(&self, snd_max: u64) -> Option<u64> {
        self.right_edge.map(|edge| edge.saturating_sub(snd_max))
    }

    /// Forgets the offer: its scale is not known after all.
    pub fn forget_offer(&mut self) {
        (self.wnd, self.right_edge) = (None, None);
    }
}
