//! The receiving host: its received data, its ACKs, and the window that it offers.

use super::out_of_order::OutOfOrderQueue;
use super::{ReceiverSettings, Window};
use whyslow_units::{Nanos, Time};

/// First segments of a connection that a receiver acknowledges at once (Linux `TCP_MAX_QUICKACKS`).
const MAX_QUICKACKS: u32 = 16;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    /// All segments before this one have arrived.
    pub(super) next: usize,
    /// The segment whose arrival it answers.
    pub(super) segment: usize,
    /// Bytes up to which the sender may send.
    pub(super) right_edge: u64,
}

#[derive(Debug)]
pub(super) struct Receiver<'a> {
    settings: &'a ReceiverSettings,
    rtt: Nanos,
    rcv_nxt: usize,
    /// Segments beyond a hole.
    out_of_order: OutOfOrderQueue,
    delivered: u64,
    quick: u32,
    /// In-order segments that no ACK has answered.
    pending: u32,
    /// The window, and its basis: bytes delivered at the start of the measured round trip.
    rcv_wnd: u64,
    measured: (Time, u64),
    /// Number of the captured windows that apply or did so before.
    window_steps: usize,
    /// The window stays as it is until this number of bytes is delivered.
    constant_until: u64,
}

impl<'a> Receiver<'a> {
    pub(super) fn new(settings: &'a ReceiverSettings, rtt: Nanos) -> Self {
        let window = match &settings.window {
            Window::Unlimited => u64::MAX,
            Window::Autotuned { initial, most } => (*initial).min(*most),
            Window::Advertised(steps) => steps.first().map_or(u64::MAX, |step| step.1),
        };
        Self {
            settings,
            rtt,
            rcv_nxt: 0,
            out_of_order: OutOfOrderQueue::default(),
            delivered: 0,
            quick: MAX_QUICKACKS,
            pending: 0,
            rcv_wnd: window,
            measured: (Time::ZERO, 0),
            window_steps: 0,
            constant_until: 0,
        }
    }

    /// Bytes up to which the sender may send.
    pub(super) fn right_edge(&self) -> u64 {
        self.delivered.saturating_add(self.rcv_wnd)
    }

    /// Bytes that have arrived without a hole before them.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether this segment comes in order, and is acknowledged at once like all others.
    #[inline]
    pub(super) fn awaits(&self, segment: usize) -> bool {
        segment == self.rcv_nxt && self.out_of_order.is_empty() && self.settings.ack_delay <= Nanos::ZERO
    }

    /// The next expected segment arrives, and ends with the byte `end`: the same as
    /// [`Self::arrive`].
    #[inline]
    pub(super) fn arrive_next(&mut self, now: Time, end: u64) -> Ack {
        let arrived = self.rcv_nxt;
        self.rcv_nxt += 1;
        self.delivered = end;
        if end >= self.constant_until {
            self.autotune(now);
        }
        Ack { next: self.rcv_nxt, segment: arrived, right_edge: self.right_edge() }
    }

    /// A segment arrives, which ends with the byte `end`. `end_of` gives the last byte of others.
    /// Returns the ACK, or none while it is held back.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, segment: usize, end: u64, end_of: impl Fn(usize) -> u64) -> Option<Ack> {
        let in_order = segment == self.rcv_nxt;
        if in_order {
            self.rcv_nxt += 1;
            self.delivered = end;
            if !self.out_of_order.is_empty() {
                self.rcv_nxt = self.out_of_order.take(self.rcv_nxt);
                self.delivered = end_of(self.rcv_nxt - 1);
            }
            if self.delivered >= self.constant_until {
                self.autotune(now);
            }
        } else if segment > self.rcv_nxt {
            self.out_of_order.insert(segment);
        }
        self.pending += 1;
        let delays = self.settings.ack_delay > Nanos::ZERO;
        if delays && in_order && self.out_of_order.is_empty() && self.quick == 0 && self.pending < 2 {
            return None;
        }
        self.quick = self.quick.saturating_sub(1);
        Some(self.answer(segment))
    }

    /// The ACK that was held back, if no other has covered it; `segment` is the segment that waits
    /// for it.
    pub(super) fn answer_late(&mut self, arrived: usize) -> Option<Ack> {
        (self.pending > 0).then(|| self.answer(arrived))
    }

    fn answer(&mut self, arrived: usize) -> Ack {
        self.pending = 0;
        Ack { next: self.rcv_nxt, segment: arrived, right_edge: self.right_edge() }
    }

    fn autotune(&mut self, now: Time) {
        match &self.settings.window {
            Window::Unlimited => self.constant_until = u64::MAX,
            Window::Autotuned { most, .. } => {
                // Linux gives room for twice the bytes read in a round trip, and twice that while
                // it grows.
                let (since, from) = self.measured;
                let copied = self.delivered - from;
                self.rcv_wnd = self.rcv_wnd.max(copied.saturating_mul(4)).min(*most);
                if now - since >= self.rtt {
                    self.measured = (now, self.delivered);
                }
            }
            Window::Advertised(steps) => {
                while let Some(step) = steps.get(self.window_steps).filter(|step| step.0 <= self.delivered) {
                    self.rcv_wnd = step.1;
                    self.window_steps += 1;
                }
                self.constant_until = steps.get(self.window_steps).map_or(u64::MAX, |step| step.0);
            }
        }
    }
}
