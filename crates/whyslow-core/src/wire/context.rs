//! The context that outer layers pass to inner ones, and the call of the decoder of an inner
//! packet.
//!
//! Packets nest: a tunnel can contain every kind of packet. To avoid import cycles, a layer does
//! not call the decoder of another layer, but requests the decoding of an inner packet.

use super::segment::Segment;
use super::skip::Skip;
use super::view::View;

/// Result of every layer.
pub(super) type Decoded<'a> = Result<Segment<'a>, Skip>;

/// Decodes a packet inside a packet or frame.
pub(super) type Inner = for<'a> fn(DecodeContext, Inside, View<'a>) -> Decoded<'a>;

/// Kinds of inner packets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// An IP packet of either version.
    Ip,
    /// An Ethernet frame.
    Ethernet,
    /// A PPP packet.
    Ppp,
    /// A frame that begins with its LLC header.
    Llc,
    /// A label stack.
    Mpls,
    /// A packet with this EtherType.
    EtherType(u16),
    /// A packet with the header of a link type.
    Link(u16),
}

/// The context that outer layers pass to inner ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodeContext {
    /// Whether to compute the checksum in any case.
    pub verify: bool,
    /// Number of outer IP headers.
    pub tunnels: u8,
    /// An outer packet is a fragment: the lengths inside may exceed its end.
    pub fragment: bool,
    /// Number of outer packets and frames, to stop at packets that are crafted to nest endlessly.
    pub depth: u8,
    /// Address of the packet in memory, to compute the offset of a datagram in it.
    pub base: usize,
    /// Decodes an inner packet.
    pub inner: Inner,
}

impl DecodeContext {
    /// More than any network nests, and few enough for the stack.
    pub const MAX_DEPTH: u8 = 16;

    /// The context of the outermost packet; `inner` decodes packets inside others.
    pub const fn new(inner: Inner) -> Self {
        Self { verify: false, tunnels: 0, fragment: false, depth: 0, base: 0, inner }
    }

    /// The context inside one more packet or frame.
    pub fn deeper(self) -> Result<Self, Skip> {
        if self.depth == Self::MAX_DEPTH {
            return Err(Skip::Malformed("more than 16 packets within one another"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    /// Decodes an inner packet.
    pub fn decode(self, inside: Inside, view: View<'_>) -> Decoded<'_> {
        (self.inner)(self, inside, view)
    }
}
