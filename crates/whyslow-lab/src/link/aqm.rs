//! Active queue management: CoDel (RFC 8289) at the head of the queue, RED at its tail.
//!
//! Both only decide; the queue is the caller's.

use super::dice::{ChanceStream, Knob};

/// The decision of an AQM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Drop,
    /// Mark it: it would be dropped, were it not ECN-capable.
    Mark,
}

/// The packet at the head of a queue when the link is ready for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) now: u64,
    pub(super) sojourn_ns: u64,
    /// Bytes that wait behind this packet.
    pub(super) behind_bytes: u64,
    pub(super) packet_bytes: u64,
    pub(super) can_mark: bool,
}

/// CoDel's state, named as in RFC 8289 section 5.
#[derive(Debug, Default)]
pub(super) struct Codel {
    first_above_time: Option<u64>,
    drop_next: u64,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Codel {
    /// The queue ran empty.
    pub(super) fn on_empty(&mut self) {
        self.first_above_time = None;
        self.dropping = false;
    }

    /// Decides on the head; after `Drop` it is asked again about the next one, at the same time.
    pub(super) fn decide(&mut self, target_ns: u64, interval_ns: u64, head: Head) -> Verdict {
        let next = |from: u64, count: u32| from.saturating_add((interval_ns as f64 / f64::from(count).sqrt()) as u64);
        if !self.stands(target_ns, interval_ns, &head) {
            self.dropping = false;
            return Verdict::Pass;
        }
        if self.dropping {
            if head.now < self.drop_next {
                return Verdict::Pass;
            }
            self.count = self.count.saturating_add(1);
            self.drop_next = next(self.drop_next, self.count);
        } else {
            // Section 5.5: take up near the rate that controlled the queue, when that was not long
            // ago.
            let recent = head.now.saturating_sub(self.drop_next) < 16 * interval_ns;
            let delta = self.count.saturating_sub(self.last_count);
            self.count = if recent && delta > 1 { delta } else { 1 };
            self.dropping = true;
            self.drop_next = next(head.now, self.count);
            self.last_count = self.count;
        }
        if head.can_mark { Verdict::Mark } else { Verdict::Drop }
    }

    /// Whether the queue has been above the target for an interval. One packet's worth is not a
    /// queue.
    fn stands(&mut self, target_ns: u64, interval_ns: u64, head: &Head) -> bool {
        if head.sojourn_ns < target_ns || head.behind_bytes <= head.packet_bytes {
            self.first_above_time = None;
            return false;
        }
        head.now >= *self.first_above_time.get_or_insert(head.now.saturating_add(interval_ns))
    }
}

/// RED's thresholds.
#[derive(Clone, Copy, Debug)]
pub(super) struct RedLimits {
    pub(super) min_bytes: u64,
    pub(super) max_bytes: u64,
    pub(super) max_share: f64,
    pub(super) weight: f64,
}

/// The state of a queue when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub(super) now: u64,
    pub(super) queued_bytes: u64,
    /// The packet's time on the wire.
    pub(super) packet_ns: u64,
    pub(super) can_mark: bool,
}

/// RED's state.
#[derive(Debug)]
pub(super) struct Red {
    die: ChanceStream,
    average: f64,
    /// Packets since the last drop, for even gaps between drops.
    since_drop: u64,
    idle_since: Option<u64>,
}

impl Red {
    pub(super) fn new(seed: u64) -> Self {
        Self { die: ChanceStream::new(seed, Knob::Red), average: 0.0, since_drop: 0, idle_since: Some(0) }
    }

    pub(super) fn on_empty(&mut self, now: u64) {
        self.idle_since.get_or_insert(now);
    }

    /// Decides on a packet that arrives.
    pub(super) fn decide(&mut self, limits: &RedLimits, tail: &Tail) -> Verdict {
        if let Some(since) = self.idle_since.take() {
            // As if small packets had found it empty while the link was idle.
            let missed = tail.now.saturating_sub(since) as f64 / tail.packet_ns.max(1) as f64;
            self.average *= (1.0 - limits.weight).powf(missed);
        }
        self.average += limits.weight * (tail.queued_bytes as f64 - self.average);
        let (min, max) = (limits.min_bytes as f64, limits.max_bytes as f64);
        if self.average < min {
            self.since_drop = 0;
            return Verdict::Pass;
        }
        if self.average >= 2.0 * max {
            self.since_drop = 0;
            return Verdict::Drop;
        }
        self.since_drop += 1;
        let share = if self.average < max {
            limits.max_share * (self.average - min) / (max - min)
        } else {
            limits.max_share + (1.0 - limits.max_share) * (self.average - max) / max
        };
        let room = 1.0 - self.since_drop as f64 * share;
        if room > 0.0 && !self.die.chance(share / room) {
            return Verdict::Pass;
        }
        self.since_drop = 0;
        if tail.can_mark { Verdict::Mark } else { Verdict::Drop }
    }
}
