//! A TCP segment, as its headers tell it.

use crate::units::SeqNumber;
use borsh::{BorshDeserialize, BorshSerialize};
use std::net::IpAddr;

/// One TCP segment, as its headers tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Source address (of the innermost IP header).
    pub src: IpAddr,
    /// Destination address (of the innermost IP header).
    pub dst: IpAddr,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number of the first payload byte, or of the SYN.
    pub seq: SeqNumber,
    /// Acknowledgement number; means something only with [`Flags::ACK`].
    pub ack: SeqNumber,
    /// Header flags.
    pub flags: Flags,
    /// The window field as it is in the header, not scaled.
    pub window: u16,
    /// Payload bytes on the wire (from the IP length, or the original length where offload left
    /// that 0).
    pub payload_len: u32,
    /// The payload bytes that were captured, from the first.
    pub payload: &'a [u8],
    /// TCP options.
    pub options: Options,
    /// IPv4 identification; none for IPv6.
    pub ip_id: Option<u16>,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// The two ECN bits of the IP header (RFC 3168: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE).
    pub ecn: u8,
    /// The TCP checksum; how far it was looked at is the choice between [`decode`](super::decode)
    /// and [`decode_verified`](super::decode_verified).
    pub checksum: Checksum,
    /// First fragment of a fragmented datagram: `payload_len` is that of the fragment.
    pub fragment: bool,
    /// IP headers around the innermost one (GRE, VXLAN, IP-in-IP, …; VLAN tags and label stacks do
    /// not count).
    pub tunnels: u8,
}

/// TCP header flags, including the accurate-ECN bit (RFC 9293 section 3.1, RFC 9768).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x002);
    /// Reset.
    pub const RST: Self = Self(0x004);
    /// Push.
    pub const PSH: Self = Self(0x008);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x010);
    /// The urgent pointer is significant.
    pub const URG: Self = Self(0x020);
    /// ECN echo.
    pub const ECE: Self = Self(0x040);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x080);
    /// Accurate ECN.
    pub const AE: Self = Self(0x100);

    /// Whether all of `flags` are set.
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What the TCP checksum says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Not checked: bytes are missing, or it was not asked for.
    #[default]
    Unknown,
    /// Right.
    Good,
    /// Wrong, and not merely left to the network card: the segment was damaged, or it was rewritten
    /// after it was summed up. By so much its sum is off, in the order of the machine's memory: by
    /// the same amount in every packet whose addresses were rewritten alike.
    Bad(u16),
    /// The sum of the IPv4 header around it is wrong, and is there; and its own is off by so much,
    /// or 0 if that is not known.
    BadHeader(u16),
    /// Only the pseudo-header's sum is there, or nothing: the network card was to finish it, so the
    /// capture is at the sending host. Segments that the receiving host put together from several
    /// look the same; those without payload never are, so they tell the two ends apart. One segment
    /// alone is no proof, as its checksum may have that value by chance, once in 2¹⁶.
    Partial,
}

impl Checksum {
    /// That of a packet whose IPv4 header was damaged, where [that is
    /// known](super::ChecksumSample::headers_reliable). A sum that is off by nothing is right, so
    /// that this is no other.
    pub const DAMAGED: Self = Self::Bad(0);

    /// Whether the packet is not as it was when it was summed up.
    #[cfg(test)]
    pub(crate) const fn is_wrong(self) -> bool {
        matches!(self, Self::Bad(_) | Self::BadHeader(_))
    }
}

/// TCP options of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 section 3.7.1), bytes.
    pub mss: Option<u16>,
    /// Window scale shift, as sent: may be over 14 (RFC 7323 section 2.3; the users clamp and
    /// report it).
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018).
    pub sack_permitted: bool,
    /// SACK blocks, in the order of the header; the first may be a D-SACK (RFC 2883).
    pub sack: SackBlocks,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// TCP Fast Open, with or without a cookie (RFC 7413).
    pub fast_open: bool,
    /// Multipath TCP of any subtype (RFC 8684).
    pub mptcp: bool,
    /// It joins a connection that goes over other addresses too (MP_JOIN, RFC 8684 section 3.2).
    pub mptcp_join: bool,
    /// The list was cut short by a bad length or by the snapshot length.
    pub malformed: bool,
}

/// Up to four SACK blocks: left edge, right edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    len: u8,
    blocks: [(SeqNumber, SeqNumber); 4],
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { len: 0, blocks: [(SeqNumber(0), SeqNumber(0)); 4] };

    /// Adds a block; the fifth and later ones are dropped, as the option has room for four.
    pub fn push(&mut self, left: SeqNumber, right: SeqNumber) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The blocks, in the order of the header.
    pub fn as_slice(&self) -> &[(SeqNumber, SeqNumber)] {
        &self.blocks[..usize::from(self.len)]
    }
}
