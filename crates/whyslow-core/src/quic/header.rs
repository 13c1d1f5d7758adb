//! Headers of QUIC packets (RFC 9000 section 17): the parts that are readable without keys.

/// Version 1.
pub(super) const V1: u32 = 1;
/// Version 2 (RFC 9369).
pub const V2: u32 = 0x6b33_43cf;

/// A client pads the datagrams of its Initial packets to this size (RFC 9000 section 14.1).
pub(super) const LEAST_INITIAL: u32 = 1_200;

/// Parses the fields of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// A variable-length integer of one to eight bytes (RFC 9000 section 16).
    pub(super) fn varint(&mut self) -> Option<u64> {
        let first = self.u8()?;
        let rest = self.take((1 << (first >> 6)) - 1)?;
        Some(rest.iter().fold(u64::from(first & 0x3f), |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A byte string with this length, which the caller has read.
    pub(super) fn prefixed(&mut self, length: Option<u64>) -> Option<&'a [u8]> {
        self.take(usize::try_from(length?).ok()?)
    }
}

/// Type of a packet with a long header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
    VersionNegotiation,
}

/// A packet with a long header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long<'a> {
    pub(super) kind: Kind,
    pub(super) version: u32,
    pub(super) dcid: &'a [u8],
    pub(super) scid: &'a [u8],
    /// Offset of the packet number in the packet.
    pub(super) number_at: usize,
    /// The captured part of the complete packet.
    pub(super) packet: &'a [u8],
}

impl<'a> Long<'a> {
    /// Splits the first packet from a datagram; `None` if it has no long header of a known version.
    /// Other packets may follow it.
    pub(super) fn split(datagram: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut fields = Fields(datagram);
        let first = fields.u8()?;
        if first & 0x80 == 0 {
            return None;
        }
        let version = fields.u32()?;
        let length = fields.u8().map(u64::from);
        let dcid = fields.prefixed(length)?;
        let length = fields.u8().map(u64::from);
        let scid = fields.prefixed(length)?;
        let kind = match (version, (first >> 4) & 3) {
            (0, _) => Kind::VersionNegotiation,
            (V1, 0) | (V2, 1) => Kind::Initial,
            (V1, 1) | (V2, 2) => Kind::ZeroRtt,
            (V1, 2) | (V2, 3) => Kind::Handshake,
            (V1 | V2, _) => Kind::Retry,
            _ => return None,
        };
        // The longest ID in version 1.
        if dcid.len() > 20 || scid.len() > 20 {
            return None;
        }
        let whole = Self { kind, version, dcid, scid, number_at: 0, packet: datagram };
        if matches!(kind, Kind::Retry | Kind::VersionNegotiation) {
            return Some((whole, &[]));
        }
        if kind == Kind::Initial {
            let length = fields.varint();
            fields.prefixed(length)?;
        }
        let length = usize::try_from(fields.varint()?).ok()?;
        let number_at = datagram.len() - fields.0.len();
        let end = number_at.checked_add(length)?.min(datagram.len());
        let (packet, rest) = datagram.split_at_checked(end)?;
        Some((Self { number_at, packet, ..whole }, rest))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn varints_of_every_length_are_read() {
        // RFC 9000 appendix A.1.
        let number = |bytes: &[u8]| Fields(bytes).varint();
        assert_eq!(number(&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]), Some(151_288_809_941_952_652));
        assert_eq!(number(&[0x9d, 0x7f, 0x3e, 0x7d]), Some(494_878_333));
        assert_eq!(number(&[0x7b, 0xbd]), Some(15_293));
        assert_eq!(number(&[0x25]), Some(37));
        assert_eq!(number(&[0x40]), None);
    }

    proptest! {
        #[test]
        fn split_packet_and_rest_are_the_datagram(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some((long, rest)) = Long::split(&bytes) {
                prop_assert!(long.packet.len() + rest.len() == bytes.len() || rest.is_empty());
                prop_assert!(long.number_at <= bytes.len());
            }
        }
    }
}
