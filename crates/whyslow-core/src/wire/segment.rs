//! A TCP segment: the fields of its headers.

use borsh::{BorshDeserialize, BorshSerialize};
use std::net::IpAddr;
use whyslow_units::SeqNumber;

/// A TCP segment: the fields of its headers.
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
    /// Acknowledgment number; valid only with [`Flags::ACK`].
    pub ack: SeqNumber,
    /// Header flags.
    pub flags: Flags,
    /// The window field, not scaled.
    pub window: u16,
    /// Payload bytes on the wire (from the IP length, or from the original length if offload left
    /// it 0).
    pub payload_len: u32,
    /// The captured payload bytes, from the first.
    pub payload: &'a [u8],
    /// TCP options.
    pub options: Options,
    /// IPv4 identification; `None` for IPv6.
    pub ip_id: Option<u16>,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// The two ECN bits of the IP header (RFC 3168: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE).
    pub ecn: u8,
    /// The TCP checksum; [`decode`](super::decode) and [`decode_verified`](super::decode_verified)
    /// differ in whether they verify it.
    pub checksum: Checksum,
    /// First fragment of a fragmented datagram: `payload_len` is the length in this fragment.
    pub fragment: bool,
    /// Number of outer IP headers (GRE, VXLAN, IP-in-IP, …; VLAN tags and label stacks do not
    /// count).
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

/// Result of checking the TCP checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Not verified: bytes are missing, or it was not requested.
    #[default]
    Unknown,
    /// Correct.
    Good,
    /// Wrong, and not offloaded to the network card: the segment was damaged, or rewritten after
    /// the checksum was computed. Holds the difference of the sum in host byte order: it is equal
    /// in all packets whose addresses were rewritten in the same way.
    Bad(u16),
    /// The checksum of the outer IPv4 header is wrong. Holds the difference of the TCP checksum's
    /// sum, or 0 if unknown.
    BadHeader(u16),
    /// Holds only the pseudo-header's sum, or nothing: the network card completes it, so the
    /// capture is on the sending host. Segments that the receiving host merged from several look
    /// the same, but segments without payload are never merged, so they distinguish the two ends. A
    /// single segment is not a proof: its correct checksum has this value by chance once in 2¹⁶.
    Partial,
}

impl Checksum {
    /// The value for a packet with a damaged IPv4 header, if [header checksums are
    /// reliable](super::ChecksumSample::headers_reliable). No other wrong checksum has a difference
    /// of 0.
    pub const DAMAGED: Self = Self::Bad(0);

    /// Whether the packet was changed after the checksum was computed.
    #[cfg(test)]
    pub const fn is_wrong(self) -> bool {
        matches!(self, Self::Bad(_) | Self::BadHeader(_))
    }
}

/// TCP options of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 section 3.7.1), bytes.
    pub mss: Option<u16>,
    /// Window scale shift as sent: may exceed 14 (RFC 7323 section 2.3; callers clamp and report
    /// it).
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
    /// The segment joins a Multipath TCP connection that also uses other addresses (MP_JOIN, RFC
    /// 8684 section 3.2).
    pub mptcp_join: bool,
    /// A wrong length or the snapshot length ended the list early.
    pub malformed: bool,
}

/// Up to four SACK blocks: left edge, right edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    len: u8,
    blocks: [(SeqNumber, SeqNumber); 4],
}

impl SackBlocks {
    /// No blocks.
    pub const NONE: Self = Self { len: 0, blocks: [(SeqNumber(0), SeqNumber(0)); 4] };

    /// Adds a block. Drops the fifth and later ones, because the option has room for four.
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
