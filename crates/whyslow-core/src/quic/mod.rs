//! `quic`: from datagrams to what the ends of a QUIC connection did, in the same form as TCP's.
//!
//! Without keys a connection shows who sends when and how much, and the handshake's first packets,
//! which anybody can open. From these the stage makes the [`Segment`]s that TCP would have sent for
//! the same: the handshake, the bytes of each datagram, and what each end can have had when it
//! answered. All later stages take them as they take TCP's. What is lost, sent again or held by a
//! window does not show in them, and causes that rest on these are left out.
//!
//! The state of a connection is small, and that of all of them bounded.

mod connection;
mod frames;
mod header;
mod hello;
mod keyed;
mod ledger;
mod opened;
mod protection;
mod sent;

use crate::capture::Packet;
use crate::tls::KeyRing;
use crate::types::Frame;
use crate::units::{Nanos, Time};
use crate::wire::Datagram;
use connection::QuicConnection;
use header::{Kind, Long};
use sent::Endpoint;
pub use sent::{Known, Sent};
use std::collections::HashMap;

/// Most connections that are followed at the same time; of more the ones that were silent for
/// longest are let go.
const MAX_CONNECTIONS: usize = 4096;

/// What is sent to a connection after a longer silence is of another one: the longest idle timeout
/// in use is 10 minutes (Chrome's and quic-go's are 30 s).
const SILENCE: Nanos = Nanos::from_millis(600_000);

/// A client fills up the datagrams of its Initial packets to this (RFC 9000 section 14.1).
const LEAST_INITIAL: u32 = 1_200;

/// Follows all QUIC connections of a capture.
#[derive(Debug, Default)]
pub struct QuicReader {
    by_ends: HashMap<[Endpoint; 2], usize>,
    /// By the connection ids that the ends chose in the handshake.
    by_id: HashMap<Vec<u8>, usize>,
    /// The lengths of these, one bit each.
    id_lengths: u32,
    connections: Vec<QuicConnection>,
    keys: Option<KeyRing>,
}

/// What came of a datagram.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Taken<'a> {
    /// It is of no QUIC connection that is known.
    Unknown,
    /// It is of this connection, and did so much.
    Known {
        /// What it did.
        sent: std::vec::Drain<'a, Sent>,
        /// What is known of the connection.
        known: Known<'a>,
    },
}

impl QuicReader {
    /// Opens packets as far as these secrets let it.
    pub fn set_keys(&mut self, keys: KeyRing) {
        self.keys = Some(keys);
    }

    /// Takes a datagram of a packet.
    pub fn take(&mut self, packet: &Packet<'_>, datagram: &Datagram, frame: Frame) -> Taken<'_> {
        if datagram.is_cut() {
            return Taken::Unknown;
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
            // It moved to another path.
            self.by_ends.insert(in_order(datagram), index);
        }
        let (sent, known) = connection.taken();
        Taken::Known { sent, known }
    }

    /// What was held back of all connections until it was clear what it is.
    pub fn finish(&mut self) -> Vec<Sent> {
        self.connections.iter_mut().flat_map(QuicConnection::finish).collect()
    }

    fn find(&self, datagram: &Datagram, payload: &[u8], time: Time) -> Option<usize> {
        let by_ends = self.by_ends.get(&in_order(datagram)).copied();
        if let Some(index) = by_ends {
            return self.connections.get(index).filter(|one| time - one.last < SILENCE).map(|_| index);
        }
        let id = payload.get(1..)?;
        // A short header, which begins with the receiver's id.
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

    /// Lets a half of the connections go, and numbers the others anew.
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

/// Shorter ids are often the same by chance.
const MIN_ID: usize = 4;

fn in_order(datagram: &Datagram) -> [Endpoint; 2] {
    let (from, to) = (datagram.from, datagram.to);
    if from <= to { [from, to] } else { [to, from] }
}

#[cfg(test)]
mod tests;
