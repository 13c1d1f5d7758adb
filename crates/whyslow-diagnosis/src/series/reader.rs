//! The second pass: the packets of the requested connections with their verdicts.

use super::Point;
use super::numbering::ConnectionNumbering;
use borsh::{BorshDeserialize, BorshSerialize};
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Connection as AnalysedConnection, Direction, Frame};
use whyslow_core::capture::{Packet, Sink};
use whyslow_core::quic::{QuicReader, Sent, Taken};
use whyslow_core::tcp::Connection;
use whyslow_core::tcp::trace::MAX_PENDING_POINTS;
use whyslow_core::wire::{self, ChecksumSample, Datagram, Icmp, Segment, Skip};
use whyslow_units::Time;

/// A requested connection.
#[derive(Clone, Debug)]
pub struct WantedConnection {
    pub(super) id: u64,
    client: (String, u16),
    /// Maximum number of points that may wait for late verdicts, if several connections are
    /// requested.
    waiting: usize,
}

impl WantedConnection {
    /// Requests a connection from an analysis of the same captures.
    pub fn new(connection: &AnalysedConnection) -> Self {
        let client = (connection.client.address.clone(), connection.client.port);
        Self { id: connection.id, client, waiting: waiting(connection) }
    }

    /// Changes its number: captures that are read alone number their connections from 1.
    #[must_use]
    pub fn numbered(self, id: u64) -> Self {
        Self { id, ..self }
    }

    /// The client side of a connection that begins with this segment.
    fn client(&self, first: &Segment<'_>) -> Side {
        Opening::of(first).side_of(&self.client.0, self.client.1)
    }
}

/// The ends in a connection's first packet: the sender, which is [`Side::A`], and the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Opening([(IpAddr, u16); 2]);

impl Opening {
    pub(super) fn of(first: &Segment<'_>) -> Self {
        Self([(first.src, first.src_port), (first.dst, first.dst_port)])
    }

    /// The side with this address, or name, and port.
    pub(super) fn side_of(&self, address: &str, port: u16) -> Side {
        let [first, second] = self.0;
        // If a name replaces the address, the ports decide.
        let is_second =
            if first.1 == second.1 { second.0.to_string() == address && first.0 != second.0 } else { second.1 == port };
        if is_second { Side::B } else { Side::A }
    }
}

/// Minimum number of points that wait for late verdicts.
const MIN_PENDING_POINTS: usize = 512;

/// A verdict comes at most a round trip after its segment, or two for a spurious retransmission:
/// returns the number of segments in that time, in both directions.
fn waiting(connection: &AnalysedConnection) -> usize {
    let in_flight = |one: &Direction| one.max_in_flight / (one.bytes / one.packets.max(1)).max(1);
    let most = connection.directions.iter().map(in_flight).max().unwrap_or(0);
    usize::try_from(most.saturating_mul(4)).unwrap_or(usize::MAX).clamp(MIN_PENDING_POINTS, MAX_PENDING_POINTS)
}

/// Reads the packets of a capture, or of consecutive files, a second time, and emits the points of
/// the requested connections.
pub struct SeriesReader<'a> {
    /// Sorted by id.
    followed: Vec<Followed>,
    numbering: ConnectionNumbering,
    quic: QuicReader,
    first: Option<Time>,
    /// The first packets of the current capture, and the number of packets in all.
    sample: ChecksumSample,
    seen: u64,
    /// Index of the current capture; `None` with one capture.
    file: Option<u16>,
    give: &'a mut dyn FnMut(usize, Point),
}

/// A requested connection.
struct Followed {
    wanted: WantedConnection,
    /// Its index among the requested connections.
    place: usize,
    connection: Option<Box<Connection>>,
    is_quic: bool,
}

impl std::fmt::Debug for SeriesReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow").field("connections", &self.followed.len()).finish_non_exhaustive()
    }
}

impl<'a> SeriesReader<'a> {
    /// Follows these connections. Calls `give` for each segment with its connection's index:
    /// segments of one connection in the capture's order, with times since the capture's first
    /// packet.
    pub fn new(wanted: Vec<WantedConnection>, give: &'a mut dyn FnMut(usize, Point)) -> Self {
        let is_alone = wanted.len() == 1;
        let follow = |(place, wanted): (usize, WantedConnection)| {
            let waiting = if is_alone { MAX_PENDING_POINTS } else { wanted.waiting };
            Followed { wanted: WantedConnection { waiting, ..wanted }, place, connection: None, is_quic: false }
        };
        let mut followed: Vec<_> = wanted.into_iter().enumerate().map(follow).collect();
        followed.sort_by_key(|one| one.wanted.id);
        Self {
            followed,
            numbering: ConnectionNumbering::default(),
            quic: QuicReader::default(),
            first: None,
            sample: ChecksumSample::default(),
            seen: 0,
            file: None,
            give,
        }
    }

    /// Measures times from `first` instead, because the packets passed to this reader do not
    /// include the capture's first packet.
    #[must_use]
    pub fn counting_from(self, first: Time) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Starts the capture with this index; `None` if it is the only one.
    pub fn begin_capture(&mut self, file: Option<u16>) {
        self.file = file;
        (self.sample, self.seen) = (ChecksumSample::default(), 0);
    }

    /// Ends the pass and emits the remaining points. Returns the number of verdicts that came after
    /// their points had been emitted.
    pub fn finish(mut self) -> u64 {
        let (held, first) = (self.quic.finish(), self.first.unwrap_or(Time::ZERO));
        held.iter().for_each(|sent| self.take_sent(sent, first));
        let mut late = 0;
        for Followed { place, connection, is_quic, .. } in self.followed {
            let Some(mut connection) = connection else { continue };
            for point in connection.finish_trace() {
                (self.give)(place, if is_quic { point.without_encrypted() } else { point });
            }
            late += connection.late_verdicts();
        }
        late
    }
}

/// The requested connection with this id, if any.
fn find(followed: &mut [Followed], id: u64) -> Option<&mut Followed> {
    let at = followed.binary_search_by_key(&id, |one| one.wanted.id).ok()?;
    followed.get_mut(at)
}

impl SeriesReader<'_> {
    /// Handles a QUIC datagram like the analysis.
    fn take_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram, first: Time) {
        let frame = Frame { file: self.file, number: packet.frame };
        let mut reader = std::mem::take(&mut self.quic);
        if let Taken::Known { sent, .. } = reader.take(packet, datagram, frame) {
            sent.for_each(|sent| self.take_sent(&sent, first));
        }
        self.quic = reader;
    }

    fn take_sent(&mut self, sent: &Sent, first: Time) {
        let (id, from) = self.numbering.of_quic(sent);
        let Some(Followed { wanted, place, connection, is_quic }) = find(&mut self.followed, id) else { return };
        *is_quic = true;
        let connection = connection.get_or_insert_with(|| {
            let mut connection = Box::new(Connection::new(&sent.segment, sent.time, sent.frame));
            connection.trace(wanted.client(&sent.segment), first);
            connection
        });
        connection.push(&sent.segment, from, sent.time, sent.frame);
        while let Some(point) = connection.next_point(wanted.waiting) {
            (self.give)(*place, point.without_encrypted());
        }
    }

    /// Marks retransmissions of segments that an ICMP error reported as too long, so that they do
    /// not count as losses.
    fn take_error(&mut self, error: &Icmp, time: Time, frame: Frame) {
        if let Some((id, about)) = self.numbering.of_error(error)
            && let Some(connection) = find(&mut self.followed, id).and_then(|one| one.connection.as_mut())
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
        let plain = wire::parse_fast(packet).and_then(|fast| self.numbering.of_plain(&fast, packet.time));
        let (place, waiting, connection) = if let Some((id, from, plain)) = plain {
            let Some(one) = find(&mut self.followed, id) else { return };
            // The error is not the connection's first packet.
            let Some(connection) = &mut one.connection else { return };
            connection.push_plain(&plain, from, packet.time, frame.into());
            (one.place, one.wanted.waiting, connection)
        } else {
            let segment = match wire::decode(packet) {
                Ok(segment) => segment,
                Err(Skip::Quic(datagram) | Skip::Udp(datagram)) => return self.take_datagram(packet, &datagram, first),
                Err(Skip::Icmp(error)) => return self.take_error(&error, packet.time, frame),
                Err(_) => return,
            };
            let (id, from) = self.numbering.of(&segment, packet.time);
            let Some(Followed { wanted, place, connection, .. }) = find(&mut self.followed, id) else { return };
            let checksum = self.sample.judge(&segment, packet, connection.is_none());
            let segment = Segment { checksum, ..segment };
            let connection = connection.get_or_insert_with(|| {
                let mut connection = Box::new(Connection::new(&segment, packet.time, frame));
                connection.trace(wanted.client(&segment), first);
                connection
            });
            connection.push(&segment, from, packet.time, frame);
            (*place, wanted.waiting, connection)
        };
        while let Some(point) = connection.next_point(waiting) {
            (self.give)(place, point);
        }
    }
}
