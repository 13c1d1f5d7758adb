//! Finds packets missing from a text by the timestamps that others echo.
//!
//! A segment's TSecr is the TSval of one that its sender has received (RFC 7323 section 4.3). If
//! the text has no segment of the other side with this value, but earlier and later ones, the
//! segment with it is missing. It was sent between those with the next lower and higher values.

use super::relative::End;
use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;
use whyslow_units::Time;

/// Maximum number of tracked conversations; the oldest ones are dropped.
const MAX_CONVERSATIONS: usize = 4096;
/// Maximum number of stored values of a direction: enough for a round trip with one value per
/// millisecond.
const MAX_VALUES: usize = 1024;

/// A segment's ends, its timestamp, and its echo.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentTimestamps {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) value: u32,
    /// `None` without ACK, where the echo is meaningless.
    pub(super) echo: Option<u32>,
}

/// The timestamps of all conversations in a text.
pub(super) struct TimestampEchoes {
    table: HashMap<[End; 2], VecDeque<SentTimestamp>>,
    order: VecDeque<[End; 2]>,
}

/// A timestamp value and its time, in sending order.
#[derive(Clone, Copy, Debug)]
struct SentTimestamp {
    value: u32,
    time: Time,
}

impl TimestampEchoes {
    pub(super) fn new() -> Self {
        Self { table: HashMap::new(), order: VecDeque::new() }
    }

    /// Takes a segment. Returns the time of a missing segment to its sender, if it echoes one.
    pub(super) fn observe(&mut self, stamps: &SegmentTimestamps, time: Time) -> Option<(Time, Time)> {
        let missing = stamps.echo.and_then(|echo| {
            let sent = self.table.get(&[stamps.to, stamps.from])?;
            let behind = sent.partition_point(|one| is_before(one.value, echo));
            let before = sent.get(behind.checked_sub(1)?)?;
            let next = sent.get(behind);
            // Segments from before the text, or too old to be stored, are unknown.
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
            // The segment is late; or it belongs to a new connection with the same ends, whose
            // clock has another start.
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

/// Whether `a` was sent before `b`: values wrap around (RFC 7323 section 5.2).
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests;
