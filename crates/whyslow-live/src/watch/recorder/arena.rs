//! Packets in the order they came, in one piece of memory whose oldest ones make room.
//!
//! A place is counted from the first byte ever written, so that it is never used again. Packets of
//! a connection are chained, each to the next one.

use std::ops::Range;

/// Bytes before a packet's own.
pub(super) const HEADER: usize = 48;
const ALIGN: usize = 8;

/// A header value: the rest of the memory up to its end holds no packet.
const PADDING: u32 = u32::MAX;

/// A packet's place: bytes written before it.
pub(super) type Place = u64;

/// The data before a packet's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub time_ns: u64,
    pub length: u32,
    /// Bytes that are kept.
    pub kept: u32,
    pub interface: u32,
    pub link_type: u16,
    /// Its number; the lower 48 bits are kept.
    pub frame: u64,
    /// The connection's entry, and how often that was given to another one.
    pub owner: u32,
    pub generation: u64,
    /// The next packet of the connection, behind this one.
    pub next: Option<Place>,
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[..8].copy_from_slice(&self.time_ns.to_ne_bytes());
        let figures = [self.length, self.kept, self.interface, self.owner];
        for (place, figure) in out[8..24].chunks_exact_mut(4).zip(figures) {
            place.copy_from_slice(&figure.to_ne_bytes());
        }
        out[24..32].copy_from_slice(&self.generation.to_ne_bytes());
        out[32..40].copy_from_slice(&self.next.unwrap_or(u64::MAX).to_ne_bytes());
        out[40..42].copy_from_slice(&self.link_type.to_ne_bytes());
        out[42..48].copy_from_slice(&self.frame.to_le_bytes()[..6]);
        out
    }

    fn from_bytes(bytes: &[u8; HEADER]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let mut frame = [0; 8];
        frame[..6].copy_from_slice(&bytes[42..48]);
        let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
        Self {
            time_ns: word(0),
            length: half(8),
            kept: half(12),
            interface: half(16),
            owner: half(20),
            generation: word(24),
            next: Some(word(32)).filter(|next| *next != u64::MAX),
            link_type: u16::from_ne_bytes([bytes[40], bytes[41]]),
            frame: u64::from_le_bytes(frame),
        }
    }

    /// Bytes that it takes with its packet.
    fn size(&self) -> usize {
        size(self.kept as usize)
    }
}

/// Bytes that a packet takes.
fn size(kept: usize) -> usize {
    (HEADER + kept).next_multiple_of(ALIGN)
}

/// The memory.
#[derive(Debug)]
pub(super) struct Arena {
    memory: Box<[u8]>,
    oldest: Place,
    end: Place,
}

impl Arena {
    /// An arena of at most this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { memory: vec![0; bytes / ALIGN * ALIGN].into(), oldest: 0, end: 0 }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Whether a packet of this many bytes can be held, together with others.
    pub(super) fn holds(&self, kept: usize) -> bool {
        size(kept) <= self.memory.len() / 4
    }

    /// The next place to be written.
    pub(super) fn end(&self) -> Place {
        self.end
    }

    /// Adds a packet that [`Arena::holds`]. What makes room for it is given to `evict`.
    pub(super) fn push(&mut self, header: Header, bytes: &[u8], mut evict: impl FnMut(Header)) -> Place {
        let size = header.size();
        let left = self.memory.len() - self.offset(self.end);
        if left < size {
            // A packet is in one piece; the rest stays empty.
            self.make_room(left, &mut evict);
            if left >= HEADER {
                let padding = Header { owner: PADDING, kept: (left - HEADER) as u32, ..header };
                self.write(self.end, &padding.to_bytes());
            }
            self.end += left as u64;
        }
        self.make_room(size, &mut evict);
        let place = self.end;
        self.write(place, &header.to_bytes());
        self.write(place + HEADER as u64, bytes);
        self.end += size as u64;
        place
    }

    /// Stores where the next packet of the connection is.
    pub(super) fn chain(&mut self, place: Place, next: Place) {
        let header = Header { next: Some(next), ..self.header(place) };
        self.write(place, &header.to_bytes());
    }

    /// A packet that is still there.
    pub(super) fn get(&self, place: Place) -> (Header, &[u8]) {
        let header = self.header(place);
        let start = self.offset(place) + HEADER;
        (header, &self.memory[start..start + header.kept as usize])
    }

    fn make_room(&mut self, bytes: usize, evict: &mut impl FnMut(Header)) {
        while (self.end - self.oldest) as usize + bytes > self.memory.len() {
            let left = self.memory.len() - self.offset(self.oldest);
            if left < HEADER {
                self.oldest += left as u64;
                continue;
            }
            let header = self.header(self.oldest);
            if header.owner == PADDING {
                self.oldest += left as u64;
            } else {
                self.oldest += header.size() as u64;
                evict(header);
            }
        }
    }

    fn offset(&self, place: Place) -> usize {
        (place % self.memory.len() as u64) as usize
    }

    fn range(&self, place: Place, length: usize) -> Range<usize> {
        let start = self.offset(place);
        start..start + length
    }

    fn header(&self, place: Place) -> Header {
        let range = self.range(place, HEADER);
        Header::from_bytes(self.memory[range].try_into().unwrap_or(&[0; HEADER]))
    }

    fn write(&mut self, place: Place, bytes: &[u8]) {
        let range = self.range(place, bytes.len());
        self.memory[range].copy_from_slice(bytes);
    }
}
