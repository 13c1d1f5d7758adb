//! Segments in few bytes.
//!
//! Each is written as what differs from what the segments before it let expect: the next sequence
//! number, an ACK of all that the other side sent, the echo of its newest timestamp. It promises to
//! give back exactly what was put in (of the flags, the nine that there are); a segment of an
//! ordinary connection takes some twelve bytes of the 48 of a [`Seg`]. SACK blocks are kept with
//! their segment.

use super::super::payload::PayloadKind;
use super::{FROM_SIDE_B, FrameRef, HAS_IP_ID, HAS_TIMESTAMPS, Seg};
use crate::types::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};

#[cfg(test)]
mod tests;

/// Segments as they were pushed.
#[derive(Debug, Default)]
pub(crate) struct PackedSegments {
    bytes: Vec<u8>,
    count: u8,
    expected: Expected,
}

/// What the next segment is expected to say.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    course: SequencePosition,
    place: FrameRef,
    headers: [Header; 2],
}

/// Where it is in time and in the sequence.
#[derive(Clone, Copy, Debug, Default)]
struct SequencePosition {
    time: Nanos,
    sides: [DirectionPosition; 2],
}

/// The same, by who sends it.
#[derive(Clone, Copy, Debug, Default)]
struct DirectionPosition {
    seq: SeqNumber,
    tsval: u32,
}

/// What else its header says, by who sends it.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    ip_id: u16,
    window: u16,
    ttl: u8,
    ecn: u8,
}

// What stands before a segment, in four bytes: nine bits of flags; five as in `Seg::bits`; one for
// each field that stands there as it is because it is not as expected; and two for each number,
// which tell how many bytes it takes.
const FLAGS: u32 = 0x1ff;
const HAS: u32 = 0b1_1111;
const HAS_AT: u32 = 9;
const OTHER_WINDOW: u32 = 1 << 14;
const OTHER_ID: u32 = 1 << 15;
/// Time to live, ECN bits, or what the payload shows.
const OTHER_TTL: u32 = 1 << 16;
const SACKS: u32 = 1 << 17;
const RARE: u32 = OTHER_WINDOW | OTHER_ID | OTHER_TTL | SACKS;
const NUMBERS_AT: u32 = 18;
const HEAD: usize = 4;

/// The ECN field (RFC 3168 section 5) shares its byte with what the payload shows.
const ECN_BITS: u32 = 2;

fn split(byte: u8) -> (u8, PayloadKind) {
    (byte & ((1 << ECN_BITS) - 1), PayloadKind::of(byte >> ECN_BITS))
}

/// How many bytes a number may take.
struct Sizes {
    /// Where the two bits stand that tell.
    at: u32,
    /// What they mean.
    bytes: [u8; 4],
    /// The largest number that so many hold.
    most: [u64; 4],
    /// What writing it does to [`PackedWriter::so_far`], by its [magnitude](Self::magnitude).
    step: [u64; 64],
}

/// The numbers of a segment, in the order in which they stand there.
struct Layout {
    time: Sizes,
    place: Sizes,
    seq: Sizes,
    ack: Sizes,
    stamp: Sizes,
    echo: Sizes,
    len: Sizes,
}

/// All in one place, so that one register leads to all of them.
static NUMBER: Layout = Layout {
    time: Sizes::of(NUMBERS_AT, [2, 3, 4, 8]),
    place: Sizes::of(NUMBERS_AT + 2, [1, 2, 3, 8]),
    seq: Sizes::of(NUMBERS_AT + 4, SMALL),
    ack: Sizes::of(NUMBERS_AT + 6, SMALL),
    stamp: Sizes::of(NUMBERS_AT + 8, SMALL),
    echo: Sizes::of(NUMBERS_AT + 10, SMALL),
    len: Sizes::of(NUMBERS_AT + 12, SMALL),
};
const SMALL: [u8; 4] = [0, 1, 2, 4];
const _: () = assert!(NUMBERS_AT + 14 <= 8 * HEAD as u32);

impl Sizes {
    const fn of(at: u32, bytes: [u8; 4]) -> Self {
        let (mut most, mut step) = ([0; 4], [0; 64]);
        let mut index = 0;
        while index < 4 {
            most[index] = if bytes[index] == 0 { 0 } else { u64::MAX >> (64 - 8 * bytes[index] as u32) };
            index += 1;
        }
        let mut magnitude = 0;
        while magnitude < 64 {
            // Numbers that may take no bytes at all are of 32 bits.
            let bits = if bytes[0] == 0 { magnitude } else { magnitude + 1 };
            let mut choice = 0;
            while choice < 3 && bits > 8 * bytes[choice] as usize {
                choice += 1;
            }
            step[magnitude] = (choice as u64) << (at + PackedWriter::HEAD_AT) | bytes[choice] as u64;
            magnitude += 1;
        }
        Self { at, bytes, most, step }
    }

    /// Where the highest bit of a number is; one higher for those that may take no bytes at all, so
    /// that there is place for none.
    #[inline(always)]
    fn magnitude(&self, number: u64) -> usize {
        let filled = if self.bytes[0] == 0 { number << 1 | 1 } else { number | 1 };
        (filled.leading_zeros() ^ 63) as usize
    }

    /// The bits that tell how many bytes it takes.
    const fn mask(&self) -> u32 {
        3 << self.at
    }
}

/// Room for one segment, for a handshake, for a short connection, and for more. What the first two
/// leave behind when they are outgrown fits other parts of connections, so that of many that grow
/// at once little is held in vain.
const CAPACITIES: [usize; 8] = [32, 64, 160, 256, 384, 640, 1_024, 1_536];

/// The head and all numbers, at most.
const MAX_NUMBERS_LEN: usize = HEAD + 36;

/// Room for what any segment takes: 7 bytes as they are and SACK blocks of 33 beside the numbers.
const MAX_SEGMENT_LEN: usize = MAX_NUMBERS_LEN + 40;

/// What nearly any segment takes no more than; more is copied by a call.
const USUAL_LEN: usize = 24;

impl PackedSegments {
    /// How many there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// One more; there may be 255.
    #[inline(always)]
    pub fn push(&mut self, seg: &Seg, sack: &SackBlocks) {
        let mut out = PackedWriter::default();
        self.expected.write(seg, sack, &mut out);
        out.finish();
        let (len, spare) = (out.len(), self.bytes.capacity() - self.bytes.len());
        if len <= USUAL_LEN && spare >= USUAL_LEN {
            // So many are copied at once, and given up again.
            let whole = self.bytes.len() + len;
            self.bytes.extend_from_slice(&out.bytes[..USUAL_LEN]);
            self.bytes.truncate(whole);
        } else {
            self.append(out.written());
        }
        self.count += 1;
    }

    #[inline(never)]
    fn append(&mut self, written: &[u8]) {
        let needed = self.bytes.len() + written.len();
        if needed > self.bytes.capacity() {
            let room = CAPACITIES.into_iter().find(|room| *room >= needed).unwrap_or(needed + needed / 2);
            // Another list costs less than to let this one grow.
            let held = std::mem::replace(&mut self.bytes, Vec::with_capacity(room));
            self.bytes.extend_from_slice(&held);
        }
        self.bytes.extend_from_slice(written);
    }

    /// All of them, each with its SACK blocks.
    pub fn iter(&self) -> SegmentIter<'_> {
        SegmentIter { bytes: &self.bytes, at: 0, expected: Expected::default(), sack: SackBlocks::NONE }
    }

    /// All of them, as far as their times and numbers go.
    pub fn advances(&self) -> AdvanceIter<'_> {
        AdvanceIter { bytes: &self.bytes, at: 0, course: SequencePosition::default() }
    }
}

/// Gives back what was packed.
#[derive(Clone, Debug)]
pub(crate) struct SegmentIter<'a> {
    bytes: &'a [u8],
    /// Behind what was read.
    at: usize,
    expected: Expected,
    sack: SackBlocks,
}

impl SegmentIter<'_> {
    /// The next one, and its SACK blocks.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Seg, &SackBlocks)> {
        let (mut seg, UnreadParts { head, place }) = self.expected.course.next(self.bytes, &mut self.at)?;
        seg.frame_ref = FrameRef::of(self.expected.place.word().wrapping_add(unzigzag(place) as u64));
        self.expected.place = seg.frame_ref;
        let own = &mut self.expected.headers[seg.from()];
        (seg.window, seg.ttl, seg.ecn) = (own.window, own.ttl, own.ecn);
        if seg.bits & HAS_IP_ID != 0 {
            seg.ip_id = own.ip_id;
        }
        if head & RARE != 0 || !self.sack.is_empty() {
            (seg, self.sack) = read_rare(self.bytes, &mut self.at, head, seg);
        }
        own.note(&seg);
        Some((seg, &self.sack))
    }
}

/// Gives back of what was packed what brings a connection forward: where a segment is in the
/// capture, its window, IP number, time to live and ECN bits are not told, nor are SACK blocks.
#[derive(Clone, Debug)]
pub(crate) struct AdvanceIter<'a> {
    bytes: &'a [u8],
    /// Behind what was read.
    at: usize,
    course: SequencePosition,
}

impl AdvanceIter<'_> {
    /// The next one, and whether it has SACK blocks.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Seg, bool)> {
        let (mut seg, UnreadParts { head, .. }) = self.course.next(self.bytes, &mut self.at)?;
        if head & RARE != 0 {
            let others = [OTHER_WINDOW, OTHER_ID, OTHER_TTL].map(|field| usize::from(head & field != 0));
            self.at += 2 * (others[0] + others[1] + others[2]);
            if head & OTHER_TTL != 0 {
                (_, seg.kind) = split(self.bytes.get(self.at - 1).copied().unwrap_or_default());
            }
            if head & SACKS != 0 {
                let [blocks] = raw(self.bytes, &mut self.at);
                self.at += 8 * usize::from(blocks);
            }
        }
        Some((seg, head & SACKS != 0))
    }
}

impl Expected {
    #[inline(always)]
    fn write(&mut self, seg: &Seg, sack: &SackBlocks, out: &mut PackedWriter) {
        let Self { course, place, headers } = self;
        let (own, other) = (&course.sides[seg.from()], &course.sides[!seg.from()]);
        out.number(&NUMBER.time, seg.time.0.wrapping_sub(course.time.0) as u64);
        out.number(&NUMBER.place, zigzag(seg.frame_ref.word().wrapping_sub(place.word()) as i64));
        let (seq, ack) = (seg.seq.distance(own.seq), seg.ack.distance(other.seq));
        if seq | ack != 0 {
            out.number(&NUMBER.seq, zigzag_small(seq));
            out.number(&NUMBER.ack, zigzag_small(ack));
        }
        if seg.bits & HAS_TIMESTAMPS != 0 {
            out.number(&NUMBER.stamp, seg.tsval.wrapping_sub(own.tsval).into());
            out.number(&NUMBER.echo, zigzag_small(seg.tsecr.wrapping_sub(other.tsval) as i32));
        }
        out.number(&NUMBER.len, seg.len.into());
        out.head((u32::from(seg.flags.0) & FLAGS) | u32::from(seg.bits) << HAS_AT);
        course.note(seg);
        *place = seg.frame_ref;
        let header = &mut headers[seg.from()];
        if header.is_other(seg) || !sack.is_empty() {
            header.write(seg, sack, out);
        } else {
            header.note_id(seg);
        }
    }
}

impl Header {
    /// Whether a segment says anything else.
    #[inline(always)]
    fn is_other(&self, seg: &Seg) -> bool {
        let id = if seg.bits & HAS_IP_ID != 0 { seg.ip_id ^ self.ip_id } else { 0 };
        let rest = (seg.ttl ^ self.ttl) | (seg.ecn ^ self.ecn) | seg.kind as u8;
        id | (seg.window ^ self.window) | u16::from(rest) != 0
    }

    /// Writes what a segment says else, and takes it over.
    #[inline(never)]
    fn write(&mut self, seg: &Seg, sack: &SackBlocks, out: &mut PackedWriter) {
        if seg.window != self.window {
            out.head(OTHER_WINDOW);
            out.raw(&seg.window.to_le_bytes());
        }
        if seg.bits & HAS_IP_ID != 0 && seg.ip_id != self.ip_id {
            out.head(OTHER_ID);
            out.raw(&seg.ip_id.to_le_bytes());
        }
        if (seg.ttl, seg.ecn) != (self.ttl, self.ecn) || seg.kind != PayloadKind::Unread {
            out.head(OTHER_TTL);
            out.raw(&[seg.ttl, seg.ecn | (seg.kind as u8) << ECN_BITS]);
        }
        if !sack.is_empty() {
            out.head(SACKS);
            out.raw(&[sack.as_slice().len() as u8]);
            for (left, right) in sack.as_slice() {
                out.raw(&left.0.to_le_bytes());
                out.raw(&right.0.to_le_bytes());
            }
        }
        self.note(seg);
    }

    #[inline(always)]
    fn note(&mut self, seg: &Seg) {
        (self.window, self.ttl, self.ecn) = (seg.window, seg.ttl, seg.ecn);
        self.note_id(seg);
    }

    /// The next packet is numbered one higher, though all else stays.
    #[inline(always)]
    fn note_id(&mut self, seg: &Seg) {
        if seg.bits & HAS_IP_ID != 0 {
            self.ip_id = seg.ip_id.wrapping_add(1);
        }
    }
}

impl SequencePosition {
    #[inline(always)]
    fn note(&mut self, seg: &Seg) {
        self.time = seg.time;
        let own = &mut self.sides[seg.from()];
        own.seq = seg.seq + seg.seq_len();
        if seg.bits & HAS_TIMESTAMPS != 0 {
            own.tsval = seg.tsval;
        }
    }

    /// Reads the next segment but for its place and for what is rare.
    #[inline(always)]
    fn next(&mut self, bytes: &[u8], at: &mut usize) -> Option<(Seg, UnreadParts)> {
        let mut padded;
        let numbers = match bytes.get(*at..*at + MAX_NUMBERS_LEN).and_then(<[u8]>::first_chunk) {
            Some(numbers) => numbers,
            None if *at >= bytes.len() => return None,
            None => {
                padded = [0; MAX_NUMBERS_LEN];
                pad(&mut padded, bytes, *at);
                &padded
            }
        };
        let mut numbers = NumberReader { head: u32::from_le_bytes(*numbers.first_chunk()?), bytes: numbers, at: HEAD };
        let (seg, place) = self.read(&mut numbers);
        self.note(&seg);
        *at += numbers.at;
        Some((seg, UnreadParts { head: numbers.head, place }))
    }

    #[inline(always)]
    fn read(&self, numbers: &mut NumberReader<'_>) -> (Seg, u64) {
        let head = numbers.head;
        let has = (head >> HAS_AT & HAS) as u8;
        let from = if has & FROM_SIDE_B == 0 { Side::A } else { Side::B };
        let (own, other) = (&self.sides[from], &self.sides[!from]);
        let time = Nanos(self.time.0.wrapping_add(numbers.large(&NUMBER.time) as i64));
        let place = numbers.large(&NUMBER.place);
        let (mut seq, mut ack) = (own.seq, other.seq);
        if head & (NUMBER.seq.mask() | NUMBER.ack.mask()) != 0 {
            seq = seq + unzigzag_small(numbers.small(&NUMBER.seq));
            ack = ack + unzigzag_small(numbers.small(&NUMBER.ack));
        }
        let (mut value, mut echo) = (0, 0);
        if has & HAS_TIMESTAMPS != 0 {
            value = own.tsval.wrapping_add(numbers.small(&NUMBER.stamp));
            echo = other.tsval.wrapping_add(unzigzag_small(numbers.small(&NUMBER.echo)));
        }
        let len = numbers.small(&NUMBER.len);
        let flags = Flags((head & FLAGS) as u16);
        (Seg { time, tsval: value, tsecr: echo, ack, seq, len, flags, bits: has, ..Seg::default() }, place)
    }
}

/// What is left to tell of a segment.
struct UnreadParts {
    head: u32,
    /// How far it is from the place before it, as it was written.
    place: u64,
}

/// Where fewer bytes are left than the numbers of a segment may take: zeros behind the end, which
/// nothing that was written reaches.
#[inline(never)]
fn pad(padded: &mut [u8; MAX_NUMBERS_LEN], bytes: &[u8], at: usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(room) = padded.get_mut(..rest.len()) {
        room.copy_from_slice(rest);
    }
}

/// Reads what stands behind the numbers.
#[cold]
fn read_rare(bytes: &[u8], at: &mut usize, head: u32, mut seg: Seg) -> (Seg, SackBlocks) {
    let mut sack = SackBlocks::NONE;
    if head & OTHER_WINDOW != 0 {
        seg.window = u16::from_le_bytes(raw(bytes, at));
    }
    if head & OTHER_ID != 0 {
        seg.ip_id = u16::from_le_bytes(raw(bytes, at));
    }
    if head & OTHER_TTL != 0 {
        let [ttl, ecn_and_kind] = raw(bytes, at);
        seg.ttl = ttl;
        (seg.ecn, seg.kind) = split(ecn_and_kind);
    }
    if head & SACKS != 0 {
        let [blocks] = raw(bytes, at);
        for _ in 0..blocks {
            let [left, right] = [raw(bytes, at), raw(bytes, at)].map(|edge| SeqNumber(u32::from_le_bytes(edge)));
            sack.push(left, right);
        }
    }
    (seg, sack)
}

/// Bytes as they are; zeros behind the end, which nothing that was written reaches.
#[inline(always)]
fn raw<const N: usize>(bytes: &[u8], at: &mut usize) -> [u8; N] {
    let from = *at;
    *at += N;
    bytes.get(from..*at).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// The numbers of a segment, as they are read one after the other.
struct NumberReader<'a> {
    head: u32,
    bytes: &'a [u8; MAX_NUMBERS_LEN],
    /// Behind what was read.
    at: usize,
}

impl NumberReader<'_> {
    /// One of the first two, which are the large ones.
    #[inline(always)]
    fn large(&mut self, sizes: &Sizes) -> u64 {
        let choice = (self.head >> sizes.at & 3) as usize;
        let word = self.bytes[self.at & 31..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        self.at += usize::from(sizes.bytes[choice]);
        word & sizes.most[choice]
    }

    #[inline(always)]
    fn small(&mut self, sizes: &Sizes) -> u32 {
        let choice = (self.head >> sizes.at & 3) as usize;
        if choice == 0 {
            return 0;
        }
        let word = self.bytes.get(self.at..self.at + 4).and_then(<[u8]>::first_chunk);
        self.at += usize::from(sizes.bytes[choice]);
        word.map_or(0, |word| u32::from_le_bytes(*word)) & sizes.most[choice] as u32
    }
}

/// With the sign in the lowest bit, so that small numbers of either sign are short.
#[inline(always)]
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[inline(always)]
fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// The same of 32 bits.
#[inline(always)]
fn zigzag_small(number: i32) -> u64 {
    ((number << 1 ^ number >> 31) as u32).into()
}

#[inline(always)]
fn unzigzag_small(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// A segment as it is written.
struct PackedWriter {
    bytes: [u8; MAX_SEGMENT_LEN],
    /// In the lowest byte how many bytes were written, and the head from [`HEAD_AT`](Self::HEAD_AT)
    /// on: one addition does for both what a number changes.
    so_far: u64,
}

impl Default for PackedWriter {
    #[inline(always)]
    fn default() -> Self {
        Self { bytes: [0; MAX_SEGMENT_LEN], so_far: HEAD as u64 }
    }
}

impl PackedWriter {
    const HEAD_AT: u32 = 32;

    #[inline(always)]
    fn len(&self) -> usize {
        self.so_far as usize & 0xff
    }

    /// Adds bits to the head.
    #[inline(always)]
    fn head(&mut self, bits: u32) {
        self.so_far |= u64::from(bits) << Self::HEAD_AT;
    }

    /// Writes the head, in its place before all else.
    #[inline(always)]
    fn finish(&mut self) {
        if let Some(room) = self.bytes.first_chunk_mut() {
            *room = ((self.so_far >> Self::HEAD_AT) as u32).to_le_bytes();
        }
    }

    /// All of it.
    fn written(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }

    #[inline(always)]
    fn raw(&mut self, bytes: &[u8]) {
        let len = self.len();
        if let Some(room) = self.bytes.get_mut(len..len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.so_far += bytes.len() as u64;
        }
    }

    #[inline(always)]
    fn number(&mut self, sizes: &Sizes, number: u64) {
        // Less than 40 where a number is written.
        let len = self.so_far as usize & 0x3f;
        if let Some(room) = self.bytes[len..].first_chunk_mut() {
            *room = number.to_le_bytes();
        }
        self.so_far += sizes.step[sizes.magnitude(number)];
    }
}
