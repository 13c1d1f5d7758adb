//! The part of a segment that a connection keeps: small, and without borrowed bytes. SACK blocks
//! are rare, so they are stored separately.

pub(super) mod packed;

use super::payload::PayloadKind;
use crate::wire::{Checksum, Flags, PlainSegment, Segment};
use std::num::NonZeroU64;
use whyslow_analysis::types::{Frame, Side};
use whyslow_units::{SeqNumber, Time};

#[derive(Clone, Copy, Debug, Default)]
pub struct Seg {
    pub time: Time,
    pub frame_ref: FrameRef,
    /// TSecr and TSval, if `bits_of` has their flag; otherwise zeros. This order, like that of the
    /// next two fields, makes reading from a header a single byte swap of one word.
    tsecr: u32,
    tsval: u32,
    /// The acknowledgment number, valid if the ACK flag is set.
    ack: SeqNumber,
    pub seq: SeqNumber,
    pub len: u32,
    /// 0 if there is none.
    ip_id: u16,
    pub flags: Flags,
    pub window: u16,
    bits: u8,
    pub ttl: u8,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
    /// Role of its payload, if readable.
    pub kind: PayloadKind,
}

const _: () = assert!(size_of::<Seg>() <= 48, "ACKs that wait hold one each");

/// Bits of [`Seg::bits`].
const FROM_SIDE_B: u8 = 1;
const TIME_CLAMPED: u8 = 2;
const HAS_TIMESTAMPS: u8 = 4;
const HAS_IP_ID: u8 = 8;
const BAD_CHECKSUM: u8 = 16;

/// A stored TSval; it is recorded far more often than read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TsvalSample {
    tsval: u32,
    bits: u8,
}

impl TsvalSample {
    /// TSval (RFC 7323).
    pub fn tsval(self) -> Option<u32> {
        (self.bits & HAS_TIMESTAMPS != 0).then_some(self.tsval)
    }

    /// See [`Seg::time_clamped`].
    #[inline(always)]
    pub fn time_clamped(self) -> bool {
        self.bits & TIME_CLAMPED != 0
    }
}

#[inline(always)]
fn bits_of(from: Side, stamped: bool, numbered: bool) -> u8 {
    let bit = |bit: u8, is: bool| if is { bit } else { 0 };
    bit(FROM_SIDE_B, from == Side::B) | bit(HAS_TIMESTAMPS, stamped) | bit(HAS_IP_ID, numbered)
}

/// A frame in one word, because it is stored several times for each packet. The upper bits are the
/// file, and never zero; the lower ones are the number. The order is that of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameRef(NonZeroU64);

/// Bits of the number; no capture has more frames.
const NUMBER_BITS: u32 = 47;
/// The file bits for frames without a file; those of files are larger.
const NO_FILE: u64 = 1;

impl From<Frame> for FrameRef {
    #[inline(always)]
    fn from(frame: Frame) -> Self {
        let file = frame.file.map_or(NO_FILE, |file| NO_FILE + 1 + u64::from(file));
        Self::of(file << NUMBER_BITS | frame.number.min((1 << NUMBER_BITS) - 1))
    }
}

impl Default for FrameRef {
    fn default() -> Self {
        Frame { file: None, number: 0 }.into()
    }
}

impl FrameRef {
    #[inline(always)]
    fn of(word: u64) -> Self {
        Self(NonZeroU64::new(word).unwrap_or(NonZeroU64::MIN))
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.0.get()
    }

    /// The frame.
    #[inline]
    pub fn frame(self) -> Frame {
        let file = (self.word() >> NUMBER_BITS).checked_sub(NO_FILE + 1).and_then(|file| u16::try_from(file).ok());
        Frame { file, number: self.word() & ((1 << NUMBER_BITS) - 1) }
    }
}

impl Seg {
    #[inline(always)]
    pub fn new(segment: &Segment<'_>, from: Side, time: Time, place: FrameRef) -> Self {
        let (value, echo) = segment.options.timestamps.unwrap_or_default();
        Self {
            time,
            frame_ref: place,
            tsecr: echo,
            tsval: value,
            ack: segment.ack,
            seq: segment.seq,
            len: segment.payload_len,
            ip_id: segment.ip_id.unwrap_or_default(),
            flags: segment.flags,
            window: segment.window,
            bits: bits_of(from, segment.options.timestamps.is_some(), segment.ip_id.is_some())
                | if matches!(segment.checksum, Checksum::Bad(_)) { BAD_CHECKSUM } else { 0 },
            ttl: segment.ttl,
            ecn: segment.ecn,
            kind: PayloadKind::Unread,
        }
    }

    #[inline(always)]
    pub fn plain(plain: &PlainSegment<'_>, from: Side, time: Time, place: FrameRef) -> Self {
        let (value, echo) = plain.timestamps_or_zeros();
        Self {
            time,
            frame_ref: place,
            tsecr: echo,
            tsval: value,
            ack: plain.ack(),
            seq: plain.seq(),
            len: plain.payload_len(),
            ip_id: plain.ip_id().unwrap_or_default(),
            flags: plain.flags(),
            window: plain.window(),
            bits: bits_of(from, plain.timestamps().is_some(), plain.ip_id().is_some()),
            ttl: plain.ttl(),
            ecn: plain.ecn(),
            kind: PayloadKind::Unread,
        }
    }

    /// An ACK without an IP ID, to be changed as a test needs it.
    #[cfg(test)]
    pub fn example(from: Side, seq: SeqNumber, ack: SeqNumber, len: u32, stamps: Option<(u32, u32)>) -> Self {
        let has = bits_of(from, stamps.is_some(), false);
        let (value, echo) = stamps.unwrap_or_default();
        Self { seq, ack, len, tsecr: echo, tsval: value, bits: has, flags: Flags::ACK, ..Self::default() }
    }

    /// Sets it to the time of an earlier packet, because its own time is before that.
    pub fn clamp_time(&mut self, time: Time) {
        self.time = time;
        self.bits |= TIME_CLAMPED;
    }

    /// The acknowledgment number, if any.
    #[inline(always)]
    pub fn ack(&self) -> Option<SeqNumber> {
        self.flags.has(Flags::ACK).then_some(self.ack)
    }

    /// TSval and TSecr (RFC 7323).
    #[inline(always)]
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        (self.bits & HAS_TIMESTAMPS != 0).then_some((self.tsval, self.tsecr))
    }

    /// Its TSval, and whether its time was adjusted.
    #[inline(always)]
    pub fn tsval_sample(&self) -> TsvalSample {
        TsvalSample { tsval: self.tsval, bits: self.bits }
    }

    /// The IP ID.
    #[inline(always)]
    pub fn ip_id(&self) -> Option<u16> {
        (self.bits & HAS_IP_ID != 0).then_some(self.ip_id)
    }

    /// The IP ID, or 0 if there is none. 0 also means none on the wire (RFC 6864: a packet that is
    /// never fragmented needs none).
    #[inline(always)]
    pub fn ip_id_or_zero(&self) -> u16 {
        self.ip_id
    }

    /// Its time was before that of an earlier packet and was set to that: do not measure
    /// differences to it.
    #[inline(always)]
    pub fn time_clamped(&self) -> bool {
        self.bits & TIME_CLAMPED != 0
    }

    /// Its checksum is wrong, which alone does not show damage.
    #[inline(always)]
    pub fn has_bad_checksum(&self) -> bool {
        self.bits & BAD_CHECKSUM != 0
    }

    /// Whether it is a common segment: an ACK without SYN, FIN or RST, with timestamps and an
    /// unadjusted time.
    #[inline(always)]
    pub fn is_plain_ack(&self) -> bool {
        let telling = self.flags.0 & (Flags::ACK.0 | Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0);
        telling == Flags::ACK.0 && self.bits & (HAS_TIMESTAMPS | TIME_CLAMPED) == HAS_TIMESTAMPS
    }

    /// Its frame.
    #[inline(always)]
    pub fn frame(&self) -> Frame {
        self.frame_ref.frame()
    }

    /// The sender.
    #[inline(always)]
    pub fn from(&self) -> Side {
        if self.bits & FROM_SIDE_B == 0 { Side::A } else { Side::B }
    }

    /// Sequence numbers that it occupies: payload, SYN and FIN; 0 for a RST.
    #[inline(always)]
    pub fn seq_len(&self) -> u32 {
        match self.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST).0 {
            0 => self.len,
            _ if self.flags.has(Flags::RST) => 0,
            _ => {
                let marks = u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN));
                self.len.saturating_add(marks)
            }
        }
    }
}

#[inline(always)]
pub(super) fn tsval(seg: &Seg) -> Option<u32> {
    seg.timestamps().map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame() -> impl Strategy<Value = Frame> {
        let number = prop_oneof![0..1u64 << NUMBER_BITS, 0..3u64, (1u64 << NUMBER_BITS) - 3..1 << NUMBER_BITS];
        (any::<Option<u16>>(), number).prop_map(|(file, number)| Frame { file, number })
    }

    proptest! {
        #[test]
        fn frame_reference_roundtrips(one in frame(), other in frame()) {
            prop_assert_eq!(FrameRef::from(one).frame(), one);
            prop_assert_eq!(FrameRef::from(one).cmp(&FrameRef::from(other)), one.cmp(&other));
        }
    }
}
