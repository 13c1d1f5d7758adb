//! [`Host`]: one end of a connection, its sender and its receiver.
//!
//! Places in the stream count from the SYN, which is at 0. The sender finds losses as RACK does
//! (RFC 8985), by the order in which copies were sent, keeps the pipe below the window (RFC 6675)
//! and grows it by CUBIC (RFC 9438) with HyStart's delays; silence ends with a tail loss probe and
//! then with the timer (RFC 6298, Linux' least values). The receiver acknowledges in stretches, at
//! once where something is missing, and its window follows what arrives in a round trip.

use super::{MILLISECOND, Time};
use std::collections::{BTreeSet, VecDeque};

/// SACK blocks, or a D-SACK and two.
const BLOCKS: usize = 3;

/// A packet between the two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    pub(super) start: u64,
    pub(super) length: u32,
    pub(super) flags: u8,
    pub(super) ack: u64,
    /// Bytes.
    pub(super) window: u64,
    pub(super) blocks: [(u64, u64); BLOCKS],
    /// TSval and TSecr, milliseconds.
    pub(super) stamps: (u32, u32),
    pub(super) ip_id: u16,
    /// The segment whose arrival this acknowledges; 0 if it acknowledges none. (No packet carries
    /// it: SACK blocks do.)
    pub(super) arrived: u64,
}

/// A part of the stream of one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentToSend {
    pub(super) start: u64,
    pub(super) length: u32,
    pub(super) flags: u8,
    /// See [`Packet::arrived`].
    pub(super) arrived: u64,
}

impl SegmentToSend {
    /// Without payload, in answer to none.
    pub(super) fn bare(start: u64, flags: u8) -> Self {
        Self { start, length: 0, flags, arrived: 0 }
    }
}

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const PSH: u8 = 8;
pub(super) const ACK: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Arrived,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    length: u32,
    state: State,
    again: bool,
    /// Number of segments sent before its newest copy.
    order: u64,
    sent: Time,
}

/// How a host is set up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Payload of a full segment, with timestamps.
    pub(super) mss: u32,
    /// In-order segments that one ACK answers.
    pub(super) stretch: u32,
    /// Maximum that its window grows to, bytes.
    pub(super) buffer: u64,
}

#[derive(Debug)]
pub(super) struct Host {
    settings: Settings,
    clock: u32,
    ip_id: u16,
    // The sender.
    pub(super) acknowledged: u64,
    pub(super) sent: u64,
    /// The program has written so far.
    pub(super) written: u64,
    edge: u64,
    segments: VecDeque<Segment>,
    pipe: u32,
    lost: BTreeSet<u64>,
    copies: VecDeque<(u64, u64)>,
    order: u64,
    /// The newest copy that arrived.
    newest: u64,
    window: f64,
    threshold: f64,
    /// CUBIC: the window before the last loss, and since when it grows again.
    before: f64,
    epoch: Option<Time>,
    recovery: Option<u64>,
    probed: bool,
    backoff: u32,
    trip: Option<(Time, Time)>,
    least: Time,
    pub(super) timer: Option<Time>,
    /// Segments retransmitted.
    pub(super) resent: u64,
    // The receiver.
    pub(super) received: u64,
    /// Beyond a hole, the newest first.
    early: Vec<(u64, u64)>,
    twice: Option<(u64, u64)>,
    echo: u32,
    last_ack: u64,
    pending: u32,
    quick: u32,
    offered: u64,
    measured: (Time, u64),
    pub(super) ack_due: Option<Time>,
}

impl Host {
    pub(super) fn new(settings: Settings, clock: u32) -> Self {
        Self {
            settings,
            clock,
            ip_id: clock as u16,
            acknowledged: 1,
            sent: 1,
            written: 1,
            edge: 1,
            segments: VecDeque::new(),
            pipe: 0,
            lost: BTreeSet::new(),
            copies: VecDeque::new(),
            order: 0,
            newest: 0,
            window: 10.0,
            threshold: f64::INFINITY,
            before: 0.0,
            epoch: None,
            recovery: None,
            probed: false,
            backoff: 0,
            trip: None,
            least: Time::MAX,
            timer: None,
            resent: 0,
            received: 1,
            early: Vec::new(),
            twice: None,
            echo: 0,
            last_ack: 1,
            pending: 0,
            quick: 16,
            offered: 65_536.min(settings.buffer),
            measured: (0, 1),
            ack_due: None,
        }
    }

    /// A packet with this segment, and the receiver's state.
    pub(super) fn packet(&mut self, now: Time, segment: SegmentToSend) -> Packet {
        let SegmentToSend { start, length, flags, arrived } = segment;
        self.pending = 0;
        self.ack_due = None;
        self.last_ack = self.received;
        self.ip_id = self.ip_id.wrapping_add(1);
        let mut blocks = [(0, 0); BLOCKS];
        let known = self.twice.take().into_iter().chain(self.early.iter().copied());
        blocks.iter_mut().zip(known).for_each(|(block, known)| *block = known);
        let stamp = self.clock.wrapping_add((now / MILLISECOND) as u32);
        let (ack, window) = (self.received, self.offered);
        Packet { start, length, flags, ack, window, blocks, stamps: (stamp, self.echo), ip_id: self.ip_id, arrived }
    }

    /// The handshake's packet arrived: takes its timestamp and window.
    pub(super) fn greet(&mut self, packet: &Packet) {
        self.echo = packet.stamps.0;
        self.edge = packet.ack.max(1) + packet.window;
    }

    /// The place and the length of the bytes that may be sent now.
    pub(super) fn next(&mut self, now: Time) -> Option<(u64, u32)> {
        if f64::from(self.pipe) + 1.0 > self.window.max(1.0) {
            return None;
        }
        if let Some(start) = self.lost.first().copied() {
            return self.resend(now, start);
        }
        let length = u64::from(self.settings.mss).min(self.written.saturating_sub(self.sent));
        if length == 0 || self.sent + length > self.edge {
            return None;
        }
        let (start, length) = (self.sent, length as u32);
        self.order += 1;
        let (order, state) = (self.order, State::InFlight);
        self.segments.push_back(Segment { start, length, state, again: false, order, sent: now });
        self.copies.push_back((start, order));
        self.sent += u64::from(length);
        self.pipe += 1;
        self.arm(now);
        Some((start, length))
    }

    fn find(&mut self, start: u64) -> Option<&mut Segment> {
        let place = self.segments.binary_search_by_key(&start, |segment| segment.start).ok()?;
        self.segments.get_mut(place)
    }

    fn resend(&mut self, now: Time, start: u64) -> Option<(u64, u32)> {
        self.lost.remove(&start);
        self.order += 1;
        let order = self.order;
        let segment = self.find(start)?;
        *segment = Segment { state: State::InFlight, again: true, order, sent: now, ..*segment };
        let length = segment.length;
        self.copies.push_back((start, order));
        self.pipe += 1;
        self.resent += 1;
        self.arm(now);
        Some((start, length))
    }

    /// Applies a packet's acknowledgement to the sent segments.
    pub(super) fn acknowledge(&mut self, now: Time, packet: &Packet) {
        self.edge = self.edge.max(packet.ack + packet.window);
        let mut newly = 0;
        let mut trip = None;
        while let Some(&segment) = self.segments.front()
            && segment.start + u64::from(segment.length) <= packet.ack
        {
            self.segments.pop_front();
            match segment.state {
                State::InFlight => self.pipe -= 1,
                State::Lost => _ = self.lost.remove(&segment.start),
                State::Arrived => {}
            }
            if segment.state != State::Arrived {
                newly += 1;
                self.newest = self.newest.max(segment.order);
                trip = (!segment.again).then_some(now - segment.sent).or(trip);
            }
        }
        if packet.ack > self.acknowledged {
            self.acknowledged = packet.ack;
            (self.backoff, self.probed) = (0, false);
        }
        if packet.arrived >= packet.ack
            && let Some(segment) = self.find(packet.arrived)
            && segment.state != State::Arrived
        {
            let was = std::mem::replace(&mut segment.state, State::Arrived);
            let (order, start) = (segment.order, segment.start);
            if was == State::InFlight {
                self.pipe -= 1;
            } else {
                self.lost.remove(&start);
            }
            self.newest = self.newest.max(order);
            newly += 1;
        }
        if newly == 0 {
            return;
        }
        if let Some(trip) = trip {
            self.measure(trip);
        }
        self.lose_overtaken();
        if self.recovery.is_some_and(|until| self.acknowledged >= until) {
            self.recovery = None;
        }
        if self.recovery.is_none() {
            self.grow(now, f64::from(newly), trip);
        } else if self.window < self.threshold {
            // After the timer: slow start again.
            self.window += f64::from(newly);
        }
        self.arm(now);
        if self.segments.is_empty() {
            self.rest();
        }
    }

    /// Gives memory back: a million connections may be idle at once.
    fn rest(&mut self) {
        self.copies.clear();
        self.copies.shrink_to_fit();
        self.segments.shrink_to_fit();
    }

    fn measure(&mut self, trip: Time) {
        self.least = self.least.min(trip);
        self.trip = Some(self.trip.map_or((trip, trip / 2), |(mean, variation)| {
            ((mean * 7 + trip) / 8, (variation * 3 + mean.abs_diff(trip)) / 4)
        }));
    }

    fn lose_overtaken(&mut self) {
        let patient = self.recovery.is_none() && !self.probed;
        let mut found = false;
        while let Some(&(start, order)) = self.copies.front() {
            let newest = self.newest;
            if let Some(segment) = self.find(start)
                && (segment.order, segment.state) == (order, State::InFlight)
            {
                if order >= newest || (patient && order + 3 > newest) {
                    break;
                }
                segment.state = State::Lost;
                self.pipe -= 1;
                self.lost.insert(start);
                found = true;
            }
            self.copies.pop_front();
        }
        if found && self.recovery.is_none() {
            self.recovery = Some(self.sent);
            self.before = self.window;
            self.window = (self.window * 0.7).max(2.0);
            self.threshold = self.window;
            self.epoch = None;
        }
    }

    fn grow(&mut self, now: Time, newly: f64, trip: Option<Time>) {
        // Only a window that is used grows.
        if f64::from(self.pipe) + newly + 1.0 < self.window / 2.0 {
            return;
        }
        if self.window < self.threshold {
            self.window += newly;
            let late = self.least.saturating_add((self.least / 8).clamp(4 * MILLISECOND, 16 * MILLISECOND));
            if trip.is_some_and(|trip| trip > late) && self.window >= 16.0 {
                self.threshold = self.window;
                self.before = self.window;
            }
            return;
        }
        let since = *self.epoch.get_or_insert(now);
        let flat = cube_root((self.before - self.window.min(self.before)) / 0.4);
        let time = (now - since) as f64 / 1e9 - flat;
        let target = (0.4 * time * time * time + self.before).max(self.window);
        self.window += ((target - self.window) / self.window).clamp(0.2 / self.window, 0.5) * newly;
    }

    fn arm(&mut self, now: Time) {
        if self.pipe == 0 && self.lost.is_empty() {
            self.timer = None;
            return;
        }
        let (mean, variation) = self.trip.unwrap_or((250 * MILLISECOND, 0));
        let timeout = (mean + (4 * variation).max(200 * MILLISECOND)) << self.backoff.min(8);
        let probe = if self.may_probe() { 2 * mean + 2 * MILLISECOND } else { Time::MAX };
        self.timer = Some(now + timeout.min(probe));
    }

    fn may_probe(&self) -> bool {
        self.recovery.is_none() && !self.probed && self.backoff == 0 && self.trip.is_some()
    }

    /// The timer fired: a probe to send, or `None` if the window starts over.
    pub(super) fn time_out(&mut self, now: Time) -> Option<(u64, u32)> {
        self.timer = None;
        if self.may_probe() && self.lost.is_empty() {
            self.probed = true;
            let last = self.segments.iter_mut().rev().find(|segment| segment.state == State::InFlight)?;
            // Counted once more when it is sent.
            last.state = State::Lost;
            let start = last.start;
            self.pipe -= 1;
            return self.resend(now, start);
        }
        for segment in self.segments.iter_mut().filter(|segment| segment.state == State::InFlight) {
            segment.state = State::Lost;
            self.lost.insert(segment.start);
        }
        self.copies.clear();
        self.pipe = 0;
        self.backoff += 1;
        self.before = self.window;
        self.threshold = (self.window * 0.7).max(2.0);
        self.window = 1.0;
        self.epoch = None;
        self.recovery = Some(self.sent);
        None
    }

    /// Payload arrives. Returns whether it is acknowledged at once.
    pub(super) fn receive(&mut self, now: Time, packet: &Packet, trip: Time) -> bool {
        let (start, end) = (packet.start, packet.start + u64::from(packet.length));
        if start <= self.last_ack {
            self.echo = packet.stamps.0;
        }
        self.pending += 1;
        let mut at_once = !self.early.is_empty();
        if end <= self.received {
            self.twice = Some((start, end));
            at_once = true;
        } else if start <= self.received {
            self.received = end;
            while let Some(place) = self.early.iter().position(|block| block.0 <= self.received) {
                self.received = self.received.max(self.early.swap_remove(place).1);
            }
            self.tune(now, trip);
        } else {
            let mut block = (start, end);
            self.early.retain(|known| {
                let touches = known.0 <= block.1 && block.0 <= known.1;
                if touches {
                    block = (known.0.min(block.0), known.1.max(block.1));
                }
                !touches
            });
            self.early.insert(0, block);
            at_once = true;
        }
        if self.quick > 0 {
            self.quick -= 1;
            at_once = true;
        }
        at_once |= self.pending >= self.settings.stretch;
        if !at_once && self.ack_due.is_none() {
            self.ack_due = Some(now + 40 * MILLISECOND);
        }
        at_once
    }

    fn tune(&mut self, now: Time, trip: Time) {
        let (since, from) = self.measured;
        if now - since >= trip {
            let room = (self.received - from) * 4;
            self.offered = self.offered.max(room).min(self.settings.buffer);
            self.measured = (now, self.received);
        }
    }
}

/// Uses Newton's steps: the library's root differs between systems in its last digit.
fn cube_root(of: f64) -> f64 {
    if of <= 0.0 {
        return 0.0;
    }
    let mut root = 1.0_f64.max(of.sqrt());
    for _ in 0..40 {
        root = (2.0 * root + of / (root * root)) / 3.0;
    }
    root
}
