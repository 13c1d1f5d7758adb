//! What is going to happen to the sender, in the order of time.
//!
//! At the same time, what was arranged first comes first. ACKs come in the order in which they were
//! arranged, for nothing overtakes on the path; and every ACK that is held back is held back
//! equally long. So both wait in lines, of which only the heads are compared. Of what else happens
//! nothing is expected twice: each has a place of its own; but for the times at which the sender
//! looks for losses again, which are seldom and stay.

use super::receiver::Ack;
use super::ring::Ring;
use crate::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Acked(Ack),
    /// The ACK that is held back since this segment arrived is due.
    AckDue(usize),
    /// The sender looks for losses again.
    Recheck,
    Wakes(Wake),
}

/// Why something happens though nothing arrives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wake {
    PauseEnds,
    Timer,
    Pace,
}

/// When something happens, and since when that is known.
pub(super) type DueTime = (Nanos, Nanos);

/// Later than everything.
const NEVER: DueTime = (Nanos::MAX, Nanos::MAX);

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
    /// Of so many segments.
    pub(super) fn new(segments: u64) -> Self {
        Self {
            acks: Fifo(Ring::new(segments)),
            delayed_acks: Fifo(Ring::new(1)),
            wakes: [NEVER; 3],
            rechecks: BinaryHeap::new(),
        }
    }

    /// An ACK comes to the sender; no earlier than the one before.
    #[inline]
    pub(super) fn schedule_ack(&mut self, turn: DueTime, ack: Ack) {
        self.acks.push(turn, ack);
    }

    /// A held-back ACK is due; no earlier than the one before.
    pub(super) fn schedule_delayed_ack(&mut self, turn: DueTime, segment: usize) {
        self.delayed_acks.push(turn, segment);
    }

    pub(super) fn schedule_recheck(&mut self, turn: DueTime) {
        self.rechecks.push(Reverse(turn));
    }

    /// This happens then, and not when it was said to before.
    pub(super) fn schedule_wake(&mut self, turn: DueTime, wake: Wake) {
        let known = &mut self.wakes[wake as usize];
        if known.0 != turn.0 {
            *known = turn;
        }
    }

    pub(super) fn cancel_wake(&mut self, wake: Wake) {
        self.wakes[wake as usize] = NEVER;
    }

    /// What comes next, and when.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Nanos, Event)> {
        let (ack, held) = (self.acks.due(), self.delayed_acks.due());
        let recheck = self.rechecks.peek().map_or(NEVER, |turn| turn.0);
        let [pause, timer, pace] = self.wakes;
        // Mostly an ACK, and earlier than all else: times tell, and seldom more is asked.
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

    /// The first ACK, and when it comes.
    #[inline]
    pub(super) fn first_ack(&self) -> Option<(Nanos, &Ack)> {
        self.acks.0.front().map(|(turn, ack)| (turn.0, ack))
    }

    #[inline]
    pub(super) fn take_ack(&mut self) {
        self.acks.0.pop();
    }

    /// When the first happens of what is neither an ACK's nor a timer's doing.
    #[inline]
    pub(super) fn first_but_timer(&self) -> Nanos {
        let [pause, _, pace] = self.wakes;
        let recheck = self.rechecks.peek().map_or(NEVER, |turn| turn.0);
        pause.0.min(pace.0).min(recheck.0).min(self.delayed_acks.due().0)
    }

    /// When the timer fires, as far as is known.
    pub(super) fn timer(&self) -> Nanos {
        self.wakes[Wake::Timer as usize].0
    }

    /// Takes a held-back ACK that is due before this turn: when, and its segment.
    pub(super) fn due_before(&mut self, turn: DueTime) -> Option<(Nanos, usize)> {
        let due = self.delayed_acks.due();
        if due < turn { self.delayed_acks.pop().map(|segment| (due.0, segment)) } else { None }
    }
}

/// What happens in the order in which it was arranged.
#[derive(Debug)]
struct Fifo<T>(Ring<(DueTime, T)>);

impl<T: Copy + Default> Fifo<T> {
    #[inline]
    fn push(&mut self, turn: DueTime, what: T) {
        debug_assert!(self.0.back().is_none_or(|last| last.0 <= turn), "nothing overtakes");
        self.0.push((turn, what));
    }

    /// Of the first in it.
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
