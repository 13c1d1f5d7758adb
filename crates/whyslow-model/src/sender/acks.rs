//! The effects of an ACK on the sender: delivered segments, their times, and the change of the
//! window.

use super::{Segment, Sender, State};
use crate::congestion::{AckSample, CongestionController};
use crate::receiver::Ack;
use whyslow_units::{Nanos, Time};

/// Data that an ACK delivered.
struct Delivery {
    now: Time,
    segments: f64,
    rtt: Option<Nanos>,
    /// Segments per second.
    rate: f64,
}

impl<C: CongestionController> Sender<C> {
    /// Returns whether nothing is missing or being repaired, and only ACKs change how much may be
    /// sent, not pacing or a buffer.
    pub(crate) fn is_undisturbed(&self) -> bool {
        let is_plain = self.buffer.is_none() && self.pace().is_none();
        is_plain && self.recovery.is_none() && self.lost.is_empty() && self.sacked_out == 0
    }

    /// Returns whether an ACK reports the oldest segment and nothing else, while nothing disturbs:
    /// it reveals no loss.
    #[inline]
    pub(crate) fn expects(&self, ack: &Ack) -> bool {
        let is_oldest = ack.segment == self.snd_una && ack.next == self.snd_una + 1;
        // Nothing later was sent before the newest segment known to have arrived.
        let is_plain =
            |it: &Segment| it.state == State::InFlight && !it.retransmitted && it.order >= self.newest_delivered.0;
        is_oldest && self.get(self.snd_una).is_some_and(is_plain)
    }

    /// Processes an expected ACK, with the result of [`Self::acknowledge`].
    #[inline]
    pub(crate) fn acknowledge_next(&mut self, now: Time, edge: u64) {
        let Some(&known) = self.segments.get(self.snd_una) else { return };
        self.snd_right_edge = self.snd_right_edge.max(edge);
        self.in_flight = self.in_flight.saturating_sub(1);
        self.acked_bytes = known.end;
        self.snd_una += 1;
        self.newest_delivered = (known.order, known.sent);
        let rtt = Some(Nanos(now.0 - known.sent.0));
        let new_round = self.update_rtt_and_round(rtt, true);
        match self.segments.get_mut(self.snd_una - 1).filter(|_| self.keeps) {
            Some(known) => known.state = State::Arrived,
            None => self.segments.pop(),
        }
        // A controller that needs the delivery rate paces.
        self.on_controller_ack(Delivery { now, segments: 1.0, rtt, rate: 0.0 }, new_round);
    }

    /// Processes an ACK.
    pub(crate) fn acknowledge(&mut self, now: Time, ack: &Ack) {
        self.snd_right_edge = self.snd_right_edge.max(ack.right_edge);
        let mut newly = 0.0;
        let advanced = ack.next > self.snd_una;
        while self.snd_una < ack.next {
            newly += self.arrived(self.snd_una, false);
            self.acked_bytes = self.end_of(self.snd_una);
            self.snd_una += 1;
        }
        if ack.segment >= ack.next {
            newly += self.arrived(ack.segment, true);
        }
        let known = self.get(ack.segment).copied();
        let Some(Segment { sent, order, retransmitted: again, .. }) = known.filter(|_| newly > 0.0) else {
            self.drop_acknowledged();
            return;
        };
        let rate = if C::NEEDS_DELIVERY_RATE { self.deliveries.arrive(now, newly, ack.segment, sent) } else { 0.0 };
        if order >= self.newest_delivered.0 {
            self.newest_delivered = (order, sent);
        }
        let rtt = (!again).then_some(now - sent);
        let new_round = self.update_rtt_and_round(rtt, advanced);
        self.detect_losses(now);
        self.drop_acknowledged();
        self.update_prr(newly);
        self.on_controller_ack(Delivery { now, segments: newly, rtt, rate }, new_round);
    }

    /// Updates RTT and rounds by an ACK for a segment. Returns whether a round begins.
    #[inline]
    fn update_rtt_and_round(&mut self, rtt: Option<Nanos>, advanced: bool) -> bool {
        if let Some(rtt) = rtt {
            self.rtt.on_sample(rtt);
        }
        let new_round = self.snd_una > self.round_end;
        if new_round {
            self.round_end = self.count();
            self.max_in_flight = (self.in_flight, self.max_in_flight.0);
            self.held_by_window = (false, self.held_by_window.0);
        }
        if advanced {
            self.backoff = 0;
            self.probed = false;
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.refill(self.acked_bytes, self.control.cwnd(), self.mss);
        }
        new_round
    }

    /// Passes an ACK to the congestion controller.
    #[inline(always)]
    fn on_controller_ack(&mut self, delivery: Delivery, new_round: bool) {
        let Delivery { now, segments, rtt, rate: delivery_rate } = delivery;
        let most = self.max_in_flight.0.max(self.max_in_flight.1);
        let limited = if self.in_slow_start() {
            self.control.cwnd() < 2.0 * f64::from(most)
        } else {
            self.held_by_window.0 || self.held_by_window.1
        };
        let recovering = self.recovery.as_ref().is_some_and(|recovery| !recovery.by_timer);
        let in_flight = f64::from(self.in_flight);
        self.control.on_ack(&AckSample {
            now,
            segments,
            rtt,
            new_round,
            cwnd_limited: limited,
            recovering,
            delivery_rate,
            in_flight,
        });
        self.rearm_at = Some(now);
    }

    /// Drops segments that no ACK can cover any more.
    #[inline]
    fn drop_acknowledged(&mut self) {
        if !self.keeps {
            self.segments.pop_before(self.snd_una);
            if C::NEEDS_DELIVERY_RATE {
                self.deliveries.forget_before(self.snd_una);
            }
        }
    }

    /// Marks a segment as arrived. Returns 1 if that is news.
    fn arrived(&mut self, segment: usize, beyond_hole: bool) -> f64 {
        let Some(known) = self.segments.get_mut(segment) else { return 0.0 };
        let newly_delivered = match known.state {
            State::InFlight => {
                self.in_flight = self.in_flight.saturating_sub(1);
                1.0
            }
            State::Lost => {
                self.lost.remove(&segment);
                1.0
            }
            State::Arrived => {
                if !beyond_hole {
                    self.sacked_out = self.sacked_out.saturating_sub(1);
                }
                0.0
            }
        };
        known.state = State::Arrived;
        if beyond_hole && newly_delivered > 0.0 {
            self.sacked_out += 1;
        }
        newly_delivered
    }

    /// Updates PRR: the number of segments that may be in flight after these arrived.
    fn update_prr(&mut self, newly: f64) {
        let Some(recovery) = &mut self.recovery else { return };
        if self.snd_una >= recovery.until {
            let by_timer = recovery.by_timer;
            self.recovery = None;
            if !by_timer && self.control.uses_prr() {
                self.control.on_recovered();
            }
            return;
        }
        recovery.arrive(newly, self.in_flight, self.control.ssthresh());
    }
}
