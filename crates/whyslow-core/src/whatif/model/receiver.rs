//! The receiving host: what it has, when it acknowledges, and the window that it offers.

use super::{Receiving, Window};
use crate::units::Nanos;
use std::collections::BTreeSet;

/// A receiver acknowledges the first segments of a connection at once (Linux' quick ACKs).
const QUICK_ACKS: u32 = 16;

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
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
    early: BTreeSet<usize>,
    delivered: u64,
    quick: u32,
    /// In-order segments that no ACK has answered.
    pending: u32,
    /// The window, and what it follows: bytes delivered at the start of the round trip that is measured.
    window: u64,
    measured: (Nanos, u64),
    /// Of the windows that were seen, so many count or did so before.
    steps: usize,
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
            early: BTreeSet::new(),
            delivered: 0,
            quick: QUICK_ACKS,
            pending: 0,
            window,
            measured: (Nanos::ZERO, 0),
            steps: 0,
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

    /// A segment arrives. `end_of` gives the last byte of a segment. Returns the ACK, or none while it is held back.
    pub(super) fn arrive(&mut self, now: Nanos, segment: usize, end_of: impl Fn(usize) -> u64) -> Option<Ack> {
        let in_order = segment == self.next;
        if in_order {
            self.next += 1;
            while self.early.remove(&self.next) {
                self.next += 1;
            }
            self.delivered = end_of(self.next - 1);
            self.tune(now);
        } else if segment > self.next {
            self.early.insert(segment);
        }
        self.pending += 1;
        let hold = in_order && self.early.is_empty() && self.quick == 0 && self.pending < 2;
        if hold && self.settings.ack_delay > Nanos::ZERO {
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
            Window::Unlimited => {}
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
            }
        }
    }
}
