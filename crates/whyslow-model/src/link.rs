//! The path from the sender to the receiver: a queue in front of one narrow link, then the way.

use super::{Losses, MAX_LENGTH, MAX_TIME, Scenario};
use whyslow_units::{Nanos, Time};

/// The path of packets, one after the other.
#[derive(Debug)]
pub(super) struct Link<'a> {
    /// Bytes per nanosecond of the narrow link.
    speed: Option<f64>,
    /// A full segment: its bytes, and its time on that link.
    full: (u64, Nanos),
    queue: Option<u64>,
    /// Half of the round trip.
    one_way: Nanos,
    losses: &'a Losses,
    /// Index of the next listed loss.
    next_loss: usize,
    /// Packets that end before or with this byte are not lost.
    spared: u64,
    random: u64,
    /// The narrow link is busy until then.
    busy: Time,
}

impl<'a> Link<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let random = match scenario.losses {
            Losses::Random { seed, .. } => seed,
            Losses::At(_) => 0,
        };
        let speed = scenario.rate.filter(|rate| *rate > 0.0).map(|rate| rate / 8e9);
        Self {
            speed,
            full: (scenario.mss, speed.map_or(Nanos::ZERO, |speed| takes(scenario.mss, speed))),
            queue: scenario.queue,
            one_way: scenario.rtt.scale(0.5),
            losses: &scenario.losses,
            next_loss: 0,
            spared: spared(&scenario.losses, 0),
            random,
            busy: Time::ZERO,
        }
    }

    /// A packet that carries the bytes of `from..to` leaves the sender. Returns its arrival; `None`
    /// if it is lost. The listed losses apply to first copies only.
    #[inline]
    pub(super) fn send(&mut self, now: Time, from: u64, to: u64, first_copy: bool) -> Option<Time> {
        let size = to - from;
        let arrival = match self.speed {
            None => now,
            Some(speed) => {
                let begins = self.busy.max(now);
                let waits = || (begins - now).0 as f64 * speed;
                if self.queue.is_some_and(|room| waits() + size as f64 > room.max(size) as f64) {
                    return None;
                }
                let (full, known) = self.full;
                let takes = if size == full { known } else { takes(size, speed) };
                // Neither is beyond the latest time.
                self.busy = Time(begins.0 + takes.0).min(MAX_TIME);
                self.busy
            }
        };
        (to <= self.spared || !self.is_lost(from, to, first_copy)).then_some(Time(arrival.0 + self.one_way.0))
    }

    /// The way back, which has no queue.
    pub(super) fn way_back(&self) -> Nanos {
        self.one_way
    }

    /// Until when packets wait for the narrow link.
    pub(super) fn busy_until(&self) -> Time {
        self.busy
    }

    fn is_lost(&mut self, from: u64, to: u64, first_copy: bool) -> bool {
        match self.losses {
            Losses::Random { probability, .. } => {
                let probability = *probability;
                self.draw() < probability
            }
            Losses::At(places) => {
                let mut hit = false;
                while first_copy && places.get(self.next_loss).is_some_and(|place| *place < to) {
                    hit |= places[self.next_loss] >= from;
                    self.next_loss += 1;
                }
                self.spared = spared(self.losses, self.next_loss);
                hit
            }
        }
    }

    /// A number in 0..1: splitmix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The byte up to which nothing is lost, until the listed loss with this index.
fn spared(losses: &Losses, next: usize) -> u64 {
    match losses {
        Losses::Random { .. } => 0,
        Losses::At(places) => places.get(next).copied().unwrap_or(u64::MAX),
    }
}

/// Time that a link of this speed needs for `size` bytes.
fn takes(size: u64, speed: f64) -> Nanos {
    Nanos((size as f64 / speed).round() as i64).min(MAX_LENGTH)
}
