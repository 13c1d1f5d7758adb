//! The second pass: the packets of one connection, with the verdicts on them.

use super::Point;
use super::numbering::Numbering;
use crate::analysis::{self, End, Frame};
use crate::capture::{Packet, Sink};
use crate::flow::Side;
use crate::tcp::Connection;
use crate::units::Nanos;
use crate::wire::{self, Segment};

/// Which connection to follow.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub(super) id: u64,
    client: (String, u16),
}

impl Wanted {
    /// A connection that an analysis of the same captures has found.
    pub fn new(connection: &analysis::Connection) -> Self {
        Self { id: connection.id, client: (connection.client.address.clone(), connection.client.port) }
    }

    /// The same where it has another number: captures that are read alone number their connections from 1 on.
    #[must_use]
    pub fn numbered(self, id: u64) -> Self {
        Self { id, ..self }
    }

    /// Which side of a connection that begins with this segment is the client.
    fn client(&self, first: &Segment<'_>) -> Side {
        let (address, port) = &self.client;
        // Where a name stands in for the address, the ports tell.
        let is_second = if first.src_port != first.dst_port {
            first.dst_port == *port
        } else {
            first.dst.to_string() == *address && first.src != first.dst
        };
        usize::from(is_second)
    }
}

/// Takes the packets of a capture, or of files that continue each other, once more, and gives the points of one connection.
pub struct Follow<'a> {
    wanted: Wanted,
    numbering: Numbering,
    connection: Option<Box<Connection>>,
    first: Option<Nanos>,
    /// The place of the capture that is read among all; none with one.
    file: Option<u16>,
    give: &'a mut dyn FnMut(Point),
    late: u64,
}

impl std::fmt::Debug for Follow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl<'a> Follow<'a> {
    /// Follows a connection; `give` is called for each of its segments, in the capture's order, with times from the capture's
    /// first packet.
    pub fn new(wanted: Wanted, give: &'a mut dyn FnMut(Point)) -> Self {
        Self { wanted, numbering: Numbering::default(), connection: None, first: None, file: None, give, late: 0 }
    }

    /// The packets that follow come from the capture at this place among all; none: it is the only one.
    pub fn begin_capture(&mut self, file: Option<u16>) {
        self.file = file;
    }

    /// Everything was read: gives the points that waited. Says how many verdicts came when their points had been given.
    pub fn finish(mut self) -> u64 {
        let first = self.first.unwrap_or_default();
        if let Some(mut connection) = self.connection.take() {
            for point in connection.finish_trace() {
                (self.give)(told_from(first, point));
            }
            self.late = connection.late_verdicts();
        }
        self.late
    }
}

impl Sink for Follow<'_> {
    fn packet(&mut self, packet: &Packet<'_>) {
        let first = *self.first.get_or_insert(packet.time);
        let frame = Frame { file: self.file, number: packet.frame };
        let plain = wire::glance(packet).and_then(|glance| self.numbering.of_plain(&glance, packet.time));
        if let Some((id, from, plain)) = plain {
            // It is not the connection's first.
            let Some(connection) = self.connection.as_mut().filter(|_| id == self.wanted.id) else { return };
            connection.push_plain(&plain, from, packet.time, frame.into());
        } else {
            let Ok(segment) = wire::decode(packet) else { return };
            let (id, from) = self.numbering.of(&segment, packet.time);
            if id != self.wanted.id {
                return;
            }
            let wanted = &self.wanted;
            let connection = self.connection.get_or_insert_with(|| {
                let mut connection = Box::new(Connection::new(&segment, packet.time, frame));
                connection.trace(wanted.client(&segment));
                connection
            });
            connection.push(&segment, from, packet.time, frame);
        }
        while let Some(point) = self.connection.as_mut().and_then(|connection| connection.next_point()) {
            (self.give)(told_from(first, point));
        }
    }
}

fn told_from(first: Nanos, point: Point) -> Point {
    let taken = point.taken.map(|(time, in_flight)| (time - first, in_flight));
    Point { time: point.time - first, taken, ..point }
}

impl Point {
    /// Its place among `[client's, server's]`.
    pub fn lane(&self) -> usize {
        match self.from {
            End::Client => 0,
            End::Server => 1,
        }
    }
}
