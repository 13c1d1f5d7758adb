//! The rest of a packet after its outer headers: the captured bytes, and their number on the wire.
//!
//! Both are needed: so a truncated packet still has its true payload length, and a truncated packet
//! differs from an inconsistent one.

use super::Skip;

/// The rest of a packet. There are never more captured bytes than bytes on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct View<'a> {
    data: &'a [u8],
    wire: usize,
}

impl<'a> View<'a> {
    /// `data` was captured of `wire` bytes on the wire. If `wire` is less than the captured bytes,
    /// it is ignored.
    #[inline]
    pub(super) fn new(data: &'a [u8], wire: usize) -> Self {
        Self { data, wire: wire.max(data.len()) }
    }

    /// The captured bytes.
    #[inline]
    pub(super) fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Number of bytes on the wire.
    #[inline]
    pub(super) fn wire(&self) -> usize {
        self.wire
    }

    /// Without the first `count` bytes.
    #[inline]
    pub(super) fn skip(self, count: usize) -> Result<Self, Skip> {
        match self.data.get(count..) {
            Some(data) => Ok(Self { data, wire: self.wire - count }),
            None => Err(self.short_of(count)),
        }
    }

    /// Limits it to the first `count` bytes on the wire: padding or a trailer follows.
    #[inline]
    pub(super) fn limit(self, count: usize) -> Self {
        Self { data: self.data.get(..count).unwrap_or(self.data), wire: self.wire.min(count) }
    }

    /// Raises the number of bytes on the wire to `count`: the others were sent in other packets.
    pub(super) fn widen(self, count: usize) -> Self {
        Self { wire: self.wire.max(count), ..self }
    }

    /// The `N` bytes at `offset`.
    #[inline]
    pub(super) fn array<const N: usize>(&self, offset: usize) -> Result<&'a [u8; N], Skip> {
        self.data
            .get(offset..)
            .and_then(|data| data.first_chunk())
            .ok_or_else(|| self.short_of(offset.saturating_add(N)))
    }

    /// The byte at `offset`.
    #[inline]
    pub(super) fn u8(&self, offset: usize) -> Result<u8, Skip> {
        self.array(offset).map(|bytes| u8::from_be_bytes(*bytes))
    }

    /// The big-endian number at `offset`.
    #[inline]
    pub(super) fn u16(&self, offset: usize) -> Result<u16, Skip> {
        self.array(offset).map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// The big-endian number at `offset`.
    #[inline]
    pub(super) fn u32(&self, offset: usize) -> Result<u32, Skip> {
        self.array(offset).map(|bytes| u32::from_be_bytes(*bytes))
    }

    /// The little-endian number at `offset`.
    pub(super) fn u16_le(&self, offset: usize) -> Result<u16, Skip> {
        self.array(offset).map(|bytes| u16::from_le_bytes(*bytes))
    }

    /// The little-endian number at `offset`.
    pub(super) fn u32_le(&self, offset: usize) -> Result<u32, Skip> {
        self.array(offset).map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Whether the captured bytes begin with `prefix`.
    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.data.starts_with(prefix)
    }

    /// The reason why fewer than `count` bytes are available: the capture is truncated, or the
    /// packet is too short.
    #[cold]
    pub(super) fn short_of(&self, count: usize) -> Skip {
        if count <= self.wire { Skip::Cut } else { Skip::Malformed("the packet ends inside a header") }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn truncated_packet_differs_from_a_short_one() {
        let cut = View::new(&[1, 2], 4);
        assert_eq!(cut.u32(0), Err(Skip::Cut));
        assert_eq!(cut.skip(3).unwrap_err(), Skip::Cut);
        assert!(matches!(cut.skip(5), Err(Skip::Malformed(_))));
        assert!(matches!(cut.array::<4>(usize::MAX), Err(Skip::Malformed(_))));
        assert_eq!(cut.skip(1).unwrap().wire(), 3);
        assert_eq!(cut.u16(0), Ok(0x0102));
    }

    #[test]
    fn limit_removes_padding_from_both_lengths() {
        let view = View::new(&[0; 10], 20);
        assert_eq!((view.limit(4).data().len(), view.limit(4).wire()), (4, 4));
        assert_eq!((view.limit(15).data().len(), view.limit(15).wire()), (10, 15));
        assert_eq!((view.limit(40).data().len(), view.limit(40).wire()), (10, 20));
    }

    #[test]
    fn wire_length_below_the_captured_one_is_ignored() {
        assert_eq!(View::new(&[0; 10], 3).wire(), 10);
    }
}
