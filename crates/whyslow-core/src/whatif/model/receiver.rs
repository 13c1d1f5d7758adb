//! The receiving host: what it has, when it acknowledges, and the window that it offers.

use super::early::Early;
use super::{Receiving, Window};
use crate::units::Nanos;

/// A receiver acknowledges the first segments of a connection at once (Linux' quick ACKs).
const QUICK_ACKS: u32 = 16;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    /// All segments before this one have arrived.
    pub(super) next: usize,
    /// The segment whose arrival it answers.
    pub(super) arrived: usize,
    /// Bytes up to which the sender may send.
    pub(super) edge: u64,
}

#[derive(Debug)]
pub(super) struct Receiver<'a> {
    settings: &'a Receiving,
    rtt: Nanos,
    next: usize,
    /// Segments beyond a hole.
    early: Early,
    delivered: u64,
    quick: u32,
    /// In-order segments that no ACK has answered.
    pending: u32,
    /// The window, and what it follows: bytes delivered at the start of the round trip that is measured.
    window: u64,
    measured: (Nanos, u64),
    /// Of the windows that were seen, so many count or did so before.
    steps: usize,
    /// Before so many bytes are delivered the window stays as it is.
    stays: u64,
}

impl<'a> Receiver<'a> {
    pub(super) fn new(settings: &'a Receiving, rtt: Nanos) -> Self {
        let window = match &settings.window {
            Window::Unlimited => u64::MAX,
            Window::Autotuned { initial, most } => (*initial).min(*most),
            Window::Seen(steps) => steps.first().map_or(u64::MAX, |step| step.1),
        };
        Self {
            settings,
            rtt,
            next: 0,
            early: Early::default(),
            delivered: 0,
            quick: QUICK_ACKS,
            pending: 0,
            window,
            measured: (Nanos::ZERO, 0),
            steps: 0,
            stays: 0,
        }
    }

    /// Bytes up to which the sender may send.
    pub(super) fn edge(&self) -> u64 {
        self.delivered.saturating_add(self.window)
    }

    /// Bytes that have arrived without a hole before them.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether this segment comes in order, and is acknowledged at once like all others.
    #[inline]
    pub(super) fn awaits(&self, segment: usize) -> bool {
        segment == self.next && self.early.is_empty() && self.settings.ack_delay <= Nanos::ZERO
    }

    /// A segment arrives that was awaited, and ends with the byte `end`: what [`Self::arrive`] does then.
    #[inline]
    pub(super) fn arrive_next(&mut self, now: Nanos, end: u64) -> Ack {
        let arrived = self.next;
        self.next += 1;
        self.delivered = end;
        if end >= self.stays {
            self.tune(now);
        }
        Ack { next: self.next, arrived, edge: self.edge() }
    }

    /// A segment arrives, which ends with the byte `end`. `end_of` gives the last byte of others. Returns the ACK, or none while it is
    /// held back.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        now: Nanos,
        segment: usize,
        end: u64,
        end_of: impl Fn(usize) -> u64,
    ) -> Option<Ack> {
        let in_order = segment == self.next;
        if in_order {
            self.next += 1;
            self.delivered = end;
            if !self.early.is_empty() {
                self.next = self.early.take(self.next);
                self.delivered = end_of(self.next - 1);
            }
            if self.delivered >= self.stays {
                self.tune(now);
            }
        } else if segment > self.next {
            self.early.insert(segment);
        }
        self.pending += 1;
        let delays = self.settings.ack_delay > Nanos::ZERO;
        if delays && in_order && self.early.is_empty() && self.quick == 0 && self.pending < 2 {
            return None;
        }
        self.quick = self.quick.saturating_sub(1);
        Some(self.answer(segment))
    }

    /// The ACK that was held back, if no other has covered it; `arrived` is the segment that waits for it.
    pub(super) fn answer_late(&mut self, arrived: usize) -> Option<Ack> {
        (self.pending > 0).then(|| self.answer(arrived))
    }

    fn answer(&mut self, arrived: usize) -> Ack {
        self.pending = 0;
        Ack { next: self.next, arrived, edge: self.edge() }
    }

    fn tune(&mut self, now: Nanos) {
        match &self.settings.window {
            Window::Unlimited => self.stays = u64::MAX,
            Window::Autotuned { most, .. } => {
                // Linux gives room for twice what was read in a round trip, and twice that while it grows.
                let (since, from) = self.measured;
                let copied = self.delivered - from;
                self.window = self.window.max(copied.saturating_mul(4)).min(*most);
                if now - since >= self.rtt {
                    self.measured = (now, self.delivered);
                }
            }
            Window::Seen(steps) => {
                while let Some(step) = steps.get(self.steps).filter(|step| step.0 <= self.delivered) {
                    self.window = step.1;
                    self.steps += 1;
                }
                self.stays = steps.get(self.steps).map_or(u64::MAX, |step| step.0);
            }
        }
    }
}
