//! Future events at the sender, in order of time.
//!
//! Events at the same time come in the order of scheduling. ACKs come in that order because nothing
//! overtakes on the path, and every delayed ACK is delayed equally long; both are therefore FIFOs
//! of which only the heads are compared. Other events have one slot each, except rechecks for loss,
//! which are rare and stay.

use super::receiver::Ack;
use super::ring::Ring;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use whyslow_units::Time;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Acked(Ack),
    /// The delayed ACK of this segment is due.
    AckDue(usize),
    /// The sender checks for losses again.
    Recheck,
    Wakes(Wake),
}

/// An event without an arrival.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wake {
    PauseEnds,
    Timer,
    Pace,
}

/// When an event is due, and when it was scheduled.
pub(super) type DueTime = (Time, Time);

/// Later than every event.
const NEVER: DueTime = (Time::MAX, Time::MAX);

const WAKES: [Wake; 3] = [Wake::PauseEnds, Wake::Timer, Wake::Pace];

#[derive(Debug)]
pub(super) struct EventQueue {
    acks: Fifo<Ack>,
    delayed_acks: Fifo<usize>,
    /// In the order of [`WAKES`].
    wakes: [DueTime; 3],
    rechecks: BinaryHeap<Reverse<DueTime>>,
}

impl EventQueue {
    /// For this many segments.
    pub(super) fn new(segments: u64) -> Self {
        Self {
            acks: Fifo(Ring::new(segments)),
            delayed_acks: Fifo(Ring::new(1)),
            wakes: [NEVER; 3],
            rechecks: BinaryHeap::new(),
        }
    }

    /// Schedules an ACK, no earlier than the previous one.
    #[inline]
    pub(super) fn schedule_ack(&mut self, turn: DueTime, ack: Ack) {
        self.acks.push(turn, ack);
    }

    /// Schedules a delayed ACK, no earlier than the previous one.
    pub(super) fn schedule_delayed_ack(&mut self, turn: DueTime, segment: usize) {
        self.delayed_acks.push(turn, segment);
    }

    pub(super) fn schedule_recheck(&mut self, turn: DueTime) {
        self.rechecks.push(Reverse(turn));
    }

    /// Reschedules this event.
    pub(super) fn schedule_wake(&mut self, turn: DueTime, wake: Wake) {
        let known = &mut self.wakes[wake as usize];
        if known.0 != turn.0 {
            *known = turn;
        }
    }

    pub(super) fn cancel_wake(&mut self, wake: Wake) {
        self.wakes[wake as usize] = NEVER;
    }

    /// Returns the next event and its time.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Time, Event)> {
        let (ack, held) = (self.acks.due(), self.delayed_acks.due());
        let recheck = self.rechecks.peek().map_or(NEVER, |turn| turn.0);
        let [pause, timer, pace] = self.wakes;
        // Usually an ACK that is earlier than all else: comparing times is enough.
        if ack.0 < held.0.min(recheck.0).min(pause.0.min(timer.0).min(pace.0)) {
            return Some((ack.0, Event::Acked(self.acks.pop()?)));
        }
        let wake = pause.min(timer).min(pace);
        let other = wake.min(recheck);
        if ack <= other && ack <= held {
            return Some((ack.0, Event::Acked(self.acks.pop()?)));
        }
        if held <= other {
            return Some((held.0, Event::AckDue(self.delayed_acks.pop()?)));
        }
        if recheck <= wake {
            self.rechecks.pop();
            return Some((recheck.0, Event::Recheck));
        }
        let which = WAKES.into_iter().find(|&which| self.wakes[which as usize] == wake)?;
        self.cancel_wake(which);
        Some((wake.0, Event::Wakes(which)))
    }

    /// Returns the first ACK and its time.
    #[inline]
    pub(super) fn first_ack(&self) -> Option<(Time, &Ack)> {
        self.acks.0.front().map(|(turn, ack)| (turn.0, ack))
    }

    #[inline]
    pub(super) fn take_ack(&mut self) {
        self.acks.0.pop();
    }

    /// Returns when the first event other than an ACK or the timer is due.
    #[inline]
    pub(super) fn first_but_timer(&self) -> Time {
        let [pause, _, pace] = self.wakes;
        let recheck = self.rechecks.peek().map_or(NEVER, |turn| turn.0);
        pause.0.min(pace.0).min(recheck.0).min(self.delayed_acks.due().0)
    }

    /// Returns when the timer fires, as far as known.
    pub(super) fn timer(&self) -> Time {
        self.wakes[Wake::Timer as usize].0
    }

    /// Removes a delayed ACK due before this time, with its segment.
    pub(super) fn due_before(&mut self, turn: DueTime) -> Option<(Time, usize)> {
        let due = self.delayed_acks.due();
        if due < turn { self.delayed_acks.pop().map(|segment| (due.0, segment)) } else { None }
    }
}

/// Events in the order of scheduling.
#[derive(Debug)]
struct Fifo<T>(Ring<(DueTime, T)>);

impl<T: Copy + Default> Fifo<T> {
    #[inline]
    fn push(&mut self, turn: DueTime, what: T) {
        debug_assert!(self.0.back().is_none_or(|last| last.0 <= turn), "nothing overtakes");
        self.0.push((turn, what));
    }

    /// When the first is due.
    fn due(&self) -> DueTime {
        self.0.front().map_or(NEVER, |first| first.0)
    }

    fn pop(&mut self) -> Option<T> {
        let first = self.0.front().map(|first| first.1);
        self.0.pop();
        first
    }
}

#[cfg(test)]
mod tests;
