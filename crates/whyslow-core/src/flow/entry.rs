//! An entry of the connection table, and the timeouts after which entries are evicted.

use crate::wire::{Flags, FlowKey, Segment};
use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_analysis::types::Side;
use whyslow_units::{Nanos, SeqNumber};

/// Number of a connection, in the order of first packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct ConnectionId(pub u64);

/// A key with the hash that chooses its shard.
#[derive(Clone, Copy, Debug)]
pub struct HashedKey {
    /// The key.
    pub key: FlowKey,
    /// The hash, which is the same on every machine.
    pub hash: u64,
}

impl From<FlowKey> for HashedKey {
    #[inline]
    fn from(key: FlowKey) -> Self {
        Self { key, hash: key.hash() }
    }
}

/// How long a connection may be idle before it is evicted from the table, by state.
#[derive(Clone, Copy, Debug)]
pub struct FlowTimeouts {
    /// After a reset, or FINs from both ends (TIME-WAIT lasts at most 2 MSL = 4 min, RFC 9293; 60 s
    /// on Linux).
    pub closed: Nanos,
    /// Only SYNs so far (Linux gives up after 127 s: RFC 6298 back-off with 6 retries).
    pub opening: Nanos,
    /// All other states (a NAT must keep an established connection for 2 h 4 min, RFC 5382).
    pub open: Nanos,
    /// Maximum number of connections in all shards. Connections with a single segment may use up to
    /// half of it plus a sixteenth.
    pub connections: usize,
}

impl Default for FlowTimeouts {
    fn default() -> Self {
        Self {
            closed: Nanos::from_millis(60_000),
            opening: Nanos::from_millis(130_000),
            open: Nanos::from_millis(7_440_000),
            connections: 1 << 20,
        }
    }
}

/// A connection in the table, or an evicted one. The fields needed for every evicted connection
/// come first, in one cache line.
#[derive(Debug)]
#[repr(C)]
pub struct FlowEntry<T> {
    /// Its id.
    pub id: ConnectionId,
    /// The stored value.
    pub value: T,
    /// Key of the first segment, whose sender is [`Side::A`].
    pub key: FlowKey,
    /// ISNs of sides that have sent a SYN.
    pub(super) isn: [SeqNumber; 2],
    pub(super) syn: [bool; 2],
    pub(super) fin: [bool; 2],
    pub(super) reset: bool,
    pub(super) answered: bool,
}

impl<T> FlowEntry<T> {
    /// A connection without any segment so far.
    pub(super) fn new(id: ConnectionId, key: FlowKey, value: T) -> Self {
        let isn = [SeqNumber(0); 2];
        Self { id, value, key, isn, syn: [false; 2], fin: [false; 2], reset: false, answered: false }
    }

    /// Returns which side sent a segment with this key.
    #[inline(always)]
    pub(super) fn side(&self, ends: &FlowKey) -> Side {
        if self.key.same_sender(ends) { Side::A } else { Side::B }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.reset || (self.fin[0] && self.fin[1])
    }

    /// Returns whether this SYN opens another connection on the same four-tuple.
    pub(super) fn is_reuse(&self, from: Side, segment: &Segment<'_>) -> bool {
        let known = self.syn[from] && self.isn[from] == segment.seq;
        let simultaneous = !self.syn[from] && self.syn[!from] && !self.answered;
        !known && !simultaneous
    }

    pub(super) fn on_segment(&mut self, from: Side, segment: &Segment<'_>) {
        let flags = segment.flags;
        if flags.has(Flags::SYN) && !self.syn[from] {
            (self.isn[from], self.syn[from]) = (segment.seq, true);
        }
        self.answered |= !flags.has(Flags::SYN) || flags.has(Flags::ACK);
        self.fin[from] |= flags.has(Flags::FIN);
        self.reset |= flags.has(Flags::RST);
    }

    pub(super) fn idle_timeout(&self, expiry: &FlowTimeouts) -> Nanos {
        match (self.is_closed(), self.answered) {
            (true, _) => expiry.closed,
            (false, false) => expiry.opening,
            (false, true) => expiry.open,
        }
    }
}

/// Connections that were evicted from the table.
pub type Evicted<T> = Vec<Box<FlowEntry<T>>>;
