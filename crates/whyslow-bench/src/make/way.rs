//! [`InTransit`]: one direction of a path, a queue in front of a narrow link and then the distance.

use super::Time;
use super::draw::Draw;
use std::collections::VecDeque;

/// The properties of a path in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// From the narrow link to the end.
    pub(super) delay: Time,
    /// Bits per second.
    pub(super) rate: u64,
    /// Room in front of the link, bytes; packets beyond it are lost.
    pub(super) queue: u64,
    /// Packets with payload that are lost by chance, in millionths.
    pub(super) loss: u64,
}

/// A packet that enters a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathPacket<T> {
    pub(super) packet: T,
    /// Its size on the wire.
    pub(super) bytes: u64,
    pub(super) may_be_lost: bool,
}

/// The packets on the way, in the order of arrival.
#[derive(Debug)]
pub(super) struct InTransit<T> {
    link: Link,
    /// The narrow link is busy until then.
    busy: Time,
    last: Time,
    flying: VecDeque<(Time, T)>,
}

impl<T> InTransit<T> {
    pub(super) fn new(link: Link) -> Self {
        Self { link, busy: 0, last: 0, flying: VecDeque::new() }
    }

    /// Sends a packet. Returns whether it will arrive.
    pub(super) fn send(&mut self, now: Time, leaving: PathPacket<T>, draw: &mut Draw) -> bool {
        let PathPacket { packet, bytes, may_be_lost } = leaving;
        let waiting = self.busy.saturating_sub(now);
        let queued = u128::from(waiting) * u128::from(self.link.rate) / 8_000_000_000;
        if may_be_lost && (queued + u128::from(bytes) > u128::from(self.link.queue) || draw.happens(self.link.loss)) {
            return false;
        }
        self.busy = now + waiting + bytes * 8_000_000_000 / self.link.rate.max(1);
        // No clock on a path is exact: up to 16 µs, and nothing overtakes.
        self.last = (self.busy + self.link.delay + draw.below(16_000)).max(self.last + 1);
        self.flying.push_back((self.last, packet));
        true
    }

    /// When the next packet arrives.
    pub(super) fn next(&self) -> Option<Time> {
        self.flying.front().map(|(at, _)| *at)
    }

    /// The packet that arrives next.
    pub(super) fn arrive(&mut self) -> Option<T> {
        let packet = self.flying.pop_front().map(|(_, packet)| packet);
        if self.flying.is_empty() && self.flying.capacity() > 64 {
            self.flying.shrink_to_fit();
        }
        packet
    }
}
