//! What a QUIC connection has beside the segments that stand for its packets.

use super::connection::{Connection, Stage};
use super::payload::Decrypter;
use crate::types::{Decryption, End, Quic, QuicOpened, Side, StreamBytes};
use crate::units::Nanos;

impl Connection {
    /// It is of QUIC, and this is what its handshake and its packets show, and how far a key log
    /// opens them.
    pub fn note_quic(
        &mut self,
        facts: &Quic,
        name: Option<&str>,
        opened: Option<QuicOpened>,
        decryption: Option<&Decryption>,
    ) {
        let notes = self.rare.get_or_insert_default().quic.get_or_insert_default();
        notes.facts.opened = facts.opened;
        if notes.facts != *facts {
            notes.facts.clone_from(facts);
            notes.name = name.map(str::to_owned);
        }
        notes.facts.opened = opened;
        notes.decryption = decryption.cloned();
    }

    /// Packets of QUIC bound the time from the capture point to the client and back, and to the
    /// server; `from` is the end that `side` is of.
    pub fn bound_loops(&mut self, [client, server]: [Option<Nanos>; 2], from: End, side: Side) {
        let is_straight = (from == End::Client) == (side == Side::A);
        if let Stage::Tracking(tracking) = &mut self.stage {
            tracking.bound_loops(if is_straight { [client, server] } else { [server, client] });
        }
    }

    /// Reads bytes of streams; `from` is the end that `side` is of.
    pub fn read_streams(&mut self, streams: &[StreamBytes], from: End, side: Side) {
        let rare = self.rare.get_or_insert_default();
        let is_http3 = rare.quic.as_ref().is_some_and(|notes| notes.facts.is_http3());
        let client = if from == End::Client { side } else { !side };
        rare.readers.decrypter.get_or_insert_with(|| Decrypter::of_quic(client, is_http3)).read_streams(streams);
    }
}
