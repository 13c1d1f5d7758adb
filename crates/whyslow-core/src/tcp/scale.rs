//! The scale of windows where the SYNs that agreed on it were not captured.
//!
//! No sender has more in flight than it is offered, so that what is in flight bounds the scale from below. The least scale that allows it
//! is taken for the true one only where the window is then full when ACKs come, again and again: what stops a sender elsewhere
//! falls into the last segment before such an edge by chance alone.

use super::half::Half;
use super::waiting::Says;

/// Stops of the sender at which the window was full, and how many times the others they must be.
const LEAST_FULL: u32 = 8;
const TIMES_OPEN: u32 = 4;
/// The largest shift (RFC 7323 section 2.3).
const MOST: u8 = 14;

/// What is known of the scale of the windows that are offered to a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    /// The least shift that allows what was in flight.
    least: u8,
    /// What the newest ACK acknowledged and offered, before scaling.
    newest: Option<(u64, u16)>,
    /// Stops with less room than a segment by that shift, and others; the last one's place.
    full: u32,
    open: u32,
    stop: u64,
}

impl Half {
    /// An ACK with a window of unknown scale reached the sender.
    #[inline(never)]
    pub(super) fn weigh_scale(&mut self, says: &Says) {
        let mss = self.mss();
        let ran_dry = self.ran_dry;
        let sent_max = self.sent_max;
        let scale = &mut self.scale;
        if let Some((ack, raw)) = scale.newest.filter(|&(ack, raw)| raw > 0 && ack < says.ack) {
            let edge = |shift: u8| ack + (u64::from(raw) << shift);
            if edge(scale.least) < sent_max {
                scale.least = (scale.least..=MOST).find(|&shift| edge(shift) >= sent_max).unwrap_or(MOST);
                (scale.full, scale.open) = (0, 0);
            }
            // The first ACK after a send finds the sender as it stopped, or as it goes on sending.
            if !ran_dry && scale.stop != sent_max {
                scale.stop = sent_max;
                let is_full = edge(scale.least).saturating_sub(sent_max) < mss;
                *(if is_full { &mut scale.full } else { &mut scale.open }) += 1;
            }
        }
        if scale.newest.is_none_or(|(ack, _)| says.ack >= ack) {
            scale.newest = Some((says.ack, says.raw));
        }
        if scale.full >= LEAST_FULL && scale.full >= TIMES_OPEN * scale.open {
            let least = scale.least;
            self.take_shift(Some(least));
        }
    }

    /// Takes this for the scale of windows, if it is one, and no SYN tells another.
    pub(super) fn take_shift(&mut self, shift: Option<u8>) {
        if let Some(shift) = shift.filter(|_| self.window_shift.is_none()) {
            (self.window_shift, self.facts.taken_shift, self.scale.least) = (Some(shift), Some(shift), shift);
            self.said = None;
        }
    }

    /// The scale that was taken for the true one does not allow what is in flight: it is not known after all.
    #[inline(never)]
    pub(super) fn mistake_scale(&mut self) {
        self.window_shift = None;
        self.facts.taken_shift = None;
        (self.window, self.edge, self.facts.max_window) = (None, None, None);
        self.scale = Scale { least: (self.scale.least + 1).min(MOST), ..Scale::default() };
        self.said = None;
    }
}
