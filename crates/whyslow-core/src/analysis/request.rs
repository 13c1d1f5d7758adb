//! Requests of HTTP, each with its own wait, though several are under way at once.

use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// Most requests listed of one connection.
pub const MAX_REQUESTS: usize = 64;

/// A request of HTTP and its response, as decrypted payload shows them. Times are those at the
/// capture point.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct Request {
    /// Of HTTP/2, the number of its stream; null with HTTP/1.
    pub stream: Option<u32>,
    /// Method and path; the query is cut.
    pub label: String,
    /// The status of the response; null if none came.
    pub status: Option<u16>,
    /// The status of a gRPC call; null if none came.
    pub grpc_status: Option<u16>,
    /// First byte of the request.
    pub start_s: Nanos,
    /// From there to its last byte; null if that did not come.
    pub sent_s: Option<Nanos>,
    /// From its first byte to the head of the response; null if none came.
    pub headers_s: Option<Nanos>,
    /// From there to the first byte of the response's body; null if none came.
    pub first_byte_s: Option<Nanos>,
    /// From the request's first byte to the last byte of the response, as far as that came.
    pub wait_s: Option<Nanos>,
    /// The response came to its end.
    pub complete: bool,
    /// Bytes of the request's body.
    pub request_bytes: u64,
    /// Bytes of the response's body.
    pub response_bytes: u64,
}
