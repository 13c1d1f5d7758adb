//! [`PoolError`]: why there is no answer, and how much of the request can have arrived.

use super::body::BodyError;
use super::options::EndpointError;
use super::tls::TlsError;
use std::time::Duration;

/// How much of a request the server can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sent {
    /// Not a byte was written.
    Nothing,
    /// Some; the announced length was not reached, so that no server can have acted on it.
    Part,
    /// Possibly all: the server may have executed the request.
    All,
}

/// Why a request was not answered in full.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PoolError {
    /// Too many requests wait for a connection already.
    #[error("{waiting} requests wait for a connection to {endpoint} already: try again in {} ms", retry_after.as_millis())]
    Busy {
        /// Requests that wait.
        waiting: usize,
        /// Where to.
        endpoint: String,
        /// When it may be better.
        retry_after: Duration,
    },
    /// No connection was free in time.
    #[error("no connection to {endpoint} was free within {} ms", waited.as_millis())]
    NoConnection {
        /// Where to.
        endpoint: String,
        /// How long the request waited.
        waited: Duration,
    },
    /// The endpoint makes no sense.
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
    /// No address took a connection.
    #[error("no connection to {endpoint}: {why}")]
    Connect {
        /// Where to.
        endpoint: String,
        /// Each address and what became of it.
        why: String,
    },
    /// The TLS handshake failed.
    #[error("TLS with {endpoint}: {why}")]
    Tls {
        /// With whom.
        endpoint: String,
        /// What went wrong.
        why: TlsError,
    },
    /// The connection broke before the answer's head was there.
    #[error("the connection broke{}: {why}", if *is_reused { " (it had been idle)" } else { "" })]
    Broken {
        /// What can have arrived.
        sent: Sent,
        /// Whether it had served requests before.
        is_reused: bool,
        /// The error of hyper or of the kernel.
        why: String,
    },
    /// Fewer bytes went through than a usable path carries.
    #[error("only {moved} bytes in {:.1} s", over.as_secs_f64())]
    Stalled {
        /// What can have arrived.
        sent: Sent,
        /// Bytes that were acknowledged or received.
        moved: u64,
        /// In this time.
        over: Duration,
    },
    /// All was sent, and no answer came.
    #[error("no answer within {:.1} s", waited.as_secs_f64())]
    NoAnswer {
        /// The time of the wait.
        waited: Duration,
    },
    /// The answer ended before its length.
    #[error("the answer was cut after {received} bytes: {why}")]
    Cut {
        /// Bytes of its body that came.
        received: u64,
        /// The error of hyper.
        why: String,
    },
    /// The source of the request's body failed.
    #[error("the body could not be sent: {0}")]
    Body(BodyError),
}

impl PoolError {
    /// What can have arrived at the server.
    pub fn sent(&self) -> Sent {
        match self {
            Self::Broken { sent, .. } | Self::Stalled { sent, .. } => *sent,
            Self::NoAnswer { .. } | Self::Cut { .. } => Sent::All,
            Self::Body(_) => Sent::Part,
            _ => Sent::Nothing,
        }
    }

    /// Whether the next try may well meet the same.
    pub(crate) fn is_stale_connection(&self) -> bool {
        matches!(self, Self::Broken { is_reused: true, .. })
    }
}

/// With what lies below, which hyper leaves out.
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
