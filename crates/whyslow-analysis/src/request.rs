//! Requests of a protocol above TCP, each with its own wait, though several are under way at once.

use crate::types::RequestProtocol;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// Maximum number of requests listed of one connection.
pub const MAX_REQUESTS: usize = 64;

/// A request and its response, as payload in clear or decrypted shows them. Times are those at the
/// capture point.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Request {
    /// Protocol of the request.
    pub protocol: RequestProtocol,
    /// HTTP/2: number of its stream; null else.
    pub stream: Option<u32>,
    /// The request without its data: HTTP method and path without the query; the SQL statement with
    /// `?` for literals; the command of other protocols.
    pub label: String,
    /// The status of the response, of HTTP, SMTP and FTP; null if none came.
    pub status: Option<u16>,
    /// The status of a gRPC call; null if none came.
    pub grpc_status: Option<u16>,
    /// Error in the response of another protocol; null, and left out, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// It waits for an event, so that its wait costs no time. Left out if it does not.
    #[serde(skip_serializing_if = "is_false")]
    pub poll: bool,
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}
