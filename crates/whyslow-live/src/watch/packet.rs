//! A packet as the ring hands it out.

/// LINKTYPE_ETHERNET.
pub const ETHERNET: u16 = 1;
/// LINKTYPE_LINUX_SLL2: what stands in place of the link layer's header where devices of any kind
/// are watched.
pub const LINUX_SLL2: u16 = 276;
/// LINKTYPE_RAW: packets that begin with an IP header.
pub(crate) const RAW: u16 = 101;

/// A packet, as long as its block is held.
#[derive(Clone, Copy, Debug)]
pub struct RingPacket<'a> {
    /// When the kernel saw it, nanoseconds since the epoch.
    pub time_ns: u64,
    /// The link type of `bytes`: [`ETHERNET`] or [`LINUX_SLL2`].
    pub link_type: u16,
    /// Index of the interface.
    pub interface: u32,
    /// Bytes that the packet had, with its link layer's header. A merged one (GRO, TSO) is longer
    /// than those on the wire.
    pub length: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Bytes of payload in each segment of a merged packet, if the kernel reports it
    /// (`virtio_net_hdr.gso_size`).
    pub segment_size: Option<u16>,
    /// Whether this machine sent it.
    pub outgoing: bool,
}
