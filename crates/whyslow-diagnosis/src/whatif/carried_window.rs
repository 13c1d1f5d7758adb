//! The congestion window that a sender would have after earlier transfers of a connection, if no
//! silence had reduced it.
//!
//! Models slow start as in Linux: an acknowledged segment adds one to cwnd while cwnd is less than
//! twice the most in flight (`tcp_is_cwnd_limited`), and each transfer continues from the window of
//! the previous one. The result is never less than the bytes that were in flight; a loss, or growth
//! that has become slow, ends slow start for the rest of the connection. Ignores later slow growth.

use super::window::{cap, initial_window, ssthresh};
use crate::estimate::Context;
use crate::limit::TimeAttribution;
use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_core::tcp::facts::{Release, TransferFacts};

/// Share of a window that CUBIC keeps after a loss (RFC 9438 section 4.6).
const AFTER_LOSS: f64 = 0.7;

/// A window left by earlier transfers.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub(super) struct CarriedWindow {
    /// Segments.
    pub(super) cwnd: f64,
    /// Whether slow start continues.
    pub(super) grows: bool,
}

impl CarriedWindow {
    /// Returns the window after these transfers of one sender; `None` without any.
    pub(super) fn over(earlier: &[(&TransferFacts, TimeAttribution)], context: &Context) -> Option<Self> {
        let mss = context.mss.max(1);
        let (first, attribution) = earlier.first()?;
        let mut carried = Self { cwnd: initial_window(first, attribution, mss), grows: true };
        for (transfer, attribution) in earlier {
            carried.carry_on(transfer, attribution, mss);
        }
        Some(carried)
    }

    fn carry_on(&mut self, transfer: &TransferFacts, attribution: &TimeAttribution, mss: u64) {
        let segments = |bytes: u64| bytes as f64 / mss as f64;
        let seen = segments(transfer.max_in_flight);
        if transfer.losses.iter().any(|loss| !loss.spurious) {
            *self = Self { cwnd: (AFTER_LOSS * seen).max(1.0), grows: false };
            return;
        }
        let cap = cap(transfer, attribution);
        // Offered windows and sender caps do not depend on the congestion window.
        let offered = transfer.rounds.iter().filter_map(|round| round.window).max();
        let bound = [cap, offered].into_iter().flatten().min().map_or(f64::INFINITY, segments);
        if self.grows {
            let threshold = ssthresh(transfer, attribution, cap, mss);
            self.grows = threshold.is_infinite();
            let before = self.cwnd;
            for bytes in bursts(transfer) {
                self.cwnd = grown(self.cwnd, segments(bytes).ceil(), bound);
            }
            self.cwnd = self.cwnd.min(threshold.max(before));
        }
        self.cwnd = self.cwnd.max(seen);
    }
}

/// The bytes of each burst of the program, between silences with nothing in flight.
fn bursts(transfer: &TransferFacts) -> impl Iterator<Item = u64> {
    let silences = transfer.pauses.iter().filter(|gap| gap.idle && gap.release != Release::Timer);
    let places = silences.map(|gap| gap.snd_max).chain([transfer.seq.1]);
    let mut from = transfer.seq.0;
    places.map(move |at| at.saturating_sub(std::mem::replace(&mut from, at)))
}

/// Returns the window after this many segments in slow start, with at most `bound` in flight.
fn grown(mut window: f64, segments: f64, bound: f64) -> f64 {
    let mut flight = window.min(segments).min(bound);
    let (mut sent, mut most) = (flight, flight);
    while flight >= 1.0 {
        // Each ACK takes one segment out of flight and lets two follow, while there are any.
        let next = (2.0 * flight).min(segments - sent).min(bound);
        most = most.max((flight + next / 2.0).min(bound));
        let before = window;
        window = (window + flight).min(window.max(2.0 * most));
        if window == before {
            break;
        }
        sent += next;
        flight = next;
    }
    window
}

#[cfg(test)]
mod tests;
