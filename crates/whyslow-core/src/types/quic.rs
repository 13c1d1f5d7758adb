//! [`Quic`]: what is known of a QUIC connection beside what it has in common with TCP's.

use super::End;
use crate::units::{Nanos, Time};
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
    /// The protocol that the server chose (ALPN); null without the secrets of the handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_alpn: Option<String>,
    /// What the packets hold, if a key log opens them; null without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<QuicOpened>,
}

/// What the packets of a QUIC connection hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct QuicOpened {
    /// What the server offered in its transport parameters; null without the secrets of the
    /// handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<TransportParameters>,
    /// Packets of the client and of the server that were opened.
    pub packets: [u64; 2],
    /// Packets of either that were not: damaged, cut or protected by unknown keys.
    pub unopened: [u64; 2],
    /// Packet numbers of each that were skipped: packets that were lost before the capture point
    /// or not captured.
    pub missing: [u64; 2],
    /// How often each reported that the window of the connection or of a stream was used up
    /// (DATA_BLOCKED, STREAM_DATA_BLOCKED).
    pub blocked: [u64; 2],
    /// Packets of each that arrived with a congestion mark, as the other end reports them.
    pub congestion_marks: [u64; 2],
    /// Key updates (RFC 9001 section 6).
    pub key_updates: u64,
    /// Packets of 0-RTT that were opened.
    pub early_packets: u64,
    /// How flow control held the client, and the server.
    pub flow_control: [FlowControl; 2],
}

/// How flow control held a sender (RFC 9000 section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct FlowControl {
    /// How often the connection's window was used up, and the sender went on when more was granted.
    pub connection_times: u64,
    /// From its last byte to the grant, summed.
    pub connection_s: Nanos,
    /// The same of windows of streams.
    pub stream_times: u64,
    /// The same of windows of streams.
    pub stream_s: Nanos,
    /// The stream whose window was used up last; null without.
    pub stream: Option<u64>,
    /// The largest window that was used up: what was granted at once, bytes.
    pub window: u64,
    /// How much of these times passed after the receiver had all data: its application did not
    /// read, or the receiver granted late.
    pub late_s: Nanos,
}

/// Bytes of a stream that a packet carries, with their place.
#[derive(Clone, Debug)]
pub struct StreamBytes {
    /// Who sent it.
    pub from: End,
    /// The stream's number.
    pub stream: u64,
    /// Of its first byte in the stream.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The stream ends behind them.
    pub fin: bool,
    /// The relative sequence number of the first byte, as the segments number them.
    pub seq: u64,
    /// When they passed.
    pub time: Time,
}

impl Quic {
    /// The server chose HTTP/3 or one of its drafts, or the client prefers it (RFC 9114 section
    /// 3.1).
    pub fn is_http3(&self) -> bool {
        let chosen = self.chosen_alpn.as_ref().or(self.alpn.first());
        chosen.is_some_and(|name| name == "h3" || name.starts_with("h3-"))
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
