//! The fast path of packets that [parse fast](wire::parse_fast), which nearly all do: a plain
//! segment goes straight to its connection, found by its raw key if a recent packet had the same.
//! Its effect on the connection equals that of [`on_segment`](Explainer::on_segment).

use super::Explainer;
use super::open_connection::OpenConnection;
use whyslow_analysis::Frame;
use whyslow_core::capture::Packet;
use whyslow_core::dns;
use whyslow_core::flow::{CacheLookup, FoundFlow, HashedKey};
use whyslow_core::wire::{self, FastPacket, PlainSegment};

impl Explainer {
    #[inline(always)]
    pub(super) fn on_fast_packet(&mut self, packet: &Packet<'_>, glance: &FastPacket<'_>) {
        self.advance_time(packet.time);
        if glance.has_port(dns::PORT) {
            self.on_dns_over_tcp(packet);
        }
        let frame = self.frame(packet);
        match self.table.lookup_cached(&glance.raw_flow_key()) {
            CacheLookup::Here(shard, found) => {
                self.owners.count(shard);
                match glance.plain() {
                    Some(plain) => {
                        self.segments += 1;
                        on_plain_segment(found, &plain, packet, frame);
                    }
                    None => self.on_other_segment(packet, &glance.flow_key().into()),
                }
            }
            CacheLookup::OtherTable(shard) => self.owners.count(shard),
            CacheLookup::Unknown => self.on_uncached_packet(packet, glance),
        }
    }

    /// Like [`on_fast_packet`](Self::on_fast_packet), if no recent packet had its raw key.
    #[inline(never)]
    fn on_uncached_packet(&mut self, packet: &Packet<'_>, glance: &FastPacket<'_>) {
        let (raw_key, ends) = (glance.raw_flow_key(), HashedKey::from(glance.flow_key()));
        let frame = self.frame(packet);
        if !self.owners.owns(ends.hash) {
            self.table.cache_as_other_tables(&raw_key, ends.hash);
        } else if let Some(found) = self.table.find_and_cache(&raw_key, &ends)
            && let Some(plain) = glance.plain()
        {
            self.segments += 1;
            on_plain_segment(found, &plain, packet, frame);
        } else {
            self.on_other_segment(packet, &ends);
        }
    }

    /// Processes a segment that is not plain, or the first of its connection.
    #[inline(never)]
    fn on_other_segment(&mut self, packet: &Packet<'_>, ends: &HashedKey) {
        match wire::decode(packet) {
            Ok(segment) => self.on_segment(packet, &segment, ends),
            Err(skip) => self.skip(skip, packet.frame),
        }
    }
}

#[inline(always)]
fn on_plain_segment(found: FoundFlow<'_, OpenConnection>, plain: &PlainSegment<'_>, packet: &Packet<'_>, frame: Frame) {
    let from = found.from;
    found.on_plain_segment(packet.time).tcp().push_plain(plain, from, packet.time, frame.into());
}
