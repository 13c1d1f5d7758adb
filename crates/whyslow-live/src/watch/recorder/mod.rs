//! [`Recorder`]: the last packets of every connection, in memory of a fixed size.
//!
//! ```text
//!   packet ─▶ connection's entry ─┬▶ pinned, if it is of the handshake
//!                                 └▶ arena: all connections in one piece, the oldest makes room
//! ```
//!
//! All memory is allocated at creation, and none later: a flood of packets or of connections
//! replaces the oldest. Evicted packets are counted by connection, so that a saved file can report
//! them.

mod arena;
mod connections;
mod index;

use super::error::WatchError;
use super::packet::RingPacket;
use super::segment::{Connection, Segment};
use arena::{Arena, Header, Place};
use connections::Connections;

/// Minimum memory, bytes.
const LEAST: usize = 1 << 20;
/// One part of the memory is for the connections, the others are for packets.
const PARTS: usize = 4;

/// Counts of held and evicted packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderCounts {
    /// Packets that were given to it.
    pub packets: u64,
    /// Packets of no connection, which are not held.
    pub of_no_connection: u64,
    /// Longer than a quarter of the memory for packets, so that they are not held.
    pub too_long: u64,
    /// Packets that made room for newer ones.
    pub evicted: u64,
    /// Connections that made room for others, with their handshakes.
    pub forgotten: u64,
    /// Connections that are held.
    pub connections: usize,
}

/// The last packets of every connection.
#[derive(Debug)]
pub struct Recorder {
    arena: Arena,
    connections: Connections,
    memory: usize,
    counts: RecorderCounts,
}

/// A packet that is held.
#[derive(Clone, Copy, Debug)]
pub struct HeldPacket<'a> {
    /// When it passed, nanoseconds since the epoch.
    pub time_ns: u64,
    /// Its number among all packets.
    pub frame: u64,
    /// The link type of `bytes`.
    pub link_type: u16,
    /// Index of the interface.
    pub interface: u32,
    /// Bytes that it had.
    pub length: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// None of the handshake, which is held apart.
    pub(super) place: Option<Place>,
}

impl HeldPacket<'_> {
    /// Whether it opens the connection.
    #[must_use]
    pub fn is_handshake(&self) -> bool {
        self.place.is_none()
    }
}

/// The part of a connection that is not held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldCounts {
    /// Number of missing packets between the handshake and the packets here.
    pub missing: u64,
    /// Whether the connection was seen to begin.
    pub has_handshake: bool,
}

/// The held part of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    pub entry: u32,
    /// Evicted packets, all of them after the handshake and before the held ones.
    pub evicted: u64,
    /// Whether the connection was seen to begin.
    pub has_handshake: bool,
    /// The packets that were saved before.
    pub saved: Option<(u64, Place)>,
}

impl Recorder {
    /// Takes `memory` bytes and never more.
    ///
    /// # Errors
    /// When it is less than 1 MiB.
    pub fn new(memory: usize) -> Result<Self, WatchError> {
        if memory < LEAST {
            return Err(WatchError::Option {
                what: "the memory for packets",
                value: format!("{memory} bytes"),
                allowed: format!("at least {LEAST} bytes"),
            });
        }
        let memory = memory - size_of::<Self>();
        let capacity = Connections::capacity(memory / PARTS);
        let connections = Connections::new(capacity);
        let arena = Arena::new(memory - Connections::bytes(capacity));
        let memory = size_of::<Self>() + arena.bytes() + Connections::bytes(capacity);
        Ok(Self { arena, connections, memory, counts: RecorderCounts::default() })
    }

    /// Bytes of memory that it takes, with all of its bookkeeping.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Counts of held and evicted packets.
    #[must_use]
    pub fn counts(&self) -> RecorderCounts {
        let (connections, forgotten) = (self.connections.len(), self.connections.forgotten);
        RecorderCounts { connections, forgotten, ..self.counts }
    }

    /// Holds a packet, of which `frame` is the number among all.
    pub fn record(&mut self, packet: &RingPacket<'_>, frame: u64) {
        self.counts.packets += 1;
        let Some(segment) = Segment::parse(packet.link_type, packet.bytes) else {
            self.counts.of_no_connection += 1;
            return;
        };
        if !self.arena.holds(packet.bytes.len()) {
            self.counts.too_long += 1;
            return;
        }
        let owner = self.connections.touch(&segment);
        if self.connections.pin(owner, &segment, packet, frame) {
            return;
        }
        let header = Header {
            time_ns: packet.time_ns,
            length: packet.length,
            kept: packet.bytes.len() as u32,
            interface: packet.interface,
            link_type: packet.link_type,
            frame,
            owner,
            generation: self.connections.get(owner).generation,
            next: None,
        };
        let Self { arena, connections, counts, .. } = self;
        let place = arena.push(header, packet.bytes, |evicted| {
            counts.evicted += 1;
            connections.evict(evicted.owner, evicted.generation, evicted.next, owner);
        });
        let entry = connections.get_mut(owner);
        if entry.held == 0 {
            entry.first = place;
        } else {
            arena.chain(entry.last, place);
        }
        entry.last = place;
        entry.held += 1;
    }

    /// Passes the held packets of a connection, in the order of arrival: its handshake, and the
    /// newest of the others, up to this many bytes. `None` if there are none.
    pub fn for_each(
        &self,
        connection: &Connection,
        most: usize,
        mut give: impl FnMut(HeldPacket<'_>),
    ) -> Option<HeldCounts> {
        let holding = self.holding(connection)?;
        let sizes = self.packets(holding, 0).filter(|held| held.place.is_some()).map(|held| held.bytes.len());
        let mut over = sizes.clone().sum::<usize>().saturating_sub(most);
        let mut left_out = 0;
        for size in sizes {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(size);
            left_out += 1;
        }
        let mut skip = left_out;
        for held in self.packets(holding, 0) {
            if held.place.is_some() && skip > 0 {
                skip -= 1;
                continue;
            }
            give(held);
        }
        let missing = holding.evicted + left_out;
        Some(HeldCounts { missing, has_handshake: holding.has_handshake })
    }

    /// The held part of a connection, if any.
    pub(super) fn holding(&self, connection: &Connection) -> Option<Holding> {
        let entry = self.connections.find(connection)?;
        let has_handshake = self.connections.has_handshake(entry);
        let this = self.connections.get(entry);
        Some(Holding { entry, evicted: this.evicted, has_handshake, saved: this.saved })
    }

    /// Its packets: the handshake, then those after `from` in the order of arrival.
    pub(super) fn packets(&self, holding: Holding, from: Place) -> impl Iterator<Item = HeldPacket<'_>> + Clone {
        let entry = self.connections.get(holding.entry);
        let pinned = self.connections.pinned(holding.entry).map(|pin| HeldPacket {
            time_ns: pin.time_ns,
            frame: pin.frame,
            link_type: pin.link_type,
            interface: pin.interface,
            length: pin.length,
            bytes: pin.bytes(),
            place: None,
        });
        let mut next = (entry.held > 0).then_some(entry.first);
        let chained = std::iter::from_fn(move || {
            let place = next?;
            let (header, bytes) = self.arena.get(place);
            next = header.next;
            let Header { time_ns, frame, link_type, interface, length, .. } = header;
            Some(HeldPacket { time_ns, frame, link_type, interface, length, bytes, place: Some(place) })
        });
        pinned.chain(chained.skip_while(move |held| held.place < Some(from)))
    }

    /// Notes that this file contains the whole connection up to now.
    pub(super) fn set_saved(&mut self, holding: &Holding, file: u64) {
        let end = self.arena.end();
        self.connections.get_mut(holding.entry).saved = Some((file, end));
    }
}

#[cfg(test)]
mod tests;
