//! The scale of windows where the SYNs that agreed on it were not captured.
//!
//! No sender has more in flight than it is offered, so that what is in flight bounds the scale from below. The least scale that allows it
//! is taken for the true one only where the window is then full when ACKs come, again and again: what stops a sender elsewhere
//! falls into the last segment before such an edge by chance alone.

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

impl Scale {
    /// An ACK with a window of unknown scale reached the sender, which had sent up to `sent_max`, in
    /// segments of `mss`, and had stopped for want of data or not (`ran_dry`). Gives the scale as soon
    /// as that is taken for the true one.
    pub fn weigh(&mut self, says: &Says, (sent_max, mss): (u64, u64), ran_dry: bool) -> Option<u8> {
        if let Some((ack, raw)) = self.newest.filter(|&(ack, raw)| raw > 0 && ack < says.ack) {
            let edge = |shift: u8| ack + (u64::from(raw) << shift);
            if edge(self.least) < sent_max {
                self.least = (self.least..=MOST).find(|&shift| edge(shift) >= sent_max).unwrap_or(MOST);
                (self.full, self.open) = (0, 0);
            }
            // The first ACK after a send finds the sender as it stopped, or as it goes on sending.
            if !ran_dry && self.stop != sent_max {
                self.stop = sent_max;
                let is_full = edge(self.least).saturating_sub(sent_max) < mss;
                *(if is_full { &mut self.full } else { &mut self.open }) += 1;
            }
        }
        if self.newest.is_none_or(|(ack, _)| says.ack >= ack) {
            self.newest = Some((says.ack, says.raw));
        }
        (self.full >= LEAST_FULL && self.full >= TIMES_OPEN * self.open).then_some(self.least)
    }

    /// This is taken for the true scale.
    pub fn take(&mut self, shift: u8) {
        self.least = shift;
    }

    /// What was taken for the true scale does not allow what is in flight: a larger one may.
    pub fn mistake(&mut self) {
        *self = Self { least: (self.least + 1).min(MOST), ..Self::default() };
    }
}
