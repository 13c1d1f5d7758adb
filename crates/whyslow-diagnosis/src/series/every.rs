//! The second pass over all connections: every packet with its verdicts.

use super::Point;
use super::reader::Opening;
use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_analysis::types::Side;
use whyslow_analysis::{Connection as AnalysedConnection, End, Frame};
use whyslow_core::capture::{Packet, Sink};
use whyslow_core::flow::{ConnectionId, Evicted, FlowTable, HashedKey};
use whyslow_core::quic::{QuicReader, Sent, Taken};
use whyslow_core::tcp::Connection;
use whyslow_core::wire::{self, ChecksumSample, Datagram, FlowKey, HashSeed, Icmp, Segment, Skip};
use whyslow_units::Time;

/// After this many packets the points are emitted, except the last ones of the same number, which
/// wait for late verdicts. So at most twice as many wait (110 MB).
const WAITING: usize = 262_144;
/// Maximum number of points in one emitted chunk.
const CHUNK: usize = 4_096;

/// Consecutive points of a connection.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct TracedPoints {
    /// As if the sender of the first packet were the client.
    points: Vec<Point>,
    opening: Opening,
    number: u64,
}

impl TracedPoints {
    /// Index of this chunk, from 0, among those of its connection.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The points of a connection from an analysis of the same captures. Times are absolute: since
    /// the epoch if the capture has a date.
    pub fn of(self, connection: &AnalysedConnection) -> Vec<Point> {
        let mut points = self.points;
        let client = &connection.client;
        if self.opening.side_of(&client.address, client.port) == Side::B {
            for point in &mut points {
                point.from = match point.from {
                    End::Client => End::Server,
                    End::Server => End::Client,
                };
            }
        }
        points
    }
}

/// Reads the packets of a capture, or of consecutive files, a second time, and emits the points of
/// all connections. Memory is bounded by the number of open connections.
pub struct EveryPacketReader<'a> {
    table: FlowTable<Traced>,
    quic: QuicReader,
    /// Number of connections so far.
    opened: u64,
    sample: ChecksumSample,
    /// Packets so far in the current capture.
    seen: u64,
    /// Index of the current capture; `None` with one capture.
    file: Option<u16>,
    /// Number of segments after which points are emitted.
    waiting: usize,
    /// Segments since points were last emitted, and the time of that.
    unswept: usize,
    swept: Time,
    late: u64,
    give: &'a mut dyn FnMut(u64, TracedPoints),
}

struct Traced {
    connection: Box<Connection>,
    opening: Opening,
    /// Number of chunks emitted for it.
    given: u64,
    is_quic: bool,
}

impl Traced {
    fn new(segment: &Segment<'_>, time: Time, frame: Frame) -> Self {
        let mut connection = Box::new(Connection::new(segment, time, frame));
        connection.trace(Side::A, Time(0));
        Self { connection, opening: Opening::of(segment), given: 0, is_quic: false }
    }

    fn give(&mut self, id: ConnectionId, points: &[Point], give: &mut dyn FnMut(u64, TracedPoints)) {
        for points in points.chunks(CHUNK) {
            let mut points = points.to_vec();
            if self.is_quic {
                points.iter_mut().for_each(|point| *point = point.without_encrypted());
            }
            give(id.0 + 1, TracedPoints { points, opening: self.opening, number: self.given });
            self.given += 1;
        }
    }
}

impl std::fmt::Debug for EveryPacketReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EveryPacketReader").field("opened", &self.opened).finish_non_exhaustive()
    }
}

impl<'a> EveryPacketReader<'a> {
    /// Calls `give` with a connection's number, as in an analysis of only these captures, and its
    /// points: those of one connection in the capture's order, connections in any order.
    pub fn new(give: &'a mut dyn FnMut(u64, TracedPoints)) -> Self {
        Self {
            table: FlowTable::default(),
            quic: QuicReader::default(),
            opened: 0,
            sample: ChecksumSample::default(),
            seen: 0,
            file: None,
            waiting: WAITING,
            unswept: 0,
            swept: Time::MIN,
            late: 0,
            give,
        }
    }

    /// Sets the hash seed of the connection table, like
    /// [`Explainer::set_hash_seed`](crate::explain::Explainer::set_hash_seed).
    pub fn set_hash_seed(&mut self, seed: HashSeed) {
        self.table = FlowTable::seeded(seed);
    }

    /// Starts the capture with this index; `None` if it is the only one.
    pub fn begin_capture(&mut self, file: Option<u16>) {
        self.file = file;
        (self.sample, self.seen) = (ChecksumSample::default(), 0);
    }

    /// Ends the pass and emits the remaining points. Returns the number of verdicts that came after
    /// their points had been emitted.
    pub fn finish(mut self) -> u64 {
        let held = self.quic.finish();
        held.iter().for_each(|sent| self.take_sent(sent));
        let open = self.table.drain();
        self.end(open);
        self.late
    }

    /// Ends these connections and emits their points.
    fn end(&mut self, connections: Evicted<Traced>) {
        for mut entry in connections {
            let points: Vec<_> = entry.value.connection.finish_trace().collect();
            self.late += entry.value.connection.late_verdicts();
            entry.value.give(entry.id, &points, self.give);
        }
    }

    fn advance_time(&mut self, time: Time) {
        self.table.advance_time(time);
        self.end_evicted();
    }

    fn end_evicted(&mut self) {
        if self.table.has_evicted() {
            let evicted = self.table.take_evicted();
            self.end(evicted);
        }
    }

    /// Handles a QUIC datagram like the analysis.
    fn take_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram, frame: Frame) {
        let mut reader = std::mem::take(&mut self.quic);
        if let Taken::Known { sent, .. } = reader.take(packet, datagram, frame) {
            sent.for_each(|sent| self.take_sent(&sent));
        }
        self.quic = reader;
    }

    fn take_sent(&mut self, sent: &Sent) {
        let Sent { segment, time, frame, .. } = sent;
        let ends = HashedKey::in_first_shard(sent.flow_key());
        self.table.note_time(*time);
        let routed =
            self.table.route(segment, &ends, ConnectionId(self.opened), || Traced::new(segment, *time, *frame));
        self.opened += u64::from(routed.new);
        routed.value.is_quic = true;
        routed.value.connection.push(segment, routed.from, *time, *frame);
        self.end_evicted();
        self.sweep(*time);
    }

    /// Counts a segment, and emits points after every `waiting` segments.
    fn sweep(&mut self, time: Time) {
        self.unswept += 1;
        if self.unswept < self.waiting {
            return;
        }
        self.unswept = 0;
        let before = std::mem::replace(&mut self.swept, time);
        for entry in self.table.entries_mut() {
            let points = entry.value.connection.points_before(before);
            entry.value.give(entry.id, &points, self.give);
        }
    }

    /// Marks retransmissions of segments that an ICMP error reported as too long, so that they do
    /// not count as losses.
    fn take_error(&mut self, error: &Icmp, time: Time, frame: Frame) {
        if let Some(found) = self.table.find(&error.flow_key().into()) {
            let about = found.from;
            found.value().connection.on_icmp_error(error, about, time, frame);
        }
    }
}

impl Sink for EveryPacketReader<'_> {
    fn packet(&mut self, packet: &Packet<'_>) {
        let (time, frame) = (packet.time, Frame { file: self.file, number: packet.frame });
        self.seen += 1;
        if self.seen <= ChecksumSample::PACKETS
            && let Ok(segment) = wire::decode_verified(packet)
        {
            self.sample.take(&segment);
        }
        if let Some(fast) = wire::parse_fast(packet) {
            self.advance_time(time);
            if let Some(found) = self.table.find(&fast.flow_key().into())
                && let Some(plain) = fast.plain()
            {
                let from = found.from;
                found.on_plain_segment(time).connection.push_plain(&plain, from, time, frame.into());
                return self.sweep(time);
            }
        }
        let segment = match wire::decode(packet) {
            Ok(segment) => segment,
            Err(Skip::Icmp(error)) => return self.take_error(&error, time, frame),
            Err(Skip::Quic(datagram) | Skip::Udp(datagram)) => return self.take_datagram(packet, &datagram, frame),
            Err(_) => return,
        };
        self.advance_time(time);
        let judged = |is_first| Segment { checksum: self.sample.judge(&segment, packet, is_first), ..segment };
        let routed = self.table.route(&segment, &FlowKey::of(&segment).into(), ConnectionId(self.opened), || {
            Traced::new(&judged(true), time, frame)
        });
        self.opened += u64::from(routed.new);
        let segment = judged(routed.new);
        routed.value.connection.push(&segment, routed.from, time, frame);
        self.end_evicted();
        self.sweep(time);
    }
}

#[cfg(test)]
mod tests;
