//! Compact storage of segments.
//!
//! Stores only the differences from the values expected after the previous segments: the next
//! sequence number, an ACK of all data of the other side, the echo of its newest timestamp.
//! Unpacking returns exactly the same segment (with the nine defined flags). A segment of an
//! ordinary connection needs about twelve bytes instead of the 48 of a [`Seg`]. SACK blocks are
//! stored with their segment.

use self::layout::{
    FLAGS, HAS, HAS_AT, HEAD, MAX_NUMBERS_LEN, NUMBER, NumberReader, OTHER_ID, OTHER_TTL, OTHER_WINDOW, PackedWriter,
    RARE, SACKS, raw, unzigzag, unzigzag_small, zigzag, zigzag_small,
};
use super::super::payload::PayloadKind;
use super::{FROM_SIDE_B, FrameRef, HAS_IP_ID, HAS_TIMESTAMPS, Seg};
use crate::wire::{Flags, SackBlocks};
use whyslow_analysis::types::Side;
use whyslow_units::{SeqNumber, Time};

mod layout;
#[cfg(test)]
mod tests;

/// A list of packed segments.
#[derive(Clone, Debug, Default)]
pub struct PackedSegments {
    bytes: Vec<u8>,
    count: u8,
    expected: Expected,
}

/// Expected values of the next segment.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    position: SequencePosition,
    place: FrameRef,
    headers: [Header; 2],
}

/// Last time and sequence numbers.
#[derive(Clone, Copy, Debug, Default)]
struct SequencePosition {
    time: Time,
    sides: [DirectionPosition; 2],
}

/// The sequence position of each sender.
#[derive(Clone, Copy, Debug, Default)]
struct DirectionPosition {
    seq: SeqNumber,
    tsval: u32,
}

/// Other header fields of each sender.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    ip_id: u16,
    window: u16,
    ttl: u8,
    ecn: u8,
}

/// The ECN field (RFC 3168 section 5) shares its byte with the payload's role.
const ECN_BITS: u32 = 2;

fn split(byte: u8) -> (u8, PayloadKind) {
    (byte & ((1 << ECN_BITS) - 1), PayloadKind::of(byte >> ECN_BITS))
}

/// Capacities for one segment, a handshake, a short connection, and more. The allocator can reuse
/// the first two sizes for other parts of connections, so that little memory is wasted when many
/// connections grow at once.
const CAPACITIES: [usize; 8] = [32, 64, 160, 256, 384, 640, 1_024, 1_536];

/// Nearly all segments need at most this; longer ones are copied by a call.
const USUAL_LEN: usize = 24;

impl PackedSegments {
    /// Number of segments.
    #[inline(always)]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Adds a segment; there may be 255.
    #[inline(always)]
    pub fn push(&mut self, seg: &Seg, sack: &SackBlocks) {
        let mut out = PackedWriter::default();
        self.expected.write(seg, sack, &mut out);
        out.finish();
        let (len, spare) = (out.len(), self.bytes.capacity() - self.bytes.len());
        if len <= USUAL_LEN && spare >= USUAL_LEN {
            // Copies a fixed number of bytes, and then truncates.
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
            // A new list is cheaper than growing this one.
            let held = std::mem::replace(&mut self.bytes, Vec::with_capacity(room));
            self.bytes.extend_from_slice(&held);
        }
        self.bytes.extend_from_slice(written);
    }

    /// All segments with their SACK blocks.
    pub fn iter(&self) -> SegmentIter<'_> {
        SegmentIter { bytes: &self.bytes, at: 0, expected: Expected::default(), sack: SackBlocks::NONE }
    }

    /// All segments, reduced to times and sequence numbers.
    pub fn advances(&self) -> AdvanceIter<'_> {
        AdvanceIter { bytes: &self.bytes, at: 0, position: SequencePosition::default() }
    }
}

/// Unpacks segments.
#[derive(Clone, Debug)]
pub struct SegmentIter<'a> {
    bytes: &'a [u8],
    /// Offset after the last segment.
    at: usize,
    expected: Expected,
    sack: SackBlocks,
}

impl SegmentIter<'_> {
    /// The next segment and its SACK blocks.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Seg, &SackBlocks)> {
        let (mut seg, UnreadParts { head, place }) = self.expected.position.next(self.bytes, &mut self.at)?;
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

/// Unpacks only what the state of a connection needs: frame numbers, windows, IP IDs, times to
/// live, ECN bits and SACK blocks are skipped.
#[derive(Clone, Debug)]
pub struct AdvanceIter<'a> {
    bytes: &'a [u8],
    /// Offset after the last segment.
    at: usize,
    position: SequencePosition,
}

impl AdvanceIter<'_> {
    /// The next segment, and whether it has SACK blocks.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Seg, bool)> {
        let (mut seg, UnreadParts { head, .. }) = self.position.next(self.bytes, &mut self.at)?;
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
        let Self { position, place, headers } = self;
        let (own, other) = (&position.sides[seg.from()], &position.sides[!seg.from()]);
        out.number(&NUMBER.time, seg.time.0.wrapping_sub(position.time.0) as u64);
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
        position.note(seg);
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
    /// Whether a segment has other unexpected fields.
    #[inline(always)]
    fn is_other(&self, seg: &Seg) -> bool {
        let id = if seg.bits & HAS_IP_ID != 0 { seg.ip_id ^ self.ip_id } else { 0 };
        let rest = (seg.ttl ^ self.ttl) | (seg.ecn ^ self.ecn) | seg.kind as u8;
        id | (seg.window ^ self.window) | u16::from(rest) != 0
    }

    /// Writes a segment's other unexpected fields, and expects them from then on.
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

    /// Expects the next IP ID, although all other fields stay the same.
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

    /// Reads the next segment without its frame and its unpacked fields.
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
        let time = Time(self.time.0.wrapping_add(numbers.large(&NUMBER.time) as i64));
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

/// The parts of a segment that were not read yet.
struct UnreadParts {
    head: u32,
    /// Distance from the previous frame, as stored.
    place: u64,
}

/// Copies the end of the data, which is shorter than the numbers of a segment may be. The zeros
/// after it are never read as part of valid data.
#[inline(never)]
fn pad(padded: &mut [u8; MAX_NUMBERS_LEN], bytes: &[u8], at: usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(room) = padded.get_mut(..rest.len()) {
        room.copy_from_slice(rest);
    }
}

/// Reads the unpacked fields after the numbers.
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
