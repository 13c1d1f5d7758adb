//! `flow`: segments → connections.
//!
//! Knows four-tuples and SYNs, nothing else of TCP. It promises that a four-tuple used again is a new connection, that
//! memory stays bounded (closed and idle connections leave the table, and so does the idlest one when the table is
//! full, counted), and that a connection's number is its place in the order of first packets.

use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, Segment};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::net::IpAddr;

#[cfg(test)]
mod tests;

/// A connection, numbered from 0 in the order of first packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// One of the two ends, before it is known which is the client: 0 sent the first packet that was seen.
pub type Side = usize;

/// Where a segment belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routed {
    /// Its connection.
    pub id: ConnectionId,
    /// Who sent it.
    pub from: Side,
    /// It is the connection's first.
    pub new: bool,
}

/// How long a connection may be silent before it leaves the table, by its state.
#[derive(Clone, Copy, Debug)]
pub struct Expiry {
    /// After a reset, or FINs from both ends (TIME-WAIT is 2 MSL = 4 min at most, RFC 9293; Linux holds 60 s).
    pub closed: Nanos,
    /// Only SYNs so far (Linux gives up after 127 s, RFC 6298 back-off with 6 retries).
    pub opening: Nanos,
    /// Everything else (a NAT must keep an established connection for 2 h 4 min, RFC 5382).
    pub open: Nanos,
    /// Most connections held at once.
    pub connections: usize,
}

impl Default for Expiry {
    fn default() -> Self {
        Self {
            closed: Nanos::from_millis(60_000),
            opening: Nanos::from_millis(130_000),
            open: Nanos::from_millis(7_440_000),
            connections: 1 << 20,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    low: (IpAddr, u16),
    high: (IpAddr, u16),
}

#[derive(Clone, Copy)]
struct Entry {
    id: ConnectionId,
    /// Whether the connection's side 0 is the key's `low`.
    low_is_first: bool,
    /// Initial sequence numbers, by side.
    isn: [Option<SeqNumber>; 2],
    fin: [bool; 2],
    reset: bool,
    answered: bool,
    last: Nanos,
}

impl Entry {
    fn is_closed(&self) -> bool {
        self.reset || (self.fin[0] && self.fin[1])
    }

    /// Whether this SYN opens another connection on the same four-tuple.
    fn is_reuse(&self, from: Side, segment: &Segment<'_>) -> bool {
        let known = self.isn[from];
        let simultaneous = known.is_none() && self.isn[1 - from].is_some() && !self.answered;
        known != Some(segment.seq) && !simultaneous
    }
}

/// The connections that are open now.
pub struct Table {
    entries: HashMap<Key, Entry, FixedState>,
    next: u64,
    expiry: Expiry,
    swept: Nanos,
    /// Connections that were let go while still open, because they were idle or the table was full.
    pub evicted: u64,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("open", &self.entries.len()).field("seen", &self.next).finish()
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new(Expiry::default())
    }
}

/// The table is looked over for silent connections this often, in the capture's time.
const SWEEP_EVERY: Nanos = Nanos::from_millis(10_000);

impl Table {
    /// An empty table.
    pub fn new(expiry: Expiry) -> Self {
        Self { entries: HashMap::default(), next: 0, expiry, swept: Nanos(i64::MIN), evicted: 0 }
    }

    /// How many connections are in the table.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Finds the segment's connection, or opens it. Connections that have ended go to `gone`, oldest first.
    pub fn route(&mut self, segment: &Segment<'_>, time: Nanos, gone: &mut Vec<ConnectionId>) -> Routed {
        self.sweep(time, gone);
        let source = (segment.src, segment.src_port);
        let destination = (segment.dst, segment.dst_port);
        let from_low = source <= destination;
        let key =
            if from_low { Key { low: source, high: destination } } else { Key { low: destination, high: source } };
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if let Some(entry) = self.entries.get_mut(&key) {
            let from = usize::from(entry.low_is_first != from_low);
            if !(opens && entry.is_reuse(from, segment)) {
                note(entry, from, segment, time);
                return Routed { id: entry.id, from, new: false };
            }
            gone.push(entry.id);
            self.entries.remove(&key);
        }
        if self.entries.len() >= self.expiry.connections {
            self.evict_idlest(gone);
        }
        let id = ConnectionId(self.next);
        self.next += 1;
        let mut entry = Entry {
            id,
            low_is_first: from_low,
            isn: [None; 2],
            fin: [false; 2],
            reset: false,
            answered: false,
            last: time,
        };
        note(&mut entry, 0, segment, time);
        self.entries.insert(key, entry);
        Routed { id, from: 0, new: true }
    }

    /// Everything that is still open, in order.
    pub fn drain(&mut self) -> Vec<ConnectionId> {
        let mut ids: Vec<_> = self.entries.drain().map(|(_, entry)| entry.id).collect();
        ids.sort_unstable();
        ids
    }

    fn sweep(&mut self, time: Nanos, gone: &mut Vec<ConnectionId>) {
        if self.swept.0 == i64::MIN {
            self.swept = time;
        }
        if time - self.swept < SWEEP_EVERY {
            return;
        }
        self.swept = time;
        let expiry = self.expiry;
        let first = gone.len();
        let mut evicted = 0;
        self.entries.retain(|_, entry| {
            let limit = match (entry.is_closed(), entry.answered) {
                (true, _) => expiry.closed,
                (false, false) => expiry.opening,
                (false, true) => expiry.open,
            };
            let keep = time - entry.last < limit;
            if !keep {
                gone.push(entry.id);
                evicted += u64::from(!entry.is_closed());
            }
            keep
        });
        self.evicted += evicted;
        gone[first..].sort_unstable();
    }

    /// Lets go of the idlest sixteenth, so that a flood of new connections pays for one look over the table in many.
    fn evict_idlest(&mut self, gone: &mut Vec<ConnectionId>) {
        let mut by_age: Vec<_> = self.entries.iter().map(|(key, entry)| (entry.last, entry.id, *key)).collect();
        let share = (by_age.len() / 16).max(1);
        by_age.select_nth_unstable_by_key(share - 1, |&(last, id, _)| (last, id));
        let first = gone.len();
        for (_, id, key) in by_age.drain(..share) {
            self.entries.remove(&key);
            gone.push(id);
        }
        gone[first..].sort_unstable();
        self.evicted += share as u64;
    }
}

fn note(entry: &mut Entry, from: Side, segment: &Segment<'_>, time: Nanos) {
    entry.last = entry.last.max(time);
    let flags = segment.flags;
    if flags.has(Flags::SYN) && entry.isn[from].is_none() {
        entry.isn[from] = Some(segment.seq);
    }
    entry.answered |= !flags.has(Flags::SYN) || flags.has(Flags::ACK);
    entry.fin[from] |= flags.has(Flags::FIN);
    entry.reset |= flags.has(Flags::RST);
}
