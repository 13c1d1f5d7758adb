//! A SYN is the same packet wherever it was captured.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use whyslow_core::capture::Packet;
use whyslow_core::wire::{self, Flags};

/// Returns a hash by which a SYN is recognised in another capture; `None` for other packets.
///
/// A SYN that is retransmitted has another IP identification or TSval, so that only the same packet
/// has the same hash. The addresses go in only where a packet has neither, for they may be
/// translated on the way.
pub fn syn_hash(packet: &Packet<'_>) -> Option<u64> {
    let segment = wire::decode(packet).ok().filter(|segment| segment.flags.has(Flags::SYN))?;
    let timestamps = segment.options.timestamps;
    let id = segment.ip_id.filter(|id| *id != 0 && timestamps.is_none());
    let ends = (segment.src, segment.src_port, segment.dst, segment.dst_port);
    let ends = Some(ends).filter(|_| timestamps.is_none() && id.is_none());
    let numbers = (segment.seq.0, segment.ack.0, segment.flags.0, timestamps, id);
    Some(BuildHasherDefault::<DefaultHasher>::default().hash_one((ends, numbers)))
}
