//! The second pass: the packets of one connection, with the verdicts on them.

use super::Point;
use super::numbering::ConnectionNumbering;
use crate::analysis::{self, End, Frame};
use crate::capture::{Packet, Sink};
use crate::tcp::Connection;
use crate::types::Side;
use crate::units::Nanos;
use crate::wire::{self, ChecksumSample, Icmp, Segment, Skip};

/// Which connection to follow.
#[derive(Clone, Debug)]
pub struct WantedConnection {
    pub(super) id: u64,
    client: (String, u16),
}

impl WantedConnection {
    /// A connection that an analysis of the same captures has found.
    pub fn new(connection: &analysis::Connection) -> Self {
        Self { id: connection.id, client: (connection.client.address.clone(), connection.client.port) }
    }

    /// The same where it has another number: captures that are read alone number their connections
    /// from 1 on.
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
        if is_second { Side::B } else { Side::A }
    }
}

/// Takes the packets of a capture, or of files that continue each other, once more, and gives the
/// points of one connection.
pub struct SeriesReader<'a> {
    wanted: WantedConnection,
    numbering: ConnectionNumbering,
    connection: Option<Box<Connection>>,
    first: Option<Nanos>,
    /// The first packets of the capture that is read, and how many of all there were.
    sample: ChecksumSample,
    seen: u64,
    /// The place of the capture that is read among all; none with one.
    file: Option<u16>,
    give: &'a mut dyn FnMut(Point),
    late: u64,
}

impl std::fmt::Debug for SeriesReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl<'a> SeriesReader<'a> {
    /// Follows a connection; `give` is called for each of its segments, in the capture's order,
    /// with times from the capture's first packet.
    pub fn new(wanted: WantedConnection, give: &'a mut dyn FnMut(Point)) -> Self {
        Self {
            wanted,
            numbering: ConnectionNumbering::default(),
            connection: None,
            first: None,
            sample: ChecksumSample::default(),
            seen: 0,
            file: None,
            give,
            late: 0,
        }
    }

    /// The packets that follow come from the capture at this place among all; none: it is the only
    /// one.
    pub fn begin_capture(&mut self, file: Option<u16>) {
        self.file = file;
        (self.sample, self.seen) = (ChecksumSample::default(), 0);
    }

    /// Everything was read: gives the points that waited. Says how many verdicts came when their
    /// points had been given.
    pub fn finish(mut self) -> u64 {
        let first = self.first.unwrap_or_default();
        if let Some(mut connection) = self.connection.take() {
            for point in connection.finish_trace() {
                (self.give)(relative_to(first, point));
            }
            self.late = connection.late_verdicts();
        }
        self.late
    }
}

impl SeriesReader<'_> {
    /// What was too long for the path is sent again for that, and not for a loss.
    fn take_error(&mut self, error: &Icmp, time: Nanos, frame: Frame) {
        if let Some((id, about)) = self.numbering.of_error(error)
            && id == self.wanted.id
            && let Some(connection) = &mut self.connection
        {
            connection.on_icmp_error(error, about, time, frame);
        }
    }
}

impl Sink for SeriesReader<'_> {
    fn packet(&mut self, packet: &Packet<'_>) {
        let first = *self.first.get_or_insert(packet.time);
        let frame = Frame { file: self.file, number: packet.frame };
        self.seen += 1;
        if self.seen <= ChecksumSample::PACKETS
            && let Ok(segment) = wire::decode_verified(packet)
        {
            self.sample.take(&segment);
        }
        let plain = wire::parse_fast(packet).and_then(|glance| self.numbering.of_plain(&glance, packet.time));
        if let Some((id, from, plain)) = plain {
            // It is not the connection's first.
            let Some(connection) = self.connection.as_mut().filter(|_| id == self.wanted.id) else { return };
            connection.push_plain(&plain, from, packet.time, frame.into());
        } else {
            let segment = match wire::decode(packet) {
                Ok(segment) => segment,
                Err(Skip::Icmp(error)) => return self.take_error(&error, packet.time, frame),
                Err(_) => return,
            };
            let (id, from) = self.numbering.of(&segment, packet.time);
            if id != self.wanted.id {
                return;
            }
            let checksum = self.sample.judge(&segment, packet, self.connection.is_none());
            let segment = Segment { checksum, ..segment };
            let wanted = &self.wanted;
            let connection = self.connection.get_or_insert_with(|| {
                let mut connection = Box::new(Connection::new(&segment, packet.time, frame));
                connection.trace(wanted.client(&segment));
                connection
            });
            connection.push(&segment, from, packet.time, frame);
        }
        while let Some(point) = self.connection.as_mut().and_then(|connection| connection.next_point()) {
            (self.give)(relative_to(first, point));
        }
    }
}

fn relative_to(first: Nanos, point: Point) -> Point {
    let taken = point.applied.map(|(time, in_flight)| (time - first, in_flight));
    Point { time: point.time - first, applied: taken, ..point }
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
