//! The congestion window that a sender would have after some transfers of a connection, had no
//! silence between them cut it.
//!
//! Knows: slow start as Linux has it, where a segment that is acknowledged adds one to the window
//! while the window is less than twice the most that was in flight (`tcp_is_cwnd_limited`), and
//! each transfer goes on from what the one before it left. Promises: never less than what was seen
//! in flight; a loss, or growth that had become slow, ends slow start for the rest of the
//! connection. Ignores: how far slow growth goes on after that.

use super::window::{cap, initial_window, ssthresh};
use crate::limit::{Context, Partition};
use crate::tcp::facts::{Release, TransferFacts};

/// What CUBIC leaves of a window after a loss (RFC 9438 section 4.6).
const AFTER_LOSS: f64 = 0.7;

/// A window that the transfers before left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CarriedWindow {
    /// Segments.
    pub(super) cwnd: f64,
    /// Slow start is still on.
    pub(super) grows: bool,
}

impl CarriedWindow {
    /// After these transfers of one sender; none without any.
    pub(super) fn over(earlier: &[(&TransferFacts, Partition)], context: &Context) -> Option<Self> {
        let mss = context.mss.max(1);
        let (first, partition) = earlier.first()?;
        let mut carried = Self { cwnd: initial_window(first, partition, mss), grows: true };
        for (transfer, partition) in earlier {
            carried.carry_on(transfer, partition, mss);
        }
        Some(carried)
    }

    fn carry_on(&mut self, transfer: &TransferFacts, partition: &Partition, mss: u64) {
        let segments = |bytes: u64| bytes as f64 / mss as f64;
        let seen = segments(transfer.max_in_flight);
        if transfer.losses.iter().any(|loss| !loss.spurious) {
            *self = Self { cwnd: (AFTER_LOSS * seen).max(1.0), grows: false };
            return;
        }
        let cap = cap(transfer, partition);
        // The windows that were offered and what capped the sender are the same whatever the
        // congestion window is.
        let offered = transfer.rounds.iter().filter_map(|round| round.window).max();
        let bound = [cap, offered].into_iter().flatten().min().map_or(f64::INFINITY, segments);
        if self.grows {
            let threshold = ssthresh(transfer, partition, cap, mss);
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

/// The bytes that the program gave at a time: between silences in which nothing was in flight.
fn bursts(transfer: &TransferFacts) -> impl Iterator<Item = u64> {
    let silences = transfer.gaps.iter().filter(|gap| gap.idle && gap.release != Release::Timer);
    let places = silences.map(|gap| gap.snd_max).chain([transfer.seq.1]);
    let mut from = transfer.seq.0;
    places.map(move |at| at.saturating_sub(std::mem::replace(&mut from, at)))
}

/// The window after so many segments, of which never more than `bound` are in flight, in slow
/// start.
fn grown(mut window: f64, segments: f64, bound: f64) -> f64 {
    let mut flight = window.min(segments).min(bound);
    let (mut sent, mut most) = (flight, flight);
    while flight >= 1.0 {
        // Each ACK takes a segment out of flight and lets two follow, as long as there are any.
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
