//! [`QuicNotes`]: additional state of a QUIC connection in the tracker.

use whyslow_analysis::types::{Decryption, Quic};

/// Facts of a QUIC connection in addition to its segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuicNotes {
    /// Facts from the handshake and the packets.
    pub facts: Quic,
    /// The server's name (SNI).
    pub name: Option<String>,
    /// How much of its packets a key log decrypts; `None` without one.
    pub decryption: Option<Decryption>,
}

impl QuicNotes {
    /// Whether segments are derived from the decrypted packets, and not from sizes and times.
    pub fn is_opened(&self) -> bool {
        self.facts.opened.is_some()
    }
}
