//! Packets that are missing from a text, by the timestamps that others echo.
//!
//! A segment's TSecr is the TSval of one that its sender has received (RFC 7323 section 4.3). Where
//! no segment of the other side in the text has that value, though earlier ones and later ones are
//! shown, the one that had it was left out. It came between those whose values lie around it.

use super::relative::End;
use crate::units::Time;
use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;

/// How many conversations are followed; the oldest is forgotten first.
const MAX_CONVERSATIONS: usize = 4096;
/// How many values of a direction are remembered: of a round trip's time, at one a millisecond.
const MAX_VALUES: usize = 1024;

/// What a segment shows: who sent it to whom, its own timestamp, and the one that it echoes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentTimestamps {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) value: u32,
    /// None without an ACK, where it means nothing.
    pub(super) echo: Option<u32>,
}

/// The timestamps of the conversations of a text.
pub(super) struct TimestampEchoes {
    table: HashMap<[End; 2], VecDeque<SentTimestamp>>,
    order: VecDeque<[End; 2]>,
}

/// A value, in the order in which they were sent, and when it was.
#[derive(Clone, Copy, Debug)]
struct SentTimestamp {
    value: u32,
    time: Time,
}

impl TimestampEchoes {
    pub(super) fn new() -> Self {
        Self { table: HashMap::new(), order: VecDeque::new() }
    }

    /// Takes a segment; gives when one was sent to its sender that is not in the text, if it echoes
    /// such.
    pub(super) fn observe(&mut self, stamps: &SegmentTimestamps, time: Time) -> Option<(Time, Time)> {
        let missing = stamps.echo.and_then(|echo| {
            let sent = self.table.get(&[stamps.to, stamps.from])?;
            let behind = sent.partition_point(|one| is_before(one.value, echo));
            let before = sent.get(behind.checked_sub(1)?)?;
            let next = sent.get(behind);
            // Nothing is told of what was sent before the text begins, or so long ago that it is
            // forgotten.
            next.is_none_or(|next| next.value != echo)
                .then_some((before.time, next.map_or(time, |next| next.time).max(before.time)))
        });
        let key = [stamps.from, stamps.to];
        if !self.table.contains_key(&key) {
            if self.order.len() >= MAX_CONVERSATIONS
                && let Some(oldest) = self.order.pop_front()
            {
                self.table.remove(&oldest);
            }
            self.order.push_back(key);
        }
        let sent = self.table.entry(key).or_default();
        match sent.back() {
            Some(last) if last.value == stamps.value => {}
            // It came late; or it is of a new connection with the same ends, whose clock began
            // elsewhere.
            Some(last) if !is_before(last.value, stamps.value) => {
                let at = sent.partition_point(|one| is_before(one.value, stamps.value));
                if sent.get(at).is_none_or(|one| one.value != stamps.value) {
                    if at == 0 {
                        sent.clear();
                    }
                    sent.insert(at, SentTimestamp { value: stamps.value, time });
                }
            }
            _ => sent.push_back(SentTimestamp { value: stamps.value, time }),
        }
        if sent.len() > MAX_VALUES {
            sent.pop_front();
        }
        missing
    }
}

/// Whether `a` was sent before `b`: the values wrap around (RFC 7323 section 5.2).
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests;
