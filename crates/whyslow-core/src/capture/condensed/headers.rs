//! The stored fields of a TCP packet's headers: those that later stages read.

use std::net::IpAddr;

/// An ordinary TCP packet without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeaders {
    /// Address and port of sender and receiver, in the same IP version.
    pub ends: [(IpAddr, u16); 2],
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number; 0 without ACK.
    pub ack: u32,
    /// Header flags, with the accurate-ECN bit.
    pub flags: u16,
    /// Window field, not scaled.
    pub window: u16,
    /// Payload bytes on the wire.
    pub payload_len: u32,
    /// Captured payload bytes.
    pub captured: u32,
    /// Its options.
    pub options: TcpOptions,
    /// IPv4 identification; 0 for IPv6.
    pub ip_id: u16,
    /// TTL or hop limit.
    pub ttl: u8,
    /// ECN field of the IP header, 0–3.
    pub ecn: u8,
    /// Outer headers and checksums.
    pub form: PacketForm,
}

/// The options that later stages read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale, a shift.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// SACK blocks, left and right edge, and the number of valid ones.
    pub sack: ([(u32, u32); 4], u8),
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// TCP Fast Open (RFC 7413).
    pub fast_open: bool,
    /// Multipath TCP (RFC 8684).
    pub mptcp: bool,
    /// Joins a connection of Multipath TCP (`MP_JOIN`).
    pub mptcp_join: bool,
}

impl TcpOptions {
    /// The valid SACK blocks, left and right edge.
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        self.sack.0.get(..usize::from(self.sack.1)).unwrap_or_default()
    }

    /// Whether there are no options except timestamps.
    pub(super) fn only_timestamps(&self) -> bool {
        *self == Self { timestamps: self.timestamps, ..Self::default() }
    }
}

/// The outer headers, and the state of the checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketForm {
    /// Number of outer IP headers, at most 15.
    pub tunnels: u8,
    /// First fragment of an IPv4 datagram.
    pub fragment: bool,
    /// The IP header leaves the length to the network card.
    pub lengthless: bool,
    /// The IPv4 header's checksum is wrong.
    pub damaged: bool,
    /// The TCP checksum is only that of the pseudo-header, or missing.
    pub partial: bool,
    /// Difference of the TCP checksum: a one's complement sum of 16 bits, in memory order.
    pub off_by: [u8; 2],
}

impl PacketForm {
    /// Whether neither checksum is known to be wrong.
    pub fn has_right_sums(&self) -> bool {
        !self.damaged && !self.partial && self.off_by == [0; 2]
    }
}
