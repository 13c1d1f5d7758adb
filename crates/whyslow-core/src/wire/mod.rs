//! `wire`: a packet → a TCP segment.
//!
//! Knows link layers, tunnels, IP and TCP headers, and nothing of connections. It promises never to
//! panic, never to trust a length field, and to name the reason for every packet that it does not
//! turn into a segment. It allocates nothing.
//!
//! [`decode`] tries `fast`, for the packets that nearly all captures consist of, and else goes
//! through the layers: `link` (one file a family) → `ethertype`, `llc` → `ip` → `tunnel`, and round
//! again, or → `tcp`. What each hands to the next is a `view`: the captured bytes that are left,
//! and how many there were on the wire.
//!
//! A packet gives one segment: of several in one frame (802.11 aggregates) the first. Fragments are
//! not put together, and what an ICMP error quotes is no segment: what it says of one is the reason
//! why there is none.

mod checksum;
mod checksum_sample;
mod context;
mod ethertype;
mod fast;
mod flow_key;
mod icmp;
mod icmp_error;
mod ip;
mod ip_header;
mod link;
mod llc;
mod plain;
mod segment;
mod skip;
mod tcp;
#[cfg(test)]
mod testing;
mod tunnel;
mod view;

pub use checksum_sample::{ChecksumSample, ChecksumTally};
pub use flow_key::{FlowKey, RawFlowKey};
pub use icmp_error::{Fate, Icmp};
#[cfg(test)]
use link::is_supported;
pub use link::link_type_name;
pub use plain::PlainSegment;
#[cfg(test)]
pub(crate) use segment::Options;
pub use segment::{Checksum, Flags, SackBlocks, Segment};
pub use skip::Skip;

use crate::capture::Packet;
use context::{DecodeContext, Decoded};
use view::View;

/// The TCP segment in a packet, or why there is none.
///
/// Checksums are computed only for segments without payload; see [`decode_verified`].
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(DecodeContext::new(link::inner), packet)
}

/// As [`decode`], and the checksum of every segment that was captured whole is computed, which
/// means reading all of it.
pub fn decode_verified<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(DecodeContext { verify: true, ..DecodeContext::new(link::inner) }, packet)
}

#[inline(always)]
fn decode_with<'a>(context: DecodeContext, packet: &Packet<'a>) -> Decoded<'a> {
    match fast::parse_fast(packet) {
        Some(glance) => glance.decode_with(context),
        None => decode_layers(context, packet),
    }
}

/// A look at a packet that is enough to tell its connection, for nearly every packet of nearly
/// every capture.
///
/// None when the packet is of another kind; [`decode`] must look at it then.
#[inline(always)]
pub fn parse_fast<'a>(packet: &Packet<'a>) -> Option<FastPacket<'a>> {
    fast::parse_fast(packet)
}

pub use fast::FastPacket;

/// Layer after layer.
#[inline(never)]
fn decode_layers<'a>(context: DecodeContext, packet: &Packet<'a>) -> Decoded<'a> {
    link::decode(context, packet.link, View::new(packet.data, packet.original_len as usize))
}

#[cfg(test)]
mod tests;
