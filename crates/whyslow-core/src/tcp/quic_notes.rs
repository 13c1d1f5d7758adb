//! [`QuicNotes`]: what the tracker carries of a QUIC connection.

use crate::types::Quic;

/// What is known of a QUIC connection beside its segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuicNotes {
    /// What the handshake and the packets show.
    pub facts: Quic,
    /// The server's name (SNI).
    pub name: Option<String>,
}
