//! Infers the window scale if the SYNs were not captured.
//!
//! No sender exceeds its window, so bytes in flight are a lower bound of the scale. The smallest
//! possible scale is accepted only if it makes the window repeatedly full when ACKs arrive. A
//! sender that stops for other reasons stops within a segment of such an edge only by chance.

use super::pending_acks::AckFields;

/// Required stops with a full window, and their required ratio to other stops.
const MIN_FULL_STOPS: u32 = 8;
const FULL_PER_OPEN: u32 = 4;
/// The largest shift (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// State of the inference for the windows offered to one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct InferredScale {
    /// Smallest shift that allows the bytes in flight.
    min_shift: u8,
    /// Acknowledgment number and unscaled window of the newest ACK.
    newest: Option<(u64, u16)>,
    /// Stops with less room than a segment under that shift, other stops, and the position of the
    /// last.
    full_stops: u32,
    open_stops: u32,
    last_stop: u64,
}

impl InferredScale {
    /// Processes an ACK with a window of unknown scale. Its sender has sent up to `snd_max` in
    /// segments of `mss`; `app_limited`: it stopped because it had no data. Returns the shift as
    /// soon as it can be assumed.
    pub fn infer(&mut self, fields: &AckFields, (snd_max, mss): (u64, u64), app_limited: bool) -> Option<u8> {
        if let Some((ack, raw)) = self.newest.filter(|&(ack, raw)| raw > 0 && ack < fields.ack) {
            let edge = |shift: u8| ack + (u64::from(raw) << shift);
            if edge(self.min_shift) < snd_max {
                self.min_shift =
                    (self.min_shift..=MAX_SHIFT).find(|&shift| edge(shift) >= snd_max).unwrap_or(MAX_SHIFT);
                (self.full_stops, self.open_stops) = (0, 0);
            }
            // The first ACK after a send shows whether the sender has stopped.
            if !app_limited && self.last_stop != snd_max {
                self.last_stop = snd_max;
                let is_full = edge(self.min_shift).saturating_sub(snd_max) < mss;
                *(if is_full { &mut self.full_stops } else { &mut self.open_stops }) += 1;
            }
        }
        if self.newest.is_none_or(|(ack, _)| fields.ack >= ack) {
            self.newest = Some((fields.ack, fields.raw_window));
        }
        (self.full_stops >= MIN_FULL_STOPS && self.full_stops >= FULL_PER_OPEN * self.open_stops)
            .then_some(self.min_shift)
    }

    /// Assumes this shift.
    pub fn assume(&mut self, shift: u8) {
        self.min_shift = shift;
    }

    /// Rejects the assumed shift: bytes in flight exceed it, so only a larger one is possible.
    pub fn reject_assumed(&mut self) {
        *self = Self { min_shift: (self.min_shift + 1).min(MAX_SHIFT), ..Self::default() };
    }
}
