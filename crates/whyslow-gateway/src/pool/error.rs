//! [`PoolError`]: the reason for a missing answer, and the part of the request that may have
//! arrived.

use super::body::BodyError;
use super::options::EndpointError;
use super::tls::TlsError;
use std::time::Duration;

/// The part of a request that the server may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sent {
    /// No byte was written.
    Nothing,
    /// Some; the announced length was not reached, so that no server can have acted on it.
    Part,
    /// Possibly all: the server may have executed the request.
    All,
}

/// The reason why a request was not answered in full.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PoolError {
    /// Too many requests are waiting for a connection.
    #[error("{waiting} requests wait for a connection to {endpoint} already: try again in {} ms", retry_after.as_millis())]
    Busy {
        /// Requests that wait.
        waiting: usize,
        /// The server.
        endpoint: String,
        /// Time after which to try again.
        retry_after: Duration,
    },
    /// No connection was free in time.
    #[error("no connection to {endpoint} was free within {} ms", waited.as_millis())]
    NoConnection {
        /// The server.
        endpoint: String,
        /// Waiting time of the request.
        waited: Duration,
    },
    /// The endpoint is invalid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The name has no address.
    #[error("{host} has no address: {why}")]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's error.
        why: String,
    },
    /// No address accepted a connection.
    #[error("no connection to {endpoint}: {why}")]
    Connect {
        /// The server.
        endpoint: String,
        /// Each address with its result.
        why: String,
    },
    /// The TLS handshake failed.
    #[error("TLS with {endpoint}: {why}")]
    Tls {
        /// The server.
        endpoint: String,
        /// The error.
        why: TlsError,
    },
    /// The connection broke before the answer's head arrived.
    #[error("the connection broke{}: {why}", if *is_reused { " (it had been idle)" } else { "" })]
    Broken {
        /// The part that may have arrived.
        sent: Sent,
        /// Whether it had served requests before.
        is_reused: bool,
        /// The error of hyper or of the kernel.
        why: String,
    },
    /// Fewer bytes moved than a usable path carries.
    #[error("only {moved} bytes in {:.1} s", over.as_secs_f64())]
    Stalled {
        /// The part that may have arrived.
        sent: Sent,
        /// Bytes that were acknowledged or received.
        moved: u64,
        /// The time in which they moved.
        over: Duration,
    },
    /// The request was sent, and no answer came.
    #[error("no answer within {:.1} s", waited.as_secs_f64())]
    NoAnswer {
        /// The time of the wait.
        waited: Duration,
    },
    /// The answer ended before its length.
    #[error("the answer was cut after {received} bytes: {why}")]
    Cut {
        /// Bytes of its body that arrived.
        received: u64,
        /// The error of hyper.
        why: String,
    },
    /// The source of the request's body failed.
    #[error("the body could not be sent: {0}")]
    Body(BodyError),
}

impl PoolError {
    /// The part that may have arrived at the server.
    pub fn sent(&self) -> Sent {
        match self {
            Self::Broken { sent, .. } | Self::Stalled { sent, .. } => *sent,
            Self::NoAnswer { .. } | Self::Cut { .. } => Sent::All,
            Self::Body(_) => Sent::Part,
            _ => Sent::Nothing,
        }
    }

    /// Whether another idle connection may have the same error.
    pub(crate) fn is_stale_connection(&self) -> bool {
        matches!(self, Self::Broken { is_reused: true, .. })
    }
}

/// The error with its causes, which hyper leaves out.
pub(crate) fn in_words(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(below) = source {
        text.push_str(": ");
        text.push_str(&below.to_string());
        source = below.source();
    }
    text
}
