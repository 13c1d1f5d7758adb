//! Connections to one server, which stay open, keep their windows, and record their limits.
//!
//! ```text
//!   Pool ─▶ queue ─▶ Connection ─▶ hyper ─▶ TLS ─▶ wire (bytes, times, the first FIN) ─▶ socket
//!    │                    └ account: TCP_INFO through each transfer ─▶ Transfer
//!    ├ addresses: resolved regularly, used evenly, avoided for a while after a failure
//!    ├ idle: the waiting connections, and the server's idle limit
//!    └ warm: connections kept open, and windows opened before they are needed
//! ```
//!
//! - A connection serves one request at a time (HTTP/1.1). A caller that drops a request, or
//!   its answer before the end, closes that connection and no other.
//! - A FIN of the server retires an idle connection at once: hyper reads while it is idle, and the
//!   socket closes with it.
//! - A [`Body`] can be sent again as long as it is held whole. [`PoolError::sent`] has the bytes
//!   of a request that can have reached the server.

mod account;
mod addresses;
mod answer;
mod body;
mod chunks;
mod connection;
mod counters;
mod deadline;
mod error;
mod exchange;
mod idle_limit;
mod options;
mod queue;
mod rights;
mod shared;
mod tls;
mod transfer;
mod transfers;
mod warm;
mod warm_requests;
mod wire;

pub use answer::Answer;
#[cfg(feature = "clouds")]
pub(crate) use body::SendBody;
pub use body::{Body, BodyError, ByteStream, LetGo};
pub(crate) use chunks::TRAILER;
pub use counters::Counts;
pub use error::{PoolError, Sent};
pub use options::{Endpoint, EndpointError, PoolOptions, Timeouts, Warmth};
pub use queue::{Pool, Safety};
pub use rights::{Rights, WindowKeeping};
pub(crate) use shared::IN_FLIGHT;
pub use tls::{TlsError, Trust};
pub use transfer::{LimitingFactor, Limits, Phases, Transfer};
pub use transfers::Transfers;
pub use warm_requests::WarmRequests;
