//! `wire`: a packet → a TCP segment.
//!
//! Knows link layers, tunnels, IP and TCP headers, and nothing of connections. It promises never to panic, never to
//! trust a length field, and to name the reason for every packet that it does not turn into a segment. It allocates
//! nothing.
//!
//! [`decode`] tries `fast`, for the packets that nearly all captures consist of, and else goes through the layers:
//! `link` (one file a family) → `ethertype`, `llc` → `ip` → `tunnel`, and round again, or → `tcp`. What each hands to
//! the next is a `view`: the captured bytes that are left, and how many there were on the wire.
//!
//! A packet gives one segment: of several in one frame (802.11 aggregates) the first. Fragments are not put together,
//! and what an ICMP error quotes is no segment: what it says of one is the reason why there is none.

mod checksum;
mod ends;
mod ethertype;
mod fast;
mod icmp;
mod ip;
mod link;
mod llc;
mod plain;
mod skip;
mod sums;
mod tcp;
#[cfg(test)]
mod testing;
mod tunnel;
mod view;

pub use ends::{Ends, Heading};
pub use icmp::{Fate, Icmp};
pub use link::{is_supported, link_type_name};
pub use plain::Plain;
pub use skip::Skip;
pub use sums::{Sample, Sums};

use crate::capture::Packet;
use crate::units::SeqNumber;
use std::net::IpAddr;
use view::View;

/// The TCP segment in a packet, or why there is none.
///
/// Checksums are computed only for segments without payload; see [`decode_verified`].
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(Around::default(), packet)
}

/// As [`decode`], and the checksum of every segment that was captured whole is computed, which means reading all of it.
pub fn decode_verified<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(Around { verify: true, ..Around::default() }, packet)
}

#[inline(always)]
fn decode_with<'a>(around: Around, packet: &Packet<'a>) -> Decoded<'a> {
    match fast::glance(packet) {
        Some(glance) => glance.decode_with(around),
        None => decode_layers(around, packet),
    }
}

/// A look at a packet that is enough to tell its connection, for nearly every packet of nearly every capture.
///
/// None when the packet is of another kind; [`decode`] must look at it then.
#[inline(always)]
pub fn glance<'a>(packet: &Packet<'a>) -> Option<Glance<'a>> {
    fast::glance(packet)
}

pub use fast::{Glance, Ordinary};

/// Layer after layer.
#[inline(never)]
fn decode_layers<'a>(around: Around, packet: &Packet<'a>) -> Decoded<'a> {
    link::decode(around, packet.link, View::new(packet.data, packet.original_len as usize))
}

/// What every layer gives back.
type Decoded<'a> = Result<Segment<'a>, Skip>;

/// What the layers outside tell those inside.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    /// Whether the checksum is to be computed whatever it costs.
    verify: bool,
    /// IP headers outside.
    tunnels: u8,
    /// A packet outside is a fragment: the lengths inside may well go beyond its end.
    fragment: bool,
    /// Packets and frames around this one, counted to end a packet that was made to nest without end.
    depth: u8,
}

impl Around {
    /// Far more than any network nests, and far less than the stack bears.
    const DEEPEST: u8 = 16;

    /// For what lies within one more packet or frame.
    fn deeper(self) -> Result<Self, Skip> {
        if self.depth == Self::DEEPEST {
            return Err(Skip::Malformed("more than 16 packets within one another"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

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
    /// Payload bytes on the wire (from the IP length, or the original length where offload left that 0).
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
    /// The TCP checksum; how far it was looked at is the choice between [`decode`] and [`decode_verified`].
    pub checksum: Checksum,
    /// First fragment of a fragmented datagram: `payload_len` is that of the fragment.
    pub fragment: bool,
    /// IP headers around the innermost one (GRE, VXLAN, IP-in-IP, …; VLAN tags and label stacks do not count).
    pub tunnels: u8,
}

/// TCP header flags, including the accurate-ECN bit (RFC 9293 section 3.1, RFC 9768).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Wrong, and not merely left to the network card: the segment was damaged, or it was rewritten after it was summed up. By so much
    /// its sum is off, in the order of the machine's memory: by the same amount in every packet whose addresses were rewritten alike.
    Bad(u16),
    /// The sum of the IPv4 header around it is wrong, and is there; and its own is off by so much, or 0 if that is not known.
    BadHeader(u16),
    /// Only the pseudo-header's sum is there, or nothing: the network card was to finish it, so the capture is at the
    /// sending host. Segments that the receiving host put together from several look the same; those without payload
    /// never are, so they tell the two ends apart. One segment alone is no proof, as its checksum may have that value
    /// by chance, once in 2¹⁶.
    Partial,
}

impl Checksum {
    /// That of a packet whose IPv4 header was damaged, where [that is known](Sample::headers_tell). A sum that is off by nothing is right,
    /// so that this is no other.
    pub const DAMAGED: Self = Self::Bad(0);

    /// Whether the packet is not as it was when it was summed up.
    #[inline(always)]
    pub const fn is_wrong(self) -> bool {
        matches!(self, Self::Bad(_) | Self::BadHeader(_))
    }
}

/// TCP options of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 section 3.7.1), bytes.
    pub mss: Option<u16>,
    /// Window scale shift, as sent: may be over 14 (RFC 7323 section 2.3; the users clamp and report it).
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

#[cfg(test)]
mod tests;
