//! Exchanges: which end waited for which.

use super::End;
use super::span::WaitSpan;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// Maximum number of exchanges listed of one connection. Bounds the size of the JSON.
pub const MAX_EXCHANGES: usize = 64;

/// A request and its response, or an unrequested push. Its transfers hang below it.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Exchange {
    /// When it began for its user: the first byte of the request, or of the push.
    pub start_s: Nanos,
    /// The client's message; null for a push of the server.
    pub request: Option<Message>,
    /// The server's message; null if it sent none (yet).
    pub answer: Option<Message>,
    /// Processing time of the client's own application before it.
    pub client_s: Nanos,
    /// Idle time before it, when neither end waited; within it, the idle time before the event that
    /// the request waits for.
    pub idle_s: Nanos,
    /// Time between the request's last byte and the response's first, without the network's delay;
    /// null if unknown.
    pub server_s: Option<Nanos>,
    /// Time that its user waited: from the first byte of the request to the last of the response,
    /// as seen by the client.
    pub wait_s: Nanos,
    /// The party that was waited for, moment by moment: without gaps from `start_s` on, for
    /// `wait_s` plus the idle time within it. Empty if `wait_s` is under 10 ms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<WaitSpan>,
    /// How many spans there were, where the shortest were added to their neighbours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans_total: Option<u64>,
    /// Its transfers, by their places in the connection's list (from 0), as far as they are listed.
    pub transfers: Vec<usize>,
}

/// How long the users of a connection waited in its exchanges, listed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct ResponseTimes {
    /// Exchanges that were measured.
    pub count: u64,
    /// Median.
    pub p50_s: Nanos,
    /// 95th percentile.
    pub p95_s: Nanos,
    /// Longest.
    pub max_s: Nanos,
}

/// Message of one side in an exchange.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Message {
    /// Sender of the message.
    pub from: End,
    /// Payload.
    pub bytes: u64,
    /// Its first byte, as it passed the capture point.
    pub start_s: Nanos,
    /// From its first byte to its last.
    pub duration_s: Nanos,
    /// Kind of message, if its payload shows it.
    pub label: Option<String>,
}
