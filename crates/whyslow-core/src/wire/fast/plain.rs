//! [`PlainSegment`]: nearly every segment, as it lies in its packet.

use crate::units::SeqNumber;
use crate::wire::segment::Flags;

/// What nearly every segment of an established connection is: it acknowledges, and neither opens
/// nor closes; its options are none or the timestamps; and its checksum is not known to be wrong.
/// All that the stages behind take from such a segment, without its ends.
///
/// That was looked at; what the headers say is read from them when it is asked for, so that it goes
/// from there straight to where it is kept.
#[derive(Clone, Copy, Debug)]
pub struct PlainSegment<'a> {
    /// The header without options.
    pub(super) tcp: &'a [u8; 20],
    /// Of that, its length and the flags.
    pub(super) length_and_flags: u16,
    pub(super) has_timestamps: bool,
    /// TSval and TSecr; zeros if there are none, so that nobody need ask.
    pub(super) stamps: &'a [u8; 8],
    pub(super) ip_id: Option<&'a [u8; 2]>,
    pub(super) ttl: &'a u8,
    /// The byte in which the ECN bits are, and how many are below them.
    pub(super) ecn: (&'a u8, u8),
    pub(super) payload_len: u32,
    /// What was captured behind the header.
    pub(super) rest: &'a [u8],
}

impl<'a> PlainSegment<'a> {
    /// See [`Segment::seq`](crate::wire::Segment::seq).
    #[inline(always)]
    pub fn seq(&self) -> SeqNumber {
        SeqNumber(halves(self.numbers()).0)
    }

    /// See [`Segment::ack`](crate::wire::Segment::ack).
    #[inline(always)]
    pub fn ack(&self) -> SeqNumber {
        SeqNumber(halves(self.numbers()).1)
    }

    /// Both numbers, read at once.
    #[inline(always)]
    fn numbers(&self) -> [u8; 8] {
        let [_, _, _, _, numbers @ .., _, _, _, _, _, _, _, _] = *self.tcp;
        numbers
    }

    /// ACK, and never SYN, FIN or RST.
    #[inline(always)]
    pub fn flags(&self) -> Flags {
        Flags(self.length_and_flags & 0x1ff)
    }

    /// See [`Segment::window`](crate::wire::Segment::window).
    #[inline(always)]
    pub fn window(&self) -> u16 {
        u16::from_be_bytes([self.tcp[14], self.tcp[15]])
    }

    /// See [`Segment::payload_len`](crate::wire::Segment::payload_len).
    #[inline(always)]
    pub fn payload_len(&self) -> u32 {
        self.payload_len
    }

    /// What was captured behind the headers: its payload, and padding behind that if there is some.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// See [`Options::timestamps`](crate::wire::Options::timestamps).
    #[inline(always)]
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        self.has_timestamps.then(|| self.timestamps_or_zeros())
    }

    /// The same, and zeros if there are none.
    #[inline(always)]
    pub fn timestamps_or_zeros(&self) -> (u32, u32) {
        halves(*self.stamps)
    }

    /// See [`Segment::ip_id`](crate::wire::Segment::ip_id).
    #[inline(always)]
    pub fn ip_id(&self) -> Option<u16> {
        self.ip_id.map(|id| u16::from_be_bytes(*id))
    }

    /// See [`Segment::ttl`](crate::wire::Segment::ttl).
    #[inline(always)]
    pub fn ttl(&self) -> u8 {
        *self.ttl
    }

    /// See [`Segment::ecn`](crate::wire::Segment::ecn).
    #[inline(always)]
    pub fn ecn(&self) -> u8 {
        let (byte, below) = self.ecn;
        byte >> below & 0x03
    }
}

/// Two numbers as they follow one another in a header. Where both are kept, the second one before
/// the first, they go there as one word.
#[inline(always)]
fn halves(bytes: [u8; 8]) -> (u32, u32) {
    let word = u64::from_be_bytes(bytes);
    ((word >> 32) as u32, word as u32)
}
