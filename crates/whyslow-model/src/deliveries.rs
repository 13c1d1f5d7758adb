//! The rate at which segments are delivered, as the sender measures it (Cheng et al., "Delivery
//! Rate Estimation"): the segments delivered between a segment's departure and its ACK, over that
//! time.

use super::ring::Ring;
use whyslow_units::Time;

#[derive(Debug)]
pub(super) struct Deliveries {
    /// Segments that were delivered, and when the last was.
    count: f64,
    at: Time,
    /// The same at the departure of each segment's latest copy, for the segments that the sender
    /// keeps.
    at_departure: Ring<(f64, Time)>,
}

impl Deliveries {
    pub(super) fn new() -> Self {
        Self { count: 0.0, at: Time::ZERO, at_departure: Ring::new(1) }
    }

    /// A new segment leaves; `alone`: nothing else is in flight.
    pub(super) fn depart(&mut self, now: Time, alone: bool) {
        if alone {
            self.at = now;
        }
        self.at_departure.push((self.count, self.at));
    }

    /// A segment leaves again.
    pub(super) fn depart_again(&mut self, segment: usize) {
        if let Some(known) = self.at_departure.get_mut(segment) {
            *known = (self.count, self.at);
        }
    }

    /// Earlier deliveries are no longer kept.
    pub(super) fn forget_before(&mut self, segment: usize) {
        self.at_departure.pop_before(segment);
    }

    /// Segments newly delivered by the ACK for `segment`, which left at `sent`. Returns segments
    /// per nanosecond.
    pub(super) fn arrive(&mut self, now: Time, newly: f64, segment: usize, sent: Time) -> f64 {
        self.count += newly;
        self.at = now;
        let Some(&(count, at)) = self.at_departure.get(segment) else { return 0.0 };
        (self.count - count) / (now - at).0.max((now - sent).0).max(1) as f64
    }
}
