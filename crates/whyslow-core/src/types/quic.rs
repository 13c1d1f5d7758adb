//! [`Quic`]: what is known of a QUIC connection beside what it has in common with TCP's.

use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// What the handshake of a QUIC connection shows, and what its packets show without keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct Quic {
    /// Version 1 (RFC 9000) or 2 (RFC 9369).
    pub version: u32,
    /// Protocols that the client offers (ALPN), the preferred one first.
    pub alpn: Vec<String>,
    /// The server asked the client to prove its address (RFC 9000 section 8.1.2), which cost a
    /// round trip.
    pub retry: bool,
    /// The server named the versions that it speaks (RFC 9000 section 6).
    pub version_negotiation: bool,
    /// How often the client sent its first Initial packet again.
    pub initial_retransmissions: u64,
    /// For how long the server had sent three times what it had received, and waited for the
    /// client (RFC 9000 section 8.1).
    pub amplification_wait_s: Nanos,
    /// How often packets came from another address or port of the client.
    pub migrations: u64,
    /// What the client offered in its transport parameters.
    pub client: TransportParameters,
}

impl Quic {
    /// The client prefers HTTP/3, or one of its drafts (RFC 9114 section 3.1).
    pub fn is_http3(&self) -> bool {
        self.alpn.first().is_some_and(|name| name == "h3" || name.starts_with("h3-"))
    }

    /// What the packets carry, as tables and pages name it.
    pub fn label(&self) -> &'static str {
        if self.is_http3() { "QUIC (HTTP/3)" } else { "QUIC" }
    }
}

/// Transport parameters (RFC 9000 section 18.2); null where one was not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct TransportParameters {
    /// Bytes that the connection may receive before more are granted.
    pub initial_max_data: Option<u64>,
    /// The same of a stream that the sender of these opened.
    pub initial_max_stream_data_bidi_local: Option<u64>,
    /// Of a stream that the other end opened.
    pub initial_max_stream_data_bidi_remote: Option<u64>,
    /// Of a stream in one direction.
    pub initial_max_stream_data_uni: Option<u64>,
    /// After so long without a packet the connection ends, milliseconds.
    pub max_idle_timeout_ms: Option<u64>,
    /// Largest datagram, bytes.
    pub max_udp_payload_size: Option<u64>,
}
