//! [`QuicNotes`]: what the tracker carries of a QUIC connection.

use crate::types::{Decryption, Quic};

/// What is known of a QUIC connection beside its segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuicNotes {
    /// What the handshake and the packets show.
    pub facts: Quic,
    /// The server's name (SNI).
    pub name: Option<String>,
    /// How far a key log opens its packets; `None` without one.
    pub decryption: Option<Decryption>,
}

impl QuicNotes {
    /// Whether segments are made of what the packets hold, and not of their sizes and times.
    pub fn is_opened(&self) -> bool {
        self.facts.opened.is_some()
    }
}
