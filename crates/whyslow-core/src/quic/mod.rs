//! `quic`: converts datagrams of a QUIC connection to the same facts as for TCP.
//!
//! Without keys a connection shows the times and sizes of datagrams, and the handshake's first
//! packets, whose keys are public. From these the stage derives equivalent TCP [`Segment`]s: the
//! handshake, the bytes of each datagram, and the bytes that each end can have received when it
//! responded. All later stages use them like TCP's. They do not show losses, retransmissions or
//! flow control, so causes that need these are left out.
//!
//! The state of a connection is small, and the total is bounded.

mod connection;
mod frames;
mod header;
mod hello;
mod keyed;
mod ledger;
mod logged;
mod opened;
mod protection;
#[cfg(feature = "unstable")]
pub mod sealing;
mod sent;
#[cfg(feature = "unstable")]
mod unprotected;

use crate::capture::Packet;
use crate::capture::qlog::record;
use crate::tls::KeyRing;
use crate::wire::Datagram;
use connection::QuicConnection;
use header::{Kind, LEAST_INITIAL, Long};
use sent::Endpoint;
pub use sent::{Known, Sent};
use std::collections::HashMap;
#[cfg(feature = "unstable")]
pub use unprotected::read_frames;
use whyslow_analysis::types::Frame;
use whyslow_units::{Nanos, Time};

/// Maximum number of simultaneous connections; beyond it, those with the longest silence are
/// dropped.
const MAX_CONNECTIONS: usize = 4096;

/// A datagram after a longer silence belongs to another connection: the longest idle timeout in use
/// is 10 minutes (Chrome's and quic-go's are 30 s).
const SILENCE: Nanos = Nanos::from_millis(600_000);

/// Tracks all QUIC connections of a capture.
#[derive(Debug, Default)]
pub struct QuicReader {
    by_ends: HashMap<[Endpoint; 2], usize>,
    /// By the connection IDs that the ends chose in the handshake.
    by_id: HashMap<Vec<u8>, usize>,
    /// Bit set of the lengths of these IDs.
    id_lengths: u32,
    connections: Vec<QuicConnection>,
    keys: Option<KeyRing>,
}

/// Result of processing a datagram.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Taken<'a> {
    /// It belongs to no known QUIC connection.
    Unknown,
    /// It belongs to this connection.
    Known {
        /// The derived segments.
        sent: std::vec::Drain<'a, Sent>,
        /// The facts of the connection.
        known: Known<'a>,
    },
}

impl QuicReader {
    /// Number of connection IDs that it remembers.
    #[cfg(feature = "unstable")]
    pub fn connection_ids(&self) -> usize {
        self.by_id.len()
    }

    /// Decrypts packets with these secrets.
    pub fn set_keys(&mut self, keys: KeyRing) {
        self.keys = Some(keys);
    }

    /// Processes a datagram of a packet.
    pub fn take(&mut self, packet: &Packet<'_>, datagram: &Datagram, frame: Frame) -> Taken<'_> {
        if datagram.is_cut() {
            return Taken::Unknown;
        }
        if packet.link == record::LINK {
            return self.take_record(packet, datagram, frame);
        }
        let payload = datagram.payload(packet);
        let long = Long::split(payload).map(|(long, _)| long);
        let opens = long.as_ref().filter(|long| long.kind == Kind::Initial && datagram.wire >= LEAST_INITIAL);
        if self.connections.is_empty() && opens.is_none() {
            return Taken::Unknown;
        }
        let known = self.find(datagram, payload, packet.time);
        let index = match known {
            Some(index) => index,
            None => match opens.and_then(|long| QuicConnection::open(long, datagram, packet.time)) {
                Some(connection) => self.insert(connection),
                None => return Taken::Unknown,
            },
        };
        let Some(connection) = self.connections.get_mut(index) else { return Taken::Unknown };
        let from = connection.take(payload, datagram, (packet.time, frame), self.keys.as_ref());
        while let Some(id) = connection.take_id() {
            if id.len() >= MIN_ID && !self.by_id.contains_key(&id) && connection.may_have_more_names() {
                self.id_lengths |= 1 << id.len().min(31);
                self.by_id.insert(id, index);
            }
        }
        if let Some(id) = from.filter(|id| id.len() >= MIN_ID && !self.by_id.contains_key(id))
            && connection.may_have_more_names()
        {
            self.id_lengths |= 1 << id.len();
            self.by_id.insert(id, index);
        }
        if known.is_some() && !self.by_ends.contains_key(&in_order(datagram)) && connection.may_have_more_names() {
            // The connection migrated to another path.
            self.by_ends.insert(in_order(datagram), index);
        }
        let (sent, known) = connection.taken();
        Taken::Known { sent, known }
    }

    /// Handles an event of a qlog.
    fn take_record(&mut self, packet: &Packet<'_>, datagram: &Datagram, frame: Frame) -> Taken<'_> {
        let Some(event) = record::Record::read(datagram.payload(packet)) else { return Taken::Unknown };
        let index = match self.by_ends.get(&in_order(datagram)) {
            Some(&index) => index,
            None => self.insert(QuicConnection::logged(datagram, packet.time)),
        };
        let Some(connection) = self.connections.get_mut(index) else { return Taken::Unknown };
        connection.take_record(&event, datagram, (packet.time, frame));
        let (sent, known) = connection.taken();
        Taken::Known { sent, known }
    }

    /// Returns the held segments of all connections at the end of the capture.
    pub fn finish(&mut self) -> Vec<Sent> {
        self.connections.iter_mut().flat_map(QuicConnection::finish).collect()
    }

    fn find(&self, datagram: &Datagram, payload: &[u8], time: Time) -> Option<usize> {
        let by_ends = self.by_ends.get(&in_order(datagram)).copied();
        if let Some(index) = by_ends {
            return self.connections.get(index).filter(|one| time - one.last < SILENCE).map(|_| index);
        }
        let id = payload.get(1..)?;
        // A short header, which begins with the receiver's connection ID.
        if payload.first()? & 0x80 != 0 {
            return None;
        }
        let lengths = (MIN_ID..=20).filter(|&length| self.id_lengths >> length & 1 == 1);
        lengths.filter_map(|length| self.by_id.get(id.get(..length)?)).copied().next()
    }

    fn insert(&mut self, connection: QuicConnection) -> usize {
        if self.connections.len() >= MAX_CONNECTIONS {
            self.forget_oldest();
        }
        let index = self.connections.len();
        self.by_ends.insert(connection.key(), index);
        self.connections.push(connection);
        index
    }

    /// Drops half of the connections, and renumbers the others.
    #[cold]
    fn forget_oldest(&mut self) {
        let mut times: Vec<Time> = self.connections.iter().map(|one| one.last).collect();
        let (_, &mut middle, _) = times.select_nth_unstable(MAX_CONNECTIONS / 2);
        let mut places = Vec::with_capacity(self.connections.len());
        let mut next = 0;
        for one in &self.connections {
            places.push((one.last > middle).then_some(next));
            next += usize::from(one.last > middle);
        }
        self.connections.retain(|one| one.last > middle);
        let place = |index: &mut usize| match places.get(*index) {
            Some(Some(new)) => {
                *index = *new;
                true
            }
            _ => false,
        };
        self.by_ends.retain(|_, index| place(index));
        self.by_id.retain(|_, index| place(index));
    }
}

/// Shorter IDs are often equal by chance.
const MIN_ID: usize = 4;

fn in_order(datagram: &Datagram) -> [Endpoint; 2] {
    let (from, to) = (datagram.from, datagram.to);
    if from <= to { [from, to] } else { [to, from] }
}
