//! The delay line: packets on their way, ordered by arrival.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::finished::Finished;

/// Packets under way.
#[derive(Debug)]
pub(super) struct DelayLine<T> {
    under_way: BinaryHeap<Reverse<DelayedPacket<T>>>,
    /// Packets that wait for later ones to overtake them.
    held: Vec<HeldPacket<T>>,
    entered: u64,
}

/// How many later packets must overtake a packet, and how long it waits for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) packets: u32,
    pub(super) at_most_ns: u64,
}

#[derive(Debug)]
struct DelayedPacket<T> {
    due: u64,
    /// Ties go to the one that entered first.
    order: u64,
    hold: Option<Hold>,
    packet: Finished<T>,
}

#[derive(Debug)]
struct HeldPacket<T> {
    remaining: u32,
    release_ns: u64,
    packet: Finished<T>,
}

impl<T> DelayLine<T> {
    pub(super) fn new() -> Self {
        Self { under_way: BinaryHeap::new(), held: Vec::new(), entered: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.under_way.len() + self.held.len()
    }

    pub(super) fn push(&mut self, due: u64, hold: Option<Hold>, packet: Finished<T>) {
        self.entered += 1;
        self.under_way.push(Reverse(DelayedPacket { due, order: self.entered, hold, packet }));
    }

    /// The moment of the next delivery, or of a hold's begin, whichever is first.
    pub(super) fn next_due(&self) -> Option<u64> {
        let moving = self.under_way.peek().map(|Reverse(slot)| slot.due);
        let held = self.held.iter().map(|held| held.release_ns).min();
        moving.into_iter().chain(held).min()
    }

    /// The next packet that is due by `until`, with its due time.
    pub(super) fn pop(&mut self, until: u64) -> Option<Finished<T>> {
        loop {
            self.release(until);
            if self.under_way.peek()?.0.due > until {
                return None;
            }
            let Reverse(mut slot) = self.under_way.pop()?;
            match slot.hold {
                Some(hold) => self.held.push(HeldPacket {
                    remaining: hold.packets,
                    release_ns: slot.due.saturating_add(hold.at_most_ns),
                    packet: slot.packet,
                }),
                None => {
                    self.overtake(slot.due);
                    slot.packet.record.due_ns = slot.due;
                    return Some(slot.packet);
                }
            }
        }
    }

    /// A packet is delivered at `due`: those that waited for it follow right behind.
    fn overtake(&mut self, due: u64) {
        for held in &mut self.held {
            held.remaining = held.remaining.saturating_sub(1);
            if held.remaining == 0 {
                held.release_ns = held.release_ns.min(due);
            }
        }
    }

    /// Releases packets that were held long enough.
    fn release(&mut self, until: u64) {
        while let Some(at) = self.held.iter().position(|held| held.release_ns <= until) {
            let held = self.held.remove(at);
            self.push(held.release_ns, None, held.packet);
        }
    }

    /// Takes everything out, in no order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Finished<T>> {
        let moving = self.under_way.drain().map(|Reverse(slot)| slot.packet);
        moving.chain(self.held.drain(..).map(|held| held.packet))
    }
}

impl<T> Ord for DelayedPacket<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.order).cmp(&(other.due, other.order))
    }
}

impl<T> PartialOrd for DelayedPacket<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for DelayedPacket<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for DelayedPacket<T> {}
