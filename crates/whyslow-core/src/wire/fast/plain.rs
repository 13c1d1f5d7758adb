//! [`PlainSegment`]: a view of the most common kind of segment in its packet.

use crate::wire::segment::Flags;
use whyslow_units::SeqNumber;

/// An ordinary segment of an established connection: it has ACK, and no SYN, FIN or RST; its
/// options are none or the timestamps; and its checksum is not known to be wrong. Later stages need
/// only this view of such a segment, and its endpoints.
///
/// The parser has verified these conditions. Methods read the header fields on demand, so that
/// values go directly from the packet to the place where they are stored.
#[derive(Clone, Copy, Debug)]
pub struct PlainSegment<'a> {
    /// The header without options.
    pub(super) tcp: &'a [u8; 20],
    /// Header length and flags.
    pub(super) length_and_flags: u16,
    pub(super) has_timestamps: bool,
    /// TSval and TSecr; zeros if absent, so that reading needs no branch.
    pub(super) stamps: &'a [u8; 8],
    pub(super) ip_id: Option<&'a [u8; 2]>,
    pub(super) ttl: &'a u8,
    /// The byte with the ECN bits, and their shift.
    pub(super) ecn: (&'a u8, u8),
    pub(super) payload_len: u32,
    /// Captured bytes after the header.
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

    /// Sequence and acknowledgment number, read at once.
    #[inline(always)]
    fn numbers(&self) -> [u8; 8] {
        let [_, _, _, _, numbers @ .., _, _, _, _, _, _, _, _] = *self.tcp;
        numbers
    }

    /// The flags: ACK is set, SYN, FIN and RST are not.
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

    /// The captured bytes after the headers: the payload, and padding if present.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// See [`Options::timestamps`](crate::wire::Options::timestamps).
    #[inline(always)]
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        self.has_timestamps.then(|| self.timestamps_or_zeros())
    }

    /// Like [`timestamps`](Self::timestamps), but zeros if there are none.
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

/// Two consecutive numbers of a header. If the caller stores both with the second before the first,
/// the compiler writes them as one word.
#[inline(always)]
fn halves(bytes: [u8; 8]) -> (u32, u32) {
    let word = u64::from_be_bytes(bytes);
    ((word >> 32) as u32, word as u32)
}
