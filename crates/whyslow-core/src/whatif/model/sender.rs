//! The sending host: outstanding and lost segments, and what may be sent next.
//!
//! Losses are detected as in RACK (RFC 8985): a segment is lost once a later one has arrived, and
//! either three have or a quarter of an RTT has passed. A silence ends with a tail loss probe, then
//! with the RTO.

use super::buffer::SendBuffer;
use super::congestion::{AckSample, CongestionController};
use super::deliveries::Deliveries;
use super::receiver::Ack;
use super::recovery::Recovery;
use super::ring::Ring;
use super::rtt::{RttEstimator, times};
use super::{RTO_MIN, Scenario};
use crate::units::Nanos;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    InFlight,
    Lost,
    /// The receiver has reported it.
    Arrived,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    end: u64,
    sent: Nanos,
    /// Packets sent before its latest copy.
    order: u64,
    /// Bytes: a segment has a megabyte at most.
    size: u32,
    state: State,
    retransmitted: bool,
}

/// Less than this fraction of a segment is not sent while something is outstanding (silly window
/// avoidance).
const SWS_FRACTION: u64 = 8;

/// How much longer than two RTTs a tail loss probe waits with more than one segment in flight.
const MIN_PROBE_WAIT: Nanos = Nanos::from_millis(2);

/// Why nothing can be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Everything was sent.
    Done,
    /// The program has nothing more yet.
    Program,
    /// By the congestion window.
    Congestion,
    /// By the receiver's window.
    Receiver,
    /// By the cap in the sender.
    Cap,
    /// By its own pace, until then.
    Pace(Nanos),
}

/// A packet to put on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) segment: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) first_copy: bool,
}

/// The current limit: segments that may be in flight, and the byte up to which they may reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    segments: u32,
    bytes: u64,
}

#[derive(Debug)]
pub(super) struct Sender<C> {
    mss: u64,
    cap: u64,
    buffer: Option<SendBuffer>,
    pacing: Option<f64>,
    /// Segments that an ACK may still cover.
    segments: Ring<Segment>,
    /// Whether an ACK may refer to an acknowledged segment, because the receiver delays ACKs.
    keeps: bool,
    /// All segments before this one are acknowledged.
    snd_una: usize,
    acked_bytes: u64,
    sent_bytes: u64,
    /// Bytes written by the program.
    available: u64,
    snd_right_edge: u64,
    in_flight: u32,
    /// Segments that arrived beyond a hole.
    sacked_out: u32,
    lost: BTreeSet<usize>,
    /// Originals before this one have been checked for loss; the few retransmissions are queued
    /// with their order.
    checked_until: usize,
    retransmit_queue: VecDeque<(usize, u64)>,
    packets_sent: u64,
    /// The latest copy known to have arrived.
    newest_delivered: (u64, Nanos),
    control: C,
    recovery: Option<Recovery>,
    round_end: usize,
    /// Most in flight in this round and the previous one.
    max_in_flight: (u32, u32),
    held_by_window: (bool, bool),
    rtt: RttEstimator,
    backoff: u32,
    probed: bool,
    pace_at: Nanos,
    deliveries: Deliveries,
    pub(super) retransmitted: u64,
    rto_timer: Option<Nanos>,
    /// The timer starts anew at this time.
    rearm_at: Option<Nanos>,
    pub(super) recheck: Option<Nanos>,
}

/// What an ACK delivered.
struct Delivery {
    now: Nanos,
    segments: f64,
    rtt: Option<Nanos>,
    /// Segments per second.
    rate: f64,
}

impl<C: CongestionController> Sender<C> {
    /// Creates a sender before its first byte; the receiver lets it send up to `snd_right_edge`.
    pub(super) fn new(scenario: &Scenario, bytes: u64, edge: u64) -> Self {
        Self {
            mss: scenario.mss,
            cap: scenario.sender.cap.unwrap_or(u64::MAX),
            buffer: scenario.sender.buffer.map(|room| SendBuffer::new(room, scenario.bytes)),
            pacing: scenario.sender.pacing.filter(|rate| *rate > 0.0).map(|rate| rate / 8e9 / scenario.mss as f64),
            segments: Ring::new(bytes / scenario.mss),
            keeps: scenario.receiver.ack_delay > Nanos::ZERO,
            snd_una: 0,
            acked_bytes: 0,
            sent_bytes: 0,
            available: 0,
            snd_right_edge: edge,
            in_flight: 0,
            sacked_out: 0,
            lost: BTreeSet::new(),
            checked_until: 0,
            retransmit_queue: VecDeque::new(),
            packets_sent: 0,
            newest_delivered: (0, Nanos::ZERO),
            control: C::new(&scenario.sender, scenario.rtt),
            recovery: None,
            round_end: 0,
            max_in_flight: (0, 0),
            held_by_window: (false, false),
            rtt: RttEstimator::new(scenario.rtt),
            backoff: 0,
            probed: false,
            pace_at: Nanos::ZERO,
            deliveries: Deliveries::new(),
            retransmitted: 0,
            rto_timer: None,
            rearm_at: None,
            recheck: None,
        }
    }

    /// Sets how many bytes the program has written.
    pub(super) fn offer(&mut self, available: u64) {
        self.available = available;
    }

    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    pub(super) fn acked_bytes(&self) -> u64 {
        self.acked_bytes
    }

    pub(super) fn end_of(&self, segment: usize) -> u64 {
        self.get(segment).map_or(self.sent_bytes, |segment| segment.end)
    }

    /// Returns the number of segments so far.
    fn count(&self) -> usize {
        self.segments.end()
    }

    fn get(&self, segment: usize) -> Option<&Segment> {
        self.segments.get(segment)
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.control.cwnd()
    }

    pub(super) fn ssthresh(&self) -> f64 {
        self.control.ssthresh()
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.control.cwnd() < self.control.ssthresh()
    }

    /// Returns the RTO, doubled for each back-off.
    pub(super) fn rto(&self) -> Nanos {
        times(self.rtt.rto(), 1 << self.backoff.min(8))
    }

    fn max_in_flight_now(&self) -> f64 {
        match &self.recovery {
            Some(recovery) if !recovery.by_timer && self.control.uses_prr() => recovery.cwnd,
            _ => self.control.cwnd(),
        }
    }

    /// Returns the next packet to send now, or why there is none.
    #[inline]
    pub(super) fn next(&mut self, now: Nanos) -> Result<Packet, Blocked> {
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
    pub(super) fn allowance(&self) -> Allowance {
        let bytes = self.acked_bytes.saturating_add(self.cap).min(self.available).min(self.snd_right_edge);
        Allowance { segments: self.control.cwnd().max(1.0) as u32, bytes }
    }

    /// Returns the next full segment within this allowance.
    #[inline]
    pub(super) fn next_full(&mut self, now: Nanos, allowance: Allowance) -> Option<Packet> {
        let may = self.in_flight < allowance.segments && self.sent_bytes + self.mss <= allowance.bytes;
        may.then(|| self.send_new(now, self.mss))
    }

    /// Returns whether the sender simply has to wait once the allowance is used up. `over`: the
    /// program writes no more.
    #[inline]
    pub(super) fn must_wait(&mut self, allowance: Allowance, over: bool) -> bool {
        if self.sent_bytes + self.mss <= allowance.bytes {
            self.held_by_window.0 = true;
            return true;
        }
        if self.sent_bytes == self.available { over } else { self.sent_bytes == self.snd_right_edge }
    }

    fn pace(&self) -> Option<f64> {
        match (self.control.pacing(), self.pacing) {
            (Some(own), Some(limit)) => Some(own.min(limit)),
            (own, limit) => own.or(limit),
        }
    }

    pub(super) fn buffer(&self) -> Option<u64> {
        self.buffer.as_ref().map(|buffer| buffer.room)
    }

    /// Returns how much new data the next segment may carry, or what other than cwnd prevents it.
    fn next_size(&self, full: bool) -> Result<u64, Blocked> {
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
    fn send_new(&mut self, now: Nanos, size: u64) -> Packet {
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

    fn retransmit(&mut self, now: Nanos, segment: usize) -> Option<Packet> {
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
    fn note_copy(&mut self, now: Nanos) {
        self.packets_sent += 1;
        self.in_flight += 1;
        self.max_in_flight.0 = self.max_in_flight.0.max(self.in_flight);
        if let Some(recovery) = &mut self.recovery {
            recovery.prr_out += 1.0;
        }
        self.rearm_at = Some(now);
    }

    /// Returns whether nothing is missing or being repaired, and only ACKs change what may be sent,
    /// not pacing or a buffer.
    pub(super) fn is_undisturbed(&self) -> bool {
        let is_plain = self.buffer.is_none() && self.pace().is_none();
        is_plain && self.recovery.is_none() && self.lost.is_empty() && self.sacked_out == 0
    }

    /// Returns whether an ACK reports the oldest segment and nothing else, while nothing disturbs:
    /// it reveals no loss.
    #[inline]
    pub(super) fn expects(&self, ack: &Ack) -> bool {
        let is_oldest = ack.segment == self.snd_una && ack.next == self.snd_una + 1;
        // Nothing later was sent before the newest segment known to have arrived.
        let is_plain =
            |it: &Segment| it.state == State::InFlight && !it.retransmitted && it.order >= self.newest_delivered.0;
        is_oldest && self.get(self.snd_una).is_some_and(is_plain)
    }

    /// Processes an expected ACK, with the result of [`Self::acknowledge`].
    #[inline]
    pub(super) fn acknowledge_next(&mut self, now: Nanos, edge: u64) {
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
    pub(super) fn acknowledge(&mut self, now: Nanos, ack: &Ack) {
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
        let news = match known.state {
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
        if beyond_hole && news > 0.0 {
            self.sacked_out += 1;
        }
        news
    }

    /// Looks for copies that a later one has overtaken.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Nanos) {
        self.recheck = None;
        let patient = self.sacked_out < 3 && self.recovery.is_none();
        let mut found = false;
        while let Some((segment, sent)) = self.overtaken() {
            let due = sent + self.rtt.reordering_window();
            if patient && due > now {
                self.recheck = Some(due);
                break;
            }
            self.mark_lost(segment);
            found = true;
        }
        if found && self.recovery.is_none() {
            self.control.on_loss(now);
            self.recovery = Some(Recovery::after_loss(self.count(), self.in_flight, self.lost.len()));
        }
    }

    /// Returns the oldest copy in flight that was sent before the newest one that arrived: its
    /// segment, and when it was sent.
    #[inline]
    fn overtaken(&mut self) -> Option<(usize, Nanos)> {
        self.checked_until = self.checked_until.max(self.snd_una);
        let is_first_copy = |it: &Segment| it.state == State::InFlight && !it.retransmitted;
        while self.get(self.checked_until).is_some_and(|it| !is_first_copy(it)) {
            self.checked_until += 1;
        }
        let is_latest = |it: &Segment, order| it.state == State::InFlight && it.order == order;
        while let Some(&(segment, order)) = self.retransmit_queue.front() {
            if self.get(segment).is_some_and(|it| is_latest(it, order)) {
                break;
            }
            self.retransmit_queue.pop_front();
        }
        let copy = |segment: usize| self.get(segment).map(|it| (it.order, segment, it.sent));
        let again = self.retransmit_queue.front().and_then(|copy_again| copy(copy_again.0));
        let first = [copy(self.checked_until), again].into_iter().flatten().min_by_key(|copy| copy.0);
        first.filter(|copy| copy.0 < self.newest_delivered.0).map(|(_, segment, sent)| (segment, sent))
    }

    fn mark_lost(&mut self, segment: usize) {
        if let Some(known) = self.segments.get_mut(segment) {
            known.state = State::Lost;
            self.in_flight = self.in_flight.saturating_sub(1);
            self.lost.insert(segment);
        }
    }

    /// Updates PRR: how many may be in flight after these arrived.
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

    fn is_in_flight(&self, segment: usize) -> bool {
        self.get(segment).is_some_and(|it| it.state == State::InFlight)
    }

    /// A timer started now does not fire before this time.
    pub(super) fn timer_after(&self, now: Nanos) -> Nanos {
        Nanos(now.0 + self.rtt.srtt().0 + MIN_PROBE_WAIT.0)
    }

    /// Returns when the timer fires.
    pub(super) fn rto_timer(&mut self) -> Option<Nanos> {
        // Each packet and ACK restarts it, and only the last restart before another event matters.
        if let Some(now) = self.rearm_at.take() {
            self.rto_timer = self.timer_from(now);
        }
        self.rto_timer
    }

    fn timer_from(&self, now: Nanos) -> Option<Nanos> {
        if self.in_flight == 0 && self.lost.is_empty() {
            None
        } else if self.may_probe() {
            let alone = if self.in_flight == 1 { RTO_MIN } else { MIN_PROBE_WAIT };
            Some(now + (times(self.rtt.srtt(), 2) + alone).min(self.rto()))
        } else {
            Some(now + self.rto())
        }
    }

    fn may_probe(&self) -> bool {
        self.recovery.is_none() && self.sacked_out == 0 && !self.probed && self.backoff == 0
    }

    /// Handles the timer. Returns a probe to send, or `None` if everything outstanding counts as
    /// lost now.
    pub(super) fn on_timer(&mut self, now: Nanos) -> Option<Packet> {
        self.rto_timer = None;
        if self.may_probe() && self.in_flight > 0 {
            self.probed = true;
            let size = self.next_size(false).unwrap_or(0);
            if size > 0 {
                return Some(self.send_new(now, size));
            }
            let last = (self.snd_una..self.count()).rev().find(|&segment| self.is_in_flight(segment))?;
            self.in_flight = self.in_flight.saturating_sub(1);
            return self.retransmit(now, last);
        }
        self.on_rto(now);
        self.backoff += 1;
        None
    }

    /// Handles an RTO: everything outstanding counts as lost, and cwnd is one segment.
    pub(super) fn on_rto(&mut self, now: Nanos) {
        for segment in self.snd_una..self.count() {
            if self.is_in_flight(segment) {
                self.mark_lost(segment);
            }
        }
        self.collapse_cwnd(now);
    }

    /// Restores the initial window after a long silence (RFC 5681 section 4.1).
    pub(super) fn restart_after_idle(&mut self, initial_window: f64) {
        self.control.on_idle(initial_window);
    }

    /// Reduces cwnd to one segment.
    fn collapse_cwnd(&mut self, now: Nanos) {
        self.control.on_timeout(now);
        self.recovery = (!self.lost.is_empty()).then(|| Recovery::after_timer(self.count()));
        self.round_end = self.count();
    }
}
