//! Packets of a block of the ring (`tpacket3_hdr`).

use super::duplicates::Duplicates;
use super::map::Taken;
use crate::watch::counts::RingCounts;
use crate::watch::packet::{ETHERNET, LINUX_SLL2, RingPacket};

/// Behind `tpacket3_hdr`, aligned: `sockaddr_ll`.
const ADDRESS: usize = 48;
/// `virtio_net_hdr`.
const VNET: usize = 10;
/// `VIRTIO_NET_HDR_GSO_NONE`.
const NO_GSO: u8 = 0;
/// The header of [`LINUX_SLL2`].
const SLL2: usize = 20;
/// Both addresses of an Ethernet header, and the tag behind them.
const ADDRESSES: usize = 12;
const TAG: usize = 4;

/// How the socket shows packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// Ethernet's header, and `virtio_net_hdr` before it if the kernel gives one.
    Ethernet { vnet: bool },
    /// Packets begin with the network layer.
    Cooked,
}

impl Header {
    /// The link type of packets that are handed out.
    pub(super) fn link_type(self) -> u16 {
        match self {
            Self::Ethernet { .. } => ETHERNET,
            Self::Cooked => LINUX_SLL2,
        }
    }
}

/// Packets that the kernel has filled a block with. Dropped, it is the kernel's again.
#[derive(Debug)]
pub struct Block<'a> {
    pub(super) taken: Taken<'a>,
    pub(super) header: Header,
    pub(super) counts: &'a mut RingCounts,
    pub(super) duplicates: Option<&'a mut Duplicates>,
}

impl Block<'_> {
    /// Its packets, in the order they came. What another device has already shown is left out.
    ///
    /// Each packet is counted once: a second call gives none.
    pub fn packets(&mut self) -> Packets<'_> {
        let block = self.taken.bytes();
        let packets = u32_at(block, 12).unwrap_or(0);
        let first = u32_at(block, 16).map_or(block.len(), |at| at as usize).min(block.len());
        // A second walk would find headers that the first one has written.
        block[12..16].fill(0);
        let rest = &mut block[first..];
        let duplicates = self.duplicates.as_deref_mut();
        Packets { rest, left: packets, header: self.header, counts: self.counts, duplicates }
    }
}

/// Iterator over the packets of a [`Block`].
#[derive(Debug)]
pub struct Packets<'a> {
    rest: &'a mut [u8],
    left: u32,
    header: Header,
    counts: &'a mut RingCounts,
    duplicates: Option<&'a mut Duplicates>,
}

impl<'a> Iterator for Packets<'a> {
    type Item = RingPacket<'a>;

    fn next(&mut self) -> Option<RingPacket<'a>> {
        while self.left > 0 {
            self.left -= 1;
            let rest = std::mem::take(&mut self.rest);
            let next = match u32_at(rest, 0)? as usize {
                0 => rest.len(),
                next => next.min(rest.len()),
            };
            let (this, rest) = rest.split_at_mut(next);
            self.rest = rest;
            let Some(packet) = packet(this, self.header) else { continue };
            if self.duplicates.as_mut().is_some_and(|duplicates| duplicates.is_duplicate(&packet)) {
                self.counts.duplicates += 1;
                continue;
            }
            self.counts.packets += 1;
            self.counts.cut += u64::from((packet.bytes.len() as u64) < u64::from(packet.length));
            return Some(packet);
        }
        None
    }
}

/// The packet behind a `tpacket3_hdr`. What the kernel took from its link layer is put back, before
/// the packet, where the ring has room.
fn packet(space: &mut [u8], header: Header) -> Option<RingPacket<'_>> {
    let time_ns = u64::from(u32_at(space, 4)?) * 1_000_000_000 + u64::from(u32_at(space, 8)?);
    let kept = u32_at(space, 12)? as usize;
    let length = u32_at(space, 16)?;
    let status = u32_at(space, 20)?;
    let start = usize::from(u16_at(space, 24)?);
    space.get(start..start + kept)?;
    let interface = u32_at(space, ADDRESS + 4)?;
    let outgoing = *space.get(ADDRESS + 10)? == libc::PACKET_OUTGOING;
    let mut segment_size = None;
    let added = match header {
        Header::Ethernet { vnet } => {
            if vnet {
                segment_size = gso_size(space.get(start.checked_sub(VNET)?..start)?);
            }
            if status & libc::TP_STATUS_VLAN_VALID != 0 && kept >= ADDRESSES {
                put_tag_back(space, start, status)?
            } else {
                0
            }
        }
        Header::Cooked => write_cooked_header(space, start)?,
    };
    let bytes = space.get(start - added..start + kept)?;
    let length = length.saturating_add(added as u32);
    let link_type = header.link_type();
    Some(RingPacket { time_ns, link_type, interface, length, bytes, segment_size, outgoing })
}

/// Reads `virtio_net_hdr`: flags, kind, the header's length, the segments' size.
fn gso_size(vnet: &[u8]) -> Option<u16> {
    let size = u16_at(vnet, 4)?;
    (vnet[1] != NO_GSO && size > 0).then_some(size)
}

/// The VLAN tag stands in the ring's header; in the packet it stood behind the addresses.
fn put_tag_back(space: &mut [u8], start: usize, status: u32) -> Option<usize> {
    let tci = u32_at(space, 32)? as u16;
    let known = status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let protocol = if known { u16_at(space, 36)? } else { libc::ETH_P_8021Q as u16 };
    let begin = start.checked_sub(TAG)?;
    space.copy_within(start..start + ADDRESSES, begin);
    let tag = space.get_mut(begin + ADDRESSES..begin + ADDRESSES + TAG)?;
    tag[..2].copy_from_slice(&protocol.to_be_bytes());
    tag[2..].copy_from_slice(&tci.to_be_bytes());
    Some(TAG)
}

/// Writes what LINKTYPE_LINUX_SLL2 begins with, from the packet's `sockaddr_ll`.
fn write_cooked_header(space: &mut [u8], start: usize) -> Option<usize> {
    let address: [u8; SLL2] = *space.get(ADDRESS..)?.first_chunk()?;
    let protocol = if begins_with_tag(&address, &space[start..]) {
        (libc::ETH_P_8021Q as u16).to_be_bytes()
    } else {
        // In the network's order there as here.
        [address[2], address[3]]
    };
    let header = space.get_mut(start.checked_sub(SLL2)?..start)?;
    let interface = u32_at(&address, 4)?;
    let hardware = u16_at(&address, 8)?;
    header[..2].copy_from_slice(&protocol);
    header[2..4].fill(0);
    header[4..8].copy_from_slice(&interface.to_be_bytes());
    header[8..10].copy_from_slice(&hardware.to_be_bytes());
    // The packet's type, the length of the hardware's address and the address.
    header[10..].copy_from_slice(&address[10..]);
    Some(SLL2)
}

/// For a packet with a VLAN tag, newer kernels give the protocol behind the tag, and the packet
/// from the tag's own type on: its first bytes are not an IP header of the version that the
/// protocol names.
fn begins_with_tag(address: &[u8; SLL2], packet: &[u8]) -> bool {
    let version = match address[2..4] {
        [0x08, 0x00] => 4,
        [0x86, 0xdd] => 6,
        _ => return false,
    };
    packet.first().is_some_and(|first| first >> 4 != version)
        && matches!(packet.get(2..4), Some([0x08, 0x00] | [0x86, 0xdd] | [0x81, 0x00] | [0x88, 0xa8] | [0x91, 0x00]))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests;
