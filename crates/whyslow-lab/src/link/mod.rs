//! The link emulator: one direction of a link as a state machine in virtual time.
//!
//! A packet is a [`Meta`], which decisions need, and a body that the link never reads.
//! [`Link::push`] takes packets with their arrival times. [`Link::poll`] returns each at the time
//! it is due, and dropped ones with the reason.
//!
//! Nothing is lost silently: every packet that goes in comes out once. The rate is exact to the
//! nanosecond, and the same seed and input give the same output. The caller applies what a packet
//! is marked with: it flips the bit of a corrupted one, sets CE, sends a duplicate twice.

mod aqm;
pub mod config;
mod delay;
mod dice;
mod finished;
mod loss;
mod police;
pub mod trace;

use std::collections::VecDeque;

use aqm::{Codel, Head, Red, RedLimits, Tail, Verdict};
use config::{Conditions, Discipline, LinkConfig, QueueLimit, ReorderBy, Step, TokenBucket};
use delay::{DelayLine, Hold};
use dice::{ChanceStream, Knob};
pub use finished::Finished;
use loss::LossState;
use police::Bucket;
use trace::Position;

use crate::log::{Fate, Impairments, Meta, Record};

/// One direction of a link. Times are nanoseconds on one clock of the caller's choice, which steps
/// count from 0.
#[derive(Debug)]
pub struct Link<T> {
    conditions: Conditions,
    steps: VecDeque<Step>,
    loss: LossState,
    mark: LossState,
    late: LossState,
    corrupt: ChanceStream,
    duplicate: ChanceStream,
    jitter: ChanceStream,
    reorder: ChanceStream,
    /// Whether the packet before was held back.
    held_back: bool,
    policer: Option<Bucket>,
    shaper: Option<Bucket>,
    codel: Codel,
    red: Red,
    queue: VecDeque<Finished<T>>,
    queue_bytes: u64,
    /// When the packet on the wire has left it.
    free_at: u64,
    /// Rest of the division bits ÷ rate, so that no fraction of a nanosecond is lost in a busy
    /// period.
    carry: u64,
    /// How far the trace is.
    position: Position,
    line: DelayLine<T>,
    last_due: u64,
    dropped: VecDeque<Finished<T>>,
    last_in: u64,
}

impl<T> Link<T> {
    /// An idle link. Values that [`LinkConfig::check`] would reject do something harmless.
    pub fn new(config: LinkConfig) -> Self {
        let seed = config.seed;
        Self {
            conditions: config.conditions,
            steps: config.steps.into(),
            loss: LossState::new(seed, Knob::Loss),
            mark: LossState::new(seed, Knob::Mark),
            late: LossState::new(seed, Knob::Late),
            corrupt: ChanceStream::new(seed, Knob::Corrupt),
            duplicate: ChanceStream::new(seed, Knob::Duplicate),
            jitter: ChanceStream::new(seed, Knob::Jitter),
            reorder: ChanceStream::new(seed, Knob::Reorder),
            held_back: false,
            policer: None,
            shaper: None,
            codel: Codel::default(),
            red: Red::new(seed),
            queue: VecDeque::new(),
            queue_bytes: 0,
            free_at: 0,
            carry: 0,
            position: Position::default(),
            line: DelayLine::new(),
            last_due: 0,
            dropped: VecDeque::new(),
            last_in: 0,
        }
    }

    /// The conditions in force at the last push or poll.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Packets in the link: waiting, under way, or dropped but not yet polled.
    pub fn len(&self) -> usize {
        self.queue.len() + self.line.len() + self.dropped.len()
    }

    /// Nothing is in the link.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A packet arrives. Times must not decrease (one that does counts as arriving with the one
    /// before). Returns the packet when it is dropped at once.
    pub fn push(&mut self, now: u64, meta: Meta, body: T) -> Option<Finished<T>> {
        let now = now.max(self.last_in);
        self.last_in = now;
        self.advance(now);
        let mut record = Record {
            in_ns: now,
            due_ns: now,
            out_ns: now,
            fate: Fate::Passed,
            touched: Impairments::default(),
            queue_bytes: u32::try_from(self.queue_bytes).unwrap_or(u32::MAX),
            queue_packets: u32::try_from(self.queue.len()).unwrap_or(u32::MAX),
            meta,
        };
        if let Some(fate) = self.refuses(now, &meta) {
            record.fate = fate;
            return Some(Finished { record, body });
        }
        if self.corrupt.chance(self.conditions.corrupt) {
            record.touched.add(Impairments::CORRUPTED);
        }
        if self.mark.takes(&self.conditions.mark, &meta) && meta.ecn_capable {
            record.touched.add(Impairments::MARKED);
        }
        let mut packet = Finished { record, body };
        if self.conditions.drains_at().is_none() {
            self.depart(now, packet);
            return None;
        }
        match self.queue_verdict(now, &meta) {
            Ok(Verdict::Mark) => packet.record.touched.add(Impairments::MARKED),
            Ok(_) => {}
            Err(fate) => {
                packet.record.fate = fate;
                return Some(packet);
            }
        }
        self.queue_bytes += u64::from(meta.wire_bytes);
        self.queue.push_back(packet);
        self.serve(now);
        None
    }

    /// The next packet that has left the link by `until`. Call until it returns `None`.
    pub fn poll(&mut self, until: u64) -> Option<Finished<T>> {
        self.advance(until);
        if let Some(dropped) = self.dropped.pop_front() {
            return Some(dropped);
        }
        let mut packet = self.line.pop(until)?;
        packet.record.out_ns = packet.record.due_ns;
        Some(packet)
    }

    /// No packet leaves before this moment, unless one is pushed; `None` when the link is empty.
    pub fn next_event(&self) -> Option<u64> {
        if !self.dropped.is_empty() {
            return Some(0);
        }
        let waiting = self.queue.front().map(|head| {
            let jitter = self.conditions.jitter.map_or(0, |jitter| match jitter.distribution {
                config::Distribution::Uniform => jitter.amount_ns,
                config::Distribution::Normal => u64::MAX,
            });
            let start = self.conforms_at(self.free_at.max(head.record.in_ns), &head.record.meta);
            let served = self.served_at(start, &head.record.meta).0;
            let earliest = served + self.conditions.delay_ns.saturating_sub(jitter);
            self.steps.front().map_or(earliest, |step| earliest.min(step.at_ns))
        });
        waiting.into_iter().chain(self.line.next_due()).min()
    }

    /// Removes the packets still in the link, as [`Fate::Unfinished`].
    pub fn drain(&mut self) -> Vec<Finished<T>> {
        self.queue_bytes = 0;
        let mut rest: Vec<_> = self.queue.drain(..).chain(self.line.drain()).collect();
        rest.iter_mut().for_each(|packet| packet.record.fate = Fate::Unfinished);
        rest.extend(self.dropped.drain(..));
        rest
    }

    fn bytes_on_wire(&self, meta: &Meta) -> u64 {
        u64::from(meta.wire_bytes) + u64::from(self.conditions.overhead_bytes)
    }

    /// Nanoseconds to send a packet, the remainder of earlier packets included, and the new
    /// remainder.
    fn time_on_wire(&self, meta: &Meta) -> (u64, u64) {
        let Some(rate) = self.conditions.rate_bps.filter(|rate| *rate > 0) else { return (0, 0) };
        let scaled = u128::from(self.bytes_on_wire(meta)) * 8 * 1_000_000_000 + u128::from(self.carry);
        // The rest is below the rate and so fits; the time fits for any frame at 1 bit/s.
        ((scaled / u128::from(rate)) as u64, (scaled % u128::from(rate)) as u64)
    }

    /// When a packet has left that is first in the queue from `start` on; the remainder of the
    /// division, and the position in the trace then.
    fn served_at(&self, start: u64, meta: &Meta) -> (u64, u64, Position) {
        if let Some(trace) = &self.conditions.trace {
            let (at, position) = trace.deliver(self.position, start, meta.ip_bytes);
            return (at, 0, position);
        }
        let (time, rest) = self.time_on_wire(meta);
        (start.saturating_add(time), rest, self.position)
    }

    /// Drops before the queue: why, if any applies.
    fn refuses(&mut self, now: u64, meta: &Meta) -> Option<Fate> {
        if self.conditions.mtu.is_some_and(|mtu| meta.ip_bytes > mtu.bytes) {
            return Some(Fate::TooBig);
        }
        if let Some(config) = self.conditions.policer {
            let bytes = self.bytes_on_wire(meta);
            if !bucket(&mut self.policer, config, now).admits(now, bytes) {
                return Some(Fate::Policed);
            }
        }
        self.loss.takes(&self.conditions.loss, meta).then_some(Fate::Lost)
    }

    /// When a shaper lets a packet go that could go at `now`.
    fn conforms_at(&self, now: u64, meta: &Meta) -> u64 {
        // A bucket that was never used is full.
        let used = self.shaper.as_ref().filter(|used| self.conditions.shaper.is_some_and(|config| used.is(&config)));
        used.map_or(now, |used| used.ready_at(now, self.bytes_on_wire(meta)))
    }

    /// Whether the queue takes a packet that arrives.
    fn queue_verdict(&mut self, now: u64, meta: &Meta) -> Result<Verdict, Fate> {
        let is_idle = self.queue.is_empty() && self.free_at <= now;
        if !is_idle {
            let bytes = u64::from(meta.wire_bytes);
            let fits = match self.conditions.queue.limit {
                QueueLimit::Bytes(limit) => self.queue_bytes + bytes <= limit,
                QueueLimit::Packets(limit) => (self.queue.len() as u64) < limit,
                QueueLimit::TimeNs(ns) => {
                    let rate = u128::from(self.conditions.drains_at().unwrap_or(0));
                    u128::from(self.queue_bytes + bytes) * 8_000_000_000 <= rate * u128::from(ns)
                }
            };
            if !fits {
                return Err(Fate::QueueFull);
            }
        }
        if let Discipline::Red { min_bytes, max_bytes, max_share, weight } = self.conditions.queue.discipline {
            let limits = RedLimits { min_bytes, max_bytes, max_share, weight };
            let tail = Tail {
                now,
                queued_bytes: self.queue_bytes,
                packet_ns: self.time_on_wire(meta).0,
                can_mark: self.conditions.ecn && meta.ecn_capable,
            };
            return match self.red.decide(&limits, &tail) {
                Verdict::Drop => Err(Fate::Aqm),
                verdict => Ok(verdict),
            };
        }
        Ok(Verdict::Pass)
    }

    /// Brings the queue to the time `now`: changes of conditions, and packets that went onto the
    /// wire.
    fn advance(&mut self, now: u64) {
        while let Some(step) = self.steps.pop_front_if(|step| step.at_ns <= now) {
            self.serve(step.at_ns);
            if step.conditions.rate_bps != self.conditions.rate_bps {
                self.carry = 0;
            }
            self.conditions = step.conditions;
        }
        self.serve(now);
    }

    /// Sends the packets that are due by `now`.
    fn serve(&mut self, now: u64) {
        while let Some(head) = self.queue.front() {
            let in_ns = head.record.in_ns;
            let start = self.conforms_at(self.free_at.max(in_ns), &head.record.meta);
            if start > now {
                return;
            }
            let verdict = self.head_verdict(start);
            let Some(mut packet) = self.queue.pop_front() else { return };
            self.queue_bytes -= u64::from(packet.record.meta.wire_bytes);
            if self.queue.is_empty() {
                self.red.on_empty(start);
            }
            match verdict {
                Verdict::Drop => {
                    packet.record.fate = Fate::Aqm;
                    packet.record.due_ns = start;
                    packet.record.out_ns = start;
                    self.dropped.push_back(packet);
                    continue;
                }
                Verdict::Mark => packet.record.touched.add(Impairments::MARKED),
                Verdict::Pass => {}
            }
            if start > self.free_at {
                self.carry = 0;
            }
            if let Some(config) = self.conditions.shaper {
                let bytes = self.bytes_on_wire(&packet.record.meta);
                bucket(&mut self.shaper, config, start).admits(start, bytes);
            }
            (self.free_at, self.carry, self.position) = self.served_at(start, &packet.record.meta);
            self.depart(self.free_at, packet);
        }
    }

    fn head_verdict(&mut self, now: u64) -> Verdict {
        let (Discipline::Codel { target_ns, interval_ns }, Some(head)) =
            (self.conditions.queue.discipline, self.queue.front())
        else {
            return Verdict::Pass;
        };
        let verdict = self.codel.decide(
            target_ns,
            interval_ns,
            Head {
                now,
                sojourn_ns: now - head.record.in_ns,
                behind_bytes: self.queue_bytes - u64::from(head.record.meta.wire_bytes),
                packet_bytes: u64::from(head.record.meta.wire_bytes),
                can_mark: self.conditions.ecn && head.record.meta.ecn_capable,
            },
        );
        if self.queue.len() == 1 && verdict == Verdict::Drop {
            self.codel.on_empty();
        }
        verdict
    }

    /// How the next packet is held back, if it is.
    fn holds_back(&mut self, meta: &Meta) -> Option<ReorderBy> {
        let reorder = self.conditions.reorder.as_ref()?;
        let is_listed = self.late.takes(&reorder.listed, meta);
        self.held_back = self.reorder.correlated(reorder.share, reorder.correlation, self.held_back);
        (is_listed || self.held_back).then_some(reorder.by)
    }

    /// A packet has left the wire at `at`: delay it.
    fn depart(&mut self, at: u64, mut packet: Finished<T>) {
        if self.duplicate.chance(self.conditions.duplicate) {
            packet.record.touched.add(Impairments::DUPLICATED);
        }
        let delay = self.conditions.delay_ns;
        let mut keep_order = true;
        let mut due = at.saturating_add(match &self.conditions.jitter {
            Some(jitter) => {
                keep_order = jitter.keep_order;
                self.jitter.vary(delay, jitter)
            }
            None => delay,
        });
        if keep_order {
            due = due.max(self.last_due);
        }
        let mut hold = None;
        match self.holds_back(&packet.record.meta) {
            Some(by) => {
                packet.record.touched.add(Impairments::REORDERED);
                match by {
                    ReorderBy::DelayNs(extra) => due = due.saturating_add(extra),
                    ReorderBy::Gap { packets, at_most_ns } => hold = Some(Hold { packets, at_most_ns }),
                }
            }
            None => self.last_due = self.last_due.max(due),
        }
        self.line.push(due, hold, packet);
    }
}

/// The bucket of these tokens: the one that is there, or a full one.
fn bucket(place: &mut Option<Bucket>, config: TokenBucket, now: u64) -> &mut Bucket {
    let same = place.take().filter(|bucket| bucket.is(&config));
    place.insert(same.unwrap_or_else(|| Bucket::new(config, now)))
}

#[cfg(test)]
mod tests;
