//! [`PacketDetail`]: the header fields of one packet that graphs do not include.

use serde::Serialize;
use whyslow_core::capture::Packet;
use whyslow_core::wire::{self, Checksum};

/// A packet's headers.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct PacketDetail {
    /// Bytes on the wire.
    pub bytes: u32,
    /// Captured bytes.
    pub captured: usize,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// IPv4 identification.
    pub ip_id: Option<u16>,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
    /// `right`, `wrong`, `left to the network card` or `unknown`.
    pub checksum: &'static str,
    /// The window field, not scaled.
    pub window_field: u16,
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale shift.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// TCP Fast Open.
    pub fast_open: bool,
    /// Multipath TCP.
    pub mptcp: bool,
}

impl PacketDetail {
    /// The details of a packet, if it is a TCP segment.
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
