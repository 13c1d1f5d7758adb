//! `wire`: decodes a packet to a TCP segment.
//!
//! Handles link layers, tunnels, IP and TCP headers, but not connections. It never panics, never
//! trusts a length field, and gives the reason for every packet that is not a segment. It does not
//! allocate.
//!
//! [`decode`] goes through the layers: `link` (one file per family) → `ethertype`, `llc` → `ip` →
//! `tunnel` and back to these, or → `tcp`. Layers pass on a `view`: the remaining captured bytes,
//! and their number on the wire. `fast` recognises the most common packets. It skips the layers
//! before `tcp`, or returns a plain segment.
//!
//! A packet gives at most one segment: the first one if a frame has several (802.11 aggregates).
//! Fragments are not reassembled. The segment that an ICMP error quotes is not decoded as a
//! segment: the error is the reason why there is none.

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

pub use checksum_sample::{ChecksumSample, ChecksumTally};
pub use datagram::Datagram;
pub use fast::{FastPacket, PlainSegment, parse_fast};
pub use flow_key::{FlowKey, HashSeed, RawFlowKey};
pub use icmp_error::Icmp;
#[cfg(test)]
use link::is_supported;
pub use link::link_type_name;
pub use segment::Options;
pub use segment::{Checksum, Flags, SackBlocks, Segment};
pub use skip::Skip;
pub use whyslow_analysis::types::Fate;

use crate::capture::Packet;
use context::{DecodeContext, Decoded};
use view::View;

/// Returns the TCP segment in a packet, or the reason why there is none.
///
/// Checksums are computed only for segments without payload; see [`decode_verified`].
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(DecodeContext::new(link::inner), packet)
}

/// Like [`decode`], but verifies the checksum of every completely captured segment, which reads all
/// of it.
pub fn decode_verified<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(DecodeContext { verify: true, ..DecodeContext::new(link::inner) }, packet)
}

#[inline(always)]
fn decode_with<'a>(context: DecodeContext, packet: &Packet<'a>) -> Decoded<'a> {
    match parse_fast(packet) {
        Some(fast) => fast.decode(context),
        None => decode_layers(context, packet),
    }
}

/// Decodes layer by layer.
#[inline(never)]
fn decode_layers<'a>(context: DecodeContext, packet: &Packet<'a>) -> Decoded<'a> {
    let context = DecodeContext { base: packet.data.as_ptr().addr(), ..context };
    link::decode(context, packet.link, View::new(packet.data, packet.original_len as usize))
}

#[cfg(test)]
mod tests;
