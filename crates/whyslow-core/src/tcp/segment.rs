//! What a connection keeps of a segment: no borrowed bytes, and as little as can be. SACK blocks, which few
//! segments have, are kept beside it.

pub(super) mod packed;

use super::content::PayloadKind;
use crate::analysis::Frame;
use crate::flow::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Checksum, Flags, Plain, Segment};
use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seg {
    pub time: Nanos,
    pub place: Place,
    /// TSecr and TSval, if `has` says so; else zeros. In this order, as the two numbers below, for a header has them the other way
    /// round, and read as one word they are turned about.
    echo: u32,
    value: u32,
    /// The acknowledgement's number, which the flag tells of.
    ack: SeqNumber,
    pub seq: SeqNumber,
    pub len: u32,
    /// 0 where there is none.
    ip_id: u16,
    pub flags: Flags,
    pub window: u16,
    has: u8,
    pub ttl: u8,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
    /// What its payload shows, where that is readable.
    pub kind: PayloadKind,
}

const _: () = assert!(size_of::<Seg>() <= 48, "ACKs that wait hold one each");

/// Bits of [`Seg::has`].
const FROM_ONE: u8 = 1;
const MOVED: u8 = 2;
const STAMPED: u8 = 4;
const IP_ID: u8 = 8;
const WRONG: u8 = 16;

/// What is kept of a segment's timestamp, as it is: it is asked for far less often than noted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    value: u32,
    has: u8,
}

impl Stamp {
    /// TSval (RFC 7323).
    pub fn value(self) -> Option<u32> {
        (self.has & STAMPED != 0).then_some(self.value)
    }

    /// See [`Seg::moved`].
    #[inline(always)]
    pub fn moved(self) -> bool {
        self.has & MOVED != 0
    }
}

#[inline(always)]
fn has(from: Side, stamped: bool, numbered: bool) -> u8 {
    let bit = |bit: u8, is: bool| if is { bit } else { 0 };
    // A side is 0 or 1, and so is its bit.
    from as u8 & FROM_ONE | bit(STAMPED, stamped) | bit(IP_ID, numbered)
}

/// A frame, in one word: it is noted several times for each packet. Its upper bits tell the file, and are never all zero; the
/// others are its number. Places are ordered as their frames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(NonZeroU64);

/// Bits of the number. No capture that can be stored has more frames.
const NUMBER: u32 = 47;
/// Above the number of a frame of no file; those of files follow.
const NO_FILE: u64 = 1;

impl From<Frame> for Place {
    #[inline(always)]
    fn from(frame: Frame) -> Self {
        let file = frame.file.map_or(NO_FILE, |file| NO_FILE + 1 + u64::from(file));
        Self::of(file << NUMBER | frame.number.min((1 << NUMBER) - 1))
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::start(None)
    }
}

impl Place {
    #[inline(always)]
    fn of(word: u64) -> Self {
        Self(NonZeroU64::new(word).unwrap_or(NonZeroU64::MIN))
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.0.get()
    }

    /// Before the first frame of this file, as [`Frame::file`] tells it.
    pub fn start(file: Option<u16>) -> Self {
        Frame { file, number: 0 }.into()
    }

    /// The frame of this number, of the file that this is the [start](Self::start) of.
    #[inline(always)]
    pub fn frame_at(self, number: u64) -> Self {
        Self(self.0 | number)
    }

    /// The frame that it stands for.
    #[inline]
    pub fn frame(self) -> Frame {
        let file = (self.word() >> NUMBER).checked_sub(NO_FILE + 1).and_then(|file| u16::try_from(file).ok());
        Frame { file, number: self.word() & ((1 << NUMBER) - 1) }
    }
}

impl Seg {
    #[inline(always)]
    pub fn new(segment: &Segment<'_>, from: Side, time: Nanos, place: Place) -> Self {
        let (value, echo) = segment.options.timestamps.unwrap_or_default();
        Self {
            time,
            place,
            echo,
            value,
            ack: segment.ack,
            seq: segment.seq,
            len: segment.payload_len,
            ip_id: segment.ip_id.unwrap_or_default(),
            flags: segment.flags,
            window: segment.window,
            has: has(from, segment.options.timestamps.is_some(), segment.ip_id.is_some())
                | if matches!(segment.checksum, Checksum::Bad(_)) { WRONG } else { 0 },
            ttl: segment.ttl,
            ecn: segment.ecn,
            kind: PayloadKind::Unread,
        }
    }

    #[inline(always)]
    pub fn plain(plain: &Plain<'_>, from: Side, time: Nanos, place: Place) -> Self {
        let (value, echo) = plain.timestamps_or_zeros();
        Self {
            time,
            place,
            echo,
            value,
            ack: plain.ack(),
            seq: plain.seq(),
            len: plain.payload_len(),
            ip_id: plain.ip_id().unwrap_or_default(),
            flags: plain.flags(),
            window: plain.window(),
            has: has(from, plain.timestamps().is_some(), plain.ip_id().is_some()),
            ttl: plain.ttl(),
            ecn: plain.ecn(),
            kind: PayloadKind::Unread,
        }
    }

    /// An ACK without an IP number, to be changed as a test needs it.
    #[cfg(test)]
    pub fn example(from: Side, seq: SeqNumber, ack: SeqNumber, len: u32, stamps: Option<(u32, u32)>) -> Self {
        let has = has(from, stamps.is_some(), false);
        let (value, echo) = stamps.unwrap_or_default();
        Self { seq, ack, len, echo, value, has, flags: Flags::ACK, ..Self::default() }
    }

    /// Gives it the time of an earlier packet, as its own is before that.
    pub fn move_to(&mut self, time: Nanos) {
        self.time = time;
        self.has |= MOVED;
    }

    /// What it acknowledges.
    #[inline(always)]
    pub fn ack(&self) -> Option<SeqNumber> {
        self.flags.has(Flags::ACK).then_some(self.ack)
    }

    /// TSval and TSecr (RFC 7323).
    #[inline(always)]
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        (self.has & STAMPED != 0).then_some((self.value, self.echo))
    }

    /// Its TSval, and whether its time is its own, to be kept.
    #[inline(always)]
    pub fn stamp(&self) -> Stamp {
        Stamp { value: self.value, has: self.has }
    }

    /// The number that the sender's IP stack gave its packet.
    #[inline(always)]
    pub fn ip_id(&self) -> Option<u16> {
        (self.has & IP_ID != 0).then_some(self.ip_id)
    }

    /// The same, where it is one: 0 stands for none too (RFC 6864: a packet that is never fragmented needs none).
    #[inline(always)]
    pub fn number(&self) -> u16 {
        self.ip_id
    }

    /// Its own time was before that of an earlier packet, whose time it was given: no difference to it was measured.
    #[inline(always)]
    pub fn moved(&self) -> bool {
        self.has & MOVED != 0
    }

    /// Its checksum is wrong, which by itself proves nothing.
    #[inline(always)]
    pub fn is_wrong(&self) -> bool {
        self.has & WRONG != 0
    }

    /// Whether it is what nearly all segments of a side are: an ACK that neither opens nor closes, with timestamps and the time
    /// that the capture gave it.
    #[inline(always)]
    pub fn is_usual<const FROM: Side>(&self) -> bool {
        let telling = self.flags.0 & (Flags::ACK.0 | Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0);
        telling == Flags::ACK.0
            && self.has & (STAMPED | MOVED | FROM_ONE) == STAMPED | if FROM == 0 { 0 } else { FROM_ONE }
    }

    /// Where it is in the capture.
    #[inline(always)]
    pub fn frame(&self) -> Frame {
        self.place.frame()
    }

    /// Who sent it.
    #[inline(always)]
    pub fn from(&self) -> Side {
        usize::from(self.has & FROM_ONE)
    }

    /// Sequence space that it takes: payload, SYN and FIN; none of a reset.
    #[inline(always)]
    pub fn space(&self) -> u32 {
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
        let number = prop_oneof![0..1u64 << NUMBER, 0..3u64, (1u64 << NUMBER) - 3..1 << NUMBER];
        (any::<Option<u16>>(), number).prop_map(|(file, number)| Frame { file, number })
    }

    proptest! {
        #[test]
        fn places_stand_for_their_frames(one in frame(), other in frame()) {
            prop_assert_eq!(Place::from(one).frame(), one);
            prop_assert_eq!(Place::start(one.file).frame_at(one.number), Place::from(one));
            prop_assert_eq!(Place::from(one).cmp(&Place::from(other)), one.cmp(&other));
        }
    }
}
