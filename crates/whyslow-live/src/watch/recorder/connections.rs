//! The entry of each connection: its handshake, the places of its packets, the number of evicted
//! ones.
//!
//! A table of constant size. When it is full, the connection that was silent for longest makes
//! room.

use super::arena::Place;
use super::index::Index;
use crate::watch::packet::RingPacket;
use crate::watch::segment::{Connection, Segment};
use std::hash::{BuildHasher, RandomState};

/// Bytes that are kept of a packet of the handshake: headers with all the options there can be.
pub(super) const PINNED_BYTES: usize = 144;
/// Handshake packets of a connection: SYNs that were retransmitted are among them.
const MOST_PINNED: u8 = 8;
/// Per connection, on average.
const PINS: usize = 3;
const NONE: u32 = u32::MAX;

/// A packet of a handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub time_ns: u64,
    pub frame: u64,
    pub length: u32,
    pub interface: u32,
    next: u32,
    pub link_type: u16,
    kept: u16,
    bytes: [u8; PINNED_BYTES],
}

impl Pin {
    fn free() -> Self {
        let bytes = [0; PINNED_BYTES];
        Self { time_ns: 0, frame: 0, length: 0, interface: 0, next: NONE, link_type: 0, kept: 0, bytes }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.kept)]
    }
}

/// A connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    connection: Connection,
    hash: u64,
    /// How often this entry was given away: packets of the one before it are no longer its own.
    pub generation: u64,
    /// Its oldest packet, and its newest, while `held` is not 0.
    pub first: Place,
    pub last: Place,
    pub held: u32,
    /// Packets that made room for newer ones.
    pub evicted: u64,
    /// The file and the place that the last save has reached.
    pub saved: Option<(u64, Place)>,
    older: u32,
    newer: u32,
    first_pin: u32,
    pins: u8,
    handshake: Handshake,
    /// Initial sequence number of the SYN.
    isn: Option<u32>,
    /// FIN of either end, RST.
    closed: u8,
}

impl Entry {
    fn free() -> Self {
        let unspecified = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
        Self {
            connection: Connection::new(unspecified, unspecified),
            hash: 0,
            generation: 0,
            first: 0,
            last: 0,
            held: 0,
            evicted: 0,
            saved: None,
            older: NONE,
            newer: NONE,
            first_pin: NONE,
            pins: 0,
            handshake: Handshake::Missed,
            isn: None,
            closed: 0,
        }
    }
}

/// How far the handshake was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    /// Its first packet that was captured is none of the handshake.
    Missed,
    Going,
    /// The SYN with ACK is there; the next packet ends the handshake.
    Answered,
    Over,
}

const FIN_LOW: u8 = 1;
const FIN_HIGH: u8 = 2;
const RESET: u8 = 4;

/// All connections.
#[derive(Debug)]
pub(super) struct Connections {
    hasher: RandomState,
    index: Index,
    entries: Box<[Entry]>,
    pins: Box<[Pin]>,
    free_entry: u32,
    free_pin: u32,
    oldest: u32,
    newest: u32,
    used: u32,
    /// Connections that made room for others.
    pub forgotten: u64,
}

impl Connections {
    /// How many entries fit into this many bytes.
    pub(super) fn capacity(bytes: usize) -> usize {
        let mut entries = bytes / (size_of::<Entry>() + PINS * size_of::<Pin>());
        // The index grows in steps.
        while entries > 0 && Self::bytes(entries) > bytes {
            entries -= entries.div_ceil(32);
        }
        entries.min(NONE as usize / PINS - 1)
    }

    /// Bytes of memory for this many entries.
    pub(super) fn bytes(entries: usize) -> usize {
        entries * (size_of::<Entry>() + PINS * size_of::<Pin>()) + Index::bytes(entries)
    }

    pub(super) fn new(capacity: usize) -> Self {
        let mut entries = vec![Entry::free(); capacity].into_boxed_slice();
        let mut pins = vec![Pin::free(); capacity * PINS].into_boxed_slice();
        // A free one names the next.
        for (next, entry) in (1..).zip(&mut entries[..capacity.saturating_sub(1)]) {
            entry.older = next;
        }
        for (next, pin) in (1..).zip(&mut pins[..(capacity * PINS).saturating_sub(1)]) {
            pin.next = next;
        }
        let (hasher, index) = (RandomState::new(), Index::new(capacity));
        let (oldest, newest, used, forgotten) = (NONE, NONE, 0, 0);
        Self { hasher, index, entries, pins, free_entry: 0, free_pin: 0, oldest, newest, used, forgotten }
    }

    /// Number of connections.
    pub(super) fn len(&self) -> usize {
        self.used as usize
    }

    pub(super) fn find(&self, connection: &Connection) -> Option<u32> {
        let hash = self.hasher.hash_one(connection);
        self.index.find(hash, |entry| self.entries[entry as usize].connection == *connection)
    }

    pub(super) fn get(&self, entry: u32) -> &Entry {
        &self.entries[entry as usize]
    }

    pub(super) fn get_mut(&mut self, entry: u32) -> &mut Entry {
        &mut self.entries[entry as usize]
    }

    /// Whether the connection was seen to begin.
    pub(super) fn has_handshake(&self, entry: u32) -> bool {
        self.entries[entry as usize].handshake != Handshake::Missed
    }

    /// Its handshake, in the order it came.
    pub(super) fn pinned(&self, entry: u32) -> impl Iterator<Item = &Pin> + Clone {
        let mut at = self.entries[entry as usize].first_pin;
        std::iter::from_fn(move || {
            let pin = self.pins.get(at as usize)?;
            at = pin.next;
            Some(pin)
        })
    }

    /// The entry of the connection that a segment belongs to, created or reset if the segment
    /// begins another one; it is the newest from now on.
    pub(super) fn touch(&mut self, segment: &Segment) -> u32 {
        let connection = segment.connection();
        let hash = self.hasher.hash_one(connection);
        let found = self.index.find(hash, |entry| self.entries[entry as usize].connection == connection);
        let entry = match found {
            Some(entry) if self.begins_another(entry, segment) => {
                self.remove(entry);
                self.add(connection, hash)
            }
            Some(entry) => {
                self.unlink(entry);
                self.link(entry);
                entry
            }
            None => self.add(connection, hash),
        };
        let ends = connection.ends();
        let this = &mut self.entries[entry as usize];
        if segment.has(Segment::FIN) {
            this.closed |= if ends[0] == segment.from { FIN_LOW } else { FIN_HIGH };
        }
        if segment.has(Segment::RST) {
            this.closed |= RESET;
        }
        entry
    }

    /// Whether it is a SYN, and none of this connection's.
    fn begins_another(&self, entry: u32, segment: &Segment) -> bool {
        let is_syn = segment.has(Segment::SYN) && !segment.has(Segment::ACK);
        is_syn && self.entries[entry as usize].isn != segment.tcp.map(|(sequence, _)| sequence)
    }

    /// Keeps a packet of the handshake for as long as the connection is there. Returns whether it
    /// is one; then it is held here and nowhere else.
    pub(super) fn pin(&mut self, entry: u32, segment: &Segment, packet: &RingPacket<'_>, frame: u64) -> bool {
        let this = &self.entries[entry as usize];
        let is_first = this.held == 0 && this.evicted == 0;
        let is_handshake = match this.handshake {
            Handshake::Missed => this.pins == 0 && segment.has(Segment::SYN),
            Handshake::Going => segment.has(Segment::SYN),
            Handshake::Answered => packet.bytes.len() <= PINNED_BYTES,
            Handshake::Over => false,
        };
        let is_pinned = is_first && is_handshake && this.pins < MOST_PINNED;
        if !is_pinned || !self.has_pin(entry) {
            return false;
        }
        let at = self.free_pin;
        let pin = &mut self.pins[at as usize];
        self.free_pin = pin.next;
        let kept = packet.bytes.len().min(PINNED_BYTES);
        (pin.time_ns, pin.frame) = (packet.time_ns, frame);
        (pin.length, pin.interface, pin.link_type) = (packet.length, packet.interface, packet.link_type);
        (pin.kept, pin.next) = (kept as u16, NONE);
        pin.bytes[..kept].copy_from_slice(&packet.bytes[..kept]);
        self.append_pin(entry, at);
        let this = &mut self.entries[entry as usize];
        this.pins += 1;
        this.handshake = match (segment.has(Segment::SYN), segment.has(Segment::ACK)) {
            (true, true) => Handshake::Answered,
            (true, false) => Handshake::Going,
            (false, _) => Handshake::Over,
        };
        if this.handshake == Handshake::Going {
            this.isn = segment.tcp.map(|(sequence, _)| sequence);
        }
        true
    }

    /// Makes room for a pin, by dropping connections that were silent for longest. Returns whether
    /// there is room.
    fn has_pin(&mut self, entry: u32) -> bool {
        while self.free_pin == NONE && self.oldest != entry && self.oldest != NONE {
            self.forget_oldest();
        }
        self.free_pin != NONE
    }

    fn append_pin(&mut self, entry: u32, pin: u32) {
        let mut at = self.entries[entry as usize].first_pin;
        if at == NONE {
            self.entries[entry as usize].first_pin = pin;
            return;
        }
        while self.pins[at as usize].next != NONE {
            at = self.pins[at as usize].next;
        }
        self.pins[at as usize].next = pin;
    }

    /// The oldest packet of this owner has left. A closed connection leaves with its last one,
    /// unless it is `current`, which is about to get another.
    pub(super) fn evict(&mut self, owner: u32, generation: u64, next: Option<Place>, current: u32) {
        let this = &mut self.entries[owner as usize];
        if this.generation != generation {
            return;
        }
        this.held -= 1;
        this.evicted += 1;
        this.first = next.unwrap_or(0);
        let is_closed = this.closed & RESET != 0 || this.closed == FIN_LOW | FIN_HIGH;
        if this.held == 0 && is_closed && owner != current {
            self.remove(owner);
        }
    }

    fn add(&mut self, connection: Connection, hash: u64) -> u32 {
        if self.free_entry == NONE {
            self.forget_oldest();
        }
        let entry = self.free_entry;
        let this = &mut self.entries[entry as usize];
        self.free_entry = this.older;
        (this.connection, this.hash) = (connection, hash);
        (this.held, this.evicted, this.saved) = (0, 0, None);
        (this.first_pin, this.pins, this.handshake) = (NONE, 0, Handshake::Missed);
        (this.isn, this.closed) = (None, 0);
        self.index.insert(hash, entry);
        self.link(entry);
        self.used += 1;
        entry
    }

    fn forget_oldest(&mut self) {
        self.forgotten += 1;
        self.remove(self.oldest);
    }

    fn remove(&mut self, entry: u32) {
        self.unlink(entry);
        let hash = self.entries[entry as usize].hash;
        let entries = &self.entries;
        self.index.remove(hash, entry, |entry| entries[entry as usize].hash);
        let mut pin = self.entries[entry as usize].first_pin;
        while pin != NONE {
            let next = self.pins[pin as usize].next;
            self.pins[pin as usize].next = self.free_pin;
            self.free_pin = pin;
            pin = next;
        }
        let this = &mut self.entries[entry as usize];
        this.generation += 1;
        this.older = self.free_entry;
        self.free_entry = entry;
        self.used -= 1;
    }

    /// Removes the connection from the order of last packets.
    fn unlink(&mut self, entry: u32) {
        let Entry { older, newer, .. } = self.entries[entry as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    /// Makes the connection the newest one.
    fn link(&mut self, entry: u32) {
        let this = &mut self.entries[entry as usize];
        (this.older, this.newer) = (self.newest, NONE);
        match self.newest {
            NONE => self.oldest = entry,
            newest => self.entries[newest as usize].newer = entry,
        }
        self.newest = entry;
    }
}
