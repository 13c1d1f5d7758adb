//! `wire`: a packet → a TCP segment.
//!
//! Knows link layers, tunnels, IP and TCP headers, and nothing of connections. It promises never to
//! panic, never to trust a length field, and to name the reason for every packet that it does not
//! turn into a segment. It allocates nothing.
//!
//! [`decode`] goes through the layers: `link` (one file a family) → `ethertype`, `llc` → `ip` →
//! `tunnel`, and round again, or → `tcp`. What each hands to the next is a `view`: the captured
//! bytes that are left, and how many there were on the wire. Ordinary packets, of which nearly all
//! captures consist, are told at a glance by `fast`, which takes them past the layers to `tcp`, or
//! gives their segment as a plain one.
//!
//! A packet gives one segment: of several in one frame (802.11 aggregates) the first. Fragments are
//! not put together, and what an ICMP error quotes is no segment: what it says of one is the reason
//! why there is none.

mod checksum;
mod checksum_sample;
mod context;
mod datagram;
mod ethertype;
mod fast;
mod flow_key;
mod icmp;
mod icmp_error;
mod ip;
mod ip_header;
mod link;
mod llc;
mod quic;
mod segment;
mod skip;
mod tcp;
#[cfg(test)]
mod testing;
mod tunnel;
mod view;

pub use crate::types::Fate;
pub use checksum_sample::{ChecksumSample, ChecksumTally};
pub use datagram::Datagram;
pub use fast::{FastPacket, PlainSegment, parse_fast};
pub use flow_key::{FlowKey, HashSeed, RawFlowKey};
pub use icmp_error::Icmp;
#[cfg(test)]
use link::is_supported;
pub use link::link_type_name;
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
    match parse_fast(packet) {
        Some(glance) => glance.decode(context),
        None => decode_layers(context, packet),
    }
}

/// Layer after layer.
#[inline(never)]
fn decode_layers<'a>(context: DecodeContext, packet: &Packet<'a>) -> Decoded<'a> {
    let context = DecodeContext { base: packet.data.as_ptr().addr(), ..context };
    link::decode(context, packet.link, View::new(packet.data, packet.original_len as usize))
}

#[cfg(test)]
mod tests;
