//! Facts of a QUIC connection in addition to the segments that represent its packets.

use super::connection::{Connection, Stage};
use super::payload::Decrypter;
use whyslow_analysis::types::{Decryption, End, Quic, QuicOpened, Side, StreamBytes};
use whyslow_units::Nanos;

impl Connection {
    /// Marks the connection as QUIC and records the facts from its handshake, from its packets, and
    /// from the packets that a key log decrypts.
    pub fn note_quic(
        &mut self,
        facts: &Quic,
        name: Option<&str>,
        opened: Option<QuicOpened>,
        decryption: Option<&Decryption>,
    ) {
        let notes = self.rare.get_or_insert_default().quic.get_or_insert_default();
        let begins = !notes.is_opened() && opened.is_some();
        notes.facts.opened = facts.opened;
        if notes.facts != *facts {
            notes.facts.clone_from(facts);
            notes.name = name.map(str::to_owned);
        }
        notes.facts.opened = opened;
        notes.decryption = decryption.cloned();
        if begins {
            self.apply_negotiated();
        }
    }

    /// Lowers the round trips from the capture point to the client and to the server to those of
    /// QUIC packets; `from` is the end on side `side`.
    pub fn bound_loops(&mut self, [client, server]: [Option<Nanos>; 2], from: End, side: Side) {
        let is_straight = (from == End::Client) == (side == Side::A);
        if let Stage::Tracking(tracking) = &mut self.stage {
            tracking.bound_loops(if is_straight { [client, server] } else { [server, client] });
        }
    }

    /// Parses stream bytes; `from` is the end on side `side`.
    pub fn read_streams(&mut self, streams: &[StreamBytes], from: End, side: Side) {
        let rare = self.rare.get_or_insert_default();
        let is_http3 = rare.quic.as_ref().is_some_and(|notes| notes.facts.is_http3());
        let client = if from == End::Client { side } else { !side };
        rare.readers.decrypter.get_or_insert_with(|| Decrypter::of_quic(client, is_http3)).read_streams(streams);
    }
}
