//! The sending host: what is outstanding, what was lost, and what may be sent next.
//!
//! Losses are found as RACK does (RFC 8985): a segment is lost once one that was sent later has arrived, and three have, or a quarter
//! of a round trip passed. Silence ends with a tail loss probe, then with the retransmission timer.

use super::buffer::Buffer;
use super::congestion::{Acked, Control};
use super::deliveries::Deliveries;
use super::receiver::Ack;
use super::recovery::Recovery;
use super::ring::Ring;
use super::trips::{Trips, times};
use super::{LEAST_TIMER, Scenario};
use crate::units::Nanos;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    InFlight,
    Lost,
    /// It has arrived, and the receiver said so.
    Arrived,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    end: u64,
    sent: Nanos,
    /// How many packets had been sent before its latest copy.
    order: u64,
    /// Bytes: a segment has a megabyte at most.
    size: u32,
    state: State,
    again: bool,
}

/// Less than this part of a segment is not sent while something is outstanding.
const CRUMB: u64 = 8;

/// A tail loss probe waits for so much more than two round trips, where more than one segment is in flight.
const LEAST_PROBE: Nanos = Nanos::from_millis(2);

/// Why nothing is sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
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

/// What may be sent: segments that may be in flight, and the byte up to which they may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    segments: u32,
    bytes: u64,
}

#[derive(Debug)]
pub(super) struct Sender<C> {
    mss: u64,
    cap: u64,
    buffer: Option<Buffer>,
    pacing: Option<f64>,
    /// Those that an ACK may yet be for.
    segments: Ring<Segment>,
    /// Whether an ACK may be for a segment that is acknowledged: where a receiver holds ACKs back.
    keeps: bool,
    /// All before this one are acknowledged.
    first: usize,
    acknowledged: u64,
    sent: u64,
    /// Bytes that the program has given.
    available: u64,
    edge: u64,
    in_flight: u32,
    /// Arrived beyond a hole.
    beyond: u32,
    lost: BTreeSet<usize>,
    /// First copies of those before this one were looked for; later copies, which are few, stand in a line with their order.
    looked: usize,
    again: VecDeque<(usize, u64)>,
    copies: u64,
    /// The latest copy that is known to have arrived.
    newest: (u64, Nanos),
    control: C,
    recovery: Option<Recovery>,
    round_end: usize,
    /// Most in flight in this round and in the one before.
    most: (u32, u32),
    held_by_window: (bool, bool),
    trips: Trips,
    backoff: u32,
    probed: bool,
    pace_at: Nanos,
    deliveries: Deliveries,
    pub(super) resent: u64,
    timer: Option<Nanos>,
    /// The timer starts anew at this time.
    arm: Option<Nanos>,
    pub(super) recheck: Option<Nanos>,
}

impl<C: Control> Sender<C> {
    /// As it is before the first of so many bytes; the receiver lets it send up to `edge`.
    pub(super) fn new(scenario: &Scenario, bytes: u64, edge: u64) -> Self {
        Self {
            mss: scenario.mss,
            cap: scenario.sender.cap.unwrap_or(u64::MAX),
            buffer: scenario.sender.buffer.map(|room| Buffer::new(room, scenario.bytes)),
            pacing: scenario.sender.pacing.filter(|rate| *rate > 0.0).map(|rate| rate / 8e9 / scenario.mss as f64),
            segments: Ring::new(bytes / scenario.mss),
            keeps: scenario.receiver.ack_delay > Nanos::ZERO,
            first: 0,
            acknowledged: 0,
            sent: 0,
            available: 0,
            edge,
            in_flight: 0,
            beyond: 0,
            lost: BTreeSet::new(),
            looked: 0,
            again: VecDeque::new(),
            copies: 0,
            newest: (0, Nanos::ZERO),
            control: C::new(&scenario.sender, scenario.rtt),
            recovery: None,
            round_end: 0,
            most: (0, 0),
            held_by_window: (false, false),
            trips: Trips::new(scenario.rtt),
            backoff: 0,
            probed: false,
            pace_at: Nanos::ZERO,
            deliveries: Deliveries::new(),
            resent: 0,
            timer: None,
            arm: None,
            recheck: None,
        }
    }

    /// The program has given so many bytes by now.
    pub(super) fn offer(&mut self, available: u64) {
        self.available = available;
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    pub(super) fn end_of(&self, segment: usize) -> u64 {
        self.get(segment).map_or(self.sent, |segment| segment.end)
    }

    /// How many segments there have been.
    fn count(&self) -> usize {
        self.segments.end()
    }

    fn get(&self, segment: usize) -> Option<&Segment> {
        self.segments.get(segment)
    }

    pub(super) fn window(&self) -> f64 {
        self.control.window()
    }

    pub(super) fn threshold(&self) -> f64 {
        self.control.threshold()
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.control.window() < self.control.threshold()
    }

    /// The retransmission timer's length; twice as long each time that it fires for nothing.
    pub(super) fn rto(&self) -> Nanos {
        times(self.trips.timer(), 1 << self.backoff.min(8))
    }

    fn allowed(&self) -> f64 {
        match &self.recovery {
            Some(recovery) if !recovery.by_timer && self.control.reduces() => recovery.window,
            _ => self.control.window(),
        }
    }

    /// The next packet that may be sent now, or why there is none.
    #[inline]
    pub(super) fn next(&mut self, now: Nanos) -> Result<Packet, Held> {
        let full = f64::from(self.in_flight) + 1.0 > self.allowed().max(1.0);
        let is_lost = self.lost.first().copied();
        let size = match is_lost {
            Some(_) => self.mss,
            None => self.next_size(full)?,
        };
        if full {
            self.held_by_window.0 = true;
            return Err(Held::Congestion);
        }
        if let Some(pace) = self.pace() {
            if self.pace_at > now {
                return Err(Held::Pace(self.pace_at));
            }
            let spacing = Nanos(1).scale((size as f64 / self.mss as f64 / pace).min(1e18));
            self.pace_at = self.pace_at.max(now) + spacing;
        }
        if let Some(segment) = is_lost {
            self.lost.remove(&segment);
            return self.resend(now, segment).ok_or(Held::Done);
        }
        Ok(self.send_new(now, size))
    }

    /// What may be sent in full segments until the next ACK, when all is calm.
    #[inline]
    pub(super) fn allowance(&self) -> Allowance {
        let bytes = self.acknowledged.saturating_add(self.cap).min(self.available).min(self.edge);
        Allowance { segments: self.control.window().max(1.0) as u32, bytes }
    }

    /// The next full segment within this allowance.
    #[inline]
    pub(super) fn next_full(&mut self, now: Nanos, allowance: Allowance) -> Option<Packet> {
        let may = self.in_flight < allowance.segments && self.sent + self.mss <= allowance.bytes;
        may.then(|| self.send_new(now, self.mss))
    }

    /// Whether the sender plainly has to wait, when no full segment is left of this allowance. `over`: the program gives no more.
    #[inline]
    pub(super) fn waits(&mut self, allowance: Allowance, over: bool) -> bool {
        if self.sent + self.mss <= allowance.bytes {
            self.held_by_window.0 = true;
            return true;
        }
        if self.sent == self.available { over } else { self.sent == self.edge }
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

    /// How much new data the next segment may carry; why none, where it is not the congestion window.
    fn next_size(&self, full: bool) -> Result<u64, Held> {
        let size = self.mss.min(self.available.saturating_sub(self.sent));
        if size == 0 {
            return Err(Held::Program);
        }
        if !full && self.buffer.as_ref().is_some_and(|buffer| self.sent >= buffer.written) {
            return Err(Held::Cap);
        }
        if self.sent + size > self.edge {
            let room = self.edge.saturating_sub(self.sent);
            // Hosts cut their segments so that a small window is used up (Linux: to half of it); crumbs they keep back (RFC 9293
            // section 3.8.6.2.1).
            let useful = room > 0 && (room >= self.mss / CRUMB || self.in_flight == 0);
            return if useful { Ok(room) } else { Err(Held::Receiver) };
        }
        if self.sent + size - self.acknowledged > self.cap && self.sent > self.acknowledged && !full {
            return Err(Held::Cap);
        }
        Ok(size)
    }

    #[inline]
    fn send_new(&mut self, now: Nanos, size: u64) -> Packet {
        let segment = self.count();
        let (start, end) = (self.sent, self.sent + size);
        if C::RATED {
            self.deliveries.depart(now, self.in_flight == 0);
        }
        let (state, order, size) = (State::InFlight, self.copies, size as u32);
        self.segments.push(Segment { end, sent: now, order, size, state, again: false });
        self.sent = end;
        self.note_copy(now);
        Packet { segment, start, end, first_copy: true }
    }

    fn resend(&mut self, now: Nanos, segment: usize) -> Option<Packet> {
        let known = self.segments.get_mut(segment)?;
        *known = Segment { state: State::InFlight, sent: now, order: self.copies, again: true, ..*known };
        let packet = Packet { segment, start: known.end - u64::from(known.size), end: known.end, first_copy: false };
        if C::RATED {
            self.deliveries.depart_again(segment);
        }
        self.resent += 1;
        self.again.push_back((segment, self.copies));
        self.note_copy(now);
        Some(packet)
    }

    #[inline]
    fn note_copy(&mut self, now: Nanos) {
        self.copies += 1;
        self.in_flight += 1;
        self.most.0 = self.most.0.max(self.in_flight);
        if let Some(recovery) = &mut self.recovery {
            recovery.sent += 1.0;
        }
        self.arm = Some(now);
    }

    /// Whether nothing is missing and nothing is being repaired, as far as the sender knows; and what may be sent changes with ACKs
    /// alone, not with a pace or a buffer.
    pub(super) fn is_calm(&self) -> bool {
        let is_plain = self.buffer.is_none() && self.pace().is_none();
        is_plain && self.recovery.is_none() && self.lost.is_empty() && self.beyond == 0
    }

    /// Whether an ACK tells of the oldest segment's arrival and of nothing else, when all is calm: then no loss comes to light.
    #[inline]
    pub(super) fn expects(&self, ack: &Ack) -> bool {
        let is_oldest = ack.arrived == self.first && ack.next == self.first + 1;
        // Nothing younger was sent before the newest that is known to have arrived.
        let is_plain = |it: &Segment| it.state == State::InFlight && !it.again && it.order >= self.newest.0;
        is_oldest && self.get(self.first).is_some_and(is_plain)
    }

    /// An ACK arrives that was expected: what [`Self::acknowledge`] does then.
    #[inline]
    pub(super) fn acknowledge_next(&mut self, now: Nanos, edge: u64) {
        let Some(&known) = self.segments.get(self.first) else { return };
        self.edge = self.edge.max(edge);
        self.in_flight = self.in_flight.saturating_sub(1);
        self.acknowledged = known.end;
        self.first += 1;
        self.newest = (known.order, known.sent);
        let rtt = Some(Nanos(now.0 - known.sent.0));
        let new_round = self.follow(rtt, true);
        match self.segments.get_mut(self.first - 1).filter(|_| self.keeps) {
            Some(known) => known.state = State::Arrived,
            None => self.segments.pop(),
        }
        // Who asks for the rate of delivery sets a pace.
        self.grow(now, 1.0, rtt, new_round, 0.0);
    }

    /// An ACK arrives.
    pub(super) fn acknowledge(&mut self, now: Nanos, ack: &Ack) {
        self.edge = self.edge.max(ack.edge);
        let mut newly = 0.0;
        let advanced = ack.next > self.first;
        while self.first < ack.next {
            newly += self.arrived(self.first, false);
            self.acknowledged = self.end_of(self.first);
            self.first += 1;
        }
        if ack.arrived >= ack.next {
            newly += self.arrived(ack.arrived, true);
        }
        let known = self.get(ack.arrived).copied();
        let Some(Segment { sent, order, again, .. }) = known.filter(|_| newly > 0.0) else {
            self.forget();
            return;
        };
        let rate = if C::RATED { self.deliveries.arrive(now, newly, ack.arrived, sent) } else { 0.0 };
        if order >= self.newest.0 {
            self.newest = (order, sent);
        }
        let rtt = (!again).then_some(now - sent);
        let new_round = self.follow(rtt, advanced);
        self.find_losses(now);
        self.forget();
        self.recover(newly);
        self.grow(now, newly, rtt, new_round, rate);
    }

    /// Round trips and rounds, by an ACK that told of a segment's arrival. Whether a round begins.
    #[inline]
    fn follow(&mut self, rtt: Option<Nanos>, advanced: bool) -> bool {
        if let Some(rtt) = rtt {
            self.trips.measure(rtt);
        }
        let new_round = self.first > self.round_end;
        if new_round {
            self.round_end = self.count();
            self.most = (self.in_flight, self.most.0);
            self.held_by_window = (false, self.held_by_window.0);
        }
        if advanced {
            self.backoff = 0;
            self.probed = false;
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.refill(self.acknowledged, self.control.window(), self.mss);
        }
        new_round
    }

    /// The congestion controller is told what an ACK told.
    #[inline(always)]
    fn grow(&mut self, now: Nanos, segments: f64, rtt: Option<Nanos>, new_round: bool, delivery_rate: f64) {
        let most = self.most.0.max(self.most.1);
        let limited = if self.in_slow_start() {
            self.control.window() < 2.0 * f64::from(most)
        } else {
            self.held_by_window.0 || self.held_by_window.1
        };
        let recovering = self.recovery.as_ref().is_some_and(|recovery| !recovery.by_timer);
        let in_flight = f64::from(self.in_flight);
        self.control.on_ack(&Acked { now, segments, rtt, new_round, limited, recovering, delivery_rate, in_flight });
        self.arm = Some(now);
    }

    /// Lets go of the segments that no ACK can be for any more.
    #[inline]
    fn forget(&mut self) {
        if !self.keeps {
            self.segments.pop_before(self.first);
            if C::RATED {
                self.deliveries.forget_before(self.first);
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
                    self.beyond = self.beyond.saturating_sub(1);
                }
                0.0
            }
        };
        known.state = State::Arrived;
        if beyond_hole && news > 0.0 {
            self.beyond += 1;
        }
        news
    }

    /// Looks for copies that something sent later has overtaken.
    #[inline]
    pub(super) fn find_losses(&mut self, now: Nanos) {
        self.recheck = None;
        let patient = self.beyond < 3 && self.recovery.is_none();
        let mut found = false;
        while let Some((segment, sent)) = self.overtaken() {
            let due = sent + self.trips.patience();
            if patient && due > now {
                self.recheck = Some(due);
                break;
            }
            self.lose(segment);
            found = true;
        }
        if found && self.recovery.is_none() {
            self.control.on_loss(now);
            self.recovery = Some(Recovery::after_loss(self.count(), self.in_flight, self.lost.len()));
        }
    }

    /// The oldest copy on its way that was sent before the newest that has arrived: its segment, and when it was sent.
    #[inline]
    fn overtaken(&mut self) -> Option<(usize, Nanos)> {
        self.looked = self.looked.max(self.first);
        let is_first_copy = |it: &Segment| it.state == State::InFlight && !it.again;
        while self.get(self.looked).is_some_and(|it| !is_first_copy(it)) {
            self.looked += 1;
        }
        let is_latest = |it: &Segment, order| it.state == State::InFlight && it.order == order;
        while let Some(&(segment, order)) = self.again.front() {
            if self.get(segment).is_some_and(|it| is_latest(it, order)) {
                break;
            }
            self.again.pop_front();
        }
        let copy = |segment: usize| self.get(segment).map(|it| (it.order, segment, it.sent));
        let again = self.again.front().and_then(|copy_again| copy(copy_again.0));
        let first = [copy(self.looked), again].into_iter().flatten().min_by_key(|copy| copy.0);
        first.filter(|copy| copy.0 < self.newest.0).map(|(_, segment, sent)| (segment, sent))
    }

    fn lose(&mut self, segment: usize) {
        if let Some(known) = self.segments.get_mut(segment) {
            known.state = State::Lost;
            self.in_flight = self.in_flight.saturating_sub(1);
            self.lost.insert(segment);
        }
    }

    /// PRR: how many may be in flight after so many arrived.
    fn recover(&mut self, newly: f64) {
        let Some(recovery) = &mut self.recovery else { return };
        if self.first >= recovery.until {
            let by_timer = recovery.by_timer;
            self.recovery = None;
            if !by_timer && self.control.reduces() {
                self.control.on_recovered();
            }
            return;
        }
        recovery.arrive(newly, self.in_flight, self.control.threshold());
    }

    fn is_in_flight(&self, segment: usize) -> bool {
        self.get(segment).is_some_and(|it| it.state == State::InFlight)
    }

    /// A timer that started anew at this time does not fire before.
    pub(super) fn timer_after(&self, now: Nanos) -> Nanos {
        Nanos(now.0 + self.trips.smooth().0 + LEAST_PROBE.0)
    }

    /// When the timer fires.
    pub(super) fn timer(&mut self) -> Option<Nanos> {
        // Each packet and each ACK starts it anew, and only the last time counts before something else happens.
        if let Some(now) = self.arm.take() {
            self.timer = self.timer_from(now);
        }
        self.timer
    }

    fn timer_from(&self, now: Nanos) -> Option<Nanos> {
        if self.in_flight == 0 && self.lost.is_empty() {
            None
        } else if self.may_probe() {
            let alone = if self.in_flight == 1 { LEAST_TIMER } else { LEAST_PROBE };
            Some(now + (times(self.trips.smooth(), 2) + alone).min(self.rto()))
        } else {
            Some(now + self.rto())
        }
    }

    fn may_probe(&self) -> bool {
        self.recovery.is_none() && self.beyond == 0 && !self.probed && self.backoff == 0
    }

    /// The timer fired. Returns a probe to send, or none when everything outstanding counts as lost from now on.
    pub(super) fn time_out(&mut self, now: Nanos) -> Option<Packet> {
        self.timer = None;
        if self.may_probe() && self.in_flight > 0 {
            self.probed = true;
            let size = self.next_size(false).unwrap_or(0);
            if size > 0 {
                return Some(self.send_new(now, size));
            }
            let last = (self.first..self.count()).rev().find(|&segment| self.is_in_flight(segment))?;
            self.in_flight = self.in_flight.saturating_sub(1);
            return self.resend(now, last);
        }
        self.give_up(now);
        self.backoff += 1;
        None
    }

    /// The timer has fired: everything outstanding counts as lost, and the window is one segment.
    pub(super) fn give_up(&mut self, now: Nanos) {
        for segment in self.first..self.count() {
            if self.is_in_flight(segment) {
                self.lose(segment);
            }
        }
        self.start_over(now);
    }

    /// After a long silence the window is the initial one again (RFC 5681 section 4.1).
    pub(super) fn start_anew(&mut self, initial_window: f64) {
        self.control.on_idle(initial_window);
    }

    /// The timer leaves a window of one segment.
    fn start_over(&mut self, now: Nanos) {
        self.control.on_timeout(now);
        self.recovery = (!self.lost.is_empty()).then(|| Recovery::after_timer(self.count()));
        self.round_end = self.count();
    }
}
