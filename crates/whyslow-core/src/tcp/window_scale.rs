//! The scale of windows where the SYNs that agreed on it were not captured.
//!
//! No sender has more in flight than it is offered, so that what is in flight bounds the scale from
//! below. The least scale that allows it is taken for the true one only where the window is then
//! full when ACKs come, again and again: what stops a sender elsewhere falls into the last segment
//! before such an edge by chance alone.

use super::pending_acks::AckFields;

/// Stops of the sender at which the window was full, and how many times the others they must be.
const MIN_FULL_STOPS: u32 = 8;
const FULL_PER_OPEN: u32 = 4;
/// The largest shift (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// What is known of the scale of the windows that are offered to a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InferredScale {
    /// The least shift that allows what was in flight.
    min_shift: u8,
    /// What the newest ACK acknowledged and offered, before scaling.
    newest: Option<(u64, u16)>,
    /// Stops with less room than a segment by that shift, and others; the last one's place.
    full_stops: u32,
    open_stops: u32,
    last_stop: u64,
}

impl InferredScale {
    /// An ACK with a window of unknown scale reached the sender, which had sent up to `snd_max`, in
    /// segments of `mss`, and had stopped for want of data or not (`app_limited`). Gives the scale
    /// as soon as that is taken for the true one.
    pub fn infer(&mut self, fields: &AckFields, (sent_max, mss): (u64, u64), ran_dry: bool) -> Option<u8> {
        if let Some((ack, raw)) = self.newest.filter(|&(ack, raw)| raw > 0 && ack < fields.ack) {
            let edge = |shift: u8| ack + (u64::from(raw) << shift);
            if edge(self.min_shift) < sent_max {
                self.min_shift =
                    (self.min_shift..=MAX_SHIFT).find(|&shift| edge(shift) >= sent_max).unwrap_or(MAX_SHIFT);
                (self.full_stops, self.open_stops) = (0, 0);
            }
            // The first ACK after a send finds the sender as it stopped, or as it goes on sending.
            if !ran_dry && self.last_stop != sent_max {
                self.last_stop = sent_max;
                let is_full = edge(self.min_shift).saturating_sub(sent_max) < mss;
                *(if is_full { &mut self.full_stops } else { &mut self.open_stops }) += 1;
            }
        }
        if self.newest.is_none_or(|(ack, _)| fields.ack >= ack) {
            self.newest = Some((fields.ack, fields.raw_window));
        }
        (self.full_stops >= MIN_FULL_STOPS && self.full_stops >= FULL_PER_OPEN * self.open_stops)
            .then_some(self.min_shift)
    }

    /// This is taken for the true scale.
    pub fn assume(&mut self, shift: u8) {
        self.min_shift = shift;
    }

    /// What was taken for the true scale does not allow what is in flight: a larger one may.
    pub fn reject_assumed(&mut self) {
        *self = Self { min_shift: (self.min_shift + 1).min(MAX_SHIFT), ..Self::default() };
    }
}
