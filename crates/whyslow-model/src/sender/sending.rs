//! The segments that the sender may send next.

use super::{Blocked, Packet, Segment, Sender, State};
use crate::congestion::CongestionController;
use whyslow_units::{Nanos, Time};

/// Less than this fraction of a segment is not sent while something is outstanding (silly window
/// avoidance).
const SWS_FRACTION: u64 = 8;

/// The current limit: segments that may be in flight, and the byte up to which they may reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    segments: u32,
    bytes: u64,
}

impl<C: CongestionController> Sender<C> {
    /// Returns the next packet to send now, or why there is none.
    #[inline]
    pub(crate) fn next(&mut self, now: Time) -> Result<Packet, Blocked> {
        let full = f64::from(self.in_flight) + 1.0 > self.max_in_flight_now().max(1.0);
        let is_lost = self.lost.first().copied();
        let size = match is_lost {
            Some(_) => self.mss,
            None => self.next_size(full)?,
        };
        if full {
            self.held_by_window.0 = true;
            return Err(Blocked::Congestion);
        }
        if let Some(pace) = self.pace() {
            if self.pace_at > now {
                return Err(Blocked::Pace(self.pace_at));
            }
            let spacing = Nanos(1).scale((size as f64 / self.mss as f64 / pace).min(1e18));
            self.pace_at = self.pace_at.max(now) + spacing;
        }
        if let Some(segment) = is_lost {
            self.lost.remove(&segment);
            return self.retransmit(now, segment).ok_or(Blocked::Done);
        }
        Ok(self.send_new(now, size))
    }

    /// Returns how many full segments may be sent until the next ACK, while nothing disturbs.
    #[inline]
    pub(crate) fn allowance(&self) -> Allowance {
        let bytes = self.acked_bytes.saturating_add(self.cap).min(self.available).min(self.snd_right_edge);
        Allowance { segments: self.control.cwnd().max(1.0) as u32, bytes }
    }

    /// Returns the next full segment within this allowance.
    #[inline]
    pub(crate) fn next_full(&mut self, now: Time, allowance: Allowance) -> Option<Packet> {
        let may = self.in_flight < allowance.segments && self.sent_bytes + self.mss <= allowance.bytes;
        may.then(|| self.send_new(now, self.mss))
    }

    /// Returns whether the sender simply has to wait once the allowance is used up. `over`: the
    /// program writes no more.
    #[inline]
    pub(crate) fn must_wait(&mut self, allowance: Allowance, over: bool) -> bool {
        if self.sent_bytes + self.mss <= allowance.bytes {
            self.held_by_window.0 = true;
            return true;
        }
        if self.sent_bytes == self.available { over } else { self.sent_bytes == self.snd_right_edge }
    }

    pub(super) fn pace(&self) -> Option<f64> {
        match (self.control.pacing(), self.pacing) {
            (Some(own), Some(limit)) => Some(own.min(limit)),
            (own, limit) => own.or(limit),
        }
    }

    /// Returns how much new data the next segment may carry, or the limit other than cwnd that
    /// prevents it.
    pub(super) fn next_size(&self, full: bool) -> Result<u64, Blocked> {
        let size = self.mss.min(self.available.saturating_sub(self.sent_bytes));
        if size == 0 {
            return Err(Blocked::Program);
        }
        if !full && self.buffer.as_ref().is_some_and(|buffer| self.sent_bytes >= buffer.written) {
            return Err(Blocked::Cap);
        }
        if self.sent_bytes + size > self.snd_right_edge {
            let room = self.snd_right_edge.saturating_sub(self.sent_bytes);
            // Hosts cut segments to use up a small window (Linux: down to half of it) and hold back
            // tiny ones (RFC 9293 section 3.8.6.2.1).
            let useful = room > 0 && (room >= self.mss / SWS_FRACTION || self.in_flight == 0);
            return if useful { Ok(room) } else { Err(Blocked::Receiver) };
        }
        if self.sent_bytes + size - self.acked_bytes > self.cap && self.sent_bytes > self.acked_bytes && !full {
            return Err(Blocked::Cap);
        }
        Ok(size)
    }

    #[inline]
    pub(super) fn send_new(&mut self, now: Time, size: u64) -> Packet {
        let segment = self.count();
        let (start, end) = (self.sent_bytes, self.sent_bytes + size);
        if C::NEEDS_DELIVERY_RATE {
            self.deliveries.depart(now, self.in_flight == 0);
        }
        let (state, order, size) = (State::InFlight, self.packets_sent, size as u32);
        self.segments.push(Segment { end, sent: now, order, size, state, retransmitted: false });
        self.sent_bytes = end;
        self.note_copy(now);
        Packet { segment, start, end, first_copy: true }
    }

    pub(super) fn retransmit(&mut self, now: Time, segment: usize) -> Option<Packet> {
        let known = self.segments.get_mut(segment)?;
        *known = Segment { state: State::InFlight, sent: now, order: self.packets_sent, retransmitted: true, ..*known };
        let packet = Packet { segment, start: known.end - u64::from(known.size), end: known.end, first_copy: false };
        if C::NEEDS_DELIVERY_RATE {
            self.deliveries.depart_again(segment);
        }
        self.retransmitted += 1;
        self.retransmit_queue.push_back((segment, self.packets_sent));
        self.note_copy(now);
        Some(packet)
    }

    #[inline]
    fn note_copy(&mut self, now: Time) {
        self.packets_sent += 1;
        self.in_flight += 1;
        self.max_in_flight.0 = self.max_in_flight.0.max(self.in_flight);
        if let Some(recovery) = &mut self.recovery {
            recovery.prr_out += 1.0;
        }
        self.rearm_at = Some(now);
    }
}
