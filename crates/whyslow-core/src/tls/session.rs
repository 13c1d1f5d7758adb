//! [`Session`]: decrypts both directions of a TLS connection.

use super::cipher::Version;
use super::direction::{Content, Direction, HANDSHAKE, KeyState, Keys, RecordPlace};
use super::handshake::Message;
use super::key_log::Random;
use super::key_ring::KeyRing;
use whyslow_analysis::types::{DecryptedDirection, Decryption, End, Frame, Side, Undecrypted};
use whyslow_units::Time;

/// A decrypted record.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    /// The sender.
    pub from: Side,
    /// Relative sequence number of its first byte.
    pub start: u64,
    /// Relative sequence number after its last byte.
    pub end: u64,
    /// Capture times of its first byte and of its last.
    pub first: Time,
    /// See `first`.
    pub last: Time,
    /// Application plaintext; `None` for TLS messages after the handshake.
    pub data: Option<&'a [u8]>,
}

/// Receives decrypted records in capture order.
pub trait PlaintextSink {
    /// Called for each record.
    fn opened(&mut self, record: &Opened<'_>);
}

/// A connection whose secrets may be known.
#[derive(Clone, Debug)]
pub struct Session {
    ring: KeyRing,
    /// By side, once its first record was seen.
    directions: [Option<Box<Direction>>; 2],
    client: Option<Side>,
    hellos: Hellos,
}

/// The parameters in both hellos.
#[derive(Clone, Copy, Debug, Default)]
struct Hellos {
    client: Option<Random>,
    /// Random number, version and cipher suite.
    server: Option<(Random, u16, u16)>,
}

impl Hellos {
    fn keys(&self, ring: &KeyRing, frame: Frame) -> KeyState {
        let (Some(client_random), Some((server_random, version, number))) = (self.client, self.server) else {
            return KeyState::NoHello;
        };
        let Some(suite) = Message::readable(version, number) else {
            // 0x0303 and 0x0304 are TLS 1.2 and 1.3.
            let is_old = !matches!(version, 0x0303 | 0x0304);
            let why = if is_old { Undecrypted::UnsupportedVersion } else { Undecrypted::UnsupportedCipher };
            return KeyState::Unreadable(why);
        };
        let version = if Message::is_tls13(version) { Version::Tls13 } else { Version::Tls12 };
        match ring.find(&client_random, frame) {
            Some(secrets) => KeyState::Known(Box::new(Keys { suite, version, secrets, client_random, server_random })),
            None if ring.may_grow() => KeyState::NoSecret,
            None => KeyState::Unreadable(Undecrypted::NoKeys),
        }
    }
}

/// A segment's payload.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The sender.
    pub from: Side,
    /// Relative sequence number of its first byte.
    pub start: u64,
    /// Captured bytes.
    pub bytes: &'a [u8],
    /// Length on the wire, bytes.
    pub len: u64,
    /// Capture time.
    pub time: Time,
    /// Frame number.
    pub frame: Frame,
}

impl Session {
    /// Creates a session that takes its secrets from this ring.
    pub fn new(ring: KeyRing) -> Self {
        Self { ring, directions: [None, None], client: None, hellos: Hellos::default() }
    }

    /// Whether a hello was found.
    pub fn has_begun(&self) -> bool {
        self.directions.iter().any(Option::is_some)
    }

    /// Adds a segment's payload, in any order.
    pub fn push(&mut self, sent: &Sent<'_>, sink: &mut impl PlaintextSink) {
        let Sent { from, start, bytes, len, .. } = *sent;
        if self.directions[from].is_none() && !opens(bytes) {
            return;
        }
        let direction = self.directions[from].get_or_insert_default();
        if direction.stopped.is_some() {
            return;
        }
        if direction.bytes.push(start, bytes).is_err() {
            let missing = if direction.bytes.has_hole() { Undecrypted::BytesMissing } else { Undecrypted::NoKeys };
            direction.stop(missing);
        }
        self.advance(sent, sink);
        let direction = self.directions[from].get_or_insert_default();
        if (bytes.len() as u64) < len && direction.bytes.next() <= start.saturating_add(bytes.len() as u64) {
            direction.stop(Undecrypted::PacketsCut);
        }
    }

    /// Decrypts the available records, the sender's before the other side's.
    fn advance(&mut self, sent: &Sent<'_>, sink: &mut impl PlaintextSink) {
        self.advance_side(sent.from, sent, sink);
        let other = !sent.from;
        if self.directions[other].as_ref().is_some_and(|direction| direction.waits()) {
            self.advance_side(other, sent, sink);
        }
    }

    fn advance_side(&mut self, side: Side, sent: &Sent<'_>, sink: &mut impl PlaintextSink) {
        let Self { ring, directions, client, hellos } = self;
        let Some(direction) = &mut directions[side] else { return };
        let mut offers_early_data = false;
        // A record of hellos changes the keys only for later records.
        let known = std::cell::Cell::new(*hellos);
        let keys = || known.get().keys(ring, sent.frame);
        let role = usize::from(client.is_some_and(|client| client != side));
        direction.advance(role, sent.time, &keys, |place, content| {
            let data = match content {
                Content::Hello(message) => {
                    let mut now = known.get();
                    match message {
                        Message::ClientHello { random, early_data } => {
                            *client = Some(side);
                            now.client = Some(random);
                            offers_early_data = early_data;
                        }
                        Message::ServerHello { random, version, suite } => {
                            client.get_or_insert(!side);
                            now.server = Some((random, version, suite));
                        }
                        _ => {}
                    }
                    known.set(now);
                    return;
                }
                Content::Application(data) => Some(data),
                Content::AfterHandshake | Content::Alert => None,
            };
            let RecordPlace { start, end, first, last } = place;
            sink.opened(&Opened { from: side, start, end, first, last, data });
        });
        if offers_early_data {
            direction.offer_early_data();
        }
        *hellos = known.get();
    }

    /// How much was decrypted. `frame`: the last frame. `client`: the side that opened the
    /// connection.
    pub fn outcome(&self, client: Side, frame: Frame) -> Decryption {
        let direction = |from: End| {
            let side = if from == End::Client { client } else { !client };
            let found = self.directions[side].as_deref();
            let stopped = match found {
                None => Some(Undecrypted::HandshakeNotCaptured),
                Some(direction) if direction.stopped.is_some() => direction.stopped,
                Some(direction) if direction.waits() => Some(self.hellos.keys(&self.ring, frame).missing()),
                Some(direction) if direction.bytes.has_hole() => Some(Undecrypted::BytesMissing),
                Some(_) => None,
            };
            DecryptedDirection {
                from,
                records: found.map_or(0, |direction| direction.records),
                bytes: found.map_or(0, |direction| direction.plaintext),
                stopped,
            }
        };
        let (version, cipher_suite) = self.hellos.server.map(|(_, version, suite)| (version, suite)).unzip();
        Decryption { version, cipher_suite, directions: [direction(End::Client), direction(End::Server)] }
    }
}

/// Whether a segment begins with a record that contains a hello (RFC 8446 sections 4 and 5.1).
fn opens(bytes: &[u8]) -> bool {
    matches!(bytes, [HANDSHAKE, 3, 1..=4, _, _, 1 | 2, 0, ..])
}
