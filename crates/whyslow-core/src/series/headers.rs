//! [`PacketHeaders`]: what the headers of one packet say beyond what a [`Point`](super::Point)
//! holds of it.

use crate::capture::Packet;
use crate::wire::{self, Checksum};
use serde::Serialize;

/// The headers of a TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PacketHeaders {
    /// Bytes on the wire.
    pub bytes: u32,
    /// Bytes in the capture.
    pub captured: usize,
    /// Hops that were left when it passed the capture point.
    pub ttl: u8,
    /// The IP identification; none with IPv6.
    pub ip_id: Option<u16>,
    /// The ECN bits of the IP header (RFC 3168).
    pub ecn: u8,
    /// Whether the TCP checksum is right, in words.
    pub checksum: &'static str,
    /// The window as it stands in the header, not scaled.
    pub window_field: u16,
    /// The MSS option, bytes.
    pub mss: Option<u16>,
    /// The window scale option (RFC 7323), a shift.
    pub window_scale: Option<u8>,
    /// The SACK-permitted option (RFC 2018).
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// TCP Fast Open (RFC 7413).
    pub fast_open: bool,
    /// Multipath TCP (RFC 8684).
    pub mptcp: bool,
}

impl PacketHeaders {
    /// Reads the headers of a packet; none if it holds no TCP segment.
    pub fn of(packet: &Packet<'_>) -> Option<Self> {
        let segment = wire::decode_verified(packet).ok()?;
        let options = segment.options;
        Some(Self {
            bytes: packet.original_len,
            captured: packet.data.len(),
            ttl: segment.ttl,
            ip_id: segment.ip_id,
            ecn: segment.ecn,
            checksum: match segment.checksum {
                Checksum::Good => "right",
                Checksum::Bad(_) | Checksum::BadHeader(_) => "wrong",
                Checksum::Partial => "left to the network card",
                Checksum::Unknown => "unknown",
            },
            window_field: segment.window,
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            timestamps: options.timestamps,
            fast_open: options.fast_open,
            mptcp: options.mptcp,
        })
    }
}
