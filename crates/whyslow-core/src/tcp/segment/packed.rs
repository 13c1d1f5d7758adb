//! Segments in few bytes.
//!
//! Each is written as what differs from what the segments before it let expect: the next sequence number, an ACK of all that the
//! other side sent, the echo of its newest timestamp. It promises to give back exactly what was put in (of the flags, the nine that
//! there are); a segment of an ordinary connection takes some twelve bytes of the 48 of a [`Seg`]. SACK blocks are kept with their
//! segment.

use super::{FROM_ONE, IP_ID, Place, STAMPED, Seg};
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};

#[cfg(test)]
mod tests;

/// Segments as they were pushed.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    count: u8,
    expected: Expected,
}

/// What the next segment is expected to say.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    time: Nanos,
    place: Place,
    sides: [Side; 2],
}

/// The same, by who sends it.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    seq: SeqNumber,
    stamp: u32,
    ip_id: u16,
    window: u16,
    ttl: u8,
    ecn: u8,
}

// What stands before a segment, in four bytes: nine bits of flags; four as in `Seg::has`; one for each field that stands there as it is
// because it is not as expected; and two for each number, which tell how many bytes it takes.
const FLAGS: u32 = 0x1ff;
const HAS: u32 = 0b1111;
const HAS_AT: u32 = 9;
const OTHER_WINDOW: u32 = 1 << 13;
const OTHER_ID: u32 = 1 << 14;
const OTHER_TTL: u32 = 1 << 15;
const SACKS: u32 = 1 << 16;
const NUMBERS_AT: u32 = 17;
const HEAD: usize = 4;

/// How many bytes a number may take.
struct Sizes {
    /// Where the two bits stand that tell.
    at: u32,
    /// What they mean.
    bytes: [u8; 4],
    /// The largest number that so many hold.
    most: [u64; 4],
}

const TIME: &Sizes = &Sizes::of(NUMBERS_AT, [2, 3, 4, 8]);
const PLACE: &Sizes = &Sizes::of(NUMBERS_AT + 2, [1, 2, 3, 8]);
const SEQ: &Sizes = &Sizes::of(NUMBERS_AT + 4, SMALL);
const ACK: &Sizes = &Sizes::of(NUMBERS_AT + 6, SMALL);
const STAMP: &Sizes = &Sizes::of(NUMBERS_AT + 8, SMALL);
const ECHO: &Sizes = &Sizes::of(NUMBERS_AT + 10, SMALL);
const LEN: &Sizes = &Sizes::of(NUMBERS_AT + 12, SMALL);
const SMALL: [u8; 4] = [0, 1, 2, 4];
const _: () = assert!(LEN.at + 2 <= 8 * HEAD as u32);

impl Sizes {
    const fn of(at: u32, bytes: [u8; 4]) -> Self {
        let mut most = [0; 4];
        let mut index = 0;
        while index < 4 {
            most[index] = if bytes[index] == 0 { 0 } else { u64::MAX >> (64 - 8 * bytes[index] as u32) };
            index += 1;
        }
        Self { at, bytes, most }
    }

    /// Which of them a number takes.
    #[inline(always)]
    fn choice(&self, number: u64) -> usize {
        let [a, b, c, _] = self.most;
        usize::from(number > a) + usize::from(number > b) + usize::from(number > c)
    }
}

/// Room for one segment, for a handshake, for a short connection, and for more. What the first two leave behind when they are
/// outgrown fits other parts of connections, so that of many that grow at once little is held in vain.
const ROOMS: [usize; 8] = [32, 64, 160, 256, 384, 640, 1_024, 1_536];

/// More than any segment takes: the head, numbers of 36 bytes, 6 as they are, and SACK blocks of 33.
const MOST: usize = 96;

impl Packed {
    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// One more; there may be 255.
    pub fn push(&mut self, seg: &Seg, sack: &SackBlocks) {
        let mut out = Out { bytes: [0; MOST], len: 0 };
        self.expected.write(seg, sack, &mut out);
        self.expected.note(seg);
        let written = out.bytes.get(..out.len).unwrap_or_default();
        let needed = self.bytes.len() + written.len();
        if needed > self.bytes.capacity() {
            let room = ROOMS.into_iter().find(|room| *room >= needed).unwrap_or(needed + needed / 2);
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(written);
        self.count = self.count.saturating_add(1);
    }

    /// All of them, each with its SACK blocks.
    pub fn iter(&self) -> Segs<'_> {
        Segs { bytes: &self.bytes, at: 0, expected: Expected::default(), sack: SackBlocks::NONE }
    }
}

/// Gives back what was packed.
#[derive(Clone, Debug)]
pub(crate) struct Segs<'a> {
    bytes: &'a [u8],
    /// Behind what was read.
    at: usize,
    expected: Expected,
    sack: SackBlocks,
}

impl Segs<'_> {
    /// The next one, and its SACK blocks.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Seg, &SackBlocks)> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let seg = self.read();
        self.expected.note(&seg);
        Some((seg, &self.sack))
    }
}

impl Expected {
    #[inline]
    fn write(&self, seg: &Seg, sack: &SackBlocks, out: &mut Out) {
        let (own, other) = (&self.sides[seg.from()], &self.sides[1 - seg.from()]);
        let bit = |bit: u32, is: bool| if is { bit } else { 0 };
        let mut head = (u32::from(seg.flags.0) & FLAGS)
            | u32::from(seg.has) << HAS_AT
            | bit(OTHER_WINDOW, seg.window != own.window)
            | bit(OTHER_ID, seg.has & IP_ID != 0 && seg.ip_id != own.ip_id)
            | bit(OTHER_TTL, (seg.ttl, seg.ecn) != (own.ttl, own.ecn))
            | bit(SACKS, !sack.is_empty());
        out.len = HEAD;
        head |= out.number(TIME, seg.time.0.wrapping_sub(self.time.0) as u64);
        head |= out.number(PLACE, zigzag(seg.place.word().wrapping_sub(self.place.word()) as i64));
        head |= out.number(SEQ, zigzag(seg.seq.distance(own.seq).into()));
        head |= out.number(ACK, zigzag(seg.ack.distance(other.seq).into()));
        if seg.has & STAMPED != 0 {
            head |= out.number(STAMP, seg.value.wrapping_sub(own.stamp).into());
            head |= out.number(ECHO, zigzag((seg.echo.wrapping_sub(other.stamp) as i32).into()));
        }
        head |= out.number(LEN, seg.len.into());
        if head & OTHER_WINDOW != 0 {
            out.raw(&seg.window.to_le_bytes());
        }
        if head & OTHER_ID != 0 {
            out.raw(&seg.ip_id.to_le_bytes());
        }
        if head & OTHER_TTL != 0 {
            out.raw(&[seg.ttl, seg.ecn]);
        }
        if head & SACKS != 0 {
            out.raw(&[sack.as_slice().len() as u8]);
            for (left, right) in sack.as_slice() {
                out.raw(&left.0.to_le_bytes());
                out.raw(&right.0.to_le_bytes());
            }
        }
        if let Some(room) = out.bytes.first_chunk_mut() {
            *room = head.to_le_bytes();
        }
    }

    #[inline]
    fn note(&mut self, seg: &Seg) {
        (self.time, self.place) = (seg.time, seg.place);
        let own = &mut self.sides[seg.from()];
        own.seq = seg.seq + seg.space();
        (own.window, own.ttl, own.ecn) = (seg.window, seg.ttl, seg.ecn);
        if seg.has & STAMPED != 0 {
            own.stamp = seg.value;
        }
        if seg.has & IP_ID != 0 {
            own.ip_id = seg.ip_id.wrapping_add(1);
        }
    }
}

impl Segs<'_> {
    #[inline(always)]
    fn read(&mut self) -> Seg {
        let head = u32::from_le_bytes(self.raw());
        let has = (head >> HAS_AT & HAS) as u8;
        let from = usize::from(has & FROM_ONE);
        let (own, other) = (self.expected.sides[from], self.expected.sides[1 - from]);
        let time = Nanos(self.expected.time.0.wrapping_add(self.number(TIME, head) as i64));
        let place = Place::of(self.expected.place.word().wrapping_add(self.signed(PLACE, head) as u64));
        let seq = own.seq + self.signed(SEQ, head) as u32;
        let ack = other.seq + self.signed(ACK, head) as u32;
        let (mut value, mut echo) = (0, 0);
        if has & STAMPED != 0 {
            value = own.stamp.wrapping_add(self.number(STAMP, head) as u32);
            echo = other.stamp.wrapping_add(self.signed(ECHO, head) as u32);
        }
        let len = self.number(LEN, head) as u32;
        let mut seg = Seg {
            time,
            place,
            echo,
            value,
            ack,
            seq,
            len,
            ip_id: if has & IP_ID != 0 { own.ip_id } else { 0 },
            flags: Flags((head & FLAGS) as u16),
            window: own.window,
            has,
            ttl: own.ttl,
            ecn: own.ecn,
        };
        if head & OTHER_WINDOW != 0 {
            seg.window = u16::from_le_bytes(self.raw());
        }
        if head & OTHER_ID != 0 {
            seg.ip_id = u16::from_le_bytes(self.raw());
        }
        if head & OTHER_TTL != 0 {
            [seg.ttl, seg.ecn] = self.raw();
        }
        if head & SACKS != 0 || !self.sack.is_empty() {
            self.read_sack(head & SACKS != 0);
        }
        seg
    }

    #[cold]
    fn read_sack(&mut self, any: bool) {
        self.sack = SackBlocks::default();
        if any {
            let [blocks] = self.raw();
            for _ in 0..blocks {
                let [left, right] = [self.raw(), self.raw()].map(|edge| SeqNumber(u32::from_le_bytes(edge)));
                self.sack.push(left, right);
            }
        }
    }

    /// Bytes as they are; zeros behind the end, which nothing that was written reaches.
    #[inline(always)]
    fn raw<const N: usize>(&mut self) -> [u8; N] {
        let from = self.at;
        self.at += N;
        self.bytes.get(from..from + N).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
    }

    #[inline(always)]
    fn number(&mut self, sizes: &Sizes, head: u32) -> u64 {
        let choice = (head >> sizes.at & 3) as usize;
        if sizes.bytes[0] == 0 && choice == 0 {
            return 0;
        }
        let from = self.at;
        let word = match self.bytes.get(from..from + 8).and_then(<[u8]>::first_chunk) {
            Some(word) => u64::from_le_bytes(*word),
            None => last_word(self.bytes.get(from..).unwrap_or_default()),
        };
        self.at += usize::from(sizes.bytes[choice]);
        word & sizes.most[choice]
    }

    #[inline(always)]
    fn signed(&mut self, sizes: &Sizes, head: u32) -> i64 {
        let number = self.number(sizes, head);
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }
}

/// Where fewer than eight bytes are left.
#[cold]
fn last_word(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// With the sign in the lowest bit, so that small numbers of either sign are short.
#[inline]
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// A segment as it is written.
struct Out {
    bytes: [u8; MOST],
    len: usize,
}

impl Out {
    #[inline]
    fn raw(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    /// Writes a number, and gives the bits for its size.
    #[inline(always)]
    fn number(&mut self, sizes: &Sizes, number: u64) -> u32 {
        if sizes.bytes[0] == 0 && number == 0 {
            return 0;
        }
        let choice = sizes.choice(number);
        if let Some(room) = self.bytes.get_mut(self.len..self.len + 8) {
            room.copy_from_slice(&number.to_le_bytes());
        }
        self.len += usize::from(sizes.bytes[choice]);
        (choice as u32) << sizes.at
    }
}
