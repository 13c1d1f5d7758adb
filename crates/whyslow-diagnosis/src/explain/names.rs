//! Lookups of names: each explainer reads all of them, whatever connections it follows.

use super::Explainer;
use whyslow_core::capture::Packet;
use whyslow_core::dns::{LookupFacts, MessagePlace};
use whyslow_core::wire::{self, Datagram, Flags, Segment};
use whyslow_units::Time;

impl Explainer {
    /// Reads a message over UDP.
    #[inline(never)]
    pub(super) fn on_dns(&mut self, packet: &Packet<'_>, datagram: &Datagram) {
        let Datagram { from, to, .. } = *datagram;
        let place = MessagePlace { from, to, time: packet.time, frame: self.frame(packet) };
        self.lookups.observe(datagram.payload(packet), &place);
    }

    /// Reads a message over TCP.
    #[inline(never)]
    pub(super) fn on_dns_segment(&mut self, packet: &Packet<'_>, segment: &Segment<'_>) {
        let (from, to) = ((segment.src, segment.src_port), (segment.dst, segment.dst_port));
        let place = MessagePlace { from, to, time: packet.time, frame: self.frame(packet) };
        self.lookups.observe_segment(segment.payload, &place);
    }

    /// The same for a packet that is not decoded yet.
    #[cold]
    pub(super) fn on_dns_over_tcp(&mut self, packet: &Packet<'_>) {
        if let Ok(segment) = wire::decode(packet) {
            self.on_dns_segment(packet, &segment);
        }
    }

    /// The lookup that a connection which this segment may open waited for.
    #[inline]
    pub(super) fn lookup_before(&self, segment: &Segment<'_>, time: Time) -> Option<LookupFacts> {
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if !opens || self.lookups.is_empty() { None } else { self.lookups.before(segment.src, segment.dst, time) }
    }
}
