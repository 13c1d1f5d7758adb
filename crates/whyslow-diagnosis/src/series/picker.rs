//! [`PacketPicker`]: the raw packets of one connection, for a slice of the capture.

use super::WantedConnection;
use super::numbering::ConnectionNumbering;
use whyslow_analysis::types::Frame;
use whyslow_core::capture::{Packet, Sink};
use whyslow_core::quic::{QuicReader, Taken};
use whyslow_core::wire::{self, Datagram, Skip};
use whyslow_units::{Nanos, Time};

/// Reads the packets of a capture a second time, and emits the unchanged packets of one connection
/// in a time range.
pub struct PacketPicker<'a> {
    wanted: WantedConnection,
    /// Times since the capture's first packet.
    range: (Nanos, Nanos),
    numbering: ConnectionNumbering,
    quic: QuicReader,
    first: Option<Time>,
    give: &'a mut dyn FnMut(&Packet<'_>),
}

impl std::fmt::Debug for PacketPicker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pick").field("wanted", &self.wanted).field("range", &self.range).finish_non_exhaustive()
    }
}

impl<'a> PacketPicker<'a> {
    /// Calls `give` for each packet of the connection from `range.0` to `range.1`, in the capture's
    /// order.
    pub fn new(wanted: WantedConnection, range: (Nanos, Nanos), give: &'a mut dyn FnMut(&Packet<'_>)) -> Self {
        Self {
            wanted,
            range,
            numbering: ConnectionNumbering::default(),
            quic: QuicReader::default(),
            first: None,
            give,
        }
    }

    /// The connection of a datagram; nothing else is tracked.
    fn of_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram) -> Option<u64> {
        let frame = Frame { file: None, number: packet.frame };
        match self.quic.take(packet, datagram, frame) {
            Taken::Unknown => None,
            Taken::Known { sent, .. } => sent.map(|one| self.numbering.of_quic(&one).0).last(),
        }
    }
}

impl Sink for PacketPicker<'_> {
    fn packet(&mut self, packet: &Packet<'_>) {
        let first = *self.first.get_or_insert(packet.time);
        let plain = wire::parse_fast(packet).and_then(|fast| self.numbering.of_plain(&fast, packet.time));
        let id = match plain {
            Some((id, ..)) => id,
            None => match wire::decode(packet) {
                Ok(segment) => self.numbering.of(&segment, packet.time).0,
                Err(Skip::Quic(datagram) | Skip::Udp(datagram)) => match self.of_datagram(packet, &datagram) {
                    Some(id) => id,
                    None => return,
                },
                Err(_) => return,
            },
        };
        let time = packet.time - first;
        if id == self.wanted.id && time >= self.range.0 && time <= self.range.1 {
            (self.give)(packet);
        }
    }
}
