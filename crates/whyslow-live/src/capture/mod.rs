//! [`Recorder`]: records the packets of this process' own connections.
//!
//! A packet socket with a filter on their ports (packet(7)); it needs CAP_NET_RAW. A connection is
//! expected before it connects, so that its SYN is there. Packets are kept from the IP header on,
//! with the kernel's times, as pcapng or pcap, and written as they come.

#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod others;

#[cfg(target_os = "linux")]
pub use linux::{Recorder, RecorderSocket};
#[cfg(not(target_os = "linux"))]
pub use others::{Recorder, RecorderSocket};

/// Maximum bytes of a packet: a packet merged by a device is longer than those on the wire.
pub const WHOLE: u32 = 0x4_0000;

/// How packets are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// draft-ietf-opsawg-pcapng.
    Pcapng,
    /// draft-ietf-opsawg-pcap, with nanoseconds.
    Pcap,
}

/// Counts of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Packets.
    pub packets: u64,
    /// Packets that the kernel had no room for: not in the recording.
    pub dropped: u64,
}
