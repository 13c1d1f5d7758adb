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

mod around;
mod checksum;
mod ends;
mod ethertype;
mod fast;
mod icmp;
mod icmp_error;
mod ip;
mod ip_header;
mod link;
mod llc;
mod plain;
mod segment;
mod skip;
mod sums;
mod tcp;
#[cfg(test)]
mod testing;
mod tunnel;
mod view;

pub use ends::{Ends, Heading};
pub use icmp_error::{Fate, Icmp};
pub use link::{is_supported, link_type_name};
pub use plain::Plain;
pub use segment::{Checksum, Flags, Options, SackBlocks, Segment};
pub use skip::Skip;
pub use sums::{Sample, Sums};

use crate::capture::Packet;
use around::{Around, Decoded};
use view::View;

/// The TCP segment in a packet, or why there is none.
///
/// Checksums are computed only for segments without payload; see [`decode_verified`].
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(Around::new(link::inner), packet)
}

/// As [`decode`], and the checksum of every segment that was captured whole is computed, which means reading all of it.
pub fn decode_verified<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, Skip> {
    decode_with(Around { verify: true, ..Around::new(link::inner) }, packet)
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

#[cfg(test)]
mod tests;
