//! [`Quic`]: facts of a QUIC connection that a TCP connection does not have.

use super::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::{Nanos, Time};

/// Facts from the handshake of a QUIC connection and from its packets, without keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Quic {
    /// Version 1 (RFC 9000) or 2 (RFC 9369).
    pub version: u32,
    /// Protocols that the client offers (ALPN), in order of preference.
    pub alpn: Vec<String>,
    /// The server asked the client to validate its address (Retry, RFC 9000 section 8.1.2), which
    /// cost a round trip.
    pub retry: bool,
    /// The server sent a Version Negotiation packet (RFC 9000 section 6).
    pub version_negotiation: bool,
    /// Retransmissions of the client's first Initial packet.
    pub initial_retransmissions: u64,
    /// Time that the server waited for the client because it had sent three times the bytes it had
    /// received (anti-amplification limit, RFC 9000 section 8.1).
    pub amplification_wait_s: Nanos,
    /// Number of times that the client's packets changed their address or port.
    pub migrations: u64,
    /// The client's transport parameters.
    pub client: TransportParameters,
    /// The protocol that the server chose (ALPN); null without the handshake secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_alpn: Option<String>,
    /// Facts from decrypted packets; null if no key log decrypts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<QuicOpened>,
    /// It was read from the log of an endpoint: the format of its capture is `qlog`.
    #[serde(skip)]
    pub logged: bool,
}

/// Facts from the decrypted packets of a QUIC connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct QuicOpened {
    /// The server's transport parameters; null without the handshake secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<TransportParameters>,
    /// Decrypted packets of the client and of the server.
    pub packets: [u64; 2],
    /// Packets of each end that were not decrypted: damaged, truncated or encrypted with unknown
    /// keys.
    pub unopened: [u64; 2],
    /// Missing packet numbers of each end: packets lost before the capture point or not captured.
    pub missing: [u64; 2],
    /// Frames of each end that report a full window of the connection or of a stream (DATA_BLOCKED,
    /// STREAM_DATA_BLOCKED).
    pub blocked: [u64; 2],
    /// Packets of each end that arrived with a congestion mark (ECN-CE), as the other end reports.
    pub congestion_marks: [u64; 2],
    /// Key updates (RFC 9001 section 6).
    pub key_updates: u64,
    /// Decrypted 0-RTT packets.
    pub early_packets: u64,
    /// How flow control limited the client and the server.
    pub flow_control: [FlowControl; 2],
}

/// How flow control limited a sender (RFC 9000 section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct FlowControl {
    /// Number of times that the sender filled the connection's window and waited for a larger one.
    pub connection_times: u64,
    /// Total time of these waits, each from the last byte to the window update.
    pub connection_s: Nanos,
    /// Number of times that the sender filled a stream's window and waited.
    pub stream_times: u64,
    /// Total time of these waits.
    pub stream_s: Nanos,
    /// The stream whose window was full last; null if none was.
    pub stream: Option<u64>,
    /// The largest window that was full, bytes.
    pub window: u64,
    /// Part of these times after the receiver had all data: its application did not read, or the
    /// receiver sent the window update late.
    pub late_s: Nanos,
}

/// Stream bytes in a packet, with their offset.
#[derive(Clone, Debug)]
pub struct StreamBytes {
    /// The sender.
    pub from: End,
    /// Stream ID.
    pub stream: u64,
    /// Offset of the first byte in the stream.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The stream ends after these bytes.
    pub fin: bool,
    /// Relative sequence number of the first byte, as in the segments.
    pub seq: u64,
    /// Capture time.
    pub time: Time,
}

impl Quic {
    /// Whether the server chose HTTP/3 or one of its drafts, or the client prefers it (RFC 9114
    /// section 3.1).
    pub fn is_http3(&self) -> bool {
        let chosen = self.chosen_alpn.as_ref().or(self.alpn.first());
        chosen.is_some_and(|name| name == "h3" || name.starts_with("h3-"))
    }

    /// Name of the packets' protocol in tables and pages.
    pub fn label(&self) -> &'static str {
        if self.is_http3() { "QUIC (HTTP/3)" } else { "QUIC" }
    }
}

/// Transport parameters (RFC 9000 section 18.2); null if absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct TransportParameters {
    /// Initial limit of the bytes that the other end may send on the connection.
    pub initial_max_data: Option<u64>,
    /// Initial limit of a bidirectional stream that the sender of this parameter opened.
    pub initial_max_stream_data_bidi_local: Option<u64>,
    /// Initial limit of a bidirectional stream that the other end opened.
    pub initial_max_stream_data_bidi_remote: Option<u64>,
    /// Initial limit of a unidirectional stream.
    pub initial_max_stream_data_uni: Option<u64>,
    /// Idle time after which the connection ends, milliseconds.
    pub max_idle_timeout_ms: Option<u64>,
    /// Largest datagram, bytes.
    pub max_udp_payload_size: Option<u64>,
}
