//! The sending host: what is outstanding, what was lost, and what may be sent next.
//!
//! Losses are found as RACK does (RFC 8985): a segment is lost once one that was sent later has arrived, and three have, or a quarter
//! of a round trip passed. While they are sent again the window goes down evenly (PRR, RFC 6937). Silence ends with a tail
//! loss probe, then with the retransmission timer (RFC 6298, with Linux' least values).

use super::buffer::Buffer;
use super::congestion::{Acked, Control};
use super::receiver::Ack;
use super::{LEAST_TIMER, Scenario};
use crate::units::Nanos;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    /// It has arrived, and the receiver said so.
    Arrived,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    end: u64,
    state: State,
    sent: Nanos,
    /// How many packets had been sent before its latest copy.
    order: u64,
    again: bool,
    /// What had been delivered when it was sent, and when that was: for the rate of delivery.
    delivered: (f64, Nanos),
}

/// Less than this part of a segment is not sent while something is outstanding.
const CRUMB: u64 = 8;

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

#[derive(Debug)]
struct Recovery {
    /// It ends when all before this segment have arrived.
    until: usize,
    /// The timer began it.
    by_timer: bool,
    /// Segments outstanding when it began, delivered since, sent since (RFC 6937: RecoverFS, prr_delivered, prr_out).
    flight: f64,
    delivered: f64,
    sent: f64,
    /// Segments that may be in flight.
    window: f64,
}

#[derive(Debug)]
pub(super) struct Sender<C> {
    mss: u64,
    cap: u64,
    buffer: Option<Buffer>,
    pacing: Option<f64>,
    segments: Vec<Segment>,
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
    /// Copies in the order in which they were sent; old ones are skipped.
    order: VecDeque<(usize, u64)>,
    copies: u64,
    /// The latest copy that is known to have arrived.
    newest: (u64, Nanos),
    control: C,
    recovery: Option<Recovery>,
    round_end: usize,
    /// Most in flight in this round and in the one before.
    most: (u32, u32),
    held_by_window: (bool, bool),
    srtt: Nanos,
    variation: Nanos,
    least: Nanos,
    backoff: u32,
    probed: bool,
    pace_at: Nanos,
    delivered: f64,
    delivered_at: Nanos,
    pub(super) resent: u64,
    timer: Option<Nanos>,
    /// The timer starts anew at this time.
    arm: Option<Nanos>,
    pub(super) recheck: Option<Nanos>,
}

impl<C: Control> Sender<C> {
    /// Sends so many bytes.
    pub(super) fn new(scenario: &Scenario, bytes: u64, edge: u64) -> Self {
        Self {
            mss: scenario.mss,
            cap: scenario.sender.cap.unwrap_or(u64::MAX),
            buffer: scenario.sender.buffer.map(|room| Buffer::new(room, scenario.bytes)),
            pacing: scenario.sender.pacing.filter(|rate| *rate > 0.0).map(|rate| rate / 8e9 / scenario.mss as f64),
            segments: Vec::with_capacity((bytes / scenario.mss) as usize + 1),
            first: 0,
            acknowledged: 0,
            sent: 0,
            available: 0,
            edge,
            in_flight: 0,
            beyond: 0,
            lost: BTreeSet::new(),
            order: VecDeque::new(),
            copies: 0,
            newest: (0, Nanos::ZERO),
            control: C::new(&scenario.sender, scenario.rtt),
            recovery: None,
            round_end: 0,
            most: (0, 0),
            held_by_window: (false, false),
            // What the handshake measured.
            srtt: scenario.rtt,
            variation: scenario.rtt.scale(0.5),
            least: scenario.rtt,
            backoff: 0,
            probed: false,
            pace_at: Nanos::ZERO,
            delivered: 0.0,
            delivered_at: Nanos::ZERO,
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
        self.segments.get(segment).map_or(self.sent, |segment| segment.end)
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

    /// RFC 6298, with Linux' least variation.
    pub(super) fn rto(&self) -> Nanos {
        let timer = self.srtt + times(self.variation, 4).max(LEAST_TIMER);
        times(timer, 1 << self.backoff.min(8))
    }

    fn allowed(&self) -> f64 {
        match &self.recovery {
            Some(recovery) if !recovery.by_timer && self.control.reduces() => recovery.window,
            _ => self.control.window(),
        }
    }

    /// The next packet that may be sent now, or why there is none.
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
            let spacing = Nanos((size as f64 / self.mss as f64 / pace).min(1e18).round() as i64);
            self.pace_at = self.pace_at.max(now) + spacing;
        }
        Ok(match is_lost {
            Some(segment) => {
                self.lost.remove(&segment);
                self.resend(now, segment)
            }
            None => self.send_new(now, size),
        })
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

    fn send_new(&mut self, now: Nanos, size: u64) -> Packet {
        let segment = self.segments.len();
        let (start, end) = (self.sent, self.sent + size);
        self.segments.push(Segment {
            start,
            end,
            state: State::InFlight,
            sent: now,
            order: self.copies,
            again: false,
            delivered: (self.delivered, if self.in_flight == 0 { now } else { self.delivered_at }),
        });
        if self.in_flight == 0 {
            self.delivered_at = now;
        }
        self.sent = end;
        self.note_copy(now, segment);
        Packet { segment, start, end, first_copy: true }
    }

    fn resend(&mut self, now: Nanos, segment: usize) -> Packet {
        self.resent += 1;
        let known = &mut self.segments[segment];
        known.state = State::InFlight;
        known.sent = now;
        known.order = self.copies;
        known.again = true;
        known.delivered = (self.delivered, self.delivered_at);
        let (start, end) = (known.start, known.end);
        self.note_copy(now, segment);
        Packet { segment, start, end, first_copy: false }
    }

    fn note_copy(&mut self, now: Nanos, segment: usize) {
        self.order.push_back((segment, self.copies));
        self.copies += 1;
        self.in_flight += 1;
        self.most.0 = self.most.0.max(self.in_flight);
        if let Some(recovery) = &mut self.recovery {
            recovery.sent += 1.0;
        }
        self.arm = Some(now);
    }

    /// An ACK arrives.
    pub(super) fn acknowledge(&mut self, now: Nanos, ack: &Ack) {
        self.edge = self.edge.max(ack.edge);
        let mut newly = 0.0;
        let advanced = ack.next > self.first;
        while self.first < ack.next {
            newly += self.arrived(self.first, false);
            self.acknowledged = self.segments[self.first].end;
            self.first += 1;
        }
        if ack.arrived >= ack.next {
            newly += self.arrived(ack.arrived, true);
        }
        let Some(&Segment { sent, order, again, delivered, .. }) = self.segments.get(ack.arrived) else { return };
        if newly == 0.0 {
            return;
        }
        self.delivered += newly;
        self.delivered_at = now;
        let rtt = (!again).then_some(now - sent);
        if let Some(rtt) = rtt {
            self.measure(rtt);
        }
        if order >= self.newest.0 {
            self.newest = (order, sent);
        }
        let new_round = self.first > self.round_end || (self.round_end == 0 && advanced);
        if new_round {
            self.round_end = self.segments.len();
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
        self.find_losses(now);
        self.recover(newly);
        let took = (now - delivered.1).0.max((now - sent).0).max(1) as f64;
        let most = self.most.0.max(self.most.1);
        let limited = if self.in_slow_start() {
            self.control.window() < 2.0 * f64::from(most)
        } else {
            self.held_by_window.0 || self.held_by_window.1
        };
        let recovering = self.recovery.as_ref().is_some_and(|recovery| !recovery.by_timer);
        self.control.on_ack(&Acked {
            now,
            segments: newly,
            rtt,
            new_round,
            limited,
            recovering,
            delivery_rate: (self.delivered - delivered.0) / took,
            in_flight: f64::from(self.in_flight),
        });
        self.arm = Some(now);
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

    fn measure(&mut self, rtt: Nanos) {
        self.least = self.least.min(rtt);
        let off = Nanos((rtt - self.srtt).0.abs());
        self.variation = eighths(self.variation, 6) + eighths(off, 2);
        self.srtt = eighths(self.srtt, 7) + eighths(rtt, 1);
    }

    /// Looks for copies that something sent later has overtaken.
    pub(super) fn find_losses(&mut self, now: Nanos) {
        self.recheck = None;
        let patient = self.beyond < 3 && self.recovery.is_none();
        let mut found = false;
        while let Some(&(segment, order)) = self.order.front() {
            let known = &self.segments[segment];
            if known.state == State::InFlight && known.order == order {
                if order >= self.newest.0 {
                    break;
                }
                let due = known.sent + self.srtt + eighths(self.least, 2);
                if patient && due > now {
                    self.recheck = Some(due);
                    break;
                }
                self.lose(segment);
                found = true;
            }
            self.order.pop_front();
        }
        if found && self.recovery.is_none() {
            self.control.on_loss(now);
            let flight = f64::from(self.in_flight) + self.lost.len() as f64;
            self.recovery = Some(Recovery {
                until: self.segments.len(),
                by_timer: false,
                flight: flight.max(1.0),
                delivered: 0.0,
                sent: 0.0,
                // The first lost segment goes out at once.
                window: f64::from(self.in_flight) + 1.0,
            });
        }
    }

    fn lose(&mut self, segment: usize) {
        self.segments[segment].state = State::Lost;
        self.in_flight = self.in_flight.saturating_sub(1);
        self.lost.insert(segment);
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
        let (pipe, threshold) = (f64::from(self.in_flight), self.control.threshold());
        recovery.delivered += newly;
        let more = if pipe > threshold {
            (recovery.delivered * threshold / recovery.flight).ceil() - recovery.sent
        } else {
            (threshold - pipe).min((recovery.delivered - recovery.sent).max(newly) + 1.0)
        };
        recovery.window = pipe + more.max(if recovery.sent == 0.0 { 1.0 } else { 0.0 });
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
            let alone = if self.in_flight == 1 { LEAST_TIMER } else { Nanos::from_millis(2) };
            Some(now + (times(self.srtt, 2) + alone).min(self.rto()))
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
            let last = (self.first..self.segments.len()).rev().find(|&s| self.segments[s].state == State::InFlight)?;
            self.in_flight = self.in_flight.saturating_sub(1);
            return Some(self.resend(now, last));
        }
        self.give_up(now);
        self.backoff += 1;
        None
    }

    /// The timer has fired: everything outstanding counts as lost, and the window is one segment.
    pub(super) fn give_up(&mut self, now: Nanos) {
        for segment in self.first..self.segments.len() {
            if self.segments[segment].state == State::InFlight {
                self.lose(segment);
            }
        }
        self.order.clear();
        self.start_over(now);
    }

    /// After a long silence the window is the initial one again (RFC 5681 section 4.1).
    pub(super) fn start_anew(&mut self, initial_window: f64) {
        self.control.on_idle(initial_window);
    }

    /// The timer leaves a window of one segment.
    fn start_over(&mut self, now: Nanos) {
        self.control.on_timeout(now);
        self.recovery = (!self.lost.is_empty()).then_some(Recovery {
            until: self.segments.len(),
            by_timer: true,
            flight: 1.0,
            delivered: 0.0,
            sent: 0.0,
            window: 1.0,
        });
        self.round_end = self.segments.len();
    }
}

/// As [`Nanos::scale`], in whole numbers: these are reckoned for each packet.
fn times(time: Nanos, factor: i64) -> Nanos {
    Nanos(time.0.saturating_mul(factor))
}

/// So many eighths of a length of time, rounded.
fn eighths(time: Nanos, number: i64) -> Nanos {
    Nanos(time.0.saturating_mul(number).saturating_add(4) >> 3)
}
