//! What the layers outside tell those inside, and how a layer has others read what lies within it.
//!
//! Packets nest: a tunnel carries what any link may carry. So a layer does not call those that may
//! call it, but asks for what is inside.

use super::segment::Segment;
use super::skip::Skip;
use super::view::View;

/// What every layer gives back.
pub(super) type Decoded<'a> = Result<Segment<'a>, Skip>;

/// Reads what lies within a packet or frame.
pub(super) type Inner = for<'a> fn(DecodeContext, Inside, View<'a>) -> Decoded<'a>;

/// What may lie within a packet or frame.
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
    /// A packet of which the EtherType is known.
    EtherType(u16),
    /// A packet with the header of a link type.
    Link(u16),
}

/// What the layers outside tell those inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodeContext {
    /// Whether the checksum is to be computed whatever it costs.
    pub verify: bool,
    /// IP headers outside.
    pub tunnels: u8,
    /// A packet outside is a fragment: the lengths inside may well go beyond its end.
    pub fragment: bool,
    /// Packets and frames around this one, counted to end a packet that was made to nest without
    /// end.
    pub depth: u8,
    /// Where the packet begins in memory, from which a datagram's place in it follows.
    pub base: usize,
    /// Reads what lies inside.
    pub inner: Inner,
}

impl DecodeContext {
    /// Far more than any network nests, and far less than the stack bears.
    pub const MAX_DEPTH: u8 = 16;

    /// Around the outermost packet; `inner` reads what lies within others.
    pub const fn new(inner: Inner) -> Self {
        Self { verify: false, tunnels: 0, fragment: false, depth: 0, base: 0, inner }
    }

    /// For what lies within one more packet or frame.
    pub fn deeper(self) -> Result<Self, Skip> {
        if self.depth == Self::MAX_DEPTH {
            return Err(Skip::Malformed("more than 16 packets within one another"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    /// Reads what lies inside.
    pub fn decode(self, inside: Inside, view: View<'_>) -> Decoded<'_> {
        (self.inner)(self, inside, view)
    }
}
