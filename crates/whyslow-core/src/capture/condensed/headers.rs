//! What is held of a TCP packet's headers: every field that a later stage reads, and no byte more.

use std::net::IpAddr;

/// An ordinary TCP packet, its payload aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpHeaders {
    /// The sender's address and port, and the receiver's; of one IP version.
    pub(crate) ends: [(IpAddr, u16); 2],
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// As in the header, with the accurate-ECN bit.
    pub(crate) flags: u16,
    pub(crate) window: u16,
    /// Payload bytes on the wire.
    pub(crate) payload_len: u32,
    /// Payload bytes that were captured.
    pub(crate) captured: u32,
    pub(crate) options: TcpOptions,
    /// IPv4 identification; 0 for IPv6.
    pub(crate) ip_id: u16,
    pub(crate) ttl: u8,
    pub(crate) ecn: u8,
    pub(crate) form: PacketForm,
}

/// The options that a later stage reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpOptions {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// Blocks of SACK, left and right edge; so many of them count.
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

    /// Whether there is none but timestamps.
    pub(super) fn only_timestamps(&self) -> bool {
        *self == Self { timestamps: self.timestamps, ..Self::default() }
    }
}

/// What surrounds the segment, and what its checksums say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketForm {
    /// IP headers around the innermost one: 15 at most.
    pub(crate) tunnels: u8,
    /// First fragment of an IPv4 datagram.
    pub(crate) fragment: bool,
    /// The IP header leaves the length to the network card.
    pub(crate) lengthless: bool,
    /// The IPv4 header's checksum is wrong.
    pub(crate) damaged: bool,
    /// The TCP checksum is the pseudo-header's alone, or none.
    pub(crate) partial: bool,
    /// By so much the TCP checksum is off: a one's complement sum of 16 bits, as its two bytes
    /// stand in memory.
    pub(crate) off_by: [u8; 2],
}

impl PacketForm {
    /// Whether neither checksum is known to be wrong.
    pub(crate) fn has_right_sums(&self) -> bool {
        !self.damaged && !self.partial && self.off_by == [0; 2]
    }
}
