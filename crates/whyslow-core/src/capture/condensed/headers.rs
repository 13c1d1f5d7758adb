//! The stored fields of a TCP packet's headers: those that later stages read.

use std::net::IpAddr;

/// An ordinary TCP packet without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpHeaders {
    /// Address and port of sender and receiver, in the same IP version.
    pub(crate) ends: [(IpAddr, u16); 2],
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Header flags, with the accurate-ECN bit.
    pub(crate) flags: u16,
    pub(crate) window: u16,
    /// Payload bytes on the wire.
    pub(crate) payload_len: u32,
    /// Captured payload bytes.
    pub(crate) captured: u32,
    pub(crate) options: TcpOptions,
    /// IPv4 identification; 0 for IPv6.
    pub(crate) ip_id: u16,
    pub(crate) ttl: u8,
    pub(crate) ecn: u8,
    pub(crate) form: PacketForm,
}

/// The options that later stages read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpOptions {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// SACK blocks, left and right edge, and the number of valid ones.
    pub(crate) sack: ([(u32, u32); 4], u8),
    /// TSval and TSecr.
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) fast_open: bool,
    pub(crate) mptcp: bool,
    pub(crate) mptcp_join: bool,
}

impl TcpOptions {
    pub(crate) fn sack_blocks(&self) -> &[(u32, u32)] {
        self.sack.0.get(..usize::from(self.sack.1)).unwrap_or_default()
    }

    /// Whether there are no options except timestamps.
    pub(super) fn only_timestamps(&self) -> bool {
        *self == Self { timestamps: self.timestamps, ..Self::default() }
    }
}

/// The outer headers, and the state of the checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketForm {
    /// Number of outer IP headers, at most 15.
    pub(crate) tunnels: u8,
    /// First fragment of an IPv4 datagram.
    pub(crate) fragment: bool,
    /// The IP header leaves the length to the network card.
    pub(crate) lengthless: bool,
    /// The IPv4 header's checksum is wrong.
    pub(crate) damaged: bool,
    /// The TCP checksum is only that of the pseudo-header, or missing.
    pub(crate) partial: bool,
    /// Difference of the TCP checksum: a one's complement sum of 16 bits, in memory order.
    pub(crate) off_by: [u8; 2],
}

impl PacketForm {
    /// Whether neither checksum is known to be wrong.
    pub(crate) fn has_right_sums(&self) -> bool {
        !self.damaged && !self.partial && self.off_by == [0; 2]
    }
}
