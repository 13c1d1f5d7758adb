//! Datagrams of QUIC, which go their way to a connection as segments.

use super::Explainer;
use super::open_connection::OpenConnection;
use whyslow_analysis::types::Frame;
use whyslow_core::capture::Packet;
use whyslow_core::flow::HashedKey;
use whyslow_core::quic::{Known, QuicReader, Sent, Taken};
use whyslow_core::wire::Datagram;

impl Explainer {
    /// Processes a datagram. Returns whether it belongs to a known QUIC connection. The first
    /// explainer follows all QUIC connections, because only connection ids identify them; the
    /// others count the packet as its work.
    #[inline(never)]
    pub(super) fn on_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram) -> bool {
        self.owners.count(0);
        if !self.owners.is_first() {
            return false;
        }
        let frame = self.frame(packet);
        let mut reader = std::mem::take(&mut self.quic);
        let is_known = match reader.take(packet, datagram, frame) {
            Taken::Unknown => false,
            Taken::Known { sent, known } => {
                sent.for_each(|sent| self.on_quic(sent, Some(&known)));
                true
            }
        };
        self.quic = reader;
        is_known
    }

    /// Processes the remaining packets.
    pub(super) fn finish_quic(&mut self) {
        let held = QuicReader::finish(&mut self.quic);
        held.into_iter().for_each(|sent| self.on_quic(sent, None));
    }

    fn on_quic(&mut self, sent: Sent, known: Option<&Known<'_>>) {
        let ends = HashedKey::in_first_shard(sent.flow_key());
        let Sent { segment, time, frame, from, streams } = &sent;
        if self.captures.is_empty() {
            return;
        }
        let capture = self.captures.len() - 1;
        let id = self.id(Frame { file: self.file, number: frame.number });
        let begin = || OpenConnection::new(capture, segment, *time, *frame);
        let lookup = self.lookup_before(segment, *time);
        self.table.note_time(*time);
        let routed = self.table.route(segment, &ends, id, begin);
        if routed.new && self.leaving.is_none() {
            self.openings.push(id);
            self.quic_openings.push(id);
        }
        let is_new = routed.new;
        let connection = routed.value.tcp();
        if is_new && let Some(lookup) = lookup {
            connection.note_lookup(lookup);
        }
        if let Some(Known { facts, name, opened, decryption, loops }) = known {
            connection.note_quic(facts, *name, *opened, decryption.as_ref());
            connection.bound_loops(*loops, *from, routed.from);
        }
        if !streams.is_empty() {
            connection.read_streams(streams, *from, routed.from);
        }
        connection.push(segment, routed.from, *time, *frame);
        self.close_evicted(*time);
    }
}

#[cfg(test)]
mod tests;
