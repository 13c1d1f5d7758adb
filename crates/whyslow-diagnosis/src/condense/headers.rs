//! The stored part of a segment's headers.

use whyslow_core::capture::Packet;
use whyslow_core::capture::condensed::headers::{PacketForm, TcpHeaders, TcpOptions};
use whyslow_core::wire::{self, Checksum, Segment};

/// The headers of a [verified](wire::decode_verified) segment; `None` if some of them are unknown.
pub(super) fn of(packet: &Packet<'_>, segment: &Segment<'_>) -> Option<TcpHeaders> {
    let options = &segment.options;
    if options.malformed || segment.tunnels > 15 {
        return None;
    }
    let mut sack = ([(0, 0); 4], 0);
    for (place, (left, right)) in sack.0.iter_mut().zip(options.sack.as_slice()) {
        *place = (left.0, right.0);
        sack.1 += 1;
    }
    Some(TcpHeaders {
        ends: [(segment.src, segment.src_port), (segment.dst, segment.dst_port)],
        seq: segment.seq.0,
        ack: segment.ack.0,
        flags: segment.flags.0,
        window: segment.window,
        payload_len: segment.payload_len,
        captured: u32::try_from(segment.payload.len()).ok()?,
        options: TcpOptions {
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            sack,
            timestamps: options.timestamps,
            fast_open: options.fast_open,
            mptcp: options.mptcp,
            mptcp_join: options.mptcp_join,
        },
        ip_id: segment.ip_id.unwrap_or_default(),
        ttl: segment.ttl,
        ecn: segment.ecn,
        form: form(packet, segment),
    })
}

fn form(packet: &Packet<'_>, segment: &Segment<'_>) -> PacketForm {
    let is_whole = segment.payload.len() == segment.payload_len as usize;
    let (damaged, partial, off_by) = match segment.checksum {
        Checksum::Good => (is_damaged(packet), false, 0),
        Checksum::Unknown => (false, false, 0),
        Checksum::Partial => (false, true, 0),
        Checksum::Bad(by) => (false, false, by),
        Checksum::BadHeader(by) => (true, false, by),
    };
    PacketForm {
        tunnels: segment.tunnels,
        fragment: segment.fragment,
        // For such a packet the end of the checksummed data is unknown.
        lengthless: is_whole && !segment.fragment && segment.checksum == Checksum::Unknown,
        damaged,
        partial,
        off_by: off_by.to_ne_bytes(),
    }
}

/// Whether the IPv4 header of a segment is damaged although its checksum is correct: only a decoder
/// that ignores this checksum finds the segment.
fn is_damaged(packet: &Packet<'_>) -> bool {
    wire::decode(packet).is_ok_and(|segment| matches!(segment.checksum, Checksum::BadHeader(_)))
}
