//! Parts of statements about applications, requests and connections.

use crate::types::Fate;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// Pauses of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Pauses {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum_s: Nanos,
}

/// How often each end closed a connection first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct ClosedFirst {
    /// How most of them ended.
    pub with: CloseKind,
    /// Closed first by the client.
    pub by_client: u64,
    /// Closed first by the server.
    pub by_server: u64,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum CloseKind {
    /// With a FIN.
    Fin,
    /// With a RST.
    Rst,
}

/// Packets that did not arrive, according to an ICMP error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Undelivered {
    /// Fate of the packets.
    pub fate: Fate,
    /// The router or host that reports it.
    pub by: String,
    /// The host to which they were sent.
    pub host: String,
    /// Its port; 0 if unknown.
    pub port: u16,
}

impl Undelivered {
    /// Applies `act` to every host that it names.
    pub fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        act(&mut self.by);
        act(&mut self.host);
    }
}

/// A request without a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct UnansweredRequest {
    /// Its method and target, such as `GET /`; `None` if it is not HTTP in clear.
    pub line: Option<String>,
    /// Its payload.
    pub bytes: u64,
}

/// How a wait without a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitEnd {
    /// The capture ended first.
    CaptureEnded,
    /// The end that waited gave up.
    GaveUp,
    /// The end that did not respond closed the connection.
    Closed,
}

/// A message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// The client's.
    Request,
    /// The server's.
    Response,
}

/// The first reply of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstReply {
    /// The SYN-ACK.
    SynAck,
    /// The ACK of the SYN-ACK.
    HandshakeAck,
    /// Both handshakes: TCP's and TLS's.
    Handshake,
    /// The ACK of the first data.
    DataAck,
}

/// Whether a connection opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// The connection opened.
    Opened,
    /// The connection never opened.
    NeverOpened,
}
