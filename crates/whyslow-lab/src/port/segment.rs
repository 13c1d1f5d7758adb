//! Super-packets: what a stack hands to a device with segmentation offload.
//!
//! A super-packet is one frame with up to 64 KB of TCP payload and the MSS to cut it by. A link
//! decides on each segment, so the super-packet is first cut into ranges, and into frames only when
//! they leave. Neighbours that leave together may leave as one super-packet again.

use std::ops::Range;

use super::Outgoing;
use super::frame::{self, ETHERNET, Layout};
use super::ring::VNET_HEADER;
use crate::log::Meta;

const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// Fields of `struct virtio_net_hdr` (linux/virtio_net.h), in this machine's byte order.
mod virtio {
    pub(super) const NEEDS_CSUM: u8 = 1;
    pub(super) const GSO_TCPV4: u8 = 1;
    /// Or-ed to the type when CWR belongs to the first segment only.
    pub(super) const GSO_ECN: u8 = 0x80;
}

fn u16_of(header: &[u8; VNET_HEADER], at: usize) -> usize {
    header.get(at..at + 2).and_then(|pair| pair.try_into().ok()).map_or(0, |pair| usize::from(u16::from_ne_bytes(pair)))
}

/// A frame that a port received, with all that was left to a device known.
#[derive(Debug)]
pub(crate) struct SuperPacket {
    /// The frame.
    pub(crate) bytes: Vec<u8>,
    layout: Layout,
    segment: usize,
}

impl SuperPacket {
    /// Takes a super-packet, or returns a frame that needs no cutting.
    pub(crate) fn new(bytes: Vec<u8>, layout: Layout, offload: &[u8; VNET_HEADER]) -> Result<Self, Vec<u8>> {
        let segment = u16_of(offload, 4);
        let is_large = offload[1] & !virtio::GSO_ECN == virtio::GSO_TCPV4 && segment > 0;
        if is_large && layout.is_tcp { Ok(Self { bytes, layout, segment }) } else { Err(bytes) }
    }

    /// How many segments it has.
    pub(crate) fn segments(&self) -> usize {
        self.layout.payload.len().div_ceil(self.segment).max(1)
    }

    /// The payload of the segments in `which`.
    fn payload(&self, which: &Range<usize>) -> Range<usize> {
        let Range { start, end } = self.layout.payload;
        let at = |n: usize| (start + n * self.segment).min(end);
        at(which.start)..at(which.end)
    }

    fn flags(&self, which: &Range<usize>) -> u8 {
        let mut flags = self.layout.meta.flags;
        if which.end < self.segments() {
            flags &= !FIN_AND_PSH;
        }
        if which.start > 0 {
            flags &= !CWR;
        }
        flags
    }

    /// A segment's data for the log.
    pub(crate) fn meta(&self, which: usize) -> Meta {
        let payload = self.payload(&(which..which + 1));
        let header = self.layout.payload.start;
        Meta {
            wire_bytes: (header + payload.len()) as u32,
            ip_bytes: (header - ETHERNET + payload.len()) as u32,
            payload_bytes: payload.len() as u32,
            seq: self.layout.meta.seq.wrapping_add((payload.start - header) as u32),
            flags: self.flags(&(which..which + 1)),
            ..self.layout.meta
        }
    }

    /// Writes neighbouring segments as one frame to `out`: complete when it is one segment, else a
    /// super-packet.
    pub(crate) fn write(&self, which: Range<usize>, out: &mut Outgoing) {
        let payload = self.payload(&which);
        let header = self.layout.payload.start;
        out.bytes.clear();
        out.bytes.extend_from_slice(self.bytes.get(..header).unwrap_or_default());
        out.bytes.extend_from_slice(self.bytes.get(payload.clone()).unwrap_or_default());
        out.offload = [0; VNET_HEADER];
        let transport = self.layout.transport;
        let ip_bytes = (out.bytes.len() - ETHERNET) as u16;
        let identification =
            self.bytes.get(ETHERNET + 4..ETHERNET + 6).map_or(0, |id| u16::from_be_bytes([id[0], id[1]]));
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = out.bytes.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(ETHERNET + 2, &ip_bytes.to_be_bytes());
        put(ETHERNET + 4, &identification.wrapping_add(which.start as u16).to_be_bytes());
        put(transport + 4, &self.layout.meta.seq.wrapping_add((payload.start - header) as u32).to_be_bytes());
        put(transport + 13, &[self.flags(&which)]);
        frame::update_ip_checksum(&mut out.bytes);
        let layout = Layout { payload: header..out.bytes.len(), ..self.layout.clone() };
        if which.len() == 1 {
            frame::update_tcp_checksum(&mut out.bytes, &layout);
        } else {
            frame::put_pseudo_checksum(&mut out.bytes, &layout);
            out.offload = self.offload(&which);
        }
    }

    fn offload(&self, which: &Range<usize>) -> [u8; VNET_HEADER] {
        let has_cwr = self.flags(which) & CWR != 0;
        let kind = virtio::GSO_TCPV4 | if has_cwr { virtio::GSO_ECN } else { 0 };
        let [a, b] = (self.layout.payload.start as u16).to_ne_bytes();
        let [c, d] = (self.segment as u16).to_ne_bytes();
        let [e, f] = (self.layout.transport as u16).to_ne_bytes();
        let [g, h] = 16_u16.to_ne_bytes();
        [virtio::NEEDS_CSUM, kind, a, b, c, d, e, f, g, h]
    }
}

/// Fills in the checksum that the stack left to the device, for a frame that is not a super-packet.
pub(crate) fn complete(bytes: &mut [u8], offload: &[u8; VNET_HEADER]) {
    if offload[0] & virtio::NEEDS_CSUM != 0 {
        let start = u16_of(offload, 6);
        frame::complete_checksum(bytes, start, start + u16_of(offload, 8));
    }
}

#[cfg(test)]
mod tests;
